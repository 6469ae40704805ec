"""The stage that takes the pilot's leave-one-out errors to other sample sizes, at fixed effective ridges."""

from dataclasses import dataclass

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.forecasting.inputs.request import DrawnEnsemble
from subridge.forecasting.pilot.left_out import LeftOut
from subridge.forecasting.transfer.any_sum import OfAnySum, beside_silence, independent_labels, settled_at
from subridge.forecasting.transfer.variance import (
    VarianceSplit,
    finite_size_error,
    likeness_beside_intercept,
    split_variance,
    variance_gain,
)
from subridge.model.aggregation import FittedAggregation
from subridge.model.moments import MemberMoments

_LEAST_EIGENVALUE = 1e-3  # of a matrix of pairs, in units of the mean one


@dataclass(frozen=True, eq=False)
class Transfer:
    """What an ensemble errs at t new sizes."""

    variance: VarianceSplit
    readout_pairs: FloatArray  # what readout noise adds to the pairs, η_r² C/(1 - γ_rr n/n′), shape (t, k, k)
    weights: FloatArray  # of the members, shape (t, k)
    error: FloatArray  # wᵀ(Ê + ζ²)w, infinite for a ridgeless member at its interpolation threshold, shape (t,)
    allowance: (
        FloatArray  # standard error that no jackknife shows: of finite samples, and of fitted weights, shape (t,)
    )

    @property
    def readout(self) -> FloatArray:
        """What readout noise adds to the error; shape (t,)."""
        return np.asarray((self.weights**2 * np.diagonal(self.readout_pairs, axis1=1, axis2=2)).sum(axis=1))


def transfer(left_out: LeftOut, sizes: FloatArray, ensemble: DrawnEnsemble) -> Transfer:
    """Take left-out errors at t penalties of the pilot to the sizes n′, shape (t,), that these stand for."""
    variance = split_variance(left_out, sizes)
    noise = np.eye(left_out.pilot.n_members) * (left_out.pilot.n_targets * ensemble.readout_noise**2)
    readout_pairs = np.where(noise > 0, noise * np.where(noise > 0, variance_gain(variance.gamma_new), 0.0), 0.0)
    aggregation = ensemble.aggregation
    if isinstance(aggregation, OfAnySum):
        pairs, pilot = left_out.pairs, left_out.pilot
        # Small eigenvalues count here: a silent member takes away what is common to all pairs.
        moved = pairs * variance.error_ratio + readout_pairs
        labels = independent_labels(pilot, left_out.penalties)[:, :-1]
        found = settled_at(aggregation.inner, pairs, moved, labels, sizes / pilot.n_samples)
        # What all pairs share cancels, errors and all.
        shares = likeness_beside_intercept(variance)
        unsure = finite_size_error(pairs * shares, variance, found.weights, pilot.n_samples)
        known = (found.expected > 0) & (unsure < found.expected)  # else more may have been taken off than there is
        error = np.where(known, found.expected, np.inf)
        return Transfer(variance, readout_pairs, found.weights, error, np.hypot(unsure, found.corrected))
    moved, pilot = transferred_pairs(left_out.pairs, variance) + readout_pairs, left_out.pilot
    if isinstance(aggregation, FittedAggregation):
        power, labels = float(pilot.targets.var(axis=1).sum()), independent_labels(pilot, left_out.penalties)
        before, after = beside_silence(left_out.pairs, power), beside_silence(moved, power)
        found = settled_at(aggregation, before, after, labels, sizes / pilot.n_samples)
        weights, error, unsure = found.weights[:, :-1], found.expected, found.corrected
    else:
        moments = MemberMoments(moved)
        weights, unsure = aggregation.weights(moments), np.zeros(len(sizes))
        error = moments.risk_of(weights)
    of_finite_samples = finite_size_error(left_out.pairs, variance, weights, pilot.n_samples)
    return Transfer(variance, readout_pairs, weights, error, np.hypot(of_finite_samples, unsure))


def transferred_pairs(pairs: FloatArray, variance: VarianceSplit) -> FloatArray:
    """``Ê_rr′(n′) + ζ²`` without readout noise, from the pairs at the pilot's size; shape (t, k, k).

    Errors have covariances, estimates of them may not: these are the nearest matrices without negative eigenvalues.
    """
    moved = pairs * variance.error_ratio
    finite = np.isfinite(moved).all(axis=(1, 2))
    values, vectors = np.linalg.eigh(moved[finite])
    floor = _LEAST_EIGENVALUE * np.maximum(values.mean(axis=1, keepdims=True), 0.0)
    lifted = np.maximum(values, floor)
    repaired = (vectors * lifted[:, None, :]) @ vectors.transpose(0, 2, 1)
    moved[finite] = np.where((values < floor).any(axis=1)[:, None, None], repaired, moved[finite])
    return moved
