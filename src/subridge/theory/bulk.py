"""The saddle point of Prop. 2 in the form that keeps its digits: σ_r = a S_r in [0, 1] for λ ≥ 0."""

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.spec.errors import RidgeError


def bulk_overlap(alpha: FloatArray, nu: FloatArray, t: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return σ and σ/α for sample ratio α, subset fraction ν and scaled ridge t = λν/a.

    σ = 2α/(B + √[(α-ν)² + 2t(α+ν) + t²]), B = α + ν + t. No term cancels for λ → 0 on either side of the threshold,
    nor at α = 0 or ∞; the second value stays finite at α = 0. For t < 0 the root exists down to -(√α-√ν)².
    """
    with np.errstate(invalid="ignore", over="ignore"):
        # Factored radicand: exact at its zero, where γ_rr = 1.
        radicand = (t + (np.sqrt(alpha) + np.sqrt(nu)) ** 2) * (t + (np.sqrt(alpha) - np.sqrt(nu)) ** 2)
        lowest = -((np.sqrt(alpha) - np.sqrt(nu)) ** 2)
        if (t < lowest).any():
            raise RidgeError(
                "ridge is too negative: with subset fraction ν the regression has a solution only above "
                "-(a/ν)(√sample_ratio - √ν)², a = data_scale (1 - correlation) + feature_noise²; raise the ridge"
            )
        per_alpha = 2.0 / (alpha + nu + t + np.sqrt(radicand))
    infinite = np.isinf(alpha)
    per_alpha = np.where(infinite | np.isinf(t), 0.0, per_alpha)
    sigma = np.where(infinite, 1.0, np.where(infinite, 0.0, alpha) * per_alpha)
    return sigma, per_alpha
