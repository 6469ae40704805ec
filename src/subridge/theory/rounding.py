"""Bounds of the rounding error of a risk, computed beside the formulas and to first order.

The inputs of the formulas are known up to small errors: eigenvalues to a relative θ_i, loadings to a slip, sums to eps
times the size of their terms. Here these errors are propagated through Prop. 1 and Prop. 2 to their last line,

    δE_rs = [δB_rs + δγ_rs (E_rs + ζ²)]/(1 - γ_rs),

and then become `Risk.error_bound`. A change of a member's residual by ε_r changes the bias by ε_r e_s + ε_s e_r, with
e² = B, and errors that are independent of the residual enter by their squares. After an orthogonal
transformation the errors of different directions are added in squares; otherwise up to sixteen are added as they are.
The constants are fitted to ball arithmetic: the bound is calibrated, not proved.
"""

import warnings
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from subridge.arrays.types import BoolArray, FloatArray
from subridge.model.aggregation import of_pairs, outer
from subridge.model.errors import AccuracyWarning, InfiniteRiskWarning
from subridge.theory.saddle_point import EPS, TwoArrays
from subridge.theory.tables import MemberTable, PairTable

if TYPE_CHECKING:
    from subridge.theory.prop1 import Share
    from subridge.theory.prop2 import Bulk

_SAFETY = 2.0
_UNSURE = 0.05  # relative error of an eigenvalue that matters, above which first order is useless
# With dropped directions, or an eigenvalue of larger relative error than this, errors exceed their first order.
_NEARLY_SINGULAR, _MORE = 1e-4, 100.0
_FACTORS = 12 * EPS  # of a product of a few factors, each a few roundings from exact
_WARNED = 1e-8  # relative error above which a caller is warned


class MemberDoubt(NamedTuple):
    """Errors of members at G points, shape (G,) of one member and (G, k) of all.

    `roots` and `own` have a first axis for the two forms of the bias: what infinite data leave, and the whole signal.
    """

    gap: FloatArray  # of αM(1 - γ_rr)
    spread: FloatArray  # Σ|φψ|θ
    fitted: FloatArray  # Σφ²θ, of αMγ_rr
    moved: FloatArray  # norm of the change of φ by the error of κ̄
    turned: FloatArray  # change of the residual by the error of κ̄
    residual: FloatArray  # other errors of the residual
    explained: FloatArray  # of c_r = Σφ_i a_i²
    roots: FloatArray  # of the errors of the bias that are independent of the residual
    own: FloatArray  # of B_rr


def member_doubt(
    member: MemberTable, pair: PairTable, share: "Share", alpha: FloatArray, reach: float, *, sees_all: bool
) -> MemberDoubt:
    """Errors of a member; `pair` is its table with itself, `reach` is that of `Tables`.

    Unless a member `sees_all` rows, its sample ratio is a product, which is rounded.
    """
    table = member.doubt
    theta = table.theta
    c = member.spectrum.counts
    kappa_bar = share.kappa_bar
    at_zero = kappa_bar == 0
    negative = kappa_bar < 0
    pull = abs(share.pull)
    phi = share.phi
    psi = share.psi
    mixed = abs(phi * psi)
    free = psi**2
    squares = phi**2
    steep = np.maximum(1.0, abs(phi - psi)) if negative.any() else 1.0
    sliding = mixed * steep
    # share of the dropped directions fitted if each is as large as it may be
    is_unsure = table.dropped * table.dropped_size > 0
    lost = np.where(at_zero, is_unsure, table.dropped_size / (abs(kappa_bar) + table.dropped_size))
    lost = table.dropped * np.where(np.isinf(kappa_bar), 0.0, lost)
    off = c * theta
    spread = mixed @ off + lost
    fitted = squares @ off + lost
    samples = alpha * member.spectrum.n_features
    spare = abs(member.spectrum.spare_samples(alpha)) if sees_all else samples
    terms = np.minimum(samples, abs(psi) @ c + spare + pull)
    kappa = np.where(at_zero | np.isinf(kappa_bar), 0.0, (spread + 4 * EPS * terms) / share.gap)
    gap = sliding @ off + lost + kappa * (pull + sliding @ c) + 4 * EPS * (pull + mixed @ c)
    gap = np.where(at_zero, 2 * EPS * spare + lost, gap)
    loads = member.squares
    noisy = theta * loads
    noisier = theta * noisy
    solved = theta * table.solved**2
    few = table.alignment

    def added(weights: FloatArray) -> FloatArray:
        return few * np.sqrt(weights @ noisy)

    second = float(off.sum() * few**2 * solved.sum())
    mixing = added(sliding)
    slips = free @ table.slip**2
    residual = np.sqrt(slips) + np.sqrt(second) + np.sqrt(spread) * mixing
    residual = residual + few * (np.sqrt(fitted) * np.sqrt(squares @ solved) + 2 * np.sqrt(free @ noisier))
    hidden = np.sqrt(lost * pair.left_over)
    # What dropped directions leave, unless there are samples for them too.
    faint = table.faint * is_unsure * (1 - at_zero * (samples >= c.sum() + table.dropped))
    left = added(free * steep) + np.sqrt(EPS) * table.size + hidden + np.sqrt(faint)
    whole = added(squares * steep) + np.sqrt(EPS) * reach + hidden
    # Small directions mix with dropped ones.
    small = (member.spectrum.values <= table.blurred) & (table.dropped > 0)
    blur = 4 * (abs(phi[:, small]) @ np.sqrt(noisy[small])) * np.sqrt(pair.left_over)
    either = blur + 2 * kappa * ((mixed * abs(psi)) @ loads)
    own_left = 2 * left**2 + 2 * added(free * sliding) * mixing + second + slips + pair.slip + either
    slipping = np.sqrt(loads) * table.slip
    own_left = own_left + 2 * (free @ slipping + abs(psi) @ (np.sqrt(loads) * table.drift))
    # The residual of a fit has a small projection on the directions, which enters by the share fitted.
    own_left = own_left + 2 * mixed @ abs(pair.left_over_r)
    slipped = 2 * abs(phi) @ slipping
    own_whole = 4 * EPS * reach**2 + 3 * whole**2 + either + slipped
    # Errors θ of directions act on the whole signal of another member; for the member itself they cancel.
    tilted = 2 * few * np.sqrt(squares @ noisier) * reach
    left = left + np.sqrt(blur)
    whole = np.sqrt((whole + np.sqrt(blur)) ** 2 + tilted + slipped)
    explained = (abs(phi) * steep) @ (few**2 * noisy + 8 * EPS * loads) + kappa * (mixed @ loads)
    explained = explained + slipped + blur + lost * pair.left_over
    sharp = _MORE if (theta > _NEARLY_SINGULAR).any() else 1.0
    more = _MORE if table.dropped else sharp
    unsure = ((abs(phi) * theta).max(axis=1, initial=0.0) > _UNSURE) | (negative & (lost > 0))
    unknown = np.where(unsure, np.inf, 0.0)
    # What infinite data leave may belong to dropped directions.
    unseen = np.where(at_zero, 0.0, pair.left_over * is_unsure)
    return MemberDoubt(
        gap,
        spread,
        fitted,
        kappa * np.sqrt(mixed**2 @ c),
        kappa * np.sqrt(mixed**2 @ loads),
        more * residual,
        2 * explained,
        np.array([more * left + np.sqrt(unseen) + unknown, sharp * whole + unknown]),
        np.array([more * own_left + unseen + unknown, sharp * own_whole + unknown]),
    )


def _crossed(x: FloatArray, y: FloatArray) -> FloatArray:
    """x_r y_s + x_s y_r of every pair of members."""
    product = x[..., None] * y[..., None, :]
    return product + product.mT


def gap_doubt(same: BoolArray, gap: FloatArray, trace: FloatArray, doubt: MemberDoubt) -> FloatArray:
    """Error of αM(1 - γ_rs) of all pairs, (G, k, k), from αMγ_rr, (G, k); `same`, (k, k), marks equal features.

    For members with other features the errors of their directions are added.
    """
    root = np.sqrt(trace)
    found = np.add(*of_pairs(doubt.spread)) + _crossed(doubt.moved, root) + 4 * EPS * gap
    alike = np.add(*of_pairs(doubt.gap)) / 2
    apart = 2 * np.sqrt(outer(doubt.fitted)) + 8 * EPS * outer(root)
    return np.where(np.eye(len(same), dtype=bool), doubt.gap[..., None], found + np.where(same, alike, apart))


def bias_doubts(slip: FloatArray, residuals: FloatArray, doubt: MemberDoubt) -> FloatArray:
    """Errors of B_rs of all pairs in its two forms, left over and whole, (2, G, k, k); `residuals` are e_r, (G, k)."""
    (left_r, whole_r), (left_s, whole_s) = of_pairs(doubt.roots)
    turned = _crossed(doubt.turned, residuals)
    left = slip + _crossed(doubt.residual, residuals) + 2 * (left_r + left_s) ** 2
    whole = 2 * (whole_r**2 + whole_s**2 + whole_r * whole_s)
    return np.where(np.eye(len(slip), dtype=bool), doubt.own[..., None], [turned + left, turned + whole])


def pair_doubt(
    E: FloatArray,
    bias: FloatArray,
    noise: FloatArray,
    gap: FloatArray,
    dbias: FloatArray,
    dgap: FloatArray,
    z2: FloatArray,
) -> FloatArray:
    """Error of E_rs = (bias + noise)/gap, where gap is 1 - γ; z2 is ζ²."""
    # If the error of the gap is as large as the gap, 1 - γ may be zero and the risk has no bound.
    room = np.maximum(abs(gap) - dgap, 0.0)
    wrong = dbias + dgap * (abs(E) + z2) + 4 * EPS * (abs(bias) + noise)
    found = _SAFETY * np.where(wrong == 0, 0.0, wrong / room) + 2 * EPS * abs(E)
    return np.where(np.isinf(E), 0.0, np.where(np.isnan(found), np.inf, found))


def product_doubt(
    D: FloatArray,
    explained: FloatArray,
    trace: FloatArray,
    doubt: MemberDoubt,
    per_sample: FloatArray,
    gamma: FloatArray,
    value: FloatArray,
    dvalue: FloatArray,
) -> FloatArray:
    """Error of F_rs = D_rs + γ_rs (E_rs + ζ²) of all pairs; `value` is E_rs + ζ², and `per_sample` is 1/(αM).

    `explained` and `trace` are c_r and αMγ_rr, shape (G, k).
    """
    root = np.sqrt(trace)
    mean = np.sqrt(np.linalg.diagonal(D))
    of_trace = np.where(root > 0, (doubt.fitted / root + 2 * doubt.moved) / root, 0.0)
    of_mean = np.where(doubt.explained > 0, doubt.explained / abs(explained), 0.0)
    found = 2 * (np.add(*of_pairs(of_mean)) + 4 * EPS) * outer(mean) + gamma * dvalue + 8 * EPS * abs(gamma * value)
    found = found + per_sample * outer(root) * np.add(*of_pairs(of_trace)) * abs(value)
    return np.where(np.isnan(found), np.inf, found)


def closed_form_doubt(found: "Bulk", E: FloatArray, size: FloatArray, gap: FloatArray, z2: FloatArray) -> FloatArray:
    """Error of E_rs = (bias + noise)/gap of Prop. 2, where `size` is the size of the terms of the numerator."""
    shaky = np.maximum(*of_pairs(found.shaky))
    finite = np.where(np.isinf(E), 0.0, abs(E))
    error = _FACTORS * shaky * (size / np.where(gap > 0, gap, 1.0) + finite + z2)
    return np.where(np.isinf(E) | (size == 0), 0.0, error)


def closed_form_outputs_doubt(found: "Bulk", c: FloatArray, F: FloatArray) -> TwoArrays:
    """Errors of c_r and F_rs of Prop. 2, in which no term is a difference."""
    rounding = 2 * _FACTORS * found.shaky
    return rounding * abs(c), np.maximum(*of_pairs(rounding)) * abs(F)


def warn_if_infinite(errors: FloatArray, power: FloatArray | None = None) -> None:
    """Warn the caller of a public function of a threshold, or of failing features and a target of infinite power."""
    if np.isinf(errors).any():
        lost = power is not None and np.isinf(power).any()
        warnings.warn(
            "the risk is infinite where features fail and an aligned target has infinite power, with correlated "
            "features in the limit M → ∞; give n_features"
            if lost
            else "the risk is infinite where a ridgeless member sits exactly at its interpolation threshold "
            "(sample_ratio equal to its subset fraction); give it a ridge, or move the sample ratio",
            InfiniteRiskWarning,
            stacklevel=3,
        )


def warn_if_uncertain(bound: FloatArray) -> None:
    """Warn the caller of a public function of a relative rounding error above 1e-8."""
    if (bound > _WARNED).any():
        worst = bound.max()
        size = "by all of its digits" if np.isinf(worst) else f"by up to {worst:.1g} of itself"
        warnings.warn(
            f"rounding may have changed the risk {size} at {(bound > _WARNED).sum()} of {bound.size} points (see "
            "error_bound); give it a larger ridge, move the sample ratio from the threshold, drop features that "
            "others explain, or recompute a point with subridge.precise_risk",
            AccuracyWarning,
            stacklevel=3,
        )
