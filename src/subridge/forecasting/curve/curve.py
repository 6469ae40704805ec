"""The forecast curve of one ensemble: ridges, errors and intervals at every size."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from subridge.arrays.types import BoolArray, FloatArray
from subridge.forecasting.beyond_reach.extrapolate import Extrapolator
from subridge.forecasting.curve.points import points
from subridge.forecasting.curve.ridge_choice import best_ridges, own_ridges
from subridge.forecasting.inputs.request import DrawnEnsemble
from subridge.forecasting.matching.match import match_ridges
from subridge.forecasting.pilot.label_noise import LabelNoise
from subridge.forecasting.pilot.pilot import Pilot
from subridge.forecasting.uncertainty.spread import Spread

_STRIDE, _MOST_TRIED = 3, 5  # ridges beyond reach that are tried where the best seems to lie there: two decades


@dataclass(frozen=True, eq=False)
class ForecastCurve:
    """Forecast of one ensemble at S sizes.

    Attributes
    ----------
    sizes : ndarray, shape (S,)
    prediction_error, lower, upper, standard_error : ndarray, shape (S,)
        NaN where out of reach and not extrapolated.
    in_reach : ndarray of bool, shape (S,)
    is_bound : ndarray of bool, shape (S,)
        True where a chosen ridge is the smallest that the pilot can judge: a smaller one may err less.
    ridges : ndarray, shape (S, k)
        λ_r, given or chosen.
    penalties : ndarray, shape (S, k)
        Of the pilot, 0 where a member is out of reach.
    weights : ndarray, shape (S, k)
    spread : Spread
    """

    sizes: FloatArray
    prediction_error: FloatArray
    lower: FloatArray
    upper: FloatArray
    standard_error: FloatArray
    in_reach: BoolArray
    is_bound: BoolArray
    ridges: FloatArray
    penalties: FloatArray
    weights: FloatArray
    spread: Spread

    def __getitem__(self, rows: slice | BoolArray) -> "ForecastCurve":
        return ForecastCurve(**{name: values[rows] for name, values in vars(self).items()})

    @classmethod
    def joined(cls, parts: "Sequence[ForecastCurve]") -> "ForecastCurve":
        """The sizes of all parts in one."""
        spread = Spread.joined([part.spread for part in parts])
        arrays = [field.name for field in fields(cls) if field.name != "spread"]
        return cls(spread=spread, **{name: np.concatenate([getattr(part, name) for part in parts]) for name in arrays})


def forecast_curve(
    pilot: Pilot,
    ensemble: DrawnEnsemble,
    sizes: FloatArray,
    path: FloatArray | None,
    level: float,
    label_noise: Callable[[], LabelNoise] | None,
) -> ForecastCurve:
    """Forecast one ensemble.

    Parameters
    ----------
    pilot : Pilot
    ensemble : DrawnEnsemble
    sizes : ndarray, shape (S,)
    path : ndarray, shape (L,), or None
        Ascending ridges, of which every size takes the best in reach; None keeps those of the ensemble.
    level : float
        Of the intervals.
    label_noise : callable or None
        Gives the label noise where sizes beyond reach are to be extrapolated and need it; None leaves them NaN.

    Returns
    -------
    ForecastCurve
    """
    choice = own_ridges(ensemble, len(sizes)) if path is None else best_ridges(pilot, ensemble, sizes, path, level)
    matched = match_ridges(pilot, sizes, choice.ridges)
    found = points(pilot, ensemble, matched)
    error = np.where(matched.in_reach, found.error, np.nan)
    curve = ForecastCurve(
        sizes,
        error,
        *_interval(error, error, error, found.spread, level),
        matched.in_reach,
        choice.is_bound,
        choice.ridges,
        matched.penalties,
        found.weights,
        found.spread,
    )
    unsettled = curve.is_bound | ~curve.in_reach
    if label_noise is None or not unsettled.any():
        return curve
    extrapolator = Extrapolator(pilot, ensemble, label_noise())
    points_of = [curve[s : s + 1] for s in range(len(sizes))]
    for s in np.flatnonzero(unsettled):
        points_of[s] = _beyond_reach(points_of[s], pilot, extrapolator, path, level)
    return ForecastCurve.joined(points_of)


def _beyond_reach(
    point: ForecastCurve, pilot: Pilot, extrapolator: Extrapolator, path: FloatArray | None, level: float
) -> ForecastCurve:
    """A point whose ridge, or one that may be better, is out of reach: the best of what extrapolation says of it."""
    tried = point.ridges
    if path is not None and point.is_bound[0]:
        smaller = path[path < point.ridges[0, 0]][::-_STRIDE][:_MOST_TRIED]
        tried = np.repeat(smaller[:, None], pilot.n_members, axis=1)
    best = point
    for ridges in tried:
        wanted = match_ridges(pilot, point.sizes, ridges[None])
        if wanted.in_reach[0]:
            continue
        far = extrapolator.at(wanted)
        error, lowest, highest = (np.array([value]) for value in (far.error, far.lowest, far.highest))
        if np.isnan(best.prediction_error[0]) or error[0] < best.prediction_error[0]:
            lower, upper, standard_error = _interval(error, lowest, highest, far.spread, level)
            best = replace(
                point,
                prediction_error=error,
                lower=lower,
                upper=upper,
                standard_error=standard_error,
                in_reach=wanted.in_reach,
                is_bound=np.array([False]),
                ridges=wanted.ridges,
                spread=far.spread,
            )
    return best


def _interval(
    error: FloatArray, lowest: FloatArray, highest: FloatArray, spread: Spread, level: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Bounds around a range of estimates, and the standard error; each of shape (S,)."""
    known, factor = np.isfinite(error), spread.interval_factor(error, level)
    lower, upper = np.where(known, lowest / factor, error), np.where(known, highest * factor, error)
    return lower, upper, np.where(known, spread.standard_error, np.nan)
