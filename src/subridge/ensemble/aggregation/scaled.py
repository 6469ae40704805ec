"""The mean times one number."""

from typing import ClassVar

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.model.aggregation import FittedAggregation, LinearAggregation, Mean
from subridge.model.moments import MemberMoments

# Outputs known only as the difference of the target's power and the error are rounding for the most part where their
# power is less than this share of the target's: they are taken for silence.
SILENT = 1e-11


class Scaled(FittedAggregation):
    """Every member counts s/k with ``s = c̄/F̄``, which minimises the error of a multiple of the mean.

    A mean of members that each see a part of the features is shrunk; s gives back what it throws away. s is never
    negative, and one where the members say nothing or the target's power is infinite.

    Parameters
    ----------
    per_target : bool
        Fit weights to each target by itself.

    Examples
    --------
    Two members that each output half of the target, as in the example of `MemberMoments`:

    >>> Scaled().weights(MemberMoments(np.full((2, 2), 0.25), np.full(2, 0.5), np.ones(())))
    array([1., 1.])
    """

    name: ClassVar[str] = "scaled"

    def n_fitted(self, weights: FloatArray) -> FloatArray:
        return np.ones(weights.shape[:-1])

    @property
    def simpler(self) -> LinearAggregation:
        return Mean()

    def best_judged(self, moments: MemberMoments) -> FloatArray:
        return self.best(moments)  # no member has a weight of its own

    def best(self, moments: MemberMoments) -> FloatArray:
        missed, v = moments.with_target()
        with np.errstate(invalid="ignore", divide="ignore"):
            if moments.outputs is None:
                c, pairs = v - missed.mean(axis=-1), moments.pairs.mean(axis=(-2, -1))
                F, least = c + (pairs - missed.mean(axis=-1)), SILENT * v
            else:
                c, F = moments.outputs.c.mean(axis=-1), moments.outputs.F.mean(axis=(-2, -1))
                least = np.zeros(np.shape(v))
            scale = np.maximum(c, 0.0) / F
        # A ridgeless member at its threshold has F = ∞ and s = 0; at v = ∞ any other scale than one is infinitely bad.
        scale = np.where(np.isinf(v) | (least >= F), 1.0, scale)
        return np.broadcast_to(scale[..., None] / moments.n_members, moments.pairs.shape[:-1]).copy()
