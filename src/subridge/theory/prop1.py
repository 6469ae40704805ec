"""Proposition 1: the error of any ensemble on data of any covariance.

    E_rs = (B_rs + γ_rs ζ² + δ_rs η_r²)/(1 - γ_rs)        eq. 9 (GeneralErr)

A member that sees a fraction f_r of the rows has the sample ratio f_r α, and two members learn noise in common from the
rows f_rs that they share: γ_rs has the factor f_rs/(f_r f_s), which is one where all see all.

The order parameters solve eq. 10 (saddle_point), see `saddle_point`. Here γ_rs and the two forms of the bias B_rs are
written in coefficients of `tables`, which depend neither on the ridge nor on the sample ratio. `rounding` says at every
point which form of the bias is better known, and how well.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from subridge.arrays.types import BoolArray, FloatArray
from subridge.model.aggregation import MemberMoments, Outputs, quotient
from subridge.model.ensemble import SubsetPlan
from subridge.model.errors import CovarianceError, SubsetError, counted
from subridge.model.problem import Problem
from subridge.theory import rounding
from subridge.theory.dense import dense_tables
from subridge.theory.grid import GeneralGrid, reciprocal, row_factors
from subridge.theory.saddle_point import EPS, OrderParameters, effective_ridge
from subridge.theory.tables import MemberTable, Tables, diagonal_tables, spiked_tables

# Entries of the temporary (grid × eigenvalues) arrays held at once, all members together: 64 MB.
_BLOCK = 8_000_000
_AT_THRESHOLD = 4 * EPS
# A point whose bound by a plain decomposition exceeds this share of its risk is worth a slower one.
_GOOD_ENOUGH = 1e-10


@lru_cache(maxsize=2)
def tabulate(problem: Problem, plan: SubsetPlan, *, accurate: bool = True) -> Tables:
    """Return the tables of a problem and a plan by the cheapest route its structure allows.

    The last two are kept, as callers sweep α in many calls. With ``accurate=False`` small eigenvalues beside large ones
    come from the quickest decomposition, and the tables say whether the slower one would know more.
    """
    if plan.n_features != problem.n_features:
        raise SubsetError(
            f"the plan is for {counted(plan.n_features, 'feature')} but the problem has {problem.n_features}"
        )
    scale = float(problem.signal_covariance.variances_of_features().max())
    if scale != 0 and not 1e-90 < scale < 1e90:  # tables hold its squares
        raise CovarianceError(
            f"signal_covariance has variances up to {scale:.3g}; rescale the data so that they lie in 1e-90 to 1e90"
        )
    signal, noise = (
        problem.signal_covariance.diagonal_plus_low_rank(),
        problem.noise_covariance.diagonal_plus_low_rank(),
    )
    known_rank = None
    if signal is not None and noise is not None:
        variances, rank = signal[0] + noise[0], signal[1].shape[1] + noise[1].shape[1]
        if plan.selects_features and rank == 0:
            return diagonal_tables(problem, plan, signal[0], noise[0])
        # The projector off the spikes is as cheap as their number; a number near N_r gains nothing.
        if plan.selects_features and np.ptp(variances) == 0 and 2 * rank < plan.subset_sizes.min():
            return spiked_tables(problem, plan, signal, noise)
        known_rank = rank + int(np.count_nonzero(variances))
    return dense_tables(problem, plan, accurate=accurate, known_rank=known_rank)


class Share(NamedTuple):
    """One member at G points."""

    kappa_bar: FloatArray  # effective ridge, shape (G,)
    shares: tuple[FloatArray, FloatArray]  # φ and ψ, shape (G, n) each
    pull: FloatArray  # λM/κ̄
    gap: FloatArray  # αM(1 - γ_rr)
    trace: FloatArray  # αMγ_rr = Σφ_i²


def share(member: MemberTable, alpha: FloatArray, lam: FloatArray) -> Share:
    """Solve for κ̄ and say what is fitted, with αM(1 - γ_rr) = λM/κ̄ + Σφ_iψ_i, in which nothing cancels for λ ≥ 0."""
    spectrum, M = member.spectrum, member.spectrum.n_features
    kappa_bar = effective_ridge(spectrum, alpha, lam)[0]
    phi, psi = spectrum.shares(kappa_bar)
    at_zero = kappa_bar == 0
    pull = np.where(at_zero | np.isinf(kappa_bar), 0.0, lam * M / np.where(at_zero, 1.0, kappa_bar))
    gap = np.where(at_zero, spectrum.spare_samples(alpha), pull + (phi * psi) @ spectrum.counts)
    gap = np.where(alpha == 0, 0.0, gap) if len(spectrum.values) else alpha * M
    return Share(kappa_bar, (phi, psi), pull, gap, phi**2 @ spectrum.counts)


def pair_bias(
    tables: Tables,
    pair: tuple[int, int],
    shares: tuple[tuple[FloatArray, FloatArray], tuple[FloatArray, FloatArray]],
    left: BoolArray,
) -> FloatArray:
    """B_rs in the two forms of `tables`: from what infinite data leave at the points `left`, else from the signal."""
    (phi_r, psi_r), (phi_s, psi_s) = shares
    of_pair, squares_r, squares_s = tables.pairs[pair], *(tables.members[i].squares for i in pair)
    found, x, y = np.empty(left.shape, dtype=phi_r.dtype), phi_r[~left], phi_s[~left]
    found[~left] = tables.signal_power - (x @ squares_r + y @ squares_s) + of_pair.cross(x, y)
    x, y = psi_r[left], psi_s[left]
    found[left] = of_pair.left_over + x @ of_pair.left_over_r + y @ of_pair.left_over_s + of_pair.cross(x, y)
    return found


def general_moments(
    problem: Problem, plan: SubsetPlan, grid: GeneralGrid, *, outputs: bool
) -> tuple[MemberMoments, FloatArray]:
    """Moments of members and target on the grid's shape, and the bound of the pairs' rounding, shape (..., k, k).

    `outputs` asks for the moments of the outputs by themselves. Points that a quick decomposition does not settle are
    computed again by an accurate one. Negative ridges always are, as they are checked against every direction.
    """
    tables = tabulate(problem, plan, accurate=False)
    if tables.may_be_refined:
        found = _errors(tables, grid._replace(lam=abs(grid.lam)), outputs=outputs)
        with np.errstate(invalid="ignore"):
            settled = found[1].sum(axis=(1, 2)) <= _GOOD_ENOUGH * abs(found[0].sum(axis=(1, 2)))
        vague = ~settled | (grid.lam < 0).any(axis=1)
        if vague.any():
            tables = tabulate(problem, plan, accurate=True)
            for field, part in zip(found, _errors(tables, grid.part(vague), outputs=outputs), strict=True):
                field[vague] = part
    else:
        found = _errors(tables, grid, outputs=outputs)
    pairs, bounds, c, *rest = (field.reshape((*grid.shape, *field.shape[1:])) for field in found)
    power = np.full(grid.shape, tables.signal_power)
    return MemberMoments(pairs, tables.signal_power - c, power, Outputs(c, *rest) if rest else None), bounds


def _errors(tables: Tables, grid: GeneralGrid, *, outputs: bool) -> tuple[FloatArray, ...]:
    """Eq. 9 (GeneralErr) and its bounds, (G, k, k), what members explain, (G, k), and maybe the rest of `Outputs`."""
    step = max(1, _BLOCK // max(1, 8 * sum(len(member.squares) for member in tables.members)))
    starts = range(0, max(1, len(grid.alpha)), step)
    parts = [_block(tables, grid.part(slice(start, start + step)), outputs=outputs) for start in starts]
    return tuple(map(np.concatenate, zip(*parts, strict=True))) if len(parts) > 1 else parts[0]


def _block(tables: Tables, grid: GeneralGrid, *, outputs: bool) -> tuple[FloatArray, ...]:
    (G, k), members = grid.lam.shape, tables.members
    alpha, z2, per_sample = grid.alpha, grid.zeta**2, reciprocal(grid.alpha * tables.n_features)
    inside = per_sample > 0
    f, shared = np.diagonal(grid.rows), row_factors(grid.rows)
    seen = f * alpha[:, None]
    shares = [share(member, seen[:, r], grid.lam[:, r]) for r, member in enumerate(members)]
    doubts = [
        rounding.member_doubt(member, tables.pairs[r, r], shares[r], seen[:, r], tables.reach, sees_all=f[r] == 1)
        for r, member in enumerate(members)
    ]
    own = [
        np.maximum(pair_bias(tables, (r, r), (R.shares, R.shares), np.less_equal(*doubt.own)), 0.0)
        for r, (R, doubt) in enumerate(zip(shares, doubts, strict=True))
    ]
    c = np.column_stack([shares[r].shares[0] @ member.squares for r, member in enumerate(members)])
    if outputs:
        dc = np.column_stack([doubt.explained for doubt in doubts])
        means = [shares[r].shares[0] ** 2 @ member.squares for r, member in enumerate(members)]
        with np.errstate(divide="ignore"):
            unsure = np.divide(dc, abs(c), out=np.zeros(c.shape), where=dc > 0)
    pairs, bounds, F, dF = np.empty((4, G, k, k))
    for (r, s), pair in tables.pairs.items():
        R, S, of_pair = shares[r], shares[s], (doubts[r], doubts[s])
        (phi_r, _), (phi_s, _) = R.shares, S.shares
        trace = shared[r, s] * pair.trace(phi_r, phi_s)  # αMγ_rs
        gap = alpha * tables.n_features - trace  # αM(1 - γ_rs)
        if pair.same:  # without a difference
            x, y, alike = phi_r / np.sqrt(f[r]), phi_s / np.sqrt(f[s]), grid.rows[r, s] / np.sqrt(f[r] * f[s])
            apart = (1 - alike) * (x**2 + y**2) + alike * (x - y) ** 2
            gap = 0.5 * (R.gap / f[r] + S.gap / f[s] + apart @ members[r].spectrum.counts)
        if r == s:
            bias, dbias, dgap = own[r], np.minimum(*doubts[r].own), doubts[r].gap
        else:
            dleft, dwhole = rounding.bias_doubts(pair.slip, (np.sqrt(own[r]), np.sqrt(own[s])), of_pair)
            bias, dbias = pair_bias(tables, (r, s), (R.shares, S.shares), dleft <= dwhole), np.minimum(dleft, dwhole)
            dgap = rounding.gap_doubt(pair.same, (R, S), of_pair, gap)
            if not pair.same:  # whitened directions are as uncertain in scale as their eigenvalues
                off_r, off_s = (abs(phi) * members[i].doubt.theta for i, phi in ((r, phi_r), (s, phi_s)))
                dgap = dgap + shared[r, s] * (pair.trace(off_r, abs(phi_s)) + pair.trace(abs(phi_r), off_s))
        gamma, readout = trace * per_sample, grid.eta[:, r] ** 2 if r == s else np.zeros(G)
        noise = gamma * z2 + readout
        with np.errstate(divide="ignore", invalid="ignore"):
            one = np.where(inside, gap * per_sample, 1.0)  # 1 - γ
            E, closed = (bias + noise) / one, abs(one) <= _AT_THRESHOLD
        # Without noise and with all features seen the bias vanishes faster than 1 - γ: the limit is 0.
        E = np.where(closed, np.where((bias == 0) & (noise == 0), 0.0, np.inf), E)
        dgamma = np.where(inside, dgap, 0.0) * (per_sample / min(f[r], f[s]))
        bound = rounding.pair_doubt(E, bias, noise, one, dbias, dgamma, z2)
        pairs[:, r, s] = pairs[:, s, r] = E
        bounds[:, r, s] = bounds[:, s, r] = np.where(closed, 0.0, bound)
        if outputs:
            # The products of outputs F_rs = D_rs + γ_rs (E_rs + ζ²) + δ_rs η_r², where the mean outputs of two members
            # have the product D_rs = Σ_ij φ_i a_i C_ij a_j φ_j: a sum without a difference.
            D = pair.cross(phi_r, phi_s)
            spread = means[r] * means[s], unsure[:, r] + unsure[:, s]
            sure = E + z2, bounds[:, r, s]
            wrong = rounding.product_doubt((R, S), of_pair, spread, shared[r, s] * per_sample, sure, gamma)
            with np.errstate(invalid="ignore"):
                F[:, r, s] = F[:, s, r] = D + np.where(gamma > 0, gamma * (E + z2), 0.0) + readout
            dF[:, r, s] = dF[:, s, r] = wrong + 4 * EPS * readout
    if not outputs:
        return pairs, bounds, c
    return pairs, bounds, c, F, dc, dF, np.full(G, 4 * EPS * tables.reach**2)


def general_order_parameters(problem: Problem, plan: SubsetPlan, grid: GeneralGrid, *, throw: bool) -> OrderParameters:
    """Order parameters on the grid's shape: per-member fields (..., k), γ (..., k, k)."""
    tables, shared, k = tabulate(problem, plan, accurate=True), row_factors(grid.rows), plan.n_members
    fields, phi, gamma = [], [], np.empty((len(grid.alpha), k, k))
    for r, member in enumerate(tables.members):
        spectrum, lam, alpha = member.spectrum, grid.lam[:, r], grid.alpha * grid.rows[r, r]
        kappa_bar, found = effective_ridge(spectrum, alpha, lam, throw=throw)
        fitted, left = spectrum.shares(kappa_bar)
        q = left @ (spectrum.counts * spectrum.values / spectrum.n_features)
        with np.errstate(divide="ignore", invalid="ignore"):
            q_hat = 1.0 / kappa_bar
            # |λ(κ̄) - λ| relative to the larger of λ and ακ̄, the terms that cancel
            off = abs(spectrum.ridge(alpha, kappa_bar) - lam) / np.maximum(abs(lam), abs(alpha * kappa_bar))
        inner = np.isfinite(alpha) & np.isfinite(kappa_bar) & (kappa_bar != 0)
        fields.append((lam + q, q, q_hat, found, np.where(inner, off, 0.0)))
        phi.append(fitted)
    for (r, s), pair in tables.pairs.items():
        trace = pair.trace(phi[r], phi[s]) * shared[r, s]
        gamma[:, r, s] = gamma[:, s, r] = quotient(trace / tables.n_features, grid.alpha)
    kappa, q, q_hat, status, off = (np.column_stack(part).reshape(*grid.shape, k) for part in zip(*fields, strict=True))
    return OrderParameters(kappa, q, q_hat, None, gamma.reshape(*grid.shape, k, k), status, off)
