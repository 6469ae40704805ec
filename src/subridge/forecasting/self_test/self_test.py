"""The self-test: from every part of the pilot the error at the pilot's size is forecast and compared with what it is.

A part of m rows, at the ridges of a forecast, has a leave-one-out error of its own, and the rule says by what factor it
falls from m to n. The pilot's leave-one-out errors of the same rows say by what factor it fell: both look at the same
rows, so that most of their noise is common.

What the pilot shows is also a law of its own: the error falls by D per doubling up to n, and every further doubling has
a share ρ of the fall before it. Halves and quarters test rule and law alike, and `evidence` weighs one against the
other by their squared misses.
"""

from dataclasses import dataclass

import numpy as np

from subridge.arrays.types import BoolArray, FloatArray
from subridge.forecasting.curve.points import tempered
from subridge.forecasting.inputs.request import DrawnEnsemble
from subridge.forecasting.matching import match_ridges
from subridge.forecasting.pilot.left_out import left_out, row_errors
from subridge.forecasting.pilot.pilot import Pilot
from subridge.forecasting.self_test.evidence import DECAY, Evidence
from subridge.forecasting.self_test.parts import part_pilots
from subridge.forecasting.transfer.transfer import transferred_pairs
from subridge.forecasting.transfer.variance import split_variance
from subridge.ridge.rows.training import TrainingRows

_SURE = 0.05  # a miss per doubling that is nothing: rule and law that both miss by less count alike
_OLDER = 0.25  # share of the doubling before the last in the law's slope
_RIDGES = 3  # of a curve that are tested


@dataclass(frozen=True, eq=False)
class SelfTest:
    """Forecasts from J parts at T ridges of the pilot's own error."""

    sizes: FloatArray  # rows of the parts, shape (J,)
    present: FloatArray  # leave-one-out errors of the parts, shape (J, T)
    forecast: FloatArray  # what they forecast for the pilot's size; shape (J, T)
    shown: FloatArray  # what the pilot shows on the same rows; shape (J, T)
    in_reach: BoolArray  # shape (J, T)
    n_samples: int
    places: tuple[int, ...]  # which of the T ridges stands for each of the S points of the curve

    def hits(self) -> dict[str, FloatArray]:
        """Rows, forecast and shown error of every part, geometric means over ridges in reach; each of shape (J,)."""
        usable = self._usable
        count = usable.sum(axis=1)
        means = {}
        for name, values in (("forecast", self.forecast), ("shown", self.shown)):
            logs = np.log(np.where(usable, values, 1.0)).sum(axis=1) / np.maximum(count, 1)
            means[name] = np.where(count > 0, np.exp(logs), np.nan)
        return {"rows": self.sizes} | means

    def evidence(self) -> Evidence:
        """What hits and misses say of the S points of the curve."""
        slopes, weights = np.array([self._at_ridge(t) for t in range(self.present.shape[1])]).T
        places = np.array(self.places)
        return Evidence(slopes[places], weights[places], np.full(len(places), self.scatter))

    @property
    def scatter(self) -> float:
        """Root mean square of the misses per doubling; NaN where no part reaches the pilot's size."""
        usable = self._usable
        if not usable.any():
            return float("nan")
        misses = np.log(self.forecast[usable] / self.shown[usable])
        doublings = np.broadcast_to(np.log2(self.n_samples / self.sizes)[:, None], usable.shape)[usable]
        return float(np.sqrt((misses**2 / doublings).mean()))

    @property
    def _usable(self) -> BoolArray:
        return np.asarray(self.in_reach & self._known & (self.forecast > 0) & np.isfinite(self.forecast))

    @property
    def _known(self) -> BoolArray:
        return np.asarray((self.shown > 0) & (self.present > 0))

    def _at_ridge(self, t: int) -> tuple[float, float]:
        """Slope of the law, and its weight against the rule; NaN where halves show nothing."""
        known, halves = self._known[:, t], self.sizes > 0.4 * self.n_samples
        fell = np.log(np.where(known, self.shown[:, t], 1.0) / np.where(known, self.present[:, t], 1.0))
        if not (known & halves).any():
            return float("nan"), float("nan")
        slope, older = float(fell[known & halves].mean()), known & ~halves
        tested = self._usable[:, t] & halves
        if not older.any() or not tested.any():
            return slope, 0.5
        before = float(fell[older].mean()) - slope
        misses = np.log(self.forecast[tested, t] / self.shown[tested, t])
        of_rule = float(misses.mean() ** 2 + misses.var() / len(misses)) + _SURE**2
        of_law = (DECAY * before - slope) ** 2 + _SURE**2
        return (1 - _OLDER) * slope + _OLDER * DECAY * before, of_rule / (of_rule + of_law)


def self_test(
    rows: TrainingRows, pilot: Pilot, ensemble: DrawnEnsemble, ridges: FloatArray, weights: FloatArray
) -> SelfTest:
    """Test one ensemble at ridges and weights of a curve, each of shape (S, k); of many, three are taken."""
    _, first = np.unique(ridges, axis=0, return_index=True)
    chosen = first[np.unique(np.linspace(0, len(first) - 1, _RIDGES).round().astype(int))]
    tested, used = ridges[chosen], weights[chosen]
    apart = np.abs(np.log(np.maximum(ridges[:, None, 0], 1e-300) / np.maximum(tested[None, :, 0], 1e-300)))
    whole = row_errors(pilot, tested, used)
    parts = list(part_pilots(rows, ensemble.plan))
    results = [_of_part(part, tested, used, pilot.n_samples) for _, part in parts]
    shape = (len(parts), len(chosen))
    return SelfTest(
        np.array([float(len(numbers)) for numbers, _ in parts]),
        np.array([present for present, _, _ in results]).reshape(shape),
        np.array([forecast for _, forecast, _ in results]).reshape(shape),
        np.array([whole[:, numbers].mean(axis=1) for numbers, _ in parts]).reshape(shape),
        np.array([reached for _, _, reached in results], dtype=bool).reshape(shape),
        pilot.n_samples,
        tuple(np.argmin(apart, axis=1).tolist()),
    )


def _of_part(part: Pilot, ridges: FloatArray, weights: FloatArray, n: int) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Present error of a part, what it forecasts for n rows, and whether that is in its reach; each (T,)."""
    sizes = np.full(len(ridges), float(n))
    wanted = match_ridges(part, sizes, ridges)
    present, forecast = row_errors(part, ridges, weights).mean(axis=1), []
    for block in left_out(part, wanted.penalties):
        split, used = split_variance(block, sizes[block.rows]), weights[block.rows]
        error = np.einsum("tr,trs,ts->t", used, transferred_pairs(block.pairs, split), used)
        forecast.append(tempered(error, present[block.rows], split.steadiness, np.ones(len(error), dtype=bool)))
    return present, np.concatenate(forecast), wanted.in_reach
