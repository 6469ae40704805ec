"""Candidates at the pilot's own size: the ridge of least left-out error, and what every row says of it.

Left-out errors at the present size are exact, and those of two candidates on the same rows differ by far less noise
than two forecasts: they choose ridges, fit weights (`fitted`) and decide what is surely better.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.forecasting.inputs.request import DrawnEnsemble
from subridge.forecasting.inputs.ridge_path import RidgePath
from subridge.forecasting.pilot.left_out import left_out
from subridge.forecasting.pilot.pilot import Pilot
from subridge.forecasting.transfer.transfer import transfer
from subridge.model.aggregation import Mean
from subridge.model.errors import SubridgeWarning
from subridge.ridge.rows.diagnostics import ridge_at_end
from subridge.ridge.rows.leave_one_out import leave_one_out
from subridge.ridge.search_path import PROBES, End, is_material

# Too small a ridge costs more than too large a one. The ridge is one that so many of the resampled pilots would not
# exceed: on the development sets of benchmarks/tournament .7 is best for one ridge and .6 for ensembles.
_RESAMPLED, _NOT_EXCEEDED = 200, 0.65
_LITTLE = 1.1  # what was learnt is little where the largest ridge errs no more than so many times the best


@dataclass(frozen=True, eq=False)
class Present:
    """An ensemble at its ridge, on the pilot's rows."""

    ridge: float
    weights: FloatArray  # of the members, shape (k,)
    squares: FloatArray  # squared left-out errors, summed over targets, with readout noise; shape (n,)
    overshoot: float = 0.0  # what its weights, which suit the pilot's size, add to its error at the planned one
    least: FloatArray | None = None  # squares at the ridge of least left-out error, where that is not the ridge taken

    @property
    def error(self) -> float:
        """Their mean."""
        return float(self.squares.mean())

    @property
    def strongest(self) -> FloatArray:
        """The squares that speak most for it, which a rival must beat; shape (n,)."""
        return self.squares if self.least is None else self.least


def equal_weights(
    pilot: Pilot, ensemble: DrawnEnsemble, path: RidgePath, tell: Callable[[SubridgeWarning], None]
) -> Present:
    """The mean of members at its best ridge of a path, which grows where the error still falls at an end of it.

    Which ridge has the least left-out error depends on few rows where tails are heavy or classes rare. Rows are drawn
    again with replacement, and the ridge is one that most of the draws find large enough. The best penalty of a
    given prior does not depend on the sample size. `tell` takes a warning where the error still falls at an end.
    """
    spread = float(pilot.targets.var(axis=1).sum())
    squares = _path_squares(pilot, ensemble, path.ridges)
    if path.extensions and squares[-1].mean() < _LITTLE * squares.mean(axis=1).min():
        probed = _path_squares(pilot, ensemble, np.sort(path.ridges[0] * PROBES)).mean(axis=1)
        if is_material(float(probed.min()), float(squares.mean(axis=1).min()), spread):
            path = path.deeper()
            squares = _path_squares(pilot, ensemble, path.ridges)
    while path.extensions and (end := _falling_end(squares.mean(axis=1), path.ridges, spread)) is not None:
        path = path.extended((end,))
        squares = _path_squares(pilot, ensemble, path.ridges)
    losses = squares.mean(axis=1)
    place = _resampled_place(squares)
    end = _falling_end(losses, path.ridges, spread)
    if end is not None:
        tell(ridge_at_end(end))
    weights = np.full(pilot.n_members, 1 / pilot.n_members)
    return Present(float(path.ridges[place]), weights, squares[place], least=squares[last_least(losses)])


def _resampled_place(squares: FloatArray) -> int:
    """Place of a ridge that most resampled pilots do not exceed; squared errors (L, n) are along ascending ridges."""
    n = squares.shape[1]
    counts = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), _RESAMPLED)
    known = np.asarray(np.isfinite(squares).all(axis=1))
    losses = np.where(known[:, None], np.where(known[:, None], squares, 0.0) @ counts.T, np.inf)
    places = len(losses) - 1 - np.argmin(losses[::-1], axis=0)
    return int(np.quantile(places, _NOT_EXCEEDED, method="inverted_cdf"))


def _path_squares(pilot: Pilot, ensemble: DrawnEnsemble, ridges: FloatArray) -> FloatArray:
    """Squared left-out errors of the mean at every ridge, with readout noise; shape (L, n)."""
    k, total = pilot.n_members, np.zeros((len(ridges), pilot.n_targets, pilot.n_samples))
    for r in range(k):
        total += member_errors(pilot, r, ridges) / k
    squares = np.asarray((total**2).sum(axis=1))
    if not ensemble.readout_noise.any():
        return squares
    return np.asarray(squares + readout_pairs(pilot, ensemble, ridges).mean(axis=(1, 2))[:, None])


def readout_pairs(pilot: Pilot, ensemble: DrawnEnsemble, ridges: FloatArray) -> FloatArray:
    """What readout noise adds to the errors of pairs of members at every ridge, shape (L, k, k)."""
    n, equal = float(pilot.n_samples), replace(ensemble, aggregation=Mean())
    blocks = left_out(pilot, ridges[:, None] * pilot.subset_sizes)
    return np.concatenate([transfer(block, np.full(len(block.penalties), n), equal).readout_pairs for block in blocks])


def member_errors(pilot: Pilot, r: int, ridges: FloatArray) -> FloatArray:
    """Left-out errors of a member at every ridge, shape (t, C, n)."""
    leverage = np.full(pilot.n_samples, pilot.intercept / pilot.n_samples)
    found = leave_one_out(pilot.members[r], pilot.targets, ridges * int(pilot.subset_sizes[r]), leverage)
    return np.asarray(found.errors)


def last_least(values: FloatArray) -> int:
    """Place of the least number, the last among equals; NaN counts as infinite."""
    known = np.where(np.isfinite(values), values, np.inf)
    return int(len(known) - 1 - np.argmin(known[::-1]))


def _falling_end(losses: FloatArray, ridges: FloatArray, spread: float) -> End | None:
    """The end of a path at which errors (L,) still fall, if they do."""
    place, last = last_least(losses), len(ridges) - 1
    if last and place == 0 and ridges[0] > 0 and is_material(float(losses[0]), float(losses[1]), spread):
        return "lower"
    if last and place == last and is_material(float(losses[last]), float(losses[last - 1]), spread):
        return "upper"
    return None
