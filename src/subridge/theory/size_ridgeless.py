"""The best number of equal members at λ = 0, for every k at once.

With x = 1/k, 𝒮 = 1/(1+W) and C = α(1+H+Z) - α²𝒮 + ρ²(1-α𝒮)(1+W-α), the reduced error is explicit on either side of the
members' threshold k = 1/α:

    k < 1/α:   𝓔_k = 1 - 2ρ² - 2(1-ρ²)α𝒮 + H/k + C/(1 - αk),      convex in k, its minimum explicit;
    k > 1/α:   𝓔_k = r(x)/(1 - x/α) + l(x),                       r and l quadratic, at most one inflection.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import elementwise

from subridge.arrays.types import FloatArray

# Errors this close are equal up to rounding; the smaller ensemble is preferred.
_TIE = 1e-13


class Ratios(NamedTuple):
    """α, ρ², H, W, Z, broadcast together."""

    alpha: FloatArray
    rho2: FloatArray
    H: FloatArray
    W: FloatArray
    Z: FloatArray


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


def _amplified(ratios: Ratios) -> FloatArray:
    """C, what the interpolation threshold amplifies."""
    alpha, rho2, H, W, Z = ratios
    return np.asarray(alpha * (1 + H + Z) - alpha**2 / (1 + W) + rho2 * (1 - alpha / (1 + W)) * (1 + W - alpha))


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


def _slope(
    x: FloatArray, alpha: FloatArray, rho2: FloatArray, H: FloatArray, W: FloatArray, Z: FloatArray
) -> FloatArray:
    """d𝓔/dx beyond the threshold; finite at α = ∞."""
    y, S = 1 / alpha, 1 / (1 + W)
    r = _parts(x, Ratios(alpha, rho2, H, W, Z))[0]
    dr = (1 + H) + 2 * x * (Z * y - S) - rho2 * (S * (1 + W - x) + 1 - S * x)
    dl = -(1 - 2 * rho2 - 2 * (1 - rho2) * S * x) - 2 * (1 - x) * (1 - rho2) * S
    return np.asarray((dr * (1 - x * y) + y * r) / (1 - x * y) ** 2 + dl)


def _parts(x: FloatArray, ratios: Ratios) -> tuple[FloatArray, FloatArray]:
    """r(x) and l(x)."""
    alpha, rho2, H, W, Z = ratios
    S = 1 / (1 + W)
    r = (1 + H) * x + x**2 * (Z / alpha - S) + rho2 * (1 - S * x) * (1 + W - x)
    return np.asarray(r), np.asarray((1 - x) * (1 - 2 * rho2 - 2 * (1 - rho2) * S * x))


def _error(k: FloatArray, ratios: Ratios) -> FloatArray:
    """𝓔_k from the branch k is on; at k = 1/α infinite, or zero where nothing is amplified."""
    alpha, rho2, H, W, Z = ratios
    x, S = 1.0 / k, 1 / (1 + W)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        load = np.where(np.isinf(k), np.inf, alpha * k)
        few = 1 - 2 * rho2 - 2 * (1 - rho2) * alpha * S + H * x + _amplified(ratios) / (1 - load)
        r, l = _parts(x, ratios)
        many = r / (1 - x / alpha) + l
    error = np.where(load < 1, few, many)
    silent = (k == 1) & (H + W + Z == 0)
    error = np.where(np.abs(load - 1) <= 1e-12, np.where(silent, 0.0, np.inf), error)
    return np.where(alpha == 0, 1 - rho2 + rho2 * W + H * x, error)
