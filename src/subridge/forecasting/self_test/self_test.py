"""The self-test: from halves and quarters of the pilot its own error is forecast and compared with what it is.

An ensemble is trained on a part of m rows and errs on all others by so much; the rule says by what factor the error
falls from m to n. The pilot's leave-one-out errors of the same rows say by what factor it fell: both look at the same
rows, so that most of their noise is common.

What the pilot shows is also a law of its own: the error falls by D over the last doubling, and every further doubling
has a share of the fall before it (`Evidence`).
"""

from dataclasses import dataclass

import numpy as np

from subridge.arrays.types import BoolArray, FloatArray
from subridge.forecasting.matching import match_ridges
from subridge.forecasting.pilot.left_out import left_out, row_errors
from subridge.forecasting.pilot.pilot import Pilot
from subridge.forecasting.self_test.evidence import Evidence
from subridge.forecasting.self_test.parts import errors_of_parts, part_rows
from subridge.forecasting.transfer.transfer import transferred_pairs
from subridge.forecasting.transfer.variance import split_variance

_RIDGES = 3  # of a curve that are tested


@dataclass(frozen=True, eq=False)
class SelfTest:
    """Forecasts of the pilot's own error from J draws of parts, at T ridges."""

    sizes: FloatArray  # rows of a part, shape (J,)
    present: FloatArray  # mean errors of ensembles trained on the parts, shape (J, T)
    forecast: FloatArray  # what follows from them for the pilot's size by the rule; shape (J, T)
    shown: FloatArray  # what the pilot shows on the same rows; shape (J, T)
    slopes: FloatArray  # change of the log error over the last doubling; NaN where no half was tested; shape (T,)
    n_samples: int
    places: tuple[int, ...]  # which of the T ridges stands for each of the S points of the curve

    def hits(self) -> dict[str, FloatArray]:
        """Rows of a part, forecast and shown error of every draw, geometric means over ridges; each of shape (J,)."""
        usable = self._usable
        count = usable.sum(axis=1)
        means = {}
        for name, values in (("forecast", self.forecast), ("shown", self.shown)):
            logs = np.log(np.where(usable, values, 1.0)).sum(axis=1) / np.maximum(count, 1)
            means[name] = np.where(count > 0, np.exp(logs), np.nan)
        return {"rows": self.sizes} | means

    def evidence(self) -> Evidence:
        """What hits and misses say of the S points of the curve."""
        places = np.array(self.places)
        return Evidence(self.slopes[places], np.full(len(places), self.scatter))

    @property
    def scatter(self) -> float:
        """Root mean square of the misses per root of doublings; NaN where nothing was tested."""
        usable = self._usable
        if not usable.any():
            return float("nan")
        misses = np.log(self.forecast[usable] / self.shown[usable])
        doublings = np.broadcast_to(np.log2(self.n_samples / self.sizes)[:, None], usable.shape)[usable]
        return float(np.sqrt((misses**2 / doublings).mean()))

    @property
    def _usable(self) -> BoolArray:
        known = (self.shown > 0) & (self.present > 0) & (self.forecast > 0)
        return np.asarray(known & np.isfinite(self.forecast) & np.isfinite(self.present))


def self_test(pilot: Pilot, ridges: FloatArray, weights: FloatArray, *, silent: bool = False) -> SelfTest:
    """Test one ensemble at ridges and weights of a curve, each of shape (S, k); of many, three are taken.

    `silent` says that the last member is a silent one.
    """
    _, first = np.unique(ridges, axis=0, return_index=True)
    chosen = first[np.unique(np.linspace(0, len(first) - 1, _RIDGES).round().astype(int))]
    tested, used, n = ridges[chosen], weights[chosen], pilot.n_samples
    apart = np.abs(np.log(np.maximum(ridges[:, None, 0], 1e-300) / np.maximum(tested[None, :, 0], 1e-300)))
    whole, draws = row_errors(pilot, tested, used), part_rows(n)
    sizes = np.array([float(len(parts[0])) for parts in draws])
    present = [errors_of_parts(pilot, parts, tested, used) for parts in draws]  # each (P, T)
    sums = whole.sum(axis=1)
    shown = [np.array([(sums - whole[:, part].sum(axis=1)) / (n - len(part)) for part in parts]) for parts in draws]
    means = [np.array([each.mean(axis=0) for each in found]).reshape(-1, len(chosen)) for found in (present, shown)]
    before, after = means
    rises = _smaller(pilot, tested, used, sizes, silent) / np.maximum(sums / n, np.finfo(float).tiny)
    forecast = before / rises
    places = tuple(np.argmin(apart, axis=1).tolist())
    return SelfTest(sizes, before, forecast, after, _last_fall(sizes, present, shown, n), n, places)


def _last_fall(sizes: FloatArray, present: list[FloatArray], shown: list[FloatArray], n: int) -> FloatArray:
    """Change of the log error from halves to the whole; the median of halves, as one outlier may hit some; (T,)."""
    drawn = [(p, s) for size, p, s in zip(sizes, present, shown, strict=True) if size > 0.4 * n]
    before, after = (np.concatenate(each) for each in zip(*drawn, strict=True))
    known = (before > 0) & (after > 0)
    falls = np.where(known, np.log(np.where(known, after, 1.0) / np.where(known, before, 1.0)), 0.0)
    return np.asarray(np.where(known.all(axis=0), np.median(falls, axis=0), np.nan))


def _smaller(pilot: Pilot, ridges: FloatArray, weights: FloatArray, sizes: FloatArray, silent: bool) -> FloatArray:
    """The errors of J smaller sizes, by the rule; shape (J, T)."""
    smaller, place = np.unique(sizes, return_inverse=True)
    J, T = len(smaller), len(ridges)
    wanted, used = np.repeat(smaller, T), np.tile(weights, (J, 1))
    matched, errors = match_ridges(pilot, wanted, np.tile(ridges, (J, 1))), np.ones(J * T)
    for block in left_out(pilot, matched.penalties):
        own, split = used[block.rows], split_variance(block, wanted[block.rows])
        pairs = block.pairs * split.error_ratio if silent else transferred_pairs(block.pairs, split)
        errors[block.rows] = np.einsum("tr,trs,ts->t", own, pairs, own)
    return np.asarray(errors.reshape(J, T)[place])
