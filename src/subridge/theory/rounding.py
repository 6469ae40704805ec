"""What rounding may have done to a risk, computed beside the formulas and to first order.

The inputs of the formulas are known up to small errors: eigenvalues to a relative θ_i, loadings to a slip, sums to eps
times the size of their terms. Here these errors are carried through Prop. 1 and Prop. 2 to their last line,

    δE_rs = [δB_rs + δγ_rs (E_rs + ζ²)]/(1 - γ_rs),

and then become `Risk.error_bound`. A change of a member's residual by ε_r changes the bias by ε_r e_s + ε_s e_r, with
e² = B, and errors that are independent of the residual enter by their squares. Errors of different directions add up by
squares after an orthogonal transformation, else as if up to sixteen of them pointed the same way. The constants were
set once against ball arithmetic: the bound is calibrated, not proved.
"""

import warnings
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.model.aggregation import of_pairs, outer
from subridge.model.errors import AccuracyWarning, InfiniteRiskWarning
from subridge.theory.saddle_point import EPS
from subridge.theory.tables import MemberTable, PairTable

if TYPE_CHECKING:
    from subridge.theory.prop1 import Share
    from subridge.theory.prop2 import Bulk

_SAFETY = 2.0
_UNSURE = 0.05  # relative error of an eigenvalue that matters, above which first order says nothing
# Members with dropped directions, or an eigenvalue of larger relative error than this, err more than first order says.
_NEARLY_SINGULAR, _MORE = 1e-4, 100.0
_FACTORS = 12 * EPS  # of a product of a few factors, each a few roundings from exact
_READ = 1e-8  # relative error above which a caller is told


class MemberDoubt(NamedTuple):
    """Errors of one member at G points, shape (G,) each.

    Those of the bias are two, for its forms from what infinite data leave and from the whole signal.
    """

    gap: FloatArray  # of αM(1 - γ_rr)
    spread: FloatArray  # Σ|φψ|θ
    fitted: FloatArray  # Σφ²θ, of αMγ_rr
    moved: FloatArray  # root of what the error of κ̄ does to Σφ²
    turned: FloatArray  # change of the residual by the error of κ̄
    residual: FloatArray  # further change of the residual
    explained: FloatArray  # of c_r = Σφ_i a_i²
    roots: tuple[FloatArray, FloatArray]  # of the errors of the bias that are independent of the residual
    own: tuple[FloatArray, FloatArray]  # of B_rr


def member_doubt(
    member: MemberTable, pair: PairTable, share: "Share", alpha: FloatArray, reach: float, *, sees_all: bool
) -> MemberDoubt:
    """Errors of a member; `pair` is its table with itself, `reach` the size of the signal's terms.

    The sample ratio of a member that does not see all rows is a product, and rounded.
    """
    c, table, (phi, psi), kappa_bar = member.spectrum.counts, member.doubt, share.shares, share.kappa_bar
    theta, few, pull = table.theta, table.alignment, abs(share.pull)
    samples, spare = alpha * member.spectrum.n_features, member.spectrum.spare_samples(alpha)
    at_zero, negative = kappa_bar == 0, kappa_bar < 0
    mixed, free, squares = abs(phi * psi), psi**2, phi**2
    steep = np.maximum(1.0, abs(phi - psi)) if negative.any() else 1.0
    # share of the dropped directions fitted if each is as large as it may be
    lost = np.where(at_zero, 1.0, table.dropped_size / (abs(kappa_bar) + table.dropped_size))
    lost = table.dropped * np.where(np.isinf(kappa_bar), 0.0, lost)
    spread = mixed @ (c * theta) + lost
    fitted = squares @ (c * theta) + lost
    terms = np.minimum(samples, abs(psi) @ c + abs(spare) + pull) if sees_all else samples
    spare = spare if sees_all else samples
    kappa = np.where(at_zero | np.isinf(kappa_bar), 0.0, (spread + 4 * EPS * terms) / share.gap)
    gap = (mixed * steep) @ (c * theta) + lost + kappa * (pull + (mixed * steep) @ c) + 4 * EPS * (pull + mixed @ c)
    gap = np.where(at_zero, 2 * EPS * abs(spare) + lost, gap) if len(c) else np.zeros(len(alpha))
    noisy, loadings, solved = theta * member.squares, np.sqrt(member.squares), theta * table.solved**2
    second = float((c * theta).sum() * few**2 * solved.sum())
    mixing = few * np.sqrt((mixed * steep) @ noisy)
    hidden = np.sqrt(lost * pair.left_over)
    residual = np.sqrt(free @ table.slip**2) + np.sqrt(second) + np.sqrt(spread) * mixing
    residual = residual + few * (np.sqrt(fitted) * np.sqrt(squares @ solved) + 2 * np.sqrt(free @ (theta * noisy)))
    left = few * np.sqrt((free * steep) @ noisy) + np.sqrt(EPS) * table.size + hidden
    whole = few * np.sqrt((squares * steep) @ noisy) + np.sqrt(EPS) * reach + hidden
    # What small directions take from the dropped ones, which they cannot be told from.
    faint = (member.spectrum.values <= table.blurred) & (table.dropped > 0)
    blur = 4 * (abs(phi[:, faint]) @ np.sqrt(noisy[faint])) * np.sqrt(pair.left_over)
    either = blur + 2 * kappa * ((mixed * abs(psi)) @ member.squares)
    own_left = 2 * left**2 + 2 * few * np.sqrt((free * mixed * steep) @ noisy) * mixing + second + free @ table.slip**2
    own_left = own_left + 2 * (free @ (loadings * table.slip) + abs(psi) @ (loadings * table.drift)) + pair.slip
    # The residual of a fit still projects a little on the directions, which enters through the share fitted.
    own_left = own_left + 2 * mixed @ abs(pair.left_over_r) + either
    slipped = 2 * abs(phi) @ (loadings * table.slip)
    own_whole = 4 * EPS * reach**2 + 3 * whole**2 + either + slipped
    unsure = (np.max(abs(phi) * theta, axis=1, initial=0.0) > _UNSURE) | (negative & (lost > 0))
    # Directions that are off by θ meet the other member's whole signal, which for the member itself cancels.
    tilted = 2 * few * np.sqrt(squares @ (theta * noisy)) * reach
    more = _MORE if table.dropped or (theta > _NEARLY_SINGULAR).any() else 1.0
    explained = (abs(phi) * steep) @ (few**2 * noisy + 8 * EPS * member.squares) + kappa * (mixed @ member.squares)
    roots = left + np.sqrt(blur), np.sqrt((whole + np.sqrt(blur)) ** 2 + tilted + slipped)
    sharp = _MORE if (theta > _NEARLY_SINGULAR).any() else 1.0
    left, own_left = (np.where(unsure, np.inf, more * x) for x in (roots[0], own_left))
    whole, own_whole = (np.where(unsure, np.inf, sharp * x) for x in (roots[1], own_whole))
    # What infinite data leave may be the loadings of directions that are too small to be seen.
    unseen = np.where(at_zero, 0.0, pair.left_over * (table.dropped > 0))
    left, own_left = left + np.sqrt(unseen), own_left + unseen
    return MemberDoubt(
        gap,
        spread,
        fitted,
        kappa * np.sqrt(mixed**2 @ c),
        kappa * np.sqrt(mixed**2 @ member.squares),
        more * residual,
        2 * (explained + slipped + blur + lost * pair.left_over),
        (left, whole),
        (own_left, own_whole),
    )


def gap_doubt(
    same: bool, shares: tuple["Share", "Share"], doubts: tuple[MemberDoubt, MemberDoubt], gap: FloatArray
) -> FloatArray:
    """Error of αM(1 - γ_rs) of two members."""
    (R, S), (dR, dS) = shares, doubts
    found = dR.spread + dS.spread + dR.moved * np.sqrt(S.trace) + dS.moved * np.sqrt(R.trace)
    if same:
        return found + 0.5 * (dR.gap + dS.gap) + 4 * EPS * gap
    return np.asarray(found + 2 * np.sqrt(dR.fitted * dS.fitted) + 4 * EPS * (gap + 2 * np.sqrt(R.trace * S.trace)))


def bias_doubts(
    slip: float, residuals: tuple[FloatArray, FloatArray], doubts: tuple[MemberDoubt, MemberDoubt]
) -> tuple[FloatArray, FloatArray]:
    """Errors of B_rs of two members in its two forms, left over and whole; `residuals` are e_r and e_s."""
    (e_r, e_s), (dR, dS) = residuals, doubts
    (left_r, whole_r), (left_s, whole_s) = dR.roots, dS.roots
    turned = dR.turned * e_s + dS.turned * e_r
    left = slip + dR.residual * e_s + dS.residual * e_r + 2 * (left_r + left_s) ** 2
    return turned + left, turned + 2 * (whole_r**2 + whole_s**2 + whole_r * whole_s)


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
    # A gap that is uncertain by its own size may be closed: the risk is then anything.
    room = np.maximum(abs(gap) - dgap, 0.0)
    wrong = dbias + dgap * (abs(E) + z2) + 4 * EPS * (abs(bias) + noise)
    found = _SAFETY * np.where(wrong == 0, 0.0, wrong / room) + 2 * EPS * abs(E)
    return np.where(np.isinf(E), 0.0, np.where(np.isnan(found), np.inf, found))


def product_doubt(
    shares: list["Share"],
    doubts: list[MemberDoubt],
    per_sample: FloatArray,
    value: FloatArray,
    dvalue: FloatArray,
    gamma: FloatArray,
) -> FloatArray:
    """Error of F_rs = D_rs + γ_rs (E_rs + ζ²) of all pairs; `value` is E_rs + ζ², and `per_sample` is 1/(αM)."""
    rows = []
    for R, doubt in zip(shares, doubts, strict=True):
        root = np.sqrt(R.trace)
        of_trace = np.where(root > 0, (doubt.fitted / root + 2 * doubt.moved) / root, 0.0)
        of_mean = np.where(doubt.explained > 0, doubt.explained / abs(R.explained), 0.0)
        rows.append((root, of_trace, np.sqrt(R.power), of_mean))
    root, of_trace, mean, of_mean = np.transpose(rows, (1, 2, 0))
    found = 2 * (np.add(*of_pairs(of_mean)) + 4 * EPS) * outer(mean) + gamma * dvalue + 8 * EPS * abs(gamma * value)
    found = found + per_sample * outer(root) * np.add(*of_pairs(of_trace)) * abs(value)
    return np.where(np.isnan(found), np.inf, found)


def closed_form_doubt(found: "Bulk", E: FloatArray, size: FloatArray, gap: FloatArray, z2: FloatArray) -> FloatArray:
    """Error of E_rs = (bias + noise)/gap of Prop. 2, where `size` is the size of the terms of the numerator."""
    shaky = np.maximum(found.shaky[..., :, None], found.shaky[..., None, :])
    finite = np.where(np.isinf(E), 0.0, abs(E))
    error = _FACTORS * shaky * (size / np.where(gap > 0, gap, 1.0) + finite + z2)
    return np.where(np.isinf(E) | (size == 0), 0.0, error)


def closed_form_outputs_doubt(found: "Bulk", c: FloatArray, F: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Errors of c_r and F_rs of Prop. 2, in which no term is a difference."""
    rounding = 2 * _FACTORS * found.shaky
    return rounding * abs(c), np.maximum(rounding[..., :, None], rounding[..., None, :]) * abs(F)


def warn_if_infinite(errors: FloatArray, power: FloatArray | None = None) -> None:
    """Tell the caller of a public function that it met a threshold, or lost a share of a target of infinite power."""
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
