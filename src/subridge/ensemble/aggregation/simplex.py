"""The best weights that are not negative and sum to one."""

from typing import ClassVar

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.model.aggregation import FittedAggregation, LinearAggregation, Mean
from subridge.model.moments import MemberMoments, member_weights


class Simplex(FittedAggregation):
    """Weights w ≥ 0 with sum one that minimise ``wᵀEw``; equal ones where every member's error is infinite.

    Parameters
    ----------
    per_target : bool
        Fit weights to each target by itself.

    Examples
    --------
    A member whose errors are three times as large counts a third, where errors are uncorrelated:

    >>> Simplex().weights(MemberMoments(np.array([[1.0, 0.0], [0.0, 3.0]])))
    array([0.75, 0.25])
    """

    name: ClassVar[str] = "simplex"
    sums_to_one: ClassVar[bool] = True

    def n_fitted(self, weights: FloatArray) -> FloatArray:
        return np.maximum(super().n_fitted(weights) - 1.0, 0.0)

    @property
    def simpler(self) -> LinearAggregation:
        return Mean()

    def best(self, moments: MemberMoments) -> FloatArray:
        pairs = moments.pairs
        usable = np.isfinite(np.diagonal(pairs, axis1=-2, axis2=-1)).any(axis=-1)
        if usable.all():
            return member_weights(pairs)
        weights = np.full(pairs.shape[:-1], 1 / moments.n_members)
        if usable.any():
            weights[usable] = member_weights(pairs[usable])
        return weights
