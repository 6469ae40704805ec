"""The plain mean, as in the paper."""

from typing import ClassVar

import numpy as np

from subridge.arrays.types import Array, FloatArray
from subridge.model.aggregation import LinearAggregation, Loss, squared_error
from subridge.model.moments import MemberMoments


class Mean(LinearAggregation):
    """Every member counts 1/k.

    Examples
    --------
    >>> Mean().weights(MemberMoments(np.eye(4)))
    array([0.25, 0.25, 0.25, 0.25])
    """

    name: ClassVar[str] = "mean"
    fits_weights: ClassVar[bool] = False
    sums_to_one: ClassVar[bool] = True
    is_mean: ClassVar[bool] = True

    def weights(self, moments: MemberMoments) -> FloatArray:
        return np.full(moments.pairs.shape[:-1], 1 / moments.n_members)

    def n_fitted(self, weights: FloatArray) -> FloatArray:
        return np.zeros(weights.shape[:-1])

    def loss(self, errors: Array, targets: Array, sample_weights: Array) -> Loss:
        return squared_error(errors.sum(axis=0) / errors.shape[0], sample_weights), 0.0
