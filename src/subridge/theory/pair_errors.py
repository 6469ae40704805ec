"""The last line of both propositions: a pair's error from its bias B, its amplification γ and the noises.

    E_rr′ = (B_rr′ + γ_rr′ ζ² + δ_rr′ η_r²)/(1 - γ_rr′)

The propositions differ in B and γ. At the interpolation threshold of a ridgeless member γ reaches one.
"""

import warnings

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.spec.errors import InfiniteRiskWarning

# 1 - γ is a difference of numbers near one; below this it is rounding and the member is at its threshold.
_AT_THRESHOLD = 1e-12


def pair_errors(
    bias: FloatArray, gamma: FloatArray, eta: FloatArray, zeta: FloatArray, signal: FloatArray
) -> FloatArray:
    """E_rr′, shape (..., k, k), from bias B and γ of that shape and the readout noise η, shape (..., k).

    `zeta` and `signal`, shape (...), are the label noise ζ and the power of the signal, of which the bias is a part.
    """
    noise = gamma * zeta[..., None, None] ** 2 + np.eye(gamma.shape[-1]) * eta[..., :, None] ** 2
    return over_one_minus(bias, noise, gamma, signal[..., None, None])


def over_one_minus(bias: FloatArray, noise: FloatArray, gamma: FloatArray, scale: FloatArray) -> FloatArray:
    """``(bias + noise) / (1 - γ)``, infinite at the threshold unless there is nothing to amplify.

    With every noise absent and all features seen, the bias vanishes faster than 1 - γ and the limit is 0. The bias is a
    difference of terms of the signal's size `scale`, so that what is left of a perfect cancellation is rounding.
    """
    gap = 1.0 - gamma
    diverges = gap <= _AT_THRESHOLD
    silent = (np.abs(bias) <= 1e-12 * scale) & (noise == 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (bias + noise) / np.where(diverges, 1.0, gap)
    return np.where(diverges, np.where(silent, 0.0, np.inf), ratio)


def over_alpha(product: FloatArray, alpha: FloatArray) -> FloatArray:
    """γ = product/α; the product is of order α² at α = 0, where γ vanishes. Its shape includes that of α."""
    return np.divide(product, alpha, out=np.zeros_like(product), where=alpha > 0)


def warn_if_infinite(errors: FloatArray) -> None:
    """Tell the caller of a public function that it met a threshold."""
    if np.isinf(errors).any():
        warnings.warn(
            "the risk is infinite where a ridgeless member sits exactly at its interpolation threshold "
            "(sample_ratio equal to its subset fraction); give it a ridge, or move the sample ratio",
            InfiniteRiskWarning,
            stacklevel=3,
        )
