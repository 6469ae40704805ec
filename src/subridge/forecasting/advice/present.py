"""Candidates at the pilot's own size: the ridge of least left-out error, and what every row says of it.

Left-out errors at the present size are exact, and those of two candidates on the same rows differ by far less noise
than two forecasts: they choose ridges, fit weights and decide what is surely better.
"""

from dataclasses import dataclass

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.ensemble.aggregation import LinearAggregation
from subridge.ensemble.moments import MemberMoments
from subridge.forecasting.curve.points import present_errors
from subridge.forecasting.inputs.request import DrawnEnsemble
from subridge.forecasting.pilot.pilot import Pilot
from subridge.ridge.optimism import judge
from subridge.ridge.rows.diagnostics import warn_of_ridge_at_end
from subridge.ridge.rows.leave_one_out import leave_one_out
from subridge.ridge.rows.path import member_paths
from subridge.ridge.rows.training import TrainingRows
from subridge.ridge.search_path import is_material
from subridge.ridge.selection import RidgeChoice

# Share of the squared errors, the largest, that are clipped for a second opinion on the ridge: few rows decide the
# first where tails are heavy, and too small a ridge costs more than too large a one.
_CLIPPED = 0.05
_STEPS = (-9, -6, -3, 0, 3, 6, 9)  # along the path: ridges offered to fitted weights, from that of equal ones


@dataclass(frozen=True, eq=False)
class Present:
    """An ensemble at its ridge, on the pilot's rows."""

    ridge: float
    weights: FloatArray  # of the members, shape (k,)
    squares: FloatArray  # squared left-out errors, summed over targets, with readout noise; shape (n,)

    @property
    def error(self) -> float:
        """Their mean."""
        return float(self.squares.mean())


def equal_weights(pilot: Pilot, ensemble: DrawnEnsemble, path: FloatArray) -> Present:
    """The mean of members at its best ridge of an ascending path (L,).

    That is the ridge of least left-out error, or the one of least error with the largest twentieth of the squares
    clipped, whichever is larger. The best penalty of a given prior does not depend on the sample size.
    """
    k = pilot.n_members
    total = np.zeros((len(path), pilot.n_targets, pilot.n_samples))
    for r in range(k):
        total += _member_errors(pilot, r, path) / k
    squares = (total**2).sum(axis=1)
    if ensemble.readout_noise.any():
        ridges = np.repeat(path[:, None], k, axis=1)
        loud = present_errors(pilot, ensemble, ridges, np.full((len(path), k), 1 / k))
        squares = squares + (loud - squares.mean(axis=1))[:, None]
    losses = squares.mean(axis=1)
    clipped = np.minimum(squares, np.quantile(squares, 1 - _CLIPPED, axis=1)[:, None]).mean(axis=1)
    place = max(_last_least(losses), _last_least(clipped))
    _warn_at_ends(losses, path, float(pilot.targets.var(axis=1).sum()))
    return Present(float(path[place]), np.full(k, 1 / k), squares[place])


def fitted_weights(
    rows: TrainingRows, pilot: Pilot, ensemble: DrawnEnsemble, path: FloatArray, equal: Present
) -> Present:
    """The same members with weights fitted by the ensemble's aggregation, at a ridge near that of equal weights.

    Errors are those that the estimators report: of weights that had no part in the row they are judged on.
    """
    start = int(np.searchsorted(path, equal.ridge))
    places = sorted({min(max(start + step, 0), len(path) - 1) for step in _STEPS})
    near, aggregation = path[places], ensemble.aggregation
    errors = np.stack([_member_errors(pilot, r, near) for r in range(pilot.n_members)], axis=1)  # (t, k, C, n)
    noise = _noise_of_members(pilot, ensemble, equal.ridge)
    deviations = np.asarray(rows.deviations)
    moments = [_moments(each, deviations, noise) for each in errors]
    weights = [aggregation.weights(each) for each in moments]
    penalised = [
        float(each.risk_of(w)) * _optimism(aggregation, w, pilot) for each, w in zip(moments, weights, strict=True)
    ]
    place = _last_least(np.array(penalised))
    w = weights[place]
    apparent = _squares(errors[place], deviations, w)
    ratio = _honest(rows, ensemble, float(near[place])) / max(_apparent(errors[place], deviations, aggregation), 1e-300)
    return Present(float(near[place]), w, apparent * max(ratio, 1.0) + float(w**2 @ noise))


def _noise_of_members(pilot: Pilot, ensemble: DrawnEnsemble, ridge: float) -> FloatArray:
    """What readout noise adds to the squared error of each member by itself, shape (k,)."""
    k = pilot.n_members
    if not ensemble.readout_noise.any():
        return np.zeros(k)
    loud = present_errors(pilot, ensemble, np.full((k, k), ridge), np.eye(k))
    own = [(_member_errors(pilot, r, np.array([ridge])) ** 2).sum() / pilot.n_samples for r in range(k)]
    return np.asarray(loud - np.array(own))


def _member_errors(pilot: Pilot, r: int, ridges: FloatArray) -> FloatArray:
    """Left-out errors of a member at every ridge, shape (t, C, n)."""
    leverage = np.full(pilot.n_samples, pilot.intercept / pilot.n_samples)
    errors, _ = leave_one_out(pilot.members[r], pilot.targets, ridges * int(pilot.subset_sizes[r]), leverage)
    return np.asarray(errors)


def _moments(errors: FloatArray, deviations: FloatArray, noise: FloatArray) -> MemberMoments:
    ones = np.ones(errors.shape[-1])
    found = MemberMoments.of_errors(errors, deviations, ones)
    return MemberMoments(found.pairs + np.diag(noise), found.missed, found.v) if noise.any() else found


def _squares(errors: FloatArray, deviations: FloatArray, weights: FloatArray) -> FloatArray:
    """Squared errors of a weighted sum of members, shape (n,)."""
    whole = (1 - weights.sum()) * deviations + np.tensordot(weights, errors, 1)
    return np.asarray((whole**2).sum(axis=0))


def _apparent(errors: FloatArray, deviations: FloatArray, aggregation: LinearAggregation) -> float:
    moments = _moments(errors, deviations, np.zeros(len(errors)))
    return float(moments.risk_of(aggregation.weights(moments)))


def _honest(rows: TrainingRows, ensemble: DrawnEnsemble, ridge: float) -> float:
    """Left-out error of the ensemble, weights and all, without readout noise."""
    paths = member_paths(rows, ensemble.plan, np.array([ridge]), keep=True)
    choice = RidgeChoice(np.zeros(ensemble.plan.n_members, dtype=np.intp), None)
    return judge(paths, rows, ensemble.aggregation, choice).error


def _optimism(aggregation: LinearAggregation, weights: FloatArray, pilot: Pilot) -> float:
    """Akaike's factor between errors on rows that d numbers were fitted to and on new ones, squared as left-out errors
    know each other.
    """
    d, n = float(aggregation.n_fitted(weights)), float(pilot.targets.size)
    return float(((n + d) / max(n - d, 1.0)) ** 2)


def _last_least(values: FloatArray) -> int:
    """Place of the least number, the last among equals; NaN counts as infinite."""
    known = np.where(np.isfinite(values), values, np.inf)
    return int(len(known) - 1 - np.argmin(known[::-1]))


def _warn_at_ends(losses: FloatArray, path: FloatArray, spread: float) -> None:
    place, last = _last_least(losses), len(path) - 1
    if last and place == 0 and path[0] > 0 and is_material(float(losses[0]), float(losses[1]), spread):
        warn_of_ridge_at_end("lower", float(path[0]), stacklevel=4)
    if last and place == last and is_material(float(losses[last]), float(losses[last - 1]), spread):
        warn_of_ridge_at_end("upper", float(path[last]), stacklevel=4)
