"""The forecast curve of one ensemble: ridges, errors and intervals at every size."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import norm

from subridge.arrays.types import BoolArray, FloatArray
from subridge.forecasting.beyond_reach.extrapolate import Extrapolator
from subridge.forecasting.curve.points import points
from subridge.forecasting.curve.ridge_choice import best_ridges
from subridge.forecasting.inputs.request import DrawnEnsemble
from subridge.forecasting.inputs.ridge_path import RidgePath
from subridge.forecasting.matching import MatchedRidges, match_ridges
from subridge.forecasting.pilot.label_noise import LabelNoise
from subridge.forecasting.pilot.pilot import Pilot
from subridge.forecasting.rowwise import RowWise
from subridge.forecasting.self_test.evidence import Evidence
from subridge.forecasting.uncertainty.spread import Spread
from subridge.model.errors import SubridgeWarning

# Doubt about the way to another size, per doubling, where few rows dominate; chosen on the development sets of
# benchmarks/tournament.
_LEAST_DOUBT, _SCATTER = 0.08, 0.7
_LAW = 0.7  # share of the law that the pilot's parts follow, against the rule, where few rows dominate
_APART = 0.5  # of what rule and law differ by
_NOISE = 1 / 3  # of its doubt: a change that is not larger is mostly noise
_VAGUE = 0.4  # relative standard error beyond which a forecast is not to be trusted
_UNTESTED = 0.2  # scatter where no part of the pilot reaches its size
_FAR = 6.0  # doublings after which doubt grows no further
_STRIDE, _MOST_TRIED = 3, 5  # ridges beyond reach that are tried where the best seems to lie there: two decades


@dataclass(frozen=True, eq=False)
class ForecastCurve(RowWise):
    """Forecast of one ensemble at S sizes."""

    wanted: MatchedRidges  # sizes, ridges (given or chosen), and which are in reach
    is_bound: BoolArray  # a chosen ridge is the smallest that the pilot can judge: a smaller one may err less
    prediction_error: FloatArray  # NaN where out of reach and not extrapolated, shape (S,)
    lowest: FloatArray  # the least error that fits the pilot about as well, shape (S,)
    highest: FloatArray  # the largest
    readout: FloatArray  # what readout noise, which is known and no pilot shows, has of the error, shape (S,)
    weights: FloatArray  # of the members, shape (S, k)
    spread: Spread
    present: FloatArray  # error at the pilot's size with the same ridges and weights, shape (S,)
    steadiness: FloatArray  # in [0, 1], 0 where few rows dominate, shape (S,)
    doubt: FloatArray  # relative standard error of the way to another size, beyond the spread over pilots, shape (S,)
    floor: FloatArray  # label noise that no error can fall below, shape (S,)

    def trusted(self, n_samples: int) -> BoolArray:
        """In reach, and known: the way to sizes beyond n has a standard error that leaves something to say; (S,)."""
        with np.errstate(invalid="ignore"):
            vague = (self.wanted.sizes > n_samples) & (self.standard_error > _VAGUE * self.prediction_error)
        return np.asarray(self.wanted.in_reach & ~vague)

    @property
    def fall(self) -> FloatArray:
        """Error over that at the pilot's size, both without readout noise; 1 where unknown; shape (S,)."""
        error = self.prediction_error - self.readout
        usable = np.isfinite(error) & (self.present > 0)
        return np.where(usable, error / np.where(usable, self.present, 1.0), 1.0)

    @property
    def standard_error(self) -> FloatArray:
        """Of the prediction error; shape (S,)."""
        known = np.isfinite(self.prediction_error)
        doubt = self.doubt * np.where(known, self.prediction_error, 0.0)
        return np.where(known, np.hypot(self.spread.standard_error, doubt), np.nan)

    def interval(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Lower and upper bounds of the prediction error, each of shape (S,)."""
        error, known = self.prediction_error, np.isfinite(self.prediction_error)
        with np.errstate(over="ignore"):
            widths = np.hypot(np.log(self.spread.interval_factor(error, level)), norm.ppf(0.5 + level / 2) * self.doubt)
            factor, further = np.exp(widths), np.exp(self.spread.lean(error, level))
        lower = np.maximum(self.lowest / factor, np.minimum(self.floor, error))
        return np.where(known, lower, error), np.where(known, self.highest * factor * further, error)

    def where_known(self) -> "ForecastCurve":
        """The curve with infinite errors out of reach, where they say that nothing is known."""
        known, wanted = np.isfinite(self.prediction_error), self.wanted
        errors = (np.where(known, values, np.nan) for values in (self.prediction_error, self.lowest, self.highest))
        error, lowest, highest = errors
        reached = replace(wanted, members_in_reach=wanted.members_in_reach & known[:, None])
        return replace(self, wanted=reached, prediction_error=error, lowest=lowest, highest=highest)

    def of_members(self, k: int) -> "ForecastCurve":
        """The curve with the first k members of its ensemble, without a silent one."""
        wanted = self.wanted
        members = replace(
            wanted,
            ridges=wanted.ridges[:, :k],
            penalties=wanted.penalties[:, :k],
            members_in_reach=wanted.members_in_reach[:, :k],
        )
        return replace(self, wanted=members, weights=self.weights[:, :k])

    def scaled(self, factors: FloatArray) -> "ForecastCurve":
        """The curve times given factors, shape (S,)."""
        return replace(
            self,
            prediction_error=self.prediction_error * factors,
            lowest=self.lowest * factors,
            highest=self.highest * factors,
            present=self.present * factors,
            readout=self.readout * factors,
            spread=self.spread.scaled(factors),
        )

    def judged(self, n_samples: int, evidence: Evidence, floor: float) -> "ForecastCurve":
        """The curve after a self-test, from a pilot of n rows, and with label noise as its floor.

        Where few rows dominate, the law that the pilot's own parts follow is blended with the rule, in logarithms, and
        their scatter widens intervals. Beyond reach, where the rule could not be tested, the law stands alone there.
        Of a change from the pilot's error that is not larger than a share of its doubt, little is believed.
        """
        error, sizes, reached = self.prediction_error - self.readout, self.wanted.sizes, self.wanted.in_reach
        usable = (sizes > n_samples) & np.isfinite(error) & (error > 0) & (self.present > 0)
        doublings = np.where(usable, np.log2(sizes / n_samples), 0.0)
        by_rule = np.log(np.where(usable, error, 1.0) / np.where(usable, self.present, 1.0))
        share = (1 - self.steadiness) * np.where(reached, _LAW, 1.0)
        apart = np.where(usable & np.isfinite(evidence.slopes), evidence.continued(doublings) - by_rule, 0.0)
        scatter = np.where(np.isfinite(evidence.scatter), evidence.scatter, _UNTESTED)
        unsteady, far = 1 - self.steadiness * reached, np.sqrt(np.minimum(doublings, _FAR))
        doubt = unsteady * np.hypot(far * np.hypot(_LEAST_DOUBT, _SCATTER * scatter), _APART * apart)
        change = by_rule + share * apart
        moved = np.exp(_shrunk(change, _NOISE * doubt) - by_rule)
        lifted = np.maximum(1.0, np.where(usable, floor / np.where(usable, error * moved, 1.0), 1.0))
        factor = np.where(usable, moved * lifted, 1.0)
        return replace(
            self,
            prediction_error=error * factor + self.readout,
            lowest=(self.lowest - self.readout) * factor + self.readout,
            highest=(self.highest - self.readout) * factor + self.readout,
            spread=self.spread.scaled(factor),
            doubt=doubt,
            floor=np.full(len(sizes), floor),
        )


def _shrunk(change: FloatArray, noise: FloatArray) -> FloatArray:
    """``c³/(c² + noise²)``, elementwise: all of a sure change c, nothing of one that may be noise."""
    return np.asarray(np.where(noise > 0, change**3 / np.maximum(change**2 + noise**2, 1e-300), change))


def forecast_curve(
    pilot: Pilot,
    ensemble: DrawnEnsemble,
    sizes: FloatArray,
    path: RidgePath | None,
    label_noise: Callable[[], LabelNoise] | None,
    ridges: FloatArray | None = None,
    tell: Callable[[SubridgeWarning], None] = warnings.warn,
) -> ForecastCurve:
    """Forecast one ensemble at sizes of shape (S,).

    Every size takes the best ridge in reach of a path; without a path it takes `ridges` (S, k), or its own.
    `label_noise` is called where sizes beyond reach are to be extrapolated and need it; without it they stay NaN.
    `tell` takes warnings of the path.
    """
    is_bound = np.zeros(len(sizes), dtype=bool)
    ridges = np.tile(ensemble.ridges, (len(sizes), 1)) if ridges is None else ridges
    if path is not None:
        ridges, is_bound = best_ridges(pilot, ensemble, sizes, path, tell)
    wanted = match_ridges(pilot, sizes, ridges)
    (found, spread), none = points(pilot, ensemble, wanted), np.zeros(len(sizes))
    error = np.where(wanted.in_reach, found.error, np.nan)
    curve = ForecastCurve(
        wanted,
        is_bound,
        error,
        error,
        error,
        found.readout,
        found.weights,
        spread,
        found.present,
        found.steadiness,
        none,
        none,
    )
    unsettled = is_bound | ~wanted.in_reach
    if label_noise is None or not unsettled.any():
        return curve
    extrapolator = Extrapolator(pilot, ensemble, label_noise())
    rows = [curve[s : s + 1] for s in range(len(sizes))]
    for s in np.flatnonzero(unsettled):
        rows[s] = _beyond_reach(rows[s], pilot, extrapolator, path)
    return ForecastCurve.joined(rows)


def _beyond_reach(
    point: ForecastCurve, pilot: Pilot, extrapolator: Extrapolator, path: RidgePath | None
) -> ForecastCurve:
    """A point whose ridge, or one that may be better, is out of reach: the best of what extrapolation says of it."""
    tried, best = point.wanted.ridges, point
    if path is not None and point.is_bound[0]:
        smaller = path.ridges[path.ridges < tried[0, 0]][::-_STRIDE][:_MOST_TRIED]
        tried = np.repeat(smaller[:, None], pilot.n_members, axis=1)
    for ridges in tried:
        wanted = match_ridges(pilot, point.wanted.sizes, ridges[None])
        if wanted.in_reach[0]:
            continue
        far = extrapolator.at(wanted)
        if np.isnan(best.prediction_error[0]) or far.error < best.prediction_error[0]:
            error, lowest, highest = np.array([[far.error], [far.lowest], [far.highest]])
            best = replace(
                point,
                wanted=wanted,
                is_bound=np.array([False]),
                prediction_error=error,
                lowest=lowest,
                highest=highest,
                readout=np.array([far.readout]),
                spread=far.spread,
            )
    return best
