"""The self-test: from every part of the pilot the error at the pilot's size is forecast and compared with what it is.

A part of m rows, at the ridges of a forecast, has a leave-one-out error of its own, and the rule says by what factor it
falls from m to n. The pilot's leave-one-out errors of the same rows say by what factor it fell: both look at the same
rows, so that most of their noise is common. Two numbers are learnt.

- The share κ of a forecast change (in logarithms) that came true, ``κ = (P A/s² + 1/τ²)/(P²/s² + 1/τ²)`` with means P
  forecast and A shown, s their standard error and a prior of 1 ± τ: a share is believed as far as its noise allows.
- The scatter per doubling, which widens intervals where few rows dominate.
"""

from dataclasses import dataclass

import numpy as np

from subridge.arrays.types import BoolArray, FloatArray
from subridge.forecasting.curve.points import tempered
from subridge.forecasting.inputs.request import DrawnEnsemble
from subridge.forecasting.matching import match_ridges
from subridge.forecasting.pilot.left_out import left_out
from subridge.forecasting.pilot.pilot import Pilot
from subridge.forecasting.self_test.parts import part_pilots
from subridge.forecasting.transfer.transfer import transferred_pairs
from subridge.forecasting.transfer.variance import split_variance
from subridge.ridge.rows.training import TrainingRows

_PRIOR = 0.25  # τ
_INDEPENDENT = 3.0  # of the parts, which share rows
_LEAST_SCATTER = 0.02
_SHARES = (0.5, 1.25)  # least and largest κ
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

    @property
    def misses(self) -> FloatArray:
        """log of forecast over shown, where in reach; shape (hits,)."""
        return np.asarray(np.log(self.forecast[self._usable] / self.shown[self._usable]))

    def hits(self) -> dict[str, FloatArray]:
        """Rows, forecast and shown error of every part, geometric means over ridges in reach; each of shape (J,)."""
        usable = self._usable
        count = usable.sum(axis=1)
        means = {}
        for name, values in (("forecast", self.forecast), ("shown", self.shown)):
            logs = np.log(np.where(usable, values, 1.0)).sum(axis=1) / np.maximum(count, 1)
            means[name] = np.where(count > 0, np.exp(logs), np.nan)
        return {"rows": self.sizes} | means

    @property
    def _usable(self) -> BoolArray:
        positive = (self.forecast > 0) & (self.shown > 0) & (self.present > 0)
        return np.asarray(self.in_reach & positive & np.isfinite(self.forecast))

    @property
    def share(self) -> float:
        """κ."""
        usable = self._usable
        if np.count_nonzero(usable) < 3:
            return 1.0
        forecast = np.log(self.forecast[usable] / self.present[usable])
        shown = np.log(self.shown[usable] / self.present[usable])
        noise = max(float(((shown - forecast) ** 2).mean()), _LEAST_SCATTER**2) / _INDEPENDENT
        P, A = float(forecast.mean()), float(shown.mean())
        share = (P * A / noise + 1 / _PRIOR**2) / (P**2 / noise + 1 / _PRIOR**2)
        return float(np.clip(share, *_SHARES))

    @property
    def scatter(self) -> float:
        """Root mean square of the misses per doubling; NaN where no part reaches the pilot's size."""
        usable = self._usable
        if not usable.any():
            return float("nan")
        doublings = np.broadcast_to(np.log2(self.n_samples / self.sizes)[:, None], usable.shape)[usable]
        return float(np.sqrt((self.misses**2 / doublings).mean()))


def self_test(
    rows: TrainingRows, pilot: Pilot, ensemble: DrawnEnsemble, ridges: FloatArray, weights: FloatArray
) -> SelfTest:
    """Test one ensemble at ridges and weights of a curve, each of shape (S, k); of many, three are taken."""
    chosen = np.unique(np.linspace(0, len(ridges) - 1, _RIDGES).round().astype(int))
    distinct, first = np.unique(ridges[chosen], axis=0, return_index=True)
    used, n = weights[chosen][first], pilot.n_samples
    whole = _row_errors(pilot, distinct, used)
    parts = list(part_pilots(rows, ensemble.plan))
    results = [_of_part(part, distinct, used, n) for _, part in parts]
    return SelfTest(
        np.array([float(len(numbers)) for numbers, _ in parts]),
        np.array([present for present, _, _ in results]).reshape(-1, len(distinct)),
        np.array([forecast for _, forecast, _ in results]).reshape(-1, len(distinct)),
        np.array([whole[:, numbers].mean(axis=1) for numbers, _ in parts]).reshape(-1, len(distinct)),
        np.array([reached for _, _, reached in results], dtype=bool).reshape(-1, len(distinct)),
        n,
    )


def _row_errors(pilot: Pilot, ridges: FloatArray, weights: FloatArray) -> FloatArray:
    """Squared leave-one-out error of every row, summed over targets; shape (T, n)."""
    return np.concatenate(
        [
            (np.einsum("tk,tkcn->tcn", weights[block.rows], block.errors) ** 2).sum(axis=1)
            for block in left_out(pilot, ridges * pilot.subset_sizes)
        ]
    )


def _of_part(part: Pilot, ridges: FloatArray, weights: FloatArray, n: int) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Present error of a part, what it forecasts for n rows, and whether that is in its reach; each (T,)."""
    sizes = np.full(len(ridges), float(n))
    wanted = match_ridges(part, sizes, ridges)
    present, forecast = _row_errors(part, ridges, weights).mean(axis=1), []
    for block in left_out(part, wanted.penalties):
        split, used = split_variance(block, sizes[block.rows]), weights[block.rows]
        error = np.einsum("tr,trs,ts->t", used, transferred_pairs(block.pairs, split), used)
        forecast.append(tempered(error, present[block.rows], split.steadiness, np.ones(len(error), dtype=bool)))
    return present, np.concatenate(forecast), wanted.in_reach
