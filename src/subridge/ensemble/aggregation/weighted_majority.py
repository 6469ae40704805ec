"""The majority of votes that count differently."""

from dataclasses import dataclass

import numpy as np

from subridge.arrays.namespace import like, namespace_of
from subridge.arrays.types import Array, FloatArray
from subridge.model.aggregation import Loss, Majority, Mean, first_largest, misclassified_share
from subridge.model.errors import ParameterError

# Of a vote: so much the summed scores may add, which decides ties and, beyond rounding, nothing else.
_TIE = 1e-6


@dataclass(frozen=True, eq=False)
class WeightedMajority(Majority):
    """The class with most votes, where that of member r counts w_r.

    Parameters
    ----------
    vote_weights : tuple of float
        w_r, of sum k, so that a vote counts one in the mean.

    Examples
    --------
    >>> votes = WeightedMajority((1.5, 0.5)).combine(np.array([[[0.5], [0.25]], [[0.0], [0.5]]]))
    >>> votes.round(3)
    array([[1.5],
           [0.5]])
    """

    vote_weights: tuple[float, ...]

    @classmethod
    def of_weights(cls, weights: FloatArray) -> "WeightedMajority":
        """Votes in proportion to weights.

        Parameters
        ----------
        weights : ndarray, shape (k,)
            Not negative; where all are zero, votes are equal.

        Returns
        -------
        WeightedMajority
            With weights of sum k.

        Examples
        --------
        >>> WeightedMajority.of_weights(np.array([0.6, 0.2])).vote_weights
        (1.5, 0.5)
        """
        total = float(weights.sum())
        shares = weights * (len(weights) / total) if total > 0 else np.ones(len(weights))
        return cls(tuple(float(share) for share in shares))

    def combine(self, outputs: Array, weights: FloatArray | None = None) -> Array:
        if outputs.shape[0] != len(self.vote_weights):
            raise ParameterError(
                f"votes of {len(self.vote_weights)} members are weighted, but {outputs.shape[0]} vote; "
                "use score_weights='equal' where members drop out"
            )
        xp, sums = namespace_of(outputs), namespace_of(outputs).sum(outputs, axis=0)
        votes, shares = first_largest(outputs), like(np.array(self.vote_weights), outputs)
        counted = [
            xp.sum(xp.astype(votes == c, outputs.dtype) * shares[:, None], axis=0) for c in range(outputs.shape[1])
        ]
        return xp.stack(counted) + _TIE * sums / (1 + abs(sums))

    def loss(self, errors: Array, targets: Array, sample_weights: Array) -> Loss:
        wrong = misclassified_share(first_largest(self.combine(targets - errors)), targets, sample_weights)
        return wrong, Mean().loss(errors, targets, sample_weights)[0]
