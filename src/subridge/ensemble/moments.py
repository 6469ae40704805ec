"""Second moments of members: all that a choice of weights needs to know."""

from dataclasses import dataclass

import numpy as np

from subridge.arrays.namespace import to_numpy
from subridge.arrays.types import Array, FloatArray


@dataclass(frozen=True, eq=False)
class MemberMoments:
    """Second moments of the members' errors, by theory or from left-out samples.

    `pairs`, shape (..., k, k), is ``E_rr′``, the mean product of two members' errors. From data it includes the label
    noise ζ².
    """

    pairs: FloatArray

    @classmethod
    def of_errors(cls, errors: Array, sample_weights: Array) -> "MemberMoments":
        """From left-out errors of shape (k, C, n), summed over targets."""
        return cls(error_products(errors, sample_weights))

    @property
    def n_members(self) -> int:
        """k."""
        return int(self.pairs.shape[-1])

    def risk_of(self, weights: FloatArray) -> FloatArray:
        """wᵀEw, shape (...); a member of infinite error and weight zero counts nothing."""
        products = weights[..., :, None] * weights[..., None, :]
        return np.asarray((products * np.where(products != 0, self.pairs, 0.0)).sum(axis=(-2, -1)))


def error_products(errors: Array, sample_weights: Array) -> FloatArray:
    """``Σ_i w_i e_ri e_r′i / Σ_i w_i`` from left-out errors, summed over targets: an estimate of ``E_rr′ + ζ²``.

    Errors ``y_i - f_r^(-i)(x_i)`` have shape (k, C, n), sample weights (n,). The products, shape (k, k), lie in host
    memory and include the label noise ζ², which no training data can take apart from the risk.
    """
    flat = (errors * sample_weights**0.5).reshape((errors.shape[0], -1))
    products = to_numpy(flat @ flat.T) / float(sample_weights.sum())
    return 0.5 * (products + products.T)
