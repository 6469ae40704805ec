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
from subridge.theory.grid import GeneralGrid, output_products, readout, reciprocal, row_factors
from subridge.theory.saddle_point import EPS, OrderParameters, effective_ridge, quiet
from subridge.theory.tables import MemberTable, Tables, diagonal_tables, spiked_tables

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
        variances = signal[0] + noise[0]
        rank = signal[1].shape[1] + noise[1].shape[1]
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
    explained: FloatArray  # c_r = Σφ_i a_i²
    power: FloatArray  # of the mean output, Σφ_i² a_i²


def share(member: MemberTable, alpha: FloatArray, lam: FloatArray) -> Share:
    """Solve for κ̄ and say what is fitted, with αM(1 - γ_rr) = λM/κ̄ + Σφ_iψ_i, in which nothing cancels for λ ≥ 0."""
    spectrum, M = member.spectrum, member.spectrum.n_features
    kappa_bar = effective_ridge(spectrum, alpha, lam)[0]
    phi, psi = spectrum.shares(kappa_bar)
    at_zero = kappa_bar == 0
    pull = np.where(at_zero | np.isinf(kappa_bar), 0.0, lam * M / kappa_bar)
    gap = np.where(at_zero, spectrum.spare_samples(alpha), pull + (phi * psi) @ spectrum.counts)
    gap = np.where(alpha == 0, 0.0, gap) if len(spectrum.values) else alpha * M
    fitted = phi**2
    return Share(
        kappa_bar, (phi, psi), pull, gap, fitted @ spectrum.counts, phi @ member.squares, fitted @ member.squares
    )


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


def pair_errors(
    grid: GeneralGrid, n_features: int, bias: FloatArray, trace: FloatArray, gap: FloatArray
) -> tuple[FloatArray, ...]:
    """E_rs of eq. 9 (GeneralErr), γ_rs, the noise and 1 - γ_rs from B_rs, αMγ_rs and αM(1 - γ_rs), (G, k, k) each."""
    per_sample = reciprocal(grid.alpha * n_features)[:, None, None]
    gamma, one = trace * per_sample, np.where(per_sample > 0, gap * per_sample, 1.0)
    noise = gamma * grid.zeta[:, None, None] ** 2 + readout(grid)
    # Without noise and with all features seen the bias vanishes faster than 1 - γ: the limit is 0.
    limit = np.where((bias == 0) & (noise == 0), 0.0, np.inf)
    return np.where(abs(one) <= _AT_THRESHOLD, limit, (bias + noise) / one), gamma, noise, one


@quiet
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
        settled = found[1].sum(axis=(-2, -1)) <= _GOOD_ENOUGH * abs(found[0].sum(axis=(-2, -1)))
        vague = ~settled | (grid.lam < 0).any(axis=1).reshape(grid.shape)
        if vague.any():
            tables = tabulate(problem, plan)
            for field, part in zip(found, _errors(tables, grid.part(vague.ravel()), outputs=outputs), strict=True):
                field[vague] = part
    else:
        found = _errors(tables, grid, outputs=outputs)
    pairs, bounds, c, *rest = found
    power = np.full(grid.shape, tables.signal_power)
    return MemberMoments(pairs, tables.signal_power - c, power, Outputs(c, *rest) if rest else None), bounds


def _errors(tables: Tables, grid: GeneralGrid, *, outputs: bool) -> list[FloatArray]:
    """Eq. 9 (GeneralErr) and its bounds, (..., k, k), what members explain, (..., k), and maybe the rest of `Outputs`.

    The mean outputs of two members have the product D_rs = Σ_ij φ_i a_i C_ij a_j φ_j: a sum without a difference.
    """
    per_point = 8 * sum(len(member.squares) for member in tables.members)
    return grid.in_blocks(lambda part: _block(tables, part, outputs=outputs), per_point)


def _block(tables: Tables, grid: GeneralGrid, *, outputs: bool) -> tuple[FloatArray, ...]:
    (G, k), members, M = grid.lam.shape, tables.members, tables.n_features
    f, shared = np.diagonal(grid.rows), row_factors(grid.rows)
    seen = f * grid.alpha[:, None]
    shares = [share(member, seen[:, r], grid.lam[:, r]) for r, member in enumerate(members)]
    doubts = [
        rounding.member_doubt(member, tables.pairs[r, r], shares[r], seen[:, r], tables.reach, sees_all=f[r] == 1)
        for r, member in enumerate(members)
    ]
    own = [
        np.maximum(pair_bias(tables, (r, r), (R.shares, R.shares), np.less_equal(*doubt.own)), 0.0)
        for r, (R, doubt) in enumerate(zip(shares, doubts, strict=True))
    ]
    of_pairs = np.empty((5, G, k, k))
    for (r, s), pair in tables.pairs.items():
        R, S, of_pair = shares[r], shares[s], (doubts[r], doubts[s])
        (phi_r, _), (phi_s, _) = R.shares, S.shares
        trace = shared[r, s] * pair.trace(phi_r, phi_s)  # αMγ_rs
        gap = grid.alpha * M - trace  # αM(1 - γ_rs)
        if pair.same:  # without a difference
            x, y, alike = phi_r / np.sqrt(f[r]), phi_s / np.sqrt(f[s]), grid.rows[r, s] / np.sqrt(f[r] * f[s])
            apart = (1 - alike) * (x**2 + y**2) + alike * (x - y) ** 2
            gap = 0.5 * (R.gap / f[r] + S.gap / f[s] + apart @ members[r].spectrum.counts)
        if r == s:
            bias, dbias, dgap = own[r], np.minimum(*doubts[r].own), doubts[r].gap
        else:
            dleft, dwhole = rounding.bias_doubts(pair.slip, (np.sqrt(own[r]), np.sqrt(own[s])), of_pair)
            bias = pair_bias(tables, (r, s), (R.shares, S.shares), dleft <= dwhole)
            dbias = np.minimum(dleft, dwhole)
            dgap = rounding.gap_doubt(pair.same, (R, S), of_pair, gap)
            if not pair.same:  # whitened directions are as uncertain in scale as their eigenvalues
                off_r, off_s = (abs(phi) * members[i].doubt.theta for i, phi in ((r, phi_r), (s, phi_s)))
                dgap = dgap + shared[r, s] * (pair.trace(off_r, abs(phi_s)) + pair.trace(abs(phi_r), off_s))
        of_pairs[:, :, r, s] = of_pairs[:, :, s, r] = bias, dbias, trace, gap, dgap / min(f[r], f[s])
    bias, dbias, trace, gap, dgap = of_pairs
    E, gamma, noise, one = pair_errors(grid, M, bias, trace, gap)
    per_sample = reciprocal(grid.alpha * M)[:, None, None]
    dgamma = np.where(per_sample > 0, dgap, 0.0) * per_sample
    bounds = rounding.pair_doubt(E, bias, noise, one, dbias, dgamma, grid.zeta[:, None, None] ** 2)
    bounds = np.where(abs(one) <= _AT_THRESHOLD, 0.0, bounds)
    c = np.column_stack([R.explained for R in shares])
    if not outputs:
        return E, bounds, c
    D = np.empty((G, k, k))
    for (r, s), pair in tables.pairs.items():
        D[:, r, s] = D[:, s, r] = pair.cross(shares[r].shares[0], shares[s].shares[0])
    dF = rounding.product_doubt(shares, doubts, shared * per_sample, E + grid.zeta[:, None, None] ** 2, bounds, gamma)
    dc = np.column_stack([doubt.explained for doubt in doubts])
    F = output_products(grid, D, gamma, E)
    return E, bounds, c, F, dc, dF + 4 * EPS * readout(grid), np.full(G, 4 * EPS * tables.reach**2)


@quiet
def general_order_parameters(problem: Problem, plan: SubsetPlan, grid: GeneralGrid, *, throw: bool) -> OrderParameters:
    """Order parameters on the grid's shape: per-member fields (..., k), γ (..., k, k)."""
    tables, shared, k = tabulate(problem, plan), row_factors(grid.rows), plan.n_members
    fields, phi, gamma = [], [], np.empty((len(grid.alpha), k, k))
    for r, member in enumerate(tables.members):
        spectrum, lam, alpha = member.spectrum, grid.lam[:, r], grid.alpha * grid.rows[r, r]
        kappa_bar, found = effective_ridge(spectrum, alpha, lam, throw=throw)
        fitted, left = spectrum.shares(kappa_bar)
        q = left @ (spectrum.counts * spectrum.values / spectrum.n_features)
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
