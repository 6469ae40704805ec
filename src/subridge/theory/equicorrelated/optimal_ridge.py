"""λ* of Prop. 2: the ridge best for each member by itself, in closed form."""

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.theory.equicorrelated.grid import Grid


def scaled_optimum(b: FloatArray, a: FloatArray, nu: FloatArray, rho2: FloatArray, noise: FloatArray) -> FloatArray:
    """ν(1 + λ*/a), where the derivative of E_rr by λ vanishes, eq. 193 (optreg_local); ν = 0 gives the limit ν → 0.

    `rho2` is the share of the teacher along 1 and `noise` is ζ² + η².
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        along = np.where(rho2 > 0, a * rho2 / nu, 0.0)
        return np.asarray(a * (noise + along + b * (1 - 2 * rho2)) / (b**2 * (1 - rho2)))


def equicorrelated_optimal_ridge(grid: Grid) -> FloatArray:
    """λ*, shape (..., k): independent of α and never negative, up to rounding."""
    nu, a, b, rho2 = grid.own, grid.bulk_variance[..., None], grid.signal[..., None], grid.aligned[..., None]
    noise = grid.zeta[..., None] ** 2 + grid.eta**2
    with np.errstate(invalid="ignore"):
        lam = a * (scaled_optimum(b, a, nu, rho2, noise) / nu - 1)
    # b = 0 or |ρ| = 1: the ridge acts through γ only, so the error falls for ever unless there is nothing to amplify.
    nothing_to_fit = (b * (1 - rho2)) == 0
    excess = rho2 * (a / nu - b) + noise
    lam = np.where(np.abs(lam) < 1e-14 * a, 0.0, lam)  # zero up to rounding is zero
    return np.where(nothing_to_fit, np.where((excess > 0) & (a > 0), np.inf, 0.0), lam)
