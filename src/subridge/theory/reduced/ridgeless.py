"""The best number of equal members at λ = 0, for every k at once.

With x = 1/k the reduced error is explicit on either side of the members' threshold k = 1/α, because a member fits
σ = min(1, αk) of its bulk:

    k < 1/α:   𝓔_k = H/k + C/(1 - αk) + what does not depend on k,     convex in k, its minimum explicit;
    k > 1/α:   𝓔_k = r(x)/(1 - x/α) + l(x),                            r and l quadratic, at most one inflection.
"""

import numpy as np
from scipy.optimize import elementwise

from subridge.arrays.types import FloatArray
from subridge.theory.reduced.error import Ratios, cross_bias, own_bias, reduced_error

# Errors this close are equal up to rounding; the smaller ensemble is preferred.
_TIE = 1e-13
_ALL = np.ones(())  # σ beyond the threshold: the whole bulk is fitted


def best_ridgeless(ratios: Ratios) -> FloatArray:
    """k* at λ = 0 on a flat grid: the best k on either side of 1/α against the two ends, 1 and ∞."""
    alpha = ratios.alpha
    with np.errstate(divide="ignore"):
        meeting = 1.0 / alpha
    below = np.maximum(np.ceil(meeting * (1 - 1e-15)) - 1, 1.0)  # largest k < 1/α
    above = np.floor(meeting * (1 + 1e-15)) + 1  # smallest k > 1/α
    small = np.clip(_best_below(ratios), 1.0, below)
    with np.errstate(divide="ignore"):
        large = np.maximum(1.0 / _best_fraction(ratios), above)
    k_best = np.ones_like(alpha)
    lowest = _error(k_best, ratios)
    for k in (np.floor(small), np.ceil(small), np.floor(large), np.ceil(large)):
        allowed = (k <= below) | (k >= above)
        error = np.where(allowed, _error(k, ratios), np.inf)
        better = error < lowest - _TIE
        k_best, lowest = np.where(better, k, k_best), np.where(better, error, lowest)
    # k = ∞ was among the candidates exactly where the curve beyond 1/α falls towards it, so it needs no comparison of
    # its own; without data it is the limit of the other branch.
    return np.where((alpha == 0) & (ratios.H > 0), np.inf, k_best)


def _error(k: FloatArray, ratios: Ratios) -> FloatArray:
    with np.errstate(invalid="ignore"):
        sigma = np.where(np.isinf(k), 1.0, np.minimum(1.0, ratios.alpha * k))
    return reduced_error(1.0 / k, sigma, ratios)


def _amplified(ratios: Ratios) -> FloatArray:
    """C, what the interpolation threshold amplifies: the numerator of ν E_rr at the threshold ν = α, where γ = 1."""
    alpha, _, H, _, Z = ratios
    with np.errstate(invalid="ignore"):
        return np.asarray(own_bias(alpha, _ALL, ratios) + alpha * (H + Z))


def _best_below(ratios: Ratios) -> FloatArray:
    """Real k < 1/α with H/k² = αC/(1-αk)²; 1 where there is no such side."""
    alpha, H = ratios.alpha, ratios.H
    with np.errstate(divide="ignore", invalid="ignore"):
        k = np.sqrt(H) / (alpha * np.sqrt(H) + np.sqrt(alpha * np.maximum(_amplified(ratios), 0.0)))
    return np.where((alpha < 1) & np.isfinite(k), k, 1.0)


def _best_fraction(ratios: Ratios) -> FloatArray:
    """x = 1/k that minimises the error on [0, min(1, α)); 0 where it grows from x = 0, that is k = ∞."""
    alpha, rho2, W = ratios.alpha, ratios.rho2, ratios.W
    high = np.minimum(1.0, alpha * (1 - 1e-9))
    with np.errstate(divide="ignore", invalid="ignore"):
        # With C < 0 (abundant data, little noise) the curve turns concave before x = 1: the minimum lies before that,
        # or at x = 1, which is compared anyway.
        concave = np.maximum(-alpha * _amplified(ratios), 0.0) * (1 + W) / (2 * (1 - rho2))
        inflection = alpha - np.cbrt(concave)
    high = np.where((concave > 0) & np.isfinite(inflection), np.clip(inflection, 0.0, high), high)
    fraction = np.zeros_like(alpha)
    live = np.flatnonzero(high > 0)
    args = tuple(part[live] for part in ratios)
    falls_at_zero = _slope(np.zeros(len(live)), *args) < 0
    falls_at_end = _slope(high[live], *args) <= 0
    fraction[live] = np.where(falls_at_zero & falls_at_end, high[live], 0.0)
    inside = np.flatnonzero(falls_at_zero & ~falls_at_end)
    if len(inside):
        chosen = live[inside]
        found = elementwise.find_root(
            _slope, (np.zeros(len(inside)), high[chosen]), args=tuple(part[inside] for part in args)
        )
        fraction[chosen] = found.x
    return fraction


def _slope(x: FloatArray, *given: FloatArray) -> FloatArray:
    """d𝓔/dx beyond the threshold, where σ = 1; finite at α = ∞."""
    ratios = alpha, rho2, H, W, Z = Ratios(*given)
    y, S = 1 / alpha, 1 / (1 + W)
    gap = 1 - x * y
    r = own_bias(x, _ALL, ratios) + x * (H + x * y * Z)
    dr = (1 - rho2) * (1 - 2 * S * x) - rho2 + H + 2 * x * y * Z
    dl = -cross_bias(x, _ALL, ratios) - 2 * (1 - x) * (1 - rho2) * S
    return np.asarray((dr * gap + y * r) / gap**2 + dl)
