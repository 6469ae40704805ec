"""One member on the grid: its shares φ and ψ, the gap 1 - γ_rr, and first-order bounds of what rounding does to them.

An eigenvalue's relative uncertainty θ_i moves the effective ridge, the gap and the bias; sums over directions are by
squares after an orthogonal transformation, else as if up to sixteen errors pointed the same way. The constants
were set once against ball arithmetic; the bound is calibrated, not proved.
"""

from dataclasses import dataclass

import numpy as np

from subridge.arrays.types import BoolArray, FloatArray
from subridge.theory.general.decomposition import EPS
from subridge.theory.general.tables import MemberTable

_UNSURE = 0.05  # relative uncertainty of an eigenvalue that matters, from which on first order says nothing


@dataclass(frozen=True, eq=False)
class MemberState:
    """A member at G points. Shares have shape (G, n), all else (G,); what is named d… is an uncertainty.

    `gap` is αM(1 - γ_rr) and `square` αMγ_rr. `change` is |dB/dlog κ̄| of its residual; `whole_noise` and `left_noise`
    are the roots of what rounding adds to the bias by its two forms.
    """

    phi: FloatArray
    psi: FloatArray
    gap: FloatArray
    dgap: FloatArray
    dkappa: FloatArray  # relative, of κ̄
    square: FloatArray
    moved: FloatArray  # Σ(φψ)²
    change: FloatArray
    whole_noise: FloatArray
    left_noise: FloatArray
    own_noise: FloatArray
    cross_noise: FloatArray
    spread: FloatArray  # Σ|φψ|θ
    spread2: FloatArray  # Σφ²θ
    slip: FloatArray  # of the loadings
    own_slip: FloatArray
    shift: FloatArray
    blur: FloatArray
    dexplained: FloatArray  # of Σφa²
    second: float
    unsure: BoolArray


def member_state(
    member: MemberTable, left_over: float, reach: float, alpha: FloatArray, lam: FloatArray, kappa_bar: FloatArray
) -> MemberState:
    """The state at effective ridges κ̄, shape (G,); `left_over` is ρ_rr and `reach` the size of the signal's terms."""
    d, c, theta = member.spectrum.values, member.spectrum.counts, member.theta
    M, few = member.spectrum.n_features, member.alignment
    phi, psi = shares(d, kappa_bar)
    samples, spare = alpha * M, member.spectrum.spare_samples(alpha)
    with np.errstate(invalid="ignore", divide="ignore"):
        at_zero = kappa_bar == 0
        pull = np.where(at_zero | np.isinf(kappa_bar), 0.0, lam / np.where(at_zero, 1.0, kappa_bar) * M)
    mixed = phi * psi
    size = np.abs(mixed)
    lost = _lost(member, kappa_bar)
    spread = size @ (c * theta) + lost
    gap = np.where(at_zero, spare, pull + mixed @ c)
    gap = np.where(alpha == 0, 0.0, gap)
    if not len(d):  # a member that sees nothing fits nothing
        gap, kappa_bar, at_zero = samples, np.full(len(alpha), np.inf), np.zeros(len(alpha), dtype=bool)
    terms = np.minimum(samples, np.abs(psi) @ c + np.abs(spare) + np.abs(pull))
    with np.errstate(divide="ignore", invalid="ignore"):
        dkappa = np.where(at_zero | np.isinf(kappa_bar), 0.0, (spread + 4 * EPS * terms) / gap)
    steep = size * np.maximum(1.0, np.abs(phi - psi)) if (kappa_bar < 0).any() else size
    dgap = steep @ (c * theta) + lost + dkappa * (np.abs(pull) + steep @ c) + 4 * EPS * (np.abs(pull) + size @ c)
    with np.errstate(invalid="ignore"):
        dgap = np.where(at_zero, 2 * EPS * np.abs(spare) + lost, dgap if len(d) else 0.0)
    noisy, squares, loadings = theta * member.whole, phi**2, np.sqrt(member.whole)
    beyond = np.maximum(1.0, np.abs(phi)) if (kappa_bar < 0).any() else 1.0
    solved = theta * member.solved**2
    mixing = few * np.sqrt((size * beyond) @ noisy)
    hidden = np.sqrt(lost * left_over)
    free = psi**2
    doubtful = member.spectrum.values <= member.doubt.blurred
    blur = np.zeros(len(alpha))
    if member.doubt.number and doubtful.any():
        blur = 4 * (np.abs(phi[:, doubtful]) @ np.sqrt(noisy[doubtful])) * np.sqrt(left_over)
    dexplained = few**2 * ((np.abs(phi) * beyond) @ noisy) + 2 * np.abs(phi) @ (loadings * member.slip)
    dexplained = dexplained + dkappa * (size @ member.whole) + 8 * EPS * (np.abs(phi) @ member.whole)
    return MemberState(
        phi=phi,
        psi=psi,
        gap=gap,
        dgap=dgap,
        dkappa=dkappa,
        square=squares @ c,
        moved=mixed**2 @ c,
        change=np.sqrt(mixed**2 @ member.whole),
        whole_noise=few * np.sqrt((squares * beyond) @ noisy) + np.sqrt(EPS) * reach + hidden,
        left_noise=few * np.sqrt((free * beyond) @ noisy) + np.sqrt(EPS) * member.size + hidden,
        own_noise=2 * few * np.sqrt((free * size * beyond) @ noisy) * mixing,
        cross_noise=np.sqrt(spread) * mixing + np.sqrt(squares @ (c * theta) + lost) * few * np.sqrt(squares @ solved),
        spread=spread,
        spread2=squares @ (c * theta) + lost,
        slip=np.sqrt(free @ member.slip**2),
        own_slip=2 * (free @ (loadings * member.slip) + np.abs(psi) @ (loadings * member.drift)),
        shift=2 * dkappa * ((size * np.abs(psi)) @ member.whole),
        blur=blur,
        dexplained=2 * (dexplained + blur + hidden**2),
        second=float((c * theta).sum() * few**2 * solved.sum()),
        unsure=(np.max(np.abs(phi) * theta, axis=1, initial=0.0) > _UNSURE) | ((kappa_bar < 0) & (lost > 0)),
    )


def shares(d: FloatArray, kappa_bar: FloatArray) -> tuple[FloatArray, FloatArray]:
    """φ and ψ, shape (G, n) each."""
    column = kappa_bar[:, None]
    infinite = np.isinf(kappa_bar)
    with np.errstate(invalid="ignore"):
        R = 1.0 / (column + d)
        phi, psi = d * R, column * R
    if infinite.any():
        psi = np.where(infinite[:, None], 1.0, psi)
    return phi, psi


def _lost(member: MemberTable, kappa_bar: FloatArray) -> FloatArray:
    """Share of the doubtful directions that would be fitted if each were as large as it may be."""
    doubt = member.doubt
    if not doubt.number:
        return np.zeros(len(kappa_bar))
    with np.errstate(invalid="ignore"):
        share = np.where(kappa_bar == 0, 1.0, doubt.size / (np.abs(kappa_bar) + doubt.size))
    return np.asarray(doubt.number * np.where(np.isinf(kappa_bar), 0.0, share))
