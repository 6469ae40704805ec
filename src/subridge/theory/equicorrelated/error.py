"""Prop. 2: the error of equicorrelated data with isotropic feature noise, in closed form.

The functions on a `Pair` are its formulas as printed: the landscape in the ridge and the reduced error of equal members
are made of them. `moments` holds the same without a subtraction, for the risk. All arguments broadcast.
"""

from typing import NamedTuple

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.theory.equicorrelated.grid import Grid
from subridge.theory.pair_errors import over_alpha
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
