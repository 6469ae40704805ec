"""The forecast curve of one ensemble: ridges, errors and intervals at every size."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from subridge.arrays.types import BoolArray, FloatArray
from subridge.forecasting.beyond_reach.extrapolate import Extrapolator
from subridge.forecasting.curve.points import points
from subridge.forecasting.curve.ridge_choice import best_ridges
from subridge.forecasting.inputs.request import DrawnEnsemble
from subridge.forecasting.matching import MatchedRidges, match_ridges
from subridge.forecasting.pilot.label_noise import LabelNoise
from subridge.forecasting.pilot.pilot import Pilot
from subridge.forecasting.rowwise import RowWise
from subridge.forecasting.uncertainty.spread import Spread

_STRIDE, _MOST_TRIED = 3, 5  # ridges beyond reach that are tried where the best seems to lie there: two decades


@dataclass(frozen=True, eq=False)
class ForecastCurve(RowWise):
    """Forecast of one ensemble at S sizes."""

    wanted: MatchedRidges  # sizes, ridges (given or chosen), and which are in reach
    is_bound: BoolArray  # a chosen ridge is the smallest that the pilot can judge: a smaller one may err less
    prediction_error: FloatArray  # NaN where out of reach and not extrapolated, shape (S,)
    lowest: FloatArray  # the least error that fits the pilot about as well, shape (S,)
    highest: FloatArray  # the largest
    weights: FloatArray  # of the members, shape (S, k)
    spread: Spread

    @property
    def standard_error(self) -> FloatArray:
        """Of the prediction error; shape (S,)."""
        return np.where(np.isfinite(self.prediction_error), self.spread.standard_error, np.nan)

    def interval(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Lower and upper bounds of the prediction error, each of shape (S,)."""
        error, factor = self.prediction_error, self.spread.interval_factor(self.prediction_error, level)
        known = np.isfinite(error)
        return np.where(known, self.lowest / factor, error), np.where(known, self.highest * factor, error)


def forecast_curve(
    pilot: Pilot,
    ensemble: DrawnEnsemble,
    sizes: FloatArray,
    path: FloatArray | None,
    level: float,
    label_noise: Callable[[], LabelNoise] | None,
) -> ForecastCurve:
    """Forecast one ensemble at sizes of shape (S,).

    Every size takes the best ridge in reach of an ascending path (L,), compared by intervals of the given level;
    without a path the ensemble keeps its own. `label_noise` is called where sizes beyond reach are to be extrapolated
    and need it; without it they stay NaN.
    """
    ridges, is_bound = np.tile(ensemble.ridges, (len(sizes), 1)), np.zeros(len(sizes), dtype=bool)
    if path is not None:
        ridges, is_bound = best_ridges(pilot, ensemble, sizes, path, level)
    wanted = match_ridges(pilot, sizes, ridges)
    error, weights, spread = points(pilot, ensemble, wanted)
    error = np.where(wanted.in_reach, error, np.nan)
    curve = ForecastCurve(wanted, is_bound, error, error, error, weights, spread)
    unsettled = is_bound | ~wanted.in_reach
    if label_noise is None or not unsettled.any():
        return curve
    extrapolator = Extrapolator(pilot, ensemble, label_noise())
    rows = [curve[s : s + 1] for s in range(len(sizes))]
    for s in np.flatnonzero(unsettled):
        rows[s] = _beyond_reach(rows[s], pilot, extrapolator, path)
    return ForecastCurve.joined(rows)


def _beyond_reach(
    point: ForecastCurve, pilot: Pilot, extrapolator: Extrapolator, path: FloatArray | None
) -> ForecastCurve:
    """A point whose ridge, or one that may be better, is out of reach: the best of what extrapolation says of it."""
    tried, best = point.wanted.ridges, point
    if path is not None and point.is_bound[0]:
        smaller = path[path < tried[0, 0]][::-_STRIDE][:_MOST_TRIED]
        tried = np.repeat(smaller[:, None], pilot.n_members, axis=1)
    for ridges in tried:
        wanted = match_ridges(pilot, point.wanted.sizes, ridges[None])
        if wanted.in_reach[0]:
            continue
        far = extrapolator.at(wanted)
        if np.isnan(best.prediction_error[0]) or far.error < best.prediction_error[0]:
            error, lowest, highest = np.array([[far.error], [far.lowest], [far.highest]])
            best = ForecastCurve(wanted, np.array([False]), error, lowest, highest, point.weights, far.spread)
    return best
