"""Prop. 2: the error of equicorrelated data with isotropic feature noise, in closed form.

The functions on a `Pair` are the only place where its formulas are written: the risk, the landscape in the ridge and
the reduced error of equal members are made of them. All arguments broadcast.
"""

from typing import NamedTuple

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.ensemble.moments import MemberMoments
from subridge.theory.equicorrelated.grid import Grid
from subridge.theory.pair_errors import over_alpha, pair_errors
from subridge.theory.solution import OrderParameters


class Pair(NamedTuple):
    """What the error of two members r and s depends on: ν_rr, ν_ss, ν_rs, σ_r, σ_s."""

    nu_r: FloatArray
    nu_s: FloatArray
    shared: FloatArray
    sigma_r: FloatArray
    sigma_s: FloatArray

    @classmethod
    def of(cls, grid: Grid, sigma: FloatArray) -> "Pair":
        """Every pair of a grid: shapes broadcast to (..., k, k)."""
        own = grid.own
        return cls(own[..., :, None], own[..., None, :], grid.nu, sigma[..., :, None], sigma[..., None, :])


def orthogonal(b: FloatArray, gain: FloatArray, pair: Pair) -> FloatArray:
    """I⁰_rs: bias of the teacher's part orthogonal to 1; `gain` is b²/a."""
    fitted = pair.nu_r * pair.sigma_r + pair.nu_s * pair.sigma_s - pair.shared * (pair.sigma_r * pair.sigma_s)
    return np.asarray(b - gain * fitted)


def orthogonal_slope(gain: FloatArray, pair: Pair) -> FloatArray:
    """∂I⁰_rs/∂σ_r."""
    return np.asarray(gain * (pair.shared * pair.sigma_s - pair.nu_r))


def aligned(b: FloatArray, a: FloatArray, pair: Pair) -> FloatArray:
    """I¹_rs: bias of the teacher's part along 1, for c > 0 and M → ∞; it does not depend on the ridge."""
    return np.asarray(a * pair.shared / (pair.nu_r * pair.nu_s) - b)


def gamma(alpha: FloatArray, pair: Pair) -> FloatArray:
    """γ_rs."""
    return over_alpha(pair.shared * (pair.sigma_r * pair.sigma_s), alpha)


def gamma_slope(alpha: FloatArray, pair: Pair) -> FloatArray:
    """∂γ_rs/∂σ_r."""
    return over_alpha(pair.shared * pair.sigma_s, alpha)


def missed_orthogonally(b: FloatArray, gain: FloatArray, nu: FloatArray, sigma: FloatArray) -> FloatArray:
    """What a member misses of the power of the teacher's part orthogonal to 1; `gain` is b²/a."""
    return np.asarray(b - gain * (nu * sigma))


def equicorrelated_moments(grid: Grid, n_features: int | None) -> MemberMoments:
    """E_rr′ of eq. 16 (EquiCorrGeneralizationError), what members miss of the target, and its power."""
    sigma = grid.sigma()
    pair = Pair.of(grid, sigma)
    b, a = grid.signal[..., None, None], grid.bulk_variance[..., None, None]
    if n_features is None:
        rho2, along = grid.aligned[..., None, None], aligned(b, a, pair)
        spike = np.full(grid.spike.shape, np.inf)
    else:
        rho2, along = grid.rho2[..., None, None], _aligned_at_size(grid, pair, n_features)
        spike = grid.spike * n_features
    missed = (1 - rho2[..., 0]) * missed_orthogonally(b[..., 0], grid.gain[..., None], grid.own, sigma)
    missed = _plus(missed, rho2[..., 0], _missed_along(grid, spike))
    power = _plus((1 - rho2[..., 0, 0]) * grid.signal, rho2[..., 0, 0], grid.signal + spike)
    bias = (1 - rho2) * orthogonal(b, grid.gain[..., None, None], pair) + rho2 * along
    amplification = gamma(grid.alpha[..., None, None], pair)
    return MemberMoments(pair_errors(bias, amplification, grid.eta, grid.zeta, grid.signal), missed, power)


def equicorrelated_order_parameters(grid: Grid) -> OrderParameters:
    """Order parameters of Prop. 2 on the grid."""
    sigma, kappa_bar = grid.sigma(), grid.kappa_bar()
    a, shape = grid.bulk_variance[..., None], sigma.shape
    with np.errstate(divide="ignore", invalid="ignore"):
        q_hat = 1.0 / kappa_bar
        q = np.where(np.isinf(kappa_bar), a, kappa_bar * a / (kappa_bar + a / grid.own))
        S = np.where(np.isinf(kappa_bar), 0.0, 1.0 / (grid.own * kappa_bar + a))
    q = np.where((a == 0) | (kappa_bar == 0), 0.0, q)
    return OrderParameters(
        kappa=grid.lam + q,
        q=q,
        q_hat=q_hat,
        S=S,
        gamma=gamma(grid.alpha[..., None, None], Pair.of(grid, sigma)),
        status=np.ones(shape, dtype=bool),
        residual=np.zeros(shape),
    )


def _missed_along(grid: Grid, spike: FloatArray) -> FloatArray:
    """What a member misses of the power L = b + T along 1: L (u - b)/(T + u), and u - b for T → ∞; shape (..., k)."""
    b, T = grid.signal[..., None], spike[..., None]
    u = grid.kappa_bar() + grid.bulk_variance[..., None] / grid.own
    with np.errstate(invalid="ignore", divide="ignore"):
        missed = np.where(T + u == 0, 0.0, (b + T) * (u - b) / (T + u))
    return np.where(np.isinf(T), u - b, np.where(np.isinf(u), b + T, missed))


def _plus(rest: FloatArray, share: FloatArray, value: FloatArray) -> FloatArray:
    """``rest + share · value``, where nothing of what is infinite is nothing."""
    with np.errstate(invalid="ignore"):
        return np.where(share > 0, rest + share * value, rest)


def _aligned_at_size(grid: Grid, pair: Pair, n_features: int) -> FloatArray:
    """I¹_rs at finite M: the form uniform in T = s c M, which is I⁰_rs for T → 0 and the limit above for T → ∞."""
    b, a = grid.signal[..., None, None], grid.bulk_variance[..., None, None]
    T = grid.spike[..., None, None] * n_features
    L = b + T
    u = grid.kappa_bar() + grid.bulk_variance[..., None] / grid.own
    u_r, u_s = u[..., :, None], u[..., None, :]
    with np.errstate(invalid="ignore", divide="ignore"):
        uniform = L * ((u_r - b) * (u_s - b) + L * aligned(b, a, pair)) / ((T + u_r) * (T + u_s))
    return np.where(np.isinf(u_r + u_s), L, np.where((T + u_r) * (T + u_s) == 0, 0.0, uniform))
