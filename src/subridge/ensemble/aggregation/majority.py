"""The majority of the members' votes."""

from typing import ClassVar

from subridge.arrays.namespace import namespace_of
from subridge.arrays.types import Array, FloatArray
from subridge.model.aggregation import (
    Aggregation,
    Loss,
    Mean,
    first_largest,
    misclassified_share,
    most_votes,
    vote_counts,
)

# Seen in single precision too.
_LEAST = 4e-7


class Majority(Aggregation):
    """The class with most votes; see ``subridge.model.aggregation`` for what decides a tie.

    Its loss is the share of left-out samples that the majority misclassifies; the squared error of the mean decides
    among equals.

    Examples
    --------
    Two members vote on one sample of two classes; the larger sum of scores decides the tie:

    >>> import numpy as np
    >>> Majority().combine(np.array([[[0.9], [0.0]], [[0.0], [0.6]]])).round(3)
    array([[1.158],
           [1.125]])
    """

    name: ClassVar[str] = "majority"
    decides_classes: ClassVar[bool] = True

    def combine(self, outputs: Array, weights: FloatArray | None = None) -> Array:
        """The votes, plus a fraction of a vote that orders ties by the summed scores; the largest entry is the class.

        The fraction is ``s/(3(1+|s|))`` of the summed score s, between -1/3 and 1/3: it can never outvote a member.
        Where rounding hides a difference of sums, the winner is lifted by the least that can be seen.

        Parameters
        ----------
        outputs : array, shape (k, n_classes, n)
            Scores of every member.
        weights : None
            Votes have none.

        Returns
        -------
        array, shape (n_classes, n)
            Votes of every class.
        """
        xp, votes, sums = namespace_of(outputs), vote_counts(outputs), namespace_of(outputs).sum(outputs, axis=0)
        decision = votes + sums / (3 * (1 + abs(sums)))
        winner = most_votes(votes, sums)
        hidden = first_largest(decision) != winner
        if bool(xp.any(hidden)):
            largest = xp.max(decision, axis=0)
            lifted = largest + _LEAST * (1 + abs(largest))
            decision = xp.stack(
                [xp.where(hidden & (winner == c), lifted, decision[c]) for c in range(decision.shape[0])]
            )
        return decision

    def loss(self, errors: Array, targets: Array, sample_weights: Array) -> Loss:
        scores = targets - errors
        decided = most_votes(vote_counts(scores), scores.sum(axis=0))
        wrong = misclassified_share(decided, targets, sample_weights)
        return wrong, Mean().loss(errors, targets, sample_weights)[0]
