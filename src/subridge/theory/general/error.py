"""Prop. 1: any covariance, any linear measurements, per-member ridge and readout noise, with a bound of its rounding.

The bias has two forms, from the whole signal and from what infinite data leave; at every point the one with the smaller
bound is taken. 1 - γ is found without subtraction where both members see the same features.
"""

from typing import NamedTuple

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.model.moments import Outputs
from subridge.theory.general.decomposition import EPS
from subridge.theory.general.grid import Grid
from subridge.theory.general.member_state import MemberState, member_state, shares
from subridge.theory.general.outputs import general_outputs
from subridge.theory.general.spectrum import effective_ridge
from subridge.theory.general.tables import Tables
from subridge.theory.pair_errors import over_alpha
from subridge.theory.solution import OrderParameters

# Entries of the temporary (grid × eigenvalues) arrays held at once, all members together: 64 MB.
_BLOCK = 8_000_000
_AT_THRESHOLD = 4 * EPS
_SAFETY = 2.0


class GridErrors(NamedTuple):
    """E_rr′ and the bound of their rounding, (G, k, k), what members explain, (G, k), and outputs if asked for."""

    pairs: FloatArray
    bounds: FloatArray
    explained: FloatArray
    outputs: Outputs | None


def general_errors(tables: Tables, grid: Grid, *, outputs: bool = False) -> GridErrors:
    """Eq. 9 (GeneralErr) on the grid; with `outputs` also the moments of the members' outputs by themselves."""
    step = max(1, _BLOCK // max(1, 8 * sum(len(spectrum.values) for spectrum in tables.spectra)))
    starts = range(0, max(1, len(grid.alpha)), step)
    parts = [_errors(tables, grid.part(slice(start, start + step)), outputs=outputs) for start in starts]
    if len(parts) == 1:
        return parts[0]
    together = None
    if outputs:
        together = Outputs(*map(np.concatenate, zip(*(p.outputs for p in parts if p.outputs), strict=True)))
    pairs, bounds, explained = (np.concatenate(field) for field in zip(*(part[:3] for part in parts), strict=True))
    return GridErrors(pairs, bounds, explained, together)


def general_order_parameters(tables: Tables, grid: Grid, *, throw: bool) -> OrderParameters:
    """Order parameters on the grid: per-member fields of shape (G, k), γ of shape (G, k, k)."""
    alpha, lam = grid.alpha, grid.lam
    k = tables.n_members
    roots = [effective_ridge(spectrum, alpha, lam[:, r], throw=throw) for r, spectrum in enumerate(tables.spectra)]
    kappa_bar = np.stack([root.kappa_bar for root in roots], axis=-1)
    with np.errstate(divide="ignore"):
        q_hat = 1.0 / kappa_bar
    q = np.stack([spectrum.overlap(q_hat[:, r]) for r, spectrum in enumerate(tables.spectra)], axis=-1)
    gamma = np.empty((len(alpha), k, k))
    phi = [shares(spectrum.values, kappa_bar[:, r])[0] for r, spectrum in enumerate(tables.spectra)]
    for (r, s), pair in tables.pairs.items():
        trace = phi[r] ** 2 @ tables.spectra[r].counts if r == s else np.sum((phi[r] @ pair.trace) * phi[s], axis=1)
        gamma[:, r, s] = gamma[:, s, r] = over_alpha(trace / tables.n_features, alpha)
    return OrderParameters(
        kappa=lam + q,
        q=q,
        q_hat=q_hat,
        S=None,
        gamma=gamma,
        status=np.stack([root.status for root in roots], axis=-1),
        residual=np.stack([root.residual for root in roots], axis=-1),
    )


def _errors(tables: Tables, grid: Grid, *, outputs: bool) -> GridErrors:
    G, k = grid.lam.shape
    alpha, z2 = grid.alpha, grid.zeta**2
    samples = alpha * tables.n_features
    states: list[MemberState] = []
    for r, member in enumerate(tables.members):
        kappa_bar = effective_ridge(member.spectrum, alpha, grid.lam[:, r]).kappa_bar
        left = tables.pairs[r, r].left_over
        states.append(member_state(member, left, tables.reach, alpha, grid.lam[:, r], kappa_bar))
    explained = [state.phi @ member.whole for state, member in zip(states, tables.members, strict=True)]
    own = [_own_bias(tables, states[r], r) for r in range(k)]
    pairs, bounds = np.empty((G, k, k)), np.empty((G, k, k))
    for r in range(k):
        for s in range(r, k):
            bias, dbias = own[r] if r == s else _cross_bias(tables, states, own, (r, s))
            gap, dgap, product = _gap(tables, states, (r, s), samples)
            noise = over_alpha(product / tables.n_features, alpha) * z2 + (grid.eta[:, r] ** 2 if r == s else 0.0)
            with np.errstate(divide="ignore", invalid="ignore"):
                one = np.where(alpha > 0, np.where(np.isinf(alpha), 1.0, gap / samples), 1.0)
                dgamma = np.where((alpha > 0) & np.isfinite(alpha), dgap / samples, 0.0)
                E = (bias + noise) / one
                # A gap that is uncertain by its own size may be closed: the risk is then anything.
                room = np.maximum(np.abs(one) - dgamma, 0.0)
                wrong = dbias + dgamma * (np.abs(E) + z2) + 4 * EPS * (np.abs(bias) + noise)
                dE = np.where(wrong == 0, 0.0, wrong / room)
            at = np.abs(one) <= _AT_THRESHOLD
            # With every noise absent and all features seen the bias vanishes faster than 1 - γ: the limit is 0.
            nothing = (bias == 0) & (noise == 0)
            pairs[:, r, s] = pairs[:, s, r] = np.where(at, np.where(nothing, 0.0, np.inf), E)
            bounds[:, r, s] = bounds[:, s, r] = np.where(at, 0.0, _SAFETY * dE + 2 * EPS * np.abs(E))
    for r, state in enumerate(states):
        bounds[:, r, :] = np.where(state.unsure[:, None], np.inf, bounds[:, r, :])
    known = general_outputs(tables, grid, states, pairs, bounds) if outputs else None
    return GridErrors(pairs, bounds, np.stack(explained, axis=-1), known)


def _gap(
    tables: Tables, states: list[MemberState], pair: tuple[int, int], samples: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """αM(1 - γ), its uncertainty, and αMγ."""
    r, s = pair
    R, S = states[r], states[s]
    if r == s:
        return R.gap, R.dgap, R.square
    product = np.sum((R.phi @ tables.pairs[pair].trace) * S.phi, axis=1)
    moved = R.dkappa * np.sqrt(R.moved * S.square) + S.dkappa * np.sqrt(S.moved * R.square)
    if tables.pairs[pair].same:
        gap = 0.5 * (R.gap + S.gap + (R.phi - S.phi) ** 2 @ tables.spectra[r].counts)
        return gap, R.spread + S.spread + moved + 0.5 * (R.dgap + S.dgap) + 4 * EPS * gap, product
    with np.errstate(invalid="ignore"):
        rounding = 4 * EPS * (samples + np.sqrt(R.square * S.square))
    return samples - product, R.spread + S.spread + moved + 2 * np.sqrt(R.spread2 * S.spread2) + rounding, product


def _own_bias(tables: Tables, state: MemberState, r: int) -> tuple[FloatArray, FloatArray]:
    """B_rr ≥ 0 by the form with the smaller bound, and that bound."""
    member, pair = tables.members[r], tables.pairs[r, r]
    left = pair.left_over + np.maximum(2 * state.psi @ pair.left_over_r + state.psi**2 @ member.fitted, 0.0)
    whole = tables.signal_power - (state.phi * (1 + state.psi)) @ member.whole
    dleft = 2 * state.left_noise**2 + state.own_noise + state.second + state.own_slip + state.slip**2 + state.blur
    # A fit is off by what its residual still projects on the directions: that enters once through the share fitted.
    dleft = dleft + 4 * EPS * left + pair.slip + 2 * np.abs(state.phi * state.psi) @ np.abs(pair.left_over_r)
    dwhole = 4 * EPS * tables.reach**2 + 3 * state.whole_noise**2 + state.blur
    use = dleft <= dwhole
    return np.where(use, left, np.maximum(whole, 0.0)), np.where(use, dleft, dwhole) + state.shift


def _cross_bias(
    tables: Tables, states: list[MemberState], own: list[tuple[FloatArray, FloatArray]], pair: tuple[int, int]
) -> tuple[FloatArray, FloatArray]:
    """B_rs of two members, and its bound."""
    r, s = pair
    R, S, table = states[r], states[s], tables.pairs[pair]
    e_r, e_s = np.sqrt(own[r][0]), np.sqrt(own[s][0])
    shift = R.dkappa * R.change * e_s + S.dkappa * S.change * e_r
    dleft = table.slip + (R.slip + np.sqrt(R.second) + R.cross_noise) * e_s
    dleft = dleft + (S.slip + np.sqrt(S.second) + S.cross_noise) * e_r + 2 * (R.left_noise + S.left_noise) ** 2
    dleft = dleft + R.blur + S.blur
    dwhole = 2 * (R.whole_noise**2 + S.whole_noise**2 + R.whole_noise * S.whole_noise) + R.blur + S.blur
    dwhole = dwhole + 4 * EPS * tables.reach**2
    use = dleft <= dwhole
    value = np.empty(len(use))
    if use.any():
        left, right = R.psi[use], S.psi[use]
        both = np.sum((left @ table.fitted) * right, axis=1)
        value[use] = table.left_over + left @ table.left_over_r + right @ table.left_over_s + both
    if not use.all():
        left, right = R.phi[~use], S.phi[~use]
        both = np.sum((left @ table.whole) * right, axis=1)
        explained = left @ tables.members[r].whole + right @ tables.members[s].whole
        value[~use] = tables.signal_power - explained + both
    return value, np.where(use, dleft, dwhole) + shift
