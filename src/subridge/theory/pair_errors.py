"""The last line of both propositions: a pair's error from its bias B, its amplification γ and the noises.

    E_rr′ = (B_rr′ + γ_rr′ ζ² + δ_rr′ η_r²)/(1 - γ_rr′)

Both propositions write it without subtractions of their own; here is what they and the reduced error share. At the
interpolation threshold of a ridgeless member γ reaches one.
"""

import warnings

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.model.errors import AccuracyWarning, InfiniteRiskWarning

# 1 - γ is a difference of numbers near one; below this it is rounding and the member is at its threshold.
_AT_THRESHOLD = 1e-12
_READ = 1e-8  # relative error from which on a caller is told


def over_one_minus(bias: FloatArray, noise: FloatArray, gamma: FloatArray, scale: FloatArray) -> FloatArray:
    """``(bias + noise) / (1 - γ)``, infinite at the threshold unless there is nothing to amplify.

    With every noise absent and all features seen, the bias vanishes faster than 1 - γ and the limit is 0. The bias is a
    sum of squares; below the square of rounding, in units of the signal's size `scale`, it is nothing.
    """
    gap = 1.0 - gamma
    diverges = gap <= _AT_THRESHOLD
    silent = (np.abs(bias) <= 1e-28 * scale) & (noise == 0)
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


def warn_if_uncertain(bound: FloatArray | None) -> None:
    """Tell the caller of a public function that rounding may have reached the digits people read."""
    if bound is not None and (bound > _READ).any():
        worst = float(bound.max())
        size = "by all of its digits" if np.isinf(worst) else f"by up to {worst:.1g} of itself"
        warnings.warn(
            f"rounding may have changed the risk {size} at {int((bound > _READ).sum())} of {bound.size} points (see "
            "error_bound); give it a larger ridge, move the sample ratio from the threshold, drop features that "
            "others explain, or recompute a point with subridge.precise_risk",
            AccuracyWarning,
            stacklevel=3,
        )
