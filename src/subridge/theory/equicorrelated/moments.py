"""Prop. 2 for the risk: every term without a subtraction that could lose digits, and a bound of the rounding left.

With 1 - σ and 1 - γ known to all digits, the bias of the part orthogonal to 1 is a sum over features that neither, one
or both of the members see, and no term of it is negative for λ ≥ 0.
"""

from typing import NamedTuple

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.model.moments import MemberMoments, Outputs
from subridge.theory.equicorrelated.error import missed_orthogonally
from subridge.theory.equicorrelated.grid import Grid
from subridge.theory.equicorrelated.saddle_point import EPS, Bulk

_ROUNDING = 12 * EPS  # of a product of a few factors, each a few roundings from exact


class _Sum(NamedTuple):
    """A sum and the sum of the absolute values of its terms."""

    value: FloatArray
    size: FloatArray


def equicorrelated_moments(grid: Grid, n_features: int | None, *, outputs: bool) -> tuple[MemberMoments, FloatArray]:
    """E_rr′ of eq. 16 (EquiCorrGeneralizationError), what members miss of the target, and its power.

    The second bounds the absolute rounding error of the pairs, shape (..., k, k); `outputs` asks for the moments of the
    outputs by themselves.
    """
    shape, k, grid = grid.alpha.shape, grid.own.shape[-1], grid.lean()
    found = grid.bulk()
    kappa_bar = grid.kappa_bar(found)
    rho2 = grid.aligned if n_features is None else grid.rho2
    spike = np.full(grid.spike.shape, np.inf) if n_features is None else grid.spike * n_features
    share = rho2[..., None, None]
    across = _orthogonal(grid, found)
    along = _aligned(grid) if n_features is None else _aligned_at_size(grid, kappa_bar, spike)
    bias = (1 - share) * across.value + np.where(share > 0, share * along.value, 0.0)
    size = (1 - share) * across.size + np.where(share > 0, share * along.size, 0.0)
    nu, alpha, z2 = grid.nu, grid.alpha[..., None, None], grid.zeta[..., None, None] ** 2
    sigma_r, sigma_s = found.sigma[..., :, None], found.sigma[..., None, :]
    noise = nu * sigma_r * found.per_alpha[..., None, :] * z2 + np.eye(k) * grid.eta[..., :, None] ** 2
    only_r, only_s = grid.own[..., :, None] - nu, grid.own[..., None, :] - nu
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        unlike = (only_r * sigma_r**2 + only_s * sigma_s**2 + nu * (sigma_r - sigma_s) ** 2) / alpha
        unlike = np.where((alpha > 0) & np.isfinite(alpha), unlike, 0.0)
        gap = 0.5 * (found.gap[..., :, None] + found.gap[..., None, :] + unlike)  # 1 - γ
        safe = np.where(gap > 0, gap, 1.0)
        E = np.where(gap > 0, (bias + noise) / safe, np.where(bias + noise == 0, 0.0, np.inf))
        shaky = np.maximum(found.shaky[..., :, None], found.shaky[..., None, :])
        finite = np.where(np.isinf(E), 0.0, np.abs(E))
        rounding = _ROUNDING * shaky * ((size + noise) / safe + finite + z2)
        rounding = np.where(np.isinf(E) | ((size == 0) & (noise == 0)), 0.0, rounding)
    across_alone = missed_orthogonally(grid.signal[..., None], grid.gain[..., None], grid.own, found.sigma)
    missed = (1 - rho2[..., None]) * across_alone
    missed = _plus(missed, rho2[..., None], _missed_along(grid, kappa_bar, spike))
    power = _plus((1 - rho2) * grid.signal, rho2, grid.signal + spike)
    known = None
    if outputs:
        known = _outputs(grid, found, kappa_bar, (rho2, spike), E)
        known = Outputs(
            *(_whole(x, (*shape, *tail)) for x, tail in zip(known, ((k,), (k, k), (k,), (k, k), ()), strict=True))
        )
    moments = MemberMoments(_whole(E, (*shape, k, k)), _whole(missed, (*shape, k)), _whole(power, shape), known)
    return moments, _whole(rounding, (*shape, k, k))


def _whole(x: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """On the whole grid, rows in order."""
    return np.array(np.broadcast_to(x, shape), order="C")


def _outputs(
    grid: Grid, found: Bulk, kappa_bar: FloatArray, aligned: tuple[FloatArray, FloatArray], E: FloatArray
) -> Outputs:
    """c_r and F_rs of the outputs by themselves: F_rs = D_rs + γ_rs (E_rs + ζ²) + δ_rs η_r², no term a difference.

    Orthogonal to 1, c = ν σ b²/a and D = ν_rs σ_r σ_s b²/a; along it, with L = b + T and u as in `_aligned_at_size`,
    c = L²/(T + u_r) and D = L² (T + a ν_rs/(ν_rr ν_ss))/((T + u_r)(T + u_s)).
    """
    rho2, spike = aligned
    gain, share, a, own = grid.gain[..., None], rho2[..., None], grid.bulk_variance[..., None], grid.own
    T, nu, sigma = spike[..., None], grid.nu, found.sigma
    L, u = grid.signal[..., None] + T, kappa_bar + a / own
    across = nu * (sigma[..., :, None] * sigma[..., None, :])
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        along = np.where(np.isinf(T), np.inf, np.where(T + u > 0, L / (T + u), 0.0))  # of the teacher's part along 1
        both = T[..., None] + (a / own)[..., :, None] * nu / own[..., None, :]
        c = _plus((1 - share) * gain * (own * sigma), share, L * along)
        D = _plus((1 - share[..., None]) * gain[..., None] * across, share[..., None], _outer(along) * both)
        spread = nu * (sigma[..., :, None] * found.per_alpha[..., None, :])
        spread = np.where(spread > 0, spread * (E + grid.zeta[..., None, None] ** 2), 0.0)
        F = D + spread + np.eye(own.shape[-1]) * grid.eta[..., :, None] ** 2
        rounding = 2 * _ROUNDING * found.shaky
    dF = np.maximum(rounding[..., :, None], rounding[..., None, :]) * np.abs(F)
    return Outputs(c, F, rounding * np.abs(c), dF, np.zeros(rho2.shape))  # no term of the target's power cancels


def _outer(x: FloatArray) -> FloatArray:
    return np.asarray(x[..., :, None] * x[..., None, :])


def _orthogonal(grid: Grid, found: Bulk) -> _Sum:
    """I⁰_rs by features: b for those that neither sees, and what noise and ridge leave of the rest."""
    b, a, noise = grid.signal[..., None, None], grid.bulk_variance[..., None, None], grid.noise[..., None, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        pure, lost = np.where(a > 0, b / a, 0.0), np.where(a > 0, noise / a, 0.0)
    nu_r, nu_s, nu = grid.own[..., :, None], grid.own[..., None, :], grid.nu
    free_r, free_s = found.free[..., :, None], found.free[..., None, :]
    only_r, only_s = nu_r - nu, nu_s - nu
    unseen = (1 - nu_r) - only_s
    apart = only_r * free_r, only_s * free_s, nu * free_r * free_s
    value = b * (unseen + (nu_r + only_s) * lost + pure * (apart[0] + apart[1] + apart[2]))
    size = b * (np.abs(unseen) + (np.abs(1 - nu_r) + np.abs(only_s)) / 4 + (nu_r + only_s) * lost)
    return _Sum(value, size + b * pure * (np.abs(apart[0]) + np.abs(apart[1]) + np.abs(apart[2])))


def _aligned(grid: Grid) -> _Sum:
    """I¹_rs for M → ∞: a ν_rs/(ν_rr ν_ss) - b."""
    b, noise = grid.signal[..., None, None], grid.noise[..., None, None]
    nu, product = grid.nu, grid.own[..., :, None] * grid.own[..., None, :]
    own = np.eye(grid.own.shape[-1], dtype=bool)
    nu_r = grid.own[..., :, None]
    value = np.where(own, (b * (1 - nu_r) + noise) / nu_r, (b * (nu - product) + noise * nu) / product)
    size = np.where(own, value, (b * (nu + product) + noise * nu) / product)
    return _Sum(value, size)


def _aligned_at_size(grid: Grid, kappa_bar: FloatArray, spike: FloatArray) -> _Sum:
    """I¹_rs at finite M: the form uniform in T = s c M, which is I⁰_rs for T → 0 and the limit above for T → ∞."""
    b, T = grid.signal[..., None, None], spike[..., None, None]
    # u = κ̄ + a/ν and u - b = κ̄ + (b(1 - ν) + ω²)/ν
    u = kappa_bar + grid.bulk_variance[..., None] / grid.own
    extra = (grid.signal[..., None] * (1 - grid.own) + grid.noise[..., None]) / grid.own
    u_r, u_s = u[..., :, None], u[..., None, :]
    beyond, size = kappa_bar + extra, np.abs(kappa_bar) + extra
    limit, L = _aligned(grid), b + T
    with np.errstate(invalid="ignore", divide="ignore"):
        scale = L / ((T + u_r) * (T + u_s))
        value = scale * (beyond[..., :, None] * beyond[..., None, :] + L * limit.value)
        terms = np.abs(scale) * (size[..., :, None] * size[..., None, :] + L * limit.size)
    blind, nothing = np.isinf(u_r + u_s), (T + u_r) * (T + u_s) == 0
    return _Sum(*(np.where(blind, L, np.where(nothing, 0.0, part)) for part in (value, terms)))


def _missed_along(grid: Grid, kappa_bar: FloatArray, spike: FloatArray) -> FloatArray:
    """What a member misses of the power L = b + T along 1: L (u - b)/(T + u), and u - b for T → ∞; shape (..., k)."""
    b, T = grid.signal[..., None], spike[..., None]
    u = kappa_bar + grid.bulk_variance[..., None] / grid.own
    with np.errstate(invalid="ignore", divide="ignore"):
        missed = np.where(T + u == 0, 0.0, (b + T) * (u - b) / (T + u))
    return np.where(np.isinf(T), u - b, np.where(np.isinf(u), b + T, missed))


def _plus(rest: FloatArray, share: FloatArray, value: FloatArray) -> FloatArray:
    """``rest + share · value``, where nothing of what is infinite is nothing."""
    with np.errstate(invalid="ignore"):
        return np.where(share > 0, rest + share * value, rest)
