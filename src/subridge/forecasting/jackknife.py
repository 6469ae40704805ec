"""How far a forecast would move with another pilot: a jackknife that refits nothing, and the intervals from it.

Leaving out row j turns the left-out error of row i into ``e_i - (R_ij/R_ii) e_j``, R = I - H, so that every delete-one
value of a quadratic form in the errors costs a few products with the factors at hand.

In high dimension the delete-one jackknife is too wide: it counts a part of the variance that is of degree m in the rows
m times (Efron & Stein 1981). Second differences D_jl measure the excess. For ordinary least squares with Gaussian noise
the jackknife variance V_J exceeds the truth by ``1 + V_2/V_J`` with ``V_2 = Σ_{j<l} D_jl²``, up to O(1/n). With a ridge
it exceeds it by a little less: on Gaussian data by the power .85 of that factor.
"""

from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from subridge.arrays.types import FloatArray
from subridge.forecasting.pilot import LeftOut
from subridge.forecasting.rule import RULE, TINY

_SIGNS = 800  # random signs for Σ D_jl²: its relative error is about the root of one over their number
_SKEWNESS_OF_SQUARES = 8**0.5  # of squared Gaussian errors


@dataclass(frozen=True, eq=False)
class Spread:
    """Spread over pilots of t estimates; each array of shape (t,)."""

    standard_error: FloatArray
    freedom: FloatArray  # degrees of freedom of the standard error
    excess: FloatArray  # skewness of a row's contribution beyond that of squared Gaussian errors, over √n

    @classmethod
    def of_influences(cls, influence: FloatArray, shrink: FloatArray, dimensions: FloatArray) -> "Spread":
        """From n times the change of t estimates when a row is left out, (t, n), and a factor of their variance (t,).

        Influences are like squared errors, whose variance is known badly from a small pilot: Student's quantile has the
        degrees of freedom of that variance, and no more than the residuals have dimensions (t,).
        """
        # Leaving out a row that errs much lowers the estimate, hence the sign.
        centred, n = influence.mean(axis=1, keepdims=True) - influence, influence.shape[1]
        # Times a power of two, so that no power of the largest leaves the floats.
        centred = np.ldexp(centred, -np.frexp(abs(centred).max(axis=1, keepdims=True))[1])
        squares = centred**2
        power, spread = squares.mean(axis=1), squares.var(axis=1)
        freedom = np.where(spread > 0, 2 * n * power**2 / np.where(spread > 0, spread, 1.0), n)
        skewness = (centred**3).mean(axis=1) / np.where(power > 0, power, np.inf) ** 1.5
        return cls(
            np.sqrt(influence.var(axis=1) / (n - 1) * shrink),
            np.minimum(np.maximum(freedom, 2.0), np.maximum(dimensions, 1.0)),
            np.maximum(skewness - _SKEWNESS_OF_SQUARES, 0.0) / np.sqrt(n),
        )

    def log_widths(self, error: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
        """Logarithms of the factors between an error and its lower and upper bound, each of shape (t,).

        Errors are positive and their estimates skewed, hence factors. A mean of numbers with heavy tails is more often
        too small than too large: Johnson's correction (1978) raises the upper bound.
        """
        relative = self.standard_error / np.where(error > 0, error, np.inf)
        quantile = student.ppf(0.5 + level / 2, self.freedom)
        return quantile * relative, (quantile + self.excess * (1 + 2 * quantile**2) / 6) * relative


def jackknife(left_out: LeftOut, weights: FloatArray, ratio: FloatArray, gains: FloatArray) -> Spread:
    """Spread of ``Σ_rr′ B_rr′ mean_i e_ri·e_r′i`` with ``B_rr′ = w_r w_r′ ratio_rr′``, for weights (t, k).

    `ratio` and `gains` = ``1/(1 - γ_rr′)`` have shape (t, k, k). Traces, and with them B, are held fixed: they move by
    O(1/n) when a row is left out, the form by O(1/√n).
    """
    errors = left_out.errors
    t, _, _, n = errors.shape
    form = weights[:, :, None] * weights[:, None, :] * np.where(np.isfinite(ratio), ratio, 0.0)
    influence, centred = influences(left_out, form, gains)
    diagonal = (errors * (4 * centred + 2 * _mix(form * gains, errors))).sum(axis=(1, 2))
    second, rng = np.zeros(t), np.random.default_rng(0)
    probes = -(-_SIGNS // n)
    for _ in range(probes):
        signs = rng.choice([-1.0, 1.0], n)
        image = _second_differences(left_out, form, centred, signs) - diagonal * signs
        second += (image**2).sum(axis=1) / (2 * probes)
    first = influence.var(axis=1) * n
    # Near a threshold second differences explode. Rows that err independently of each other are a floor.
    floor = (errors * _mix(form, errors)).sum(axis=(1, 2)).var(axis=1) * n / np.maximum(first, TINY)
    shrink = np.maximum((first / np.maximum(first + second, TINY)) ** RULE.jackknife_power, np.minimum(floor, 1.0))
    dimensions = n / np.maximum(np.einsum("tr,trs,ts->t", weights, gains, weights), TINY)  # n - M for least squares
    return Spread.of_influences(influence, shrink, dimensions)


def influences(left_out: LeftOut, form: FloatArray, gains: FloatArray) -> tuple[FloatArray, FloatArray]:
    """n times the change of the form when row j is left out, (t, n), and G of `_second_differences`, (t, k, C, n)."""
    errors = left_out.errors
    mixed, expected = _mix(form, errors), _mix(form * gains, errors)
    residuals = np.stack([left_out.relative_residuals(r, mixed[:, r]) for r in range(errors.shape[1])], axis=1)
    return (errors * (expected - 2 * residuals)).sum(axis=(1, 2)), residuals - expected


def _second_differences(left_out: LeftOut, form: FloatArray, centred: FloatArray, signs: FloatArray) -> FloatArray:
    """``Σ_l D_jl s_l`` for every j, with a diagonal that belongs to no difference; shape (t, n).

    ``D_jl = 2 Σ_r C_r,jl (e_rl G_rj + e_rj G_rl) + 2 Σ_rr′ B_rr′ e_rj e_r′l (C_r C_r′)_jl``, where C_r is R_r scaled to
    a unit diagonal and G_r the residual of B e that C_r e does not explain.
    """
    errors, k = left_out.errors, left_out.errors.shape[1]
    inner = np.stack([left_out.relative_residuals(r, errors[:, r] * signs) for r in range(k)], axis=1)
    image, mixed = (centred * inner).sum(axis=(1, 2)), _mix(form, inner)
    for r in range(k):
        image += (errors[:, r] * left_out.relative_residuals(r, centred[:, r] * signs + mixed[:, r])).sum(axis=1)
    return np.asarray(2 * image)


def _mix(form: FloatArray, errors: FloatArray) -> FloatArray:
    """``Σ_r′ B_rr′ e_r′``, shape (t, k, C, n)."""
    t, k, C, n = errors.shape
    return (form @ errors.reshape(t, k, C * n)).reshape(errors.shape)
