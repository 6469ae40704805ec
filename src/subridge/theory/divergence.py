"""Division by 1 - γ where γ may reach one: the interpolation threshold."""

import warnings

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.spec.errors import InfiniteRiskWarning

# 1 - γ is a difference of numbers near one; below this it is rounding and the member is at its threshold.
_AT_THRESHOLD = 1e-12


def over_one_minus(bias: FloatArray, noise: FloatArray, gamma: FloatArray, scale: FloatArray) -> FloatArray:
    """``(bias + noise) / (1 - γ)``, infinite at the threshold unless there is nothing to amplify.

    With every noise absent and all features seen, the bias vanishes faster than 1 - γ and the limit is 0. The bias is a
    difference of terms of the signal's size `scale`, so that what is left of a perfect cancellation is rounding.
    """
    gap = 1.0 - gamma
    diverges = gap <= _AT_THRESHOLD
    silent = (np.abs(bias) <= 1e-12 * scale) & (noise == 0)
    numerator = bias + noise
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(diverges, np.where(silent, 0.0, np.inf), numerator / np.where(diverges, 1.0, gap))
    if (diverges & ~silent).any():
        warnings.warn(
            "the risk is infinite where a ridgeless member sits exactly at its interpolation threshold "
            "(sample_ratio equal to its subset fraction); give it a ridge, or move the sample ratio",
            InfiniteRiskWarning,
            stacklevel=4,
        )
    return np.asarray(ratio)
