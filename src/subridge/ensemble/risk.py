"""The error of an ensemble, term by term."""

from dataclasses import dataclass

import numpy as np

from subridge.arrays.types import ArrayLike, FloatArray
from subridge.ensemble.aggregation import Aggregation, LinearAggregation, Mean
from subridge.ensemble.moments import MemberMoments
from subridge.spec.checks import finite_array
from subridge.spec.errors import ParameterError


@dataclass(frozen=True, eq=False)
class Risk:
    """Generalization error, typical (theory) or of given weights (experiment).

    Attributes
    ----------
    moments : MemberMoments
        Second moments of members and target, from which all else follows.
    total : ndarray, shape (...)
        E_g of the ensemble's aggregation: the mean of the pairs, or E(w) with the weights of another aggregation.

    See Also
    --------
    subridge.risk : the typical risk by theory.
    subridge.risk_of_weights : the exact risk of trained members.
    """

    moments: MemberMoments
    total: FloatArray

    @property
    def pairs(self) -> FloatArray:
        """E_rr′ of members r and r′, eq. 5 (SingleErrorTerm); shape (..., k, k)."""
        return self.moments.pairs

    @property
    def c(self) -> FloatArray:
        """Cross moments c_r = E[y f_r] of the noise-free target y and the output of member r; shape (..., k)."""
        return self.moments.c

    @property
    def F(self) -> FloatArray:
        """Products F_rr′ = E[f_r f_r′] = E_rr′ - v + c_r + c_r′ of the outputs; shape (..., k, k)."""
        return self.moments.F

    @property
    def v(self) -> FloatArray:
        """Power v = E[y²] of the noise-free target; shape (...).

        Infinite, as c and F are, for correlated features with a teacher along them in the limit M → ∞.
        """
        return self.moments.with_target()[1]

    def of_weights(self, weights: ArrayLike) -> FloatArray:
        """The risk ``E(w) = v - 2wᵀc + wᵀFw`` of the members under any weights of shape (..., k).

        Examples
        --------
        >>> import subridge as sr
        >>> found = sr.risk(sr.EquicorrelatedProblem(), sr.Ensemble([0.5, 0.5]), float("inf"))
        >>> found.of_weights([[0.5, 0.5], [1.0, 1.0]])  # with all features seen and weights one, nothing is left
        array([0.25, 0.  ])
        """
        w = finite_array("weights", weights)
        if not w.ndim or w.shape[-1] != self.moments.n_members:
            raise ParameterError(
                f"the last axis of weights is the member and must have length {self.moments.n_members}, got {w.shape}"
            )
        return self.moments.risk_of(w)

    @classmethod
    def of_moments(cls, moments: MemberMoments, aggregation: Aggregation | None = None) -> "Risk":
        """The risk of members with these moments under an aggregation, by default the mean."""
        if aggregation is None or isinstance(aggregation, Mean):
            return cls(moments, np.asarray(moments.pairs.mean(axis=(-2, -1))))
        if not isinstance(aggregation, LinearAggregation):
            raise ParameterError(
                f"aggregation={aggregation.name!r} has no risk in theory, which knows weighted sums of members; "
                'use "mean", "scaled", "simplex" or "free", or train the ensemble'
            )
        return cls(moments, moments.risk_of(aggregation.weights(moments)))
