"""The saddle point of Prop. 2: a quadratic equation per member, solved so that no digit is lost.

With the sample ratio α, the subset fraction ν and the scaled ridge t = λν/a, the share σ of a member's bulk that is
fitted solves νσ² - Bσ + α = 0, B = α + ν + t. Its square root is written as a product, and 1 - σ and 1 - γ are found
from it without a subtraction of nearly equal numbers.
"""

from typing import NamedTuple

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.model.errors import RidgeError

EPS = float(np.finfo(np.float64).eps)
_INFINITE_DATA = 1e300  # from here on B + root would overflow, and 1/α is nothing


class Bulk(NamedTuple):
    """What a member fits of its bulk: all of one shape.

    `sigma` is σ in [0, 1] for λ ≥ 0, `per_alpha` σ/α, `free` 1 - σ and `gap` 1 - γ_rr. `shaky` is the factor by which
    rounding is amplified near the floor of a negative ridge, one elsewhere.
    """

    sigma: FloatArray
    per_alpha: FloatArray
    free: FloatArray
    gap: FloatArray
    shaky: FloatArray


def bulk(alpha: FloatArray, nu: FloatArray, t: FloatArray) -> Bulk:
    """Solve the quadratic; t = inf is a member without a bulk. For t < 0 the root exists down to -(√α-√ν)²."""
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        sum_of_roots = np.sqrt(alpha) + np.sqrt(nu)
        apart = (alpha - nu) / sum_of_roots  # √α - √ν, exact where the two are close
        idle = np.isinf(t)
        far = alpha >= _INFINITE_DATA
        near = np.where(far, np.inf, t + apart * apart)
        if (near < -8 * EPS * np.abs(t)).any():
            raise RidgeError(
                "ridge is too negative: with subset fraction ν the regression has a solution only above "
                "-(a/ν)(√sample_ratio - √ν)², a = data_scale (1 - correlation) + feature_noise²; raise the ridge"
            )
        near = np.maximum(near, 0.0)
        root = np.sqrt(t + sum_of_roots * sum_of_roots) * np.sqrt(near)
        B, ahead = alpha + nu + t, alpha - nu - t
        per_alpha = np.where(far | idle, 0.0, 2.0 / (B + root))
        free = np.where(ahead > 0, 4 * t * (alpha / (root + ahead)) / (B + root), (root - ahead) / (B + root))
        shaky = np.where(t < 0, (np.abs(t) + apart * apart) / np.where(near > 0, near, 1.0), 1.0)
        gap = np.where(far | idle, 1.0, root * per_alpha)
        gap = np.where((t == 0) & (np.abs(alpha - nu) <= 4 * EPS * nu), 0.0, gap)  # α and ν are rounded themselves
    fitted = np.where(far, 0.0, alpha) * per_alpha
    return Bulk(
        np.where(idle, 0.0, np.where(far, 1.0, fitted)),
        per_alpha,
        np.where(idle, 1.0, np.where(far, 0.0, free)),
        gap,
        np.where(far | idle, 1.0, shaky),
    )


def bulk_overlap(alpha: FloatArray, nu: FloatArray, t: FloatArray) -> FloatArray:
    """σ = a S, the share of a member's bulk that is fitted: σ = 2α/(α + ν + t + √[(α-ν)² + 2t(α+ν) + t²])."""
    return bulk(alpha, nu, t).sigma
