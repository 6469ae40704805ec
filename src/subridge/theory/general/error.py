"""Prop. 1: any covariance, any linear measurements, per-member ridge and readout noise.

Bias and amplification of a pair are linear in the resolvent R_r of either member, so a derivative by the effective
ridge κ̄_r is the same form with R_r replaced by dR_r/dκ̄_r = -R_r².
"""

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.ensemble.moments import MemberMoments
from subridge.theory.general.grid import Grid
from subridge.theory.general.spectrum import effective_ridge
from subridge.theory.general.tables import PairTables, Tables
from subridge.theory.pair_errors import over_alpha, pair_errors
from subridge.theory.solution import OrderParameters

# Entries of the temporary (grid × eigenvalues) arrays held at once, all members together: 64 MB.
_BLOCK = 8_000_000

Resolvents = list[FloatArray]  # of the members: shape (G, n_r) each


def bias_and_gamma(tables: Tables, alpha: FloatArray, R: Resolvents) -> tuple[FloatArray, FloatArray]:
    """Bias and γ of eq. 9 (GeneralErr), shapes (G, k, k)."""
    c = explained(tables, R)
    bias = tables.signal_power - c[:, :, None] - c[:, None, :] + _symmetric(tables.cross, R)
    return bias, over_alpha(_symmetric(tables.trace, R), alpha[:, None, None])


def bias_and_gamma_slopes(tables: Tables, alpha: FloatArray, R: Resolvents) -> tuple[FloatArray, FloatArray]:
    """Derivatives of the bias and γ of the pair (r, s) by κ̄_r, shapes (G, k, k)."""
    dR = [-(resolvent**2) for resolvent in R]
    bias_slope = _ordered(tables.cross, dR, R) - explained(tables, dR)[:, :, None]
    return bias_slope, over_alpha(_ordered(tables.trace, dR, R), alpha[:, None, None])


def general_moments(tables: Tables, grid: Grid) -> MemberMoments:
    """E_rr′ of eq. 9 (GeneralErr), and what every member misses of the signal, on the grid's own shape."""
    roots = [effective_ridge(s, grid.alpha, grid.lam[:, r]).kappa_bar for r, s in enumerate(tables.spectra)]
    kappa_bar = np.stack(roots, axis=-1)
    bias, gamma = _in_blocks(tables, grid.alpha, kappa_bar)
    missed = tables.signal_power - np.stack(
        [tables.spectra[r].resolvent(kappa_bar[:, r]) @ tables.explained[r] for r in range(tables.n_members)], axis=-1
    )
    power = np.full(grid.shape, tables.signal_power)
    # Below rounding of the signal the bias is zero: a difference of large terms has no digits left there.
    bias = np.where(np.abs(bias) <= 1e-15 * tables.signal_power, 0.0, bias)
    pairs = pair_errors(bias, gamma, grid.eta, grid.zeta, power.reshape(-1))
    return MemberMoments(pairs.reshape(*grid.shape, *pairs.shape[1:]), missed.reshape(*grid.shape, -1), power)


def general_order_parameters(tables: Tables, grid: Grid, *, throw: bool) -> OrderParameters:
    """Order parameters on the grid: per-member fields of shape (G, k), γ of shape (G, k, k)."""
    alpha, lam = grid.alpha, grid.lam
    roots = [effective_ridge(spectrum, alpha, lam[:, r], throw=throw) for r, spectrum in enumerate(tables.spectra)]
    kappa_bar = np.stack([root.kappa_bar for root in roots], axis=-1)
    with np.errstate(divide="ignore"):
        q_hat = 1.0 / kappa_bar
    q = np.stack([spectrum.overlap(q_hat[:, r]) for r, spectrum in enumerate(tables.spectra)], axis=-1)
    return OrderParameters(
        kappa=lam + q,
        q=q,
        q_hat=q_hat,
        S=None,
        gamma=_in_blocks(tables, alpha, kappa_bar)[1],
        status=np.stack([root.status for root in roots], axis=-1),
        residual=np.stack([root.residual for root in roots], axis=-1),
    )


def _in_blocks(tables: Tables, alpha: FloatArray, kappa_bar: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Bias and γ at effective ridges (G, k), a block of grid points at a time."""
    G, k = kappa_bar.shape
    bias, gamma = np.empty((G, k, k)), np.empty((G, k, k))
    step = max(1, _BLOCK // max(1, sum(len(spectrum.values) for spectrum in tables.spectra)))
    for start in range(0, G, step):
        part = slice(start, start + step)
        bias[part], gamma[part] = bias_and_gamma(tables, alpha[part], tables.resolvents(kappa_bar[part]))
    return bias, gamma


def explained(tables: Tables, R: Resolvents) -> FloatArray:
    """c_r = w*ᵀΣ_s m_r, the cross moment of the signal and member r, shape (G, k)."""
    return np.stack([R[r] @ own for r, own in enumerate(tables.explained)], axis=-1)


def _symmetric(pairs: PairTables, R: Resolvents) -> FloatArray:
    """``R_r T_rs R_s`` at every grid point, shape (G, k, k)."""
    values = np.empty((len(R[0]), len(R), len(R)))
    for (r, s), table in pairs.items():
        values[:, r, s] = values[:, s, r] = np.sum((R[r] @ table) * R[s], axis=-1)
    return values


def _ordered(pairs: PairTables, left: Resolvents, right: Resolvents) -> FloatArray:
    """``left_r T_rs right_s`` at every grid point, shape (G, k, k); tables are kept for r ≤ s, and T_sr = T_rsᵀ."""
    values = np.empty((len(left[0]), len(left), len(left)))
    for (r, s), table in pairs.items():
        values[:, r, s] = np.sum((left[r] @ table) * right[s], axis=-1)
        if r != s:
            values[:, s, r] = np.sum((right[r] @ table) * left[s], axis=-1)
    return values
