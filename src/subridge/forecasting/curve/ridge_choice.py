"""Which ridge of a path an ensemble takes at every size.

The least of many noisy numbers is too good, most of all where the pilot is all but interpolated: such ridges are taken
only for want of others. What the pilot shows of two ridges is surer than what it forecasts of them, and the best
penalty of a given prior does not depend on the sample size. Ridges are therefore compared by what they err at present,
with a say of the forecast, which knows where the best one moves to.
"""

from collections.abc import Callable

import numpy as np

from subridge.arrays.types import BoolArray, FloatArray
from subridge.forecasting.curve.points import Points, point_errors
from subridge.forecasting.inputs.request import DrawnEnsemble
from subridge.forecasting.inputs.ridge_path import RidgePath
from subridge.forecasting.matching import match_ridges
from subridge.forecasting.pilot.pilot import Pilot
from subridge.model.errors import SubridgeWarning
from subridge.ridge.rows.diagnostics import ridge_at_end
from subridge.ridge.search_path import MATERIAL, PROBES, End

_MOST_FREEDOM = 0.85  # df/n of a member; beyond, forecasts on deep features were 5 % and more too low
_LITTLE = 1.1  # what was learnt is little where the largest ridge errs no more than so many times the best
# Share of the forecast of larger sizes, in logarithms, in the errors that ridges are compared by. Between 0 and .5
# little changes on the development sets of benchmarks/tournament; with 1 ridges are far from the best (decision 0019).
_FORECAST = 0.25


def best_ridges(
    pilot: Pilot, ensemble: DrawnEnsemble, sizes: FloatArray, path: RidgePath, tell: Callable[[SubridgeWarning], None]
) -> tuple[FloatArray, BoolArray]:
    """For every size the best ridge of a path in reach, common to the members; the largest where none is.

    A path that may grow does so where the error still falls at an end of it; `tell` is given a `RidgePathWarning` where
    it does so in the end.

    Returns ridges, shape (S, k), and a bound, shape (S,): True where the ridge is the smallest that the pilot can
    judge, so that a smaller one may err less.
    """
    error = _errors(pilot, ensemble, sizes, path.ridges)
    if path.extensions and (error[:, -1] < _LITTLE * error.min(axis=1)).any():
        probed = _errors(pilot, ensemble, sizes, path.ridges[0] * PROBES)
        if (probed.min(axis=1) < (1 - MATERIAL) * error.min(axis=1)).any():
            path = path.deeper()
            error = _errors(pilot, ensemble, sizes, path.ridges)
    while path.extensions and (ends := _falling_ends(error, path.ridges)):
        path = path.extended(ends)
        error = _errors(pilot, ensemble, sizes, path.ridges)
    for end in _falling_ends(error, path.ridges):
        tell(ridge_at_end(end))
    known = np.isfinite(error).any(axis=1)
    first, best = np.argmax(np.isfinite(error), axis=1), np.where(known, np.argmin(error, axis=1), -1)
    return np.repeat(path.ridges[best][:, None], pilot.n_members, axis=1), known & (first > 0) & (best == first)


def _errors(pilot: Pilot, ensemble: DrawnEnsemble, sizes: FloatArray, path: FloatArray) -> FloatArray:
    """Errors to compare the ridges of a path by, at every size, shape (S, L): infinite where none is offered."""
    S, L = len(sizes), len(path)
    grid = np.tile(path, S)[:, None]
    matched = match_ridges(pilot, np.repeat(sizes, L), np.repeat(grid, pilot.n_members, axis=1))
    freedom = pilot.degrees_of_freedom(matched.penalties) / pilot.n_samples
    easy = matched.in_reach & ((freedom <= _MOST_FREEDOM).all(axis=1) | (matched.sizes <= pilot.n_samples))
    offered = np.where(np.repeat(easy.reshape(S, L).any(axis=1), L), easy, matched.in_reach)
    error = np.full(S * L, np.inf)
    if offered.any():
        share = np.where(matched.sizes[offered] > pilot.n_samples, _FORECAST, 1.0)
        error[offered] = _compared(point_errors(pilot, ensemble, matched[offered]), share)
    return error.reshape(S, L)


def _compared(found: Points, share: FloatArray) -> FloatArray:
    """Errors of the present with a share (T,) of those forecast, the smaller the more few rows dominate; shape (T,)."""
    error, share = found.error - found.readout, share * found.steadiness
    usable = np.isfinite(error) & (error > 0) & (found.present > 0)
    ratio = np.where(usable, found.present, 1.0) / np.where(usable, error, 1.0)
    return np.asarray(np.where(usable, error * ratio ** (1 - share), error) + found.readout)


def _falling_ends(error: FloatArray, path: FloatArray) -> tuple[End, ...]:
    """Ends of a path at which the errors (S, L) along it still fall, for some size that the pilot can judge there."""
    last = len(path) - 1
    if last == 0:
        return ()
    best = np.argmin(error, axis=1)

    def falls(place: int, inner: int) -> bool:
        here, there = error[best == place, place], error[best == place, inner]
        return bool((np.isfinite(there) & (there > here * (1 + MATERIAL))).any())

    lower: tuple[End, ...] = ("lower",) if path[0] > 0 and falls(0, 1) else ()
    upper: tuple[End, ...] = ("upper",) if falls(last, last - 1) else ()
    return lower + upper
