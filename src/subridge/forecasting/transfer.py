"""Risk at another sample size from the pilot's leave-one-out errors, at fixed effective ridges."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.forecasting.jackknife import Jackknife, jackknife
from subridge.forecasting.pilot import Pilot
from subridge.forecasting.variance import split_variance

# Near its threshold, at a distance of n (1 - γ) samples, a member's risk differs from theory by about this over that
# distance.
_FINITE_SIZE = 1.5
_LEAST_EIGENVALUE = 1e-3  # of a matrix of pairs, in units of the mean one

WeightRule = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, eq=False)
class Transfer:
    """What the pilot says about T rows of a table of sizes and penalties.

    Attributes
    ----------
    pairs : ndarray, shape (T, k, k)
        Ê_rr′(n′) + ζ², summed over targets, with readout noise on the diagonal.
    weights : ndarray, shape (T, k)
        Of the aggregate.
    error : ndarray, shape (T,)
        ``wᵀ(Ê + ζ²)w``.
    spread : Jackknife or None
        Of `error`.
    occupied : ndarray, shape (T, k, k)
        γ_rr′ n, which depends on the effective ridges alone.
    """

    pairs: FloatArray
    weights: FloatArray
    error: FloatArray
    spread: Jackknife | None
    occupied: FloatArray


def equal_weights(pairs: FloatArray) -> FloatArray:
    """1/k for every member; shape (T, k, k) to (T, k)."""
    return np.full(pairs.shape[:2], 1 / pairs.shape[1])


def transfer(
    pilot: Pilot,
    penalties: FloatArray,
    sizes: FloatArray,
    *,
    weights_of: WeightRule,
    readout_noise: FloatArray,
    folds: int = 0,
    with_spread: bool = True,
) -> Transfer:
    """Carry the pilot's errors to other sample sizes at the effective ridges of the given pilot penalties.

    Parameters
    ----------
    pilot : Pilot
    penalties : ndarray, shape (T, k)
        Of the pilot; see ``pilot.penalties_for``.
    sizes : ndarray, shape (T,)
        n′; may be infinite.
    weights_of : callable
        From pairs (T, k, k) to weights (T, k).
    readout_noise : ndarray, shape (k,)
        η_r, which adds ``η_r² C/(1 - γ_rr n/n′)`` to the diagonal.
    folds : int
        Weights that are fitted to errors look better on them than on others; with folds, every part of the rows is
        judged by weights from the rest. 0: weights do not depend on errors.
    with_spread : bool
        Whether to run the jackknife, which costs about three times the rest.

    Returns
    -------
    Transfer
        Infinite where γ_rr n ≥ n′: a ridgeless member at its interpolation threshold.
    """
    T, k, n, C = len(sizes), pilot.n_members, pilot.n, len(pilot.targets)
    noise = np.eye(k) * (C * readout_noise**2)
    pairs, weights, occupied = np.empty((T, k, k)), np.empty((T, k)), np.empty((T, k, k))
    error = np.empty(T)
    spreads = []
    traces = pilot.pair_traces(penalties)
    for rows, errors, diagonals in pilot.left_out(penalties):
        flat = errors.reshape(len(errors), k, C * n)
        at_pilot = flat @ flat.transpose(0, 2, 1) / n
        leverages = pilot.leverages(penalties[rows], diagonals)
        squares = pilot.squared_diagonals(penalties[rows])
        variance = split_variance(errors, diagonals, leverages, squares, traces[rows], sizes[rows])
        occupied[rows] = variance.occupied
        gain = np.where(variance.then < 1, 1 / np.where(variance.then < 1, 1 - variance.then, 1.0), np.inf)
        variance_of_noise = np.where(noise > 0, noise * np.where(noise > 0, gain, 0.0), 0.0)
        pairs[rows] = _positive(at_pilot * variance.carry) + variance_of_noise
        weights[rows] = weights_of(pairs[rows])
        error[rows] = weighted_error(pairs[rows], weights[rows])
        if folds:
            # No better than on their own rows, where few rows and much carrying would have it so.
            apart = _cross_fitted(errors, variance.carry, variance_of_noise, weights_of, folds)
            error[rows] = np.maximum(error[rows], apart)
        if with_spread:
            carry = np.where(np.isfinite(variance.carry), variance.carry, 0.0)
            form = weights[rows, :, None] * weights[rows, None, :] * carry
            ratios = 1 / (1 - variance.now)
            # Relative error of the carry from that of 1 - γ, which is _FINITE_SIZE/(n (1 - γ)).
            change = np.abs(1 - variance.then / np.maximum(variance.now, 1e-12))
            wobble = _FINITE_SIZE * ratios / n * change * np.where(np.isfinite(gain), gain, 0.0)
            allowance = (np.abs(form * at_pilot) * wobble).sum(axis=(1, 2))
            spreads.append(jackknife(pilot, penalties[rows], errors, diagonals, form, ratios, allowance))
    spread = _joined(spreads) if with_spread else None
    return Transfer(pairs, weights, error, spread, occupied)


def _positive(pairs: FloatArray) -> FloatArray:
    """The nearest matrices without negative eigenvalues: errors have covariances, estimates of them may not."""
    fixed = pairs.copy()
    finite = np.isfinite(pairs).all(axis=(1, 2))
    values, vectors = np.linalg.eigh(pairs[finite])
    floor = _LEAST_EIGENVALUE * np.maximum(values.mean(axis=1, keepdims=True), 0.0)
    lifted = np.maximum(values, floor)
    repaired = (vectors * lifted[:, None, :]) @ vectors.transpose(0, 2, 1)
    fixed[finite] = np.where((values < floor).any(axis=1)[:, None, None], repaired, pairs[finite])
    return fixed


def _cross_fitted(
    errors: FloatArray, carry: FloatArray, noise: FloatArray, weights_of: WeightRule, folds: int
) -> FloatArray:
    """Error of weights on rows they were not fitted to, shape (t,)."""
    t, k, _, n = errors.shape
    fold = np.random.default_rng(0).permutation(n) % min(folds, n)
    parts = []
    for number in range(min(folds, n)):
        flat = errors[:, :, :, fold == number].reshape(t, k, -1)
        parts.append(flat @ flat.transpose(0, 2, 1))
    whole, total = np.sum(parts, axis=0), np.zeros(t)
    for number, part in enumerate(parts):
        here = np.count_nonzero(fold == number)
        weights = weights_of(_positive((whole - part) / (n - here) * carry) + noise)
        total += here / n * weighted_error(part / here * carry + noise, weights)
    return total


def weighted_error(pairs: FloatArray, weights: FloatArray) -> FloatArray:
    """wᵀEw where a member of infinite error and weight zero counts nothing; shape (T,)."""
    outer = weights[:, :, None] * weights[:, None, :]
    return np.asarray((outer * np.where(outer != 0, pairs, 0.0)).sum(axis=(1, 2)))


def _joined(spreads: list[Jackknife]) -> Jackknife:
    fields = ("influence", "shrink", "allowance")
    return Jackknife(*(np.concatenate([getattr(spread, field) for spread in spreads]) for field in fields))
