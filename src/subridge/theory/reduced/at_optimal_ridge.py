"""The best number of equal members when each has its own best ridge λ*.

There the reduced error collapses to 𝓔*_k = 𝓔_∞ + (1/k)[H - (1-ρ²)(2-1/k)σ_k/(1+W)], so k beats ∞ exactly where the
bracket is negative, and each k has an explicit sample ratio α_k from which on it is.
"""

from collections.abc import Callable

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.theory.equicorrelated.optimal_ridge import scaled_optimum
from subridge.theory.equicorrelated.saddle_point import bulk_overlap
from subridge.theory.reduced.error import Ratios

# Every k of the first part is compared; beyond it a geometric net brackets the best, up to ensembles of 10^12.
_NET = np.unique(np.concatenate([np.arange(1.0, 25.0), np.round(np.geomspace(24, 1e12, 110))]))


def best_at_optimal_ridge(ratios: Ratios) -> FloatArray:
    """k* at λ*; ∞ where no finite k makes the bracket negative."""
    alpha, rho2, H, W, _ = ratios

    def gain(k: FloatArray) -> FloatArray:
        nu = 1.0 / k
        t = np.maximum(_scaled_optimum(nu, ratios) - nu, 0.0)  # Λ*ν/(1+W), never negative but for rounding
        sigma = bulk_overlap(alpha, nu, t)
        return np.asarray(nu * (H - (1 - rho2) * (2 - nu) * sigma / (1 + W)))

    k, lowest = _integer_minimum(gain, alpha.shape)
    # Where nothing can be gained without readout noise (no data, or a teacher along 1) all sizes tie.
    return np.where(lowest < 0, k, np.where(H == 0, 1.0, np.inf))


def boundary_at_optimal_ridge(ratios: Ratios) -> FloatArray:
    """Smallest α_k over all k: below it no ensemble beats the infinite one."""
    _, rho2, H, W, _ = ratios

    def critical(k: FloatArray) -> FloatArray:
        nu = 1.0 / k
        with np.errstate(divide="ignore", invalid="ignore"):
            sigma = H * (1 + W) / ((1 - rho2) * (2 - nu))  # σ_k at which the bracket vanishes
            ratio = sigma * (_scaled_optimum(nu, ratios) - nu * sigma) / (1 - sigma)
        return np.where((sigma < 1) & ~np.isnan(ratio), ratio, np.inf)

    return np.where(H == 0, 0.0, _integer_minimum(critical, rho2.shape)[1])


def _scaled_optimum(nu: FloatArray, ratios: Ratios) -> FloatArray:
    """ν(1 + Λ*/(1+W))."""
    _, rho2, H, W, Z = ratios
    return scaled_optimum(np.ones(()), 1 + W, nu, rho2, H + Z)


def _integer_minimum(f: Callable[[FloatArray], FloatArray], shape: tuple[int, ...]) -> tuple[FloatArray, FloatArray]:
    """Smallest minimiser over k = 1, 2, ..., ∞ and its value: a net brackets it, halving finds it.

    Between neighbours of the net the function is taken to have a single valley.
    """
    best, lowest = np.zeros(shape, dtype=np.int64), np.full(shape, np.inf)
    for position, k in enumerate(_NET):
        value = f(np.asarray(k))
        better = value < lowest
        best, lowest = np.where(better, position, best), np.where(better, value, lowest)
    low, high = _NET[np.maximum(best - 1, 0)], _NET[np.minimum(best + 1, len(_NET) - 1)]
    while (wide := high - low > 2).any():
        middle = np.floor((low + high) / 2)
        descending = f(middle + 1) < f(middle)
        low = np.where(wide & descending, middle, low)
        high = np.where(wide & ~descending, middle + 1, high)
    k_best = _NET[best]
    for k in (low, low + 1, high):
        value = f(k)
        better = (value < lowest) | ((value == lowest) & (k < k_best))
        k_best, lowest = np.where(better, k, k_best), np.where(better, value, lowest)
    limit = f(np.asarray(np.inf))
    return np.where(limit < lowest, np.inf, k_best), np.minimum(limit, lowest)
