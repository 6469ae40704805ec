"""The stage that says how far a forecast would move with another pilot: a jackknife that refits nothing.

Leaving out row j turns the leave-one-out error of row i into ``e_i - (R_ij/R_ii) e_j``, R = I - H, so that every
delete-one value of a quadratic form in the errors costs a few products with the factors at hand.

In high dimension the delete-one jackknife is too wide: its expectation counts a part of the variance that is of degree
m in the rows m times (Efron & Stein 1981), and here higher degrees are not small. Second differences D_jl measure the
excess. For ordinary least squares with Gaussian noise the jackknife variance V_J exceeds the truth by the factor
``1 + V_2/V_J`` with ``V_2 = Σ_{j<l} D_jl²``, up to O(1/n): with κ = M/n it is 1/(1 - κ), and V_2/V_J = κ/(1 - κ).
Members that have a ridge exceed it by a little less, on Gaussian data by the power .85 of that quotient, which is what
is used throughout; docs/forecasting.md has the coverage that was measured.
"""

from dataclasses import replace

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.forecasting.pilot.left_out import LeftOut
from subridge.forecasting.transfer.transfer import Transfer
from subridge.forecasting.uncertainty.spread import Spread

# Random signs to estimate Σ D_jl²: its relative error is about the root of one over their number.
_LEAST_SIGNS = 800
_EXPONENT = 0.85
_TINY = float(np.finfo(np.float64).tiny)


def transfer_spread(left_out: LeftOut, moved: Transfer) -> Spread:
    """Spread of a transferred error over pilots."""
    variance, weights = moved.variance, moved.weights
    ratio = np.where(np.isfinite(variance.error_ratio), variance.error_ratio, 0.0)
    form = weights[:, :, None] * weights[:, None, :] * ratio
    return replace(
        jackknife(left_out, form, 1 / (1 - variance.gamma_pilot), moved.allowance, variance.steadiness),
        freedom=_residual_freedom(left_out, weights),
    )


def _residual_freedom(left_out: LeftOut, weights: FloatArray) -> FloatArray:
    """``1/Σ_rr′ w_r w_r′ tr(R_r R_r′)/(tr R_r tr R_r′)``: dimensions of the residuals, at least one; shape (t,).

    For ordinary least squares it is n - M.
    """
    traces = left_out.diagonals.sum(axis=2)
    share = weights / np.maximum(traces, _TINY)
    return np.asarray(
        np.maximum(1 / np.maximum(np.einsum("tr,trs,ts->t", share, left_out.pair_traces, share), _TINY), 1.0)
    )


def jackknife(
    left_out: LeftOut, form: FloatArray, gains: FloatArray, allowance: FloatArray, steadiness: FloatArray
) -> Spread:
    """Jackknife of ``Σ_rr′ B_rr′ mean_i e_ri·e_r′i`` with the symmetric form B, shape (t, k, k).

    `gains` are ``1/(1 - γ_rr′)``, the mean over j of Σ_i R_r,ij R_r′,ij/(R_r,ii R_r′,ii). Traces, and with them B, are
    held fixed: they move by O(1/n) when a row goes, the form by O(1/√n). `allowance` (t,) is the standard error to add
    for that, `steadiness` (t,) that of the split of variance.
    """
    errors = left_out.errors
    t, k, _, n = errors.shape
    mixed = _mix(form, errors)
    expected = _mix(form * gains, errors)
    influence = (errors * expected).sum(axis=(1, 2))
    centred = np.empty_like(errors)
    for r in range(k):
        centred[:, r] = left_out.relative_residuals(r, mixed[:, r])
    influence -= 2 * (errors * centred).sum(axis=(1, 2))
    centred -= expected
    diagonal = 4 * (errors * centred).sum(axis=(1, 2)) + 2 * (errors * expected).sum(axis=(1, 2))
    second = np.zeros(t)
    rng = np.random.default_rng(0)
    probes = -(-_LEAST_SIGNS // n)
    for _ in range(probes):
        signs = rng.choice([-1.0, 1.0], n)
        image = _second_differences(left_out, form, centred, signs) - diagonal * signs
        second += (image**2).sum(axis=1) / (2 * probes)
    first = influence.var(axis=1) * n
    # Where a few rows dominate, or close to a threshold, second differences explode. Rows that err independently of
    # each other are a floor: at half, because errors that are bias and not noise fluctuate less, and whole where a few
    # rows dominate, whose errors are their own.
    floor = (1 - 0.5 * steadiness) * (errors * mixed).sum(axis=(1, 2)).var(axis=1) * n / np.maximum(first, _TINY)
    shrink = np.maximum((first / np.maximum(first + second, _TINY)) ** _EXPONENT, np.minimum(floor, 1.0))
    return Spread(influence, shrink, allowance, np.full(t, float(n)))


def _second_differences(left_out: LeftOut, form: FloatArray, centred: FloatArray, signs: FloatArray) -> FloatArray:
    """``Σ_l D_jl s_l`` for every j, with a diagonal that belongs to no difference; shape (t, n).

    ``D_jl = 2 Σ_r C_r,jl (e_rl G_rj + e_rj G_rl) + 2 Σ_rr′ B_rr′ e_rj e_r′l (C_r C_r′)_jl``, where C_r is R_r scaled to
    a unit diagonal and G_r the residual of B e that C_r e does not explain.
    """
    errors, k = left_out.errors, left_out.pilot.n_members
    inner = np.stack([left_out.relative_residuals(r, errors[:, r] * signs) for r in range(k)], axis=1)
    image = (centred * inner).sum(axis=(1, 2))
    mixed = _mix(form, inner)
    for r in range(k):
        image += (errors[:, r] * left_out.relative_residuals(r, centred[:, r] * signs + mixed[:, r])).sum(axis=1)
    return np.asarray(2 * image)


def _mix(form: FloatArray, errors: FloatArray) -> FloatArray:
    """``Σ_r′ B_rr′ e_r′``, shape (t, k, C, n)."""
    t, k, C, n = errors.shape
    return (form @ errors.reshape(t, k, C * n)).reshape(errors.shape)
