"""The reduced error of equal members whose mean is scaled, at ρ = 0: closed form, best ridge and best size.

Disjoint members of an unaligned teacher are uncorrelated, so each explains its own part. With e = 1 + W, ν = 1/k,
m = νσ (the share of all features that a member fits) and γ = mσ/α the odds of the error are a sum of its causes,

    𝓔/(1-𝓔) = (W + e²Hν/m² + (e²Z + (e-m)² + m(σ-m))/α)/(1-γ),

the readout noise, the label noise, and what a member neither sees nor fits. For ρ ≠ 0 the target's power grows with
the number of features, the best scale is one, and everything is as for the mean.
"""

import numpy as np
from scipy.optimize import elementwise

from subridge.arrays.types import FloatArray
from subridge.theory.reduced.error import Ratios

# Errors this close are equal up to rounding; the smaller ensemble is preferred.
_TIE = 1e-13
_AT_THRESHOLD = 1e-12


def scaled_error(nu: FloatArray, sigma: FloatArray, ratios: Ratios) -> FloatArray:
    """𝓔 of the scaled mean at ρ = 0, given ν = 1/k and σ; it never exceeds one."""
    alpha, _, H, _, _ = ratios
    with np.errstate(divide="ignore", invalid="ignore"):
        readout = np.where(H > 0, H / (nu * sigma**2), 0.0)
        gap = np.where(alpha > 0, 1 - nu * sigma**2 / alpha, 1.0)
        causes = np.where(alpha > 0, odds(nu, sigma, readout, ratios), np.inf)
        ratio = np.where(np.isinf(causes), 1.0, causes / (causes + gap))
    # Without noise, with all seen and as many samples as features there is nothing to amplify.
    return np.where(gap <= _AT_THRESHOLD, np.where(causes <= _AT_THRESHOLD, 0.0, 1.0), ratio)


def odds(nu: FloatArray, sigma: FloatArray, readout: FloatArray, ratios: Ratios) -> FloatArray:
    """``(1-γ)𝓔/(1-𝓔)``; `readout` is H/(νσ²)."""
    alpha, _, _, W, Z = ratios
    e, m = 1 + W, nu * sigma
    return np.asarray(W + e**2 * readout + (e**2 * Z + (e - m) ** 2 + m * (sigma - m)) / alpha)


def best_scaled_overlap(nu: FloatArray, ratios: Ratios) -> FloatArray:
    """σ at the ridge that is best for the scaled mean, α positive and finite.

    It is the one root of `stationarity`. Without readout noise it is that of the quadratic at λ*; with much of it γ
    tends to one half. The root lies between these two.
    """
    alpha, _, H, W, Z = np.broadcast_arrays(*ratios)
    nu = np.broadcast_to(nu, alpha.shape)
    sum_of_roots = alpha + (1 + W) * (1 + Z)
    quiet = np.asarray(2 * alpha / (sum_of_roots + np.sqrt(sum_of_roots**2 - 4 * nu * alpha)))
    loud = np.asarray(np.sqrt(alpha / (2 * nu)))
    found = quiet.copy()
    noisy = (H > 0) & (quiet != loud)
    if noisy.any():
        given = tuple(part[noisy] for part in (nu, alpha, H, W, Z))
        ends = np.minimum(quiet, loud)[noisy], np.maximum(quiet, loud)[noisy]
        root = elementwise.find_root(stationarity, ends, args=given)
        found[noisy] = root.x
    return found


def stationarity(
    sigma: FloatArray, nu: FloatArray, alpha: FloatArray, H: FloatArray, W: FloatArray, Z: FloatArray
) -> FloatArray:
    """What vanishes where the error of the scaled mean is least in the ridge; negative where σ is too small."""
    e = 1 + W
    fitted = (alpha + e * (1 + Z)) * sigma - nu * sigma**2 - alpha
    return np.asarray(nu**2 * sigma**3 * fitted - e * alpha * H * (alpha - 2 * nu * sigma**2))


def best_scaled_ridgeless(ratios: Ratios) -> FloatArray:
    """k* of the scaled mean at λ = 0 and ρ = 0, on a flat grid.

    On either side of the threshold k = 1/α the error has one minimum, at αk = y below and αk = 1/y beyond, with the
    same y = √H/(√H + √(H + 1 + Z - α/(1+W))); where the root is of a negative number, it falls towards k = 1.
    """
    alpha, _, H, W, Z = ratios
    with np.errstate(divide="ignore", invalid="ignore"):
        meeting = 1.0 / alpha
        below = np.maximum(np.ceil(meeting * (1 - 1e-15)) - 1, 1.0)  # largest k < 1/α
        above = np.floor(meeting * (1 + 1e-15)) + 1  # smallest k > 1/α
        rest = H + 1 + Z - alpha / (1 + W)
        y = np.where(rest >= 0, np.sqrt(H) / (np.sqrt(H) + np.sqrt(np.maximum(rest, 0.0))), 1.0)
        y = np.where(np.isnan(y), 1.0, y)
        small = np.clip(y / alpha, 1.0, below)
        large = np.where(rest >= 0, np.maximum(1.0 / (alpha * y), above), above)
    k_best = np.ones_like(alpha)
    lowest = _ridgeless(k_best, ratios)
    for k in (np.floor(small), np.ceil(small), np.floor(large), np.ceil(large)):
        allowed = ((k <= below) | (k >= above)) & ~np.isnan(k)
        error = np.where(allowed, _ridgeless(np.where(allowed, k, 1.0), ratios), np.inf)
        better = error < lowest - _TIE
        k_best, lowest = np.where(better, k, k_best), np.where(better, error, lowest)
    # α → 0⁺: y/α grows for ever; without readout noise one member and infinitely many differ in second order.
    endless = (H > 0) | ((1 + W) * (1 + Z) > 2)
    return np.where(alpha == 0, np.where(endless, np.inf, 1.0), k_best)


def _ridgeless(k: FloatArray, ratios: Ratios) -> FloatArray:
    with np.errstate(invalid="ignore"):
        sigma = np.where(np.isinf(k), 1.0, np.minimum(1.0, ratios.alpha * k))
    return scaled_error(1.0 / k, sigma, ratios)
