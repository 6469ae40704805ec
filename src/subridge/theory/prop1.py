"""Proposition 1: the error of any ensemble on data of any covariance.

    E_rs = (B_rs + γ_rs ζ² + δ_rs η_r²)/(1 - γ_rs)        eq. 9 (GeneralErr)

A member that sees a fraction f_r of the rows has the sample ratio f_r α. Two members fit the same noise only in the
fraction f_rs of the rows that both see, so that γ_rs has the factor f_rs/(f_r f_s). It is one if all see all rows.

The order parameters solve eq. 10 (saddle_point), see `saddle_point`. Here γ_rs of eq. 8 and the two forms of the bias
B_rs, the last three terms of eq. 9, are written in coefficients of `tables`, which depend neither on the ridge nor on
the sample ratio. `rounding` bounds the errors of both forms, and the more accurate one is used at every point.
`precise` has both equations nearly as printed.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from subridge.arrays.types import BoolArray, FloatArray
from subridge.model.aggregation import MemberMoments, Outputs, of_pairs, quotient
from subridge.model.ensemble import SubsetPlan
from subridge.model.errors import CovarianceError, SubsetError, counted
from subridge.model.problem import Problem
from subridge.theory import rounding
from subridge.theory.dense import dense_tables
from subridge.theory.grid import GeneralGrid, output_products, readout, row_factors
from subridge.theory.saddle_point import EPS, OrderParameters, effective_ridge, effective_ridges, quiet
from subridge.theory.tables import MemberTable, PairTable, Tables, diagonal_tables, spiked_tables

_AT_THRESHOLD = 4 * EPS
# Where the error bound of a quick decomposition exceeds this share of the risk, a slower one is used.
_GOOD_ENOUGH = 1e-10


@lru_cache(maxsize=2)
def tabulate(problem: Problem, plan: SubsetPlan, *, accurate: bool = True) -> Tables:
    """Return the tables of a problem and a plan by the cheapest route its structure allows.

    The last two tables are cached, as callers sweep α in many calls. With ``accurate=False`` small eigenvalues beside
    large ones come from the quickest decomposition; `Tables.may_be_refined` is true if a slower one is more accurate.
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
    signal = problem.signal_covariance.diagonal_plus_low_rank()
    noise = problem.noise_covariance.diagonal_plus_low_rank()
    known_rank = problem.n_features
    if signal is not None and noise is not None:
        variances = signal[0] + noise[0]
        rank = signal[1].shape[1] + noise[1].shape[1]
        if plan.selects_features and rank == 0:
            return diagonal_tables(problem, plan, signal[0], noise[0])
        # The cost grows with the number of spikes: with more than about N_r/2 of them nothing is gained.
        if plan.selects_features and np.ptp(variances) == 0 and 2 * rank < plan.subset_sizes.min():
            return spiked_tables(problem, plan, signal, noise)
        known_rank = rank + np.count_nonzero(variances)
    return dense_tables(problem, plan, accurate=accurate, rank=known_rank)


class Share(NamedTuple):
    """One member at G points."""

    kappa_bar: FloatArray  # effective ridge, shape (G,)
    phi: FloatArray  # shares φ_i that are fitted, shape (G, n)
    psi: FloatArray  # shares ψ_i that are left, shape (G, n)
    pull: FloatArray  # λM/κ̄
    gap: FloatArray  # αM(1 - γ_rr)
    explained: FloatArray  # c_r = Σφ_i a_i²


def share(member: MemberTable, alpha: FloatArray, lam: FloatArray) -> Share:
    """Solve for κ̄ and the shares, with αM(1 - γ_rr) = λM/κ̄ + Σφ_iψ_i, in which nothing cancels for λ ≥ 0."""
    spectrum = member.spectrum
    kappa_bar = effective_ridge(spectrum, alpha, lam)[0]
    phi, psi = spectrum.shares(kappa_bar)
    at_zero = kappa_bar == 0
    pull = np.where(at_zero | np.isinf(kappa_bar), 0.0, lam * spectrum.n_features / kappa_bar)
    gap = np.where(at_zero, spectrum.spare_samples(alpha), pull + (phi * psi) @ spectrum.counts)
    return Share(kappa_bar, phi, psi, pull, gap, phi @ member.squares)


def pair_bias(signal_power: float, pair: PairTable, R: Share, S: Share, left: BoolArray) -> FloatArray:
    """B_rs by the forms of `tables`: from what infinite data leave at the points `left`, else from the whole signal."""
    x, y = (np.where(left[:, None], each.psi, each.phi) for each in (R, S))
    of_rest = pair.left_over + R.psi @ pair.left_over_r + S.psi @ pair.left_over_s
    of_signal = signal_power - (R.explained + S.explained)
    return np.where(left, of_rest, of_signal) + pair.cross(x, y)


def pair_errors(
    grid: GeneralGrid, n_features: int, bias: FloatArray, trace: FloatArray, gap: FloatArray
) -> tuple[FloatArray, ...]:
    """E_rs of eq. 9 (GeneralErr) from B_rs, αMγ_rs and αM(1 - γ_rs), shape (G, k, k) each.

    Returns E_rs, γ_rs, the noise and 1 - γ_rs, (G, k, k) each, and then 1/(αM), which is zero without data and with
    infinite data.
    """
    samples = grid.alpha[:, None, None] * n_features
    per_sample = quotient(np.ones_like(samples), samples)
    gamma = trace * per_sample
    one = np.where(per_sample > 0, gap * per_sample, 1.0)
    noise = gamma * grid.zeta[:, None, None] ** 2 + readout(grid)
    # Without noise and with all features seen the bias vanishes faster than 1 - γ: the limit is 0.
    limit = np.where((bias == 0) & (noise == 0), 0.0, np.inf)
    return np.where(abs(one) <= _AT_THRESHOLD, limit, (bias + noise) / one), gamma, noise, one, per_sample


@quiet
def general_moments(
    problem: Problem, plan: SubsetPlan, grid: GeneralGrid, *, outputs: bool
) -> tuple[MemberMoments, FloatArray]:
    """Moments of members and target on the grid's shape, and the bound of the pairs' rounding, shape (..., k, k).

    With `outputs` the moments of the outputs are computed as well. Points where a quick decomposition is not accurate
    enough are computed again by a slower one. Negative ridges need the slower one at once, as they are checked against
    every direction.
    """
    tables = tabulate(problem, plan, accurate=False)
    if tables.may_be_refined and (grid.lam < 0).any():
        tables = tabulate(problem, plan)
    found = _errors(tables, grid, outputs=outputs)
    E, doubt = (part.sum(axis=(-2, -1)) for part in found[:2])
    inexact = ~(doubt <= _GOOD_ENOUGH * abs(E))
    if tables.may_be_refined and inexact.any():
        tables = tabulate(problem, plan)
        again = _errors(tables, grid.part(inexact.ravel()), outputs=outputs)
        for field, part in zip(found, again, strict=True):
            field[inexact] = part
    pairs, bounds, c, *rest = found
    power = np.full(grid.shape, tables.signal_power)
    return MemberMoments(pairs, tables.signal_power - c, power, Outputs(c, *rest) if rest else None), bounds


def _errors(tables: Tables, grid: GeneralGrid, *, outputs: bool) -> list[FloatArray]:
    """E_rs and its bounds, (..., k, k), c_r, (..., k), and with `outputs` the other fields of `Outputs`.

    The mean outputs of two members have the product D_rs = Σ_ij φ_i a_i C_ij a_j φ_j: a sum without a difference.
    """
    per_point = 8 * sum(len(member.squares) for member in tables.members)
    return grid.in_blocks(lambda part: _block(tables, part, outputs=outputs), per_point)


def _block(tables: Tables, grid: GeneralGrid, *, outputs: bool) -> tuple[FloatArray, ...]:
    G, k = grid.lam.shape
    f = grid.rows.diagonal()
    shared = row_factors(grid.rows)
    seen = f * grid.alpha[:, None]
    samples = grid.alpha * tables.n_features
    shares = [share(member, seen[:, r], grid.lam[:, r]) for r, member in enumerate(tables.members)]
    doubts = [
        rounding.member_doubt(member, tables.pairs[r, r], shares[r], seen[:, r], tables.reach, sees_all=f[r] == 1)
        for r, member in enumerate(tables.members)
    ]
    doubt = rounding.MemberDoubt(*(np.stack(part, axis=-1) for part in zip(*doubts, strict=True)))
    power = tables.signal_power
    biases = [pair_bias(power, tables.pairs[r, r], R, R, np.less_equal(*doubts[r].own)) for r, R in enumerate(shares)]
    own_bias = np.maximum(np.column_stack(biases), 0.0)
    dleft, dwhole = rounding.bias_doubts(tables.of_pairs("slip"), np.sqrt(own_bias), doubt)
    of_all = bias, trace, gap, tilted, D = np.zeros((5, G, k, k))
    for (r, s), pair in tables.pairs.items():
        R = shares[r]
        S = shares[s]
        bias[:, r, s] = own_bias[:, r] if r == s else pair_bias(power, pair, R, S, (dleft <= dwhole)[:, r, s])
        trace[:, r, s] = shared[r, s] * pair.trace(R.phi, S.phi)  # αMγ_rs
        if pair.same:  # αM(1 - γ_rs) without a difference
            x = R.phi / np.sqrt(f[r])
            y = S.phi / np.sqrt(f[s])
            alike = grid.rows[r, s] / np.sqrt(f[r] * f[s])
            apart = (1 - alike) * (x**2 + y**2) + alike * (x - y) ** 2
            gap[:, r, s] = 0.5 * (R.gap / f[r] + S.gap / f[s] + apart @ tables.members[r].spectrum.counts)
        else:
            gap[:, r, s] = samples - trace[:, r, s]
            # Whitened directions are as uncertain in scale as their eigenvalues.
            off_r, off_s = (abs(shares[i].phi) * tables.members[i].doubt.theta for i in (r, s))
            tilted[:, r, s] = shared[r, s] * (pair.trace(off_r, abs(S.phi)) + pair.trace(abs(R.phi), off_s))
        if outputs:
            D[:, r, s] = pair.cross(R.phi, S.phi)
        of_all[:, :, s, r] = of_all[:, :, r, s]
    E, gamma, noise, one, per_sample = pair_errors(grid, tables.n_features, bias, trace, gap)
    own_trace = np.linalg.diagonal(trace) * f
    dgap = tilted + rounding.gap_doubt(tables.of_pairs("same"), gap, own_trace, doubt)
    dgamma = np.where(per_sample > 0, dgap / np.minimum(*of_pairs(f)), 0.0) * per_sample
    z2 = grid.zeta[:, None, None] ** 2
    dbias = np.minimum(dleft, dwhole)
    bounds = rounding.pair_doubt(E, bias, noise, one, dbias, dgamma, z2)
    # At a threshold the risk is infinite unless bias and noise are zero, which rounding may hide.
    hidden = (abs(bias + noise) <= dbias) & (tables.of_pairs("slip") > 0)
    bounds = np.where(abs(one) <= _AT_THRESHOLD, np.where(hidden, np.inf, 0.0), bounds)
    c = np.column_stack([R.explained for R in shares])
    if not outputs:
        return E, bounds, c
    dF = rounding.product_doubt(D, c, own_trace, doubt, shared * per_sample, gamma, E + z2, bounds)
    F = output_products(grid, D, gamma, E)
    return E, bounds, c, F, doubt.explained, dF + 4 * EPS * readout(grid), np.full(G, 4 * EPS * tables.reach**2)


@quiet
def general_order_parameters(problem: Problem, plan: SubsetPlan, grid: GeneralGrid, *, throw: bool) -> OrderParameters:
    """Order parameters of eqs. 8 and 10 (saddle_point) on the grid's shape: of members (..., k), γ (..., k, k)."""
    tables = tabulate(problem, plan)
    spectra = [member.spectrum for member in tables.members]
    alpha = grid.alpha[:, None] * grid.rows.diagonal()
    kappa_bar, status = effective_ridges(spectra, alpha, grid.lam, throw=throw)
    phi, psi = zip(*(spectrum.shares(kappa_bar[:, r]) for r, spectrum in enumerate(spectra)), strict=True)
    q = np.column_stack([psi[r] @ (each.counts * each.values / each.n_features) for r, each in enumerate(spectra)])
    ridges = np.column_stack([each.ridge(alpha[:, r], kappa_bar[:, r]) for r, each in enumerate(spectra)])
    # |λ(κ̄) - λ| relative to the larger of λ and ακ̄, the terms that cancel
    off = abs(ridges - grid.lam) / np.maximum(abs(grid.lam), abs(alpha * kappa_bar))
    inner = np.isfinite(alpha) & np.isfinite(kappa_bar) & (kappa_bar != 0)
    shared = row_factors(grid.rows)
    gamma = np.empty((*grid.lam.shape, plan.n_members))
    for (r, s), pair in tables.pairs.items():
        trace = pair.trace(phi[r], phi[s]) / tables.n_features
        gamma[:, r, s] = gamma[:, s, r] = quotient(trace * shared[r, s], grid.alpha)
    shape = (*grid.shape, plan.n_members)
    return OrderParameters(
        (grid.lam + q).reshape(shape),
        q.reshape(shape),
        (1.0 / kappa_bar).reshape(shape),
        None,
        gamma.reshape(*shape, plan.n_members),
        status.reshape(shape),
        np.where(inner, off, 0.0).reshape(shape),
    )
