"""The saddle point of Prop. 2: a quadratic equation per member, solved so that no digit is lost.

Both functions take the sample ratio α, the subset fraction ν and the scaled ridge t = λν/a. They need the same square
root and combine it differently: each form is the one whose terms do not cancel.
"""

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.spec.errors import RidgeError


def bulk_overlap(alpha: FloatArray, nu: FloatArray, t: FloatArray) -> FloatArray:
    """σ = a S, the share of a member's bulk that is fitted: σ = 2α/(α + ν + t + √[(α-ν)² + 2t(α+ν) + t²]).

    It lies in [0, 1] for λ ≥ 0. No term cancels for λ → 0 on either side of the threshold, nor at α = 0 or ∞. For t < 0
    the root exists down to -(√α-√ν)².
    """
    with np.errstate(invalid="ignore", over="ignore"):
        radicand, lowest = _radicand(alpha, nu, t)
        if (t < lowest).any():
            raise RidgeError(
                "ridge is too negative: with subset fraction ν the regression has a solution only above "
                "-(a/ν)(√sample_ratio - √ν)², a = data_scale (1 - correlation) + feature_noise²; raise the ridge"
            )
        sigma = 2.0 * alpha / (alpha + nu + t + np.sqrt(radicand))
    return np.where(np.isinf(alpha), 1.0, np.where(np.isinf(t), 0.0, sigma))


def scaled_kappa(alpha: FloatArray, nu: FloatArray, t: FloatArray) -> FloatArray:
    """κν/a, where κ = λ + q: the larger root x of x² - (t + ν - α) x - αt = 0."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        h = t + (nu - alpha)
        # At the floor of a negative ridge the radicand is zero; rounding must not make it less.
        root = np.sqrt(np.maximum(_radicand(alpha, nu, t)[0], 0.0))
        x = np.where(h > 0, (h + root) / 2, 2 * alpha * t / (root - h))
    return np.where((h <= 0) & (t == 0), 0.0, x)


def _radicand(alpha: FloatArray, nu: FloatArray, t: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(α-ν)² + 2t(α+ν) + t² in factors, exact near its zero, where γ_rr = 1; and the t of that zero."""
    highest = (np.sqrt(alpha) + np.sqrt(nu)) ** 2
    lowest = -((alpha - nu) ** 2) / highest  # -(√α-√ν)²
    return (t + highest) * (t - lowest), lowest
