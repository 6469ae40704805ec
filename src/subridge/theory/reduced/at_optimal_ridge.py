"""The best number of equal members when each has its own best ridge λ*.

There the reduced error collapses to 𝓔*_k = 𝓔_∞ + (1/k)[H - (1-ρ²)(2-1/k)σ_k/(1+W)], so k beats ∞ exactly where the
bracket is negative, and each k has an explicit sample ratio α_k from which on it is.
"""

from collections.abc import Callable

import numpy as np

from subridge.arrays.types import FloatArray, IntArray
from subridge.theory.equicorrelated.optimal_ridge import scaled_optimum
from subridge.theory.equicorrelated.saddle_point import bulk_overlap
from subridge.theory.reduced.error import Ratios

# Every k of the first part is compared; beyond it a geometric net brackets the best, up to ensembles of 10^12.
_NET = np.unique(np.concatenate([np.arange(1.0, 25.0), np.round(np.geomspace(24, 1e12, 110))]))


def best_at_optimal_ridge(ratios: Ratios) -> FloatArray:
    """k* at λ*; ∞ where no finite k makes the bracket negative."""
    shape = ratios.alpha.shape
    flat = _flat(ratios, shape)

    def gain(k: FloatArray, rows: IntArray) -> FloatArray:
        part = Ratios(*(field[rows] for field in flat))
        nu = 1.0 / k
        t = np.maximum(_scaled_optimum(nu, part) - nu, 0.0)  # Λ*ν/(1+W), never negative but for rounding
        sigma = bulk_overlap(part.alpha, nu, t)
        return np.asarray(nu * (part.H - (1 - part.rho2) * (2 - nu) * sigma / (1 + part.W)))

    k, lowest = _integer_minimum(gain, len(flat.H))
    # Where nothing can be gained without readout noise (no data, or a teacher along 1) all sizes tie.
    k = np.where(lowest < 0, k, np.where(flat.H == 0, 1.0, np.inf))
    # Just above the boundary the gain is below its own rounding, and the boundary itself decides.
    open_ = np.flatnonzero(np.isinf(k) & np.isfinite(flat.alpha))
    if len(open_):
        first, critical = _first_to_win(Ratios(*(field[open_] for field in flat)))
        k[open_] = np.where(flat.alpha[open_] > critical, first, k[open_])
    return k.reshape(shape)


def boundary_at_optimal_ridge(ratios: Ratios) -> FloatArray:
    """Smallest α_k over all k: below it no ensemble beats the infinite one."""
    shape = ratios.rho2.shape
    return np.where(ratios.H == 0, 0.0, _first_to_win(_flat(ratios, shape))[1].reshape(shape))


def _first_to_win(flat: Ratios) -> tuple[FloatArray, FloatArray]:
    """The size that beats ∞ from the smallest sample ratio on, and that ratio, shape (n,) each."""

    def critical(k: FloatArray, rows: IntArray) -> FloatArray:
        part = Ratios(*(field[rows] for field in flat))
        nu = 1.0 / k
        with np.errstate(divide="ignore", invalid="ignore"):
            sigma = part.H * (1 + part.W) / ((1 - part.rho2) * (2 - nu))  # σ_k at which the bracket vanishes
            ratio = sigma * (_scaled_optimum(nu, part) - nu * sigma) / (1 - sigma)
        return np.where((sigma < 1) & ~np.isnan(ratio), ratio, np.inf)

    return _integer_minimum(critical, len(flat.H))


def _flat(ratios: Ratios, shape: tuple[int, ...]) -> Ratios:
    return Ratios(*(np.broadcast_to(field, shape).ravel() for field in ratios))


def _scaled_optimum(nu: FloatArray, ratios: Ratios) -> FloatArray:
    """ν(1 + Λ*/(1+W))."""
    _, rho2, H, W, Z = ratios
    return scaled_optimum(np.ones(()), 1 + W, nu, rho2, H + Z)


def _integer_minimum(f: Callable[[FloatArray, IntArray], FloatArray], n: int) -> tuple[FloatArray, FloatArray]:
    """Smallest minimiser over k = 1, 2, ..., ∞ of n functions and its value: a net brackets every valley.

    ``f(k, rows)`` evaluates the functions ``rows``. Between neighbours of the net a function has a single valley, whose
    floor halving finds; of several valleys none is left out, as the best one of the net need not hold the minimum.
    """
    everything = np.arange(n)
    best = np.full(n, np.inf)
    lowest = f(best, everything)
    before, here = np.full(n, np.inf), f(np.full(n, _NET[0]), everything)
    for position, k in enumerate(_NET):
        last = position + 1 == len(_NET)
        after = np.full(n, np.inf) if last else f(np.full(n, _NET[position + 1]), everything)
        rows = np.flatnonzero(np.isfinite(here) & (here <= before) & (here <= after))
        if len(rows):
            low = np.full(len(rows), _NET[max(position - 1, 0)])
            high = np.full(len(rows), _NET[min(position + 1, len(_NET) - 1)])
            while (wide := high - low > 2).any():
                middle = np.floor((low + high) / 2)
                descending = f(middle + 1, rows) < f(middle, rows)
                low = np.where(wide & descending, middle, low)
                high = np.where(wide & ~descending, middle + 1, high)
            for candidate in (np.full(len(rows), k), low, low + 1, high):
                value = f(candidate, rows)
                better = (value < lowest[rows]) | ((value == lowest[rows]) & (candidate < best[rows]))
                best[rows[better]], lowest[rows[better]] = candidate[better], value[better]
        before, here = here, after
    return best, lowest
