"""Fitted weights of a candidate's members, at a ridge that still suits them at the planned size.

Weights that may have any sum also undo what the ridge shrinks. At the planned size n′ the same ridge shrinks less: the
output grows to ρ times its size, and weights that were right for n overshoot by

    (ρ - 1)² P,        ρ = Σ_r w_r yᵀH_r′y / Σ_r w_r yᵀH_r y,

where P is the power of the left-out output, H_r the hat matrix of a member and H_r′ that with n′/n times the spectrum.
That much is added to their error. Whoever fits the weights anew at n′ is spared it.
"""

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.forecasting.advice.present import Present, last_least, member_errors, readout_pairs
from subridge.forecasting.inputs.request import DrawnEnsemble
from subridge.forecasting.inputs.ridge_path import RidgePath
from subridge.forecasting.pilot.pilot import Pilot
from subridge.model.aggregation import LinearAggregation, Simplex
from subridge.model.moments import MemberMoments
from subridge.ridge.optimism import Verdict, judge
from subridge.ridge.rows.path import member_paths
from subridge.ridge.rows.training import TrainingRows
from subridge.ridge.selection import RidgeChoice

_STEPS = (-9, -6, -3, 0, 3, 6, 9)  # along the path: ridges offered to fitted weights, from that of equal ones


def fitted_weights(
    rows: TrainingRows, pilot: Pilot, ensemble: DrawnEnsemble, path: RidgePath, equal: Present, n_samples: float
) -> Present:
    """The same members with weights fitted by the ensemble's aggregation, at a ridge near that of equal weights.

    Weights and errors are those of the estimators: weights go as far as the data carry them, and are judged on rows
    that had no part in them. `n_samples` is the planned size.
    """
    ridges = np.unique(np.append(path.ridges, equal.ridge))
    start = int(np.searchsorted(ridges, equal.ridge))
    places = sorted({min(max(start + step, 0), len(ridges) - 1) for step in _STEPS})
    near, aggregation, growth = ridges[places], ensemble.aggregation, max(n_samples / pilot.n_samples, 1.0)
    errors = np.stack([member_errors(pilot, r, near) for r in range(pilot.n_members)], axis=1)  # (t, k, C, n)
    noise = np.zeros(pilot.n_members)
    if ensemble.readout_noise.any():
        noise = np.diagonal(readout_pairs(pilot, ensemble, np.array([equal.ridge]))[0])
    deviations = np.asarray(rows.deviations)
    penalised = []
    for ridge, each in zip(near, errors, strict=True):
        moments = _moments(each, deviations, noise)
        w = aggregation.weights(moments)
        overshoot = _overgrowth(pilot, aggregation, float(ridge), w, growth) * _output_power(each, deviations, w)
        penalised.append(float(moments.risk_of(w)) * _optimism(aggregation, w, pilot) + overshoot)
    place = last_least(np.array(penalised))
    ridge, chosen = float(near[place]), errors[place]
    verdict = _verdict(rows, ensemble, ridge)
    # Readout noise, which no estimator knows beforehand, speaks against large weights too.
    moments = _moments(chosen, deviations, noise) if verdict.moments is None or noise.any() else verdict.moments
    w = aggregation.weights(moments)
    apparent = _squares(chosen, deviations, w)
    ratio = max(verdict.error / max(float(apparent.mean()), 1e-300), 1.0)
    overshoot = _overgrowth(pilot, aggregation, ridge, w, growth) * _output_power(chosen, deviations, w)
    return Present(ridge, w, apparent * ratio + float(w**2 @ noise), overshoot)


def _overgrowth(
    pilot: Pilot, aggregation: LinearAggregation, ridge: float, weights: FloatArray, growth: float
) -> float:
    """``(ρ - 1)²`` for a sample `growth` times as large; none for weights of sum one, which do not undo shrinkage."""
    if growth == 1 or isinstance(aggregation, Simplex):
        return 0.0
    now = later = 0.0
    for r, member in enumerate(pilot.members):
        power, d = ((pilot.targets @ member.left.T) ** 2).sum(axis=0), member.spectrum
        penalty = ridge * int(pilot.subset_sizes[r])
        now += float(weights[r] * (power @ (d / (d + penalty))))
        later += float(weights[r] * (power @ (d / (d + penalty / growth))))
    return (later / now - 1) ** 2 if now > 0 else 0.0


def _moments(errors: FloatArray, deviations: FloatArray, noise: FloatArray) -> MemberMoments:
    ones = np.ones(errors.shape[-1])
    found = MemberMoments.of_errors(errors, deviations, ones)
    return MemberMoments(found.pairs + np.diag(noise), found.missed, found.v) if noise.any() else found


def _mixed(errors: FloatArray, deviations: FloatArray, weights: FloatArray) -> FloatArray:
    """Errors of a weighted sum of members, shape (C, n)."""
    return np.asarray((1 - weights.sum()) * deviations + np.tensordot(weights, errors, 1))


def _squares(errors: FloatArray, deviations: FloatArray, weights: FloatArray) -> FloatArray:
    """Squared errors of a weighted sum of members, shape (n,)."""
    return np.asarray((_mixed(errors, deviations, weights) ** 2).sum(axis=0))


def _output_power(errors: FloatArray, deviations: FloatArray, weights: FloatArray) -> float:
    """Mean square of what a weighted sum of members says of left-out rows."""
    return float(((deviations - _mixed(errors, deviations, weights)) ** 2).sum(axis=0).mean())


def _verdict(rows: TrainingRows, ensemble: DrawnEnsemble, ridge: float) -> Verdict:
    """Left-out error of the ensemble, weights and all, without readout noise."""
    paths = member_paths(rows, ensemble.plan, np.array([ridge]), pairs=True)
    choice = RidgeChoice(np.zeros(ensemble.plan.n_members, dtype=np.intp), None)
    return judge(paths, rows, ensemble.aggregation, choice)


def _optimism(aggregation: LinearAggregation, weights: FloatArray, pilot: Pilot) -> float:
    """Akaike's factor between errors on rows that d numbers were fitted to and on new ones, squared as left-out errors
    know each other.
    """
    d, n = float(aggregation.n_fitted(weights)), float(pilot.targets.size)
    return float(((n + d) / max(n - d, 1.0)) ** 2)
