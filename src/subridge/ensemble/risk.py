"""The error of an ensemble, term by term."""

from dataclasses import dataclass

from subridge.arrays.types import FloatArray
from subridge.ensemble.aggregation import Aggregation, LinearAggregation, Mean
from subridge.ensemble.moments import MemberMoments
from subridge.spec.errors import ParameterError


@dataclass(frozen=True, eq=False)
class Risk:
    """Generalization error, typical (theory) or of given weights (experiment).

    Attributes
    ----------
    pairs : ndarray, shape (..., k, k)
        E_rr′, eq. 5 (SingleErrorTerm).
    total : ndarray, shape (...)
        E_g: the mean of the pairs, or wᵀEw with the weights of another aggregation.

    See Also
    --------
    subridge.risk : the typical risk by theory.
    subridge.risk_of_weights : the exact risk of trained members.
    """

    pairs: FloatArray
    total: FloatArray

    @classmethod
    def of_pairs(cls, pairs: FloatArray, aggregation: Aggregation | None = None) -> "Risk":
        """The risk of members with these pairs under an aggregation, by default the mean."""
        if aggregation is None or isinstance(aggregation, Mean):
            return cls(pairs, pairs.mean(axis=(-2, -1)))
        if not isinstance(aggregation, LinearAggregation):
            raise ParameterError(
                f"aggregation={aggregation.name!r} has no risk in theory, which knows weighted sums of members; "
                'use "mean" or "simplex", or train the ensemble'
            )
        moments = MemberMoments(pairs)
        return cls(pairs, moments.risk_of(aggregation.weights(moments)))
