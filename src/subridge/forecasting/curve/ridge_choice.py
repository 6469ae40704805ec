"""Which ridge of a path an ensemble takes at every size.

The least of many noisy numbers is too good, most of all where the pilot is all but interpolated. Such ridges are taken
only for want of others, and the few of least error are compared by the upper bounds of their intervals. Where few rows
dominate the pilot, what it forecasts is less sure than what it shows, and ridges are compared by what they err at
present: the best penalty of a given prior does not depend on the sample size.
"""

import numpy as np

from subridge.arrays.types import BoolArray, FloatArray
from subridge.forecasting.curve.points import Points, point_errors, points
from subridge.forecasting.inputs.request import DrawnEnsemble
from subridge.forecasting.inputs.ridge_path import RidgePath
from subridge.forecasting.matching import MatchedRidges, match_ridges
from subridge.forecasting.pilot.pilot import Pilot
from subridge.ridge.rows.diagnostics import warn_of_ridge_at_end
from subridge.ridge.search_path import MATERIAL, PROBES, End

_MOST_FREEDOM = 0.85  # df/n of a member; beyond, forecasts on deep features were 5 % and more too low
_LITTLE = 1.1  # what was learnt is little where the largest ridge errs no more than so many times the best
_COMPARED = 8  # ridges of least error whose intervals are looked at: more than a decade of the default path


def best_ridges(
    pilot: Pilot, ensemble: DrawnEnsemble, sizes: FloatArray, path: RidgePath, level: float
) -> tuple[FloatArray, BoolArray]:
    """For every size the best ridge of a path in reach, common to the members; the largest where none is.

    A path that may grow does so where the error still falls at an end of it; `RidgePathWarning` tells where it does so
    in the end.

    Returns ridges, shape (S, k), and a bound, shape (S,): True where the ridge is the smallest that the pilot can
    judge, so that a smaller one may err less.
    """
    matched, error = _errors(pilot, ensemble, sizes, path.ridges)
    if path.extensions and (error[:, -1] < _LITTLE * error.min(axis=1)).any():
        probed = _errors(pilot, ensemble, sizes, path.ridges[0] * PROBES)[1]
        if (probed.min(axis=1) < (1 - MATERIAL) * error.min(axis=1)).any():
            path = path.deeper()
            matched, error = _errors(pilot, ensemble, sizes, path.ridges)
    while path.extensions and (ends := _falling_ends(error, path.ridges)):
        path = path.extended(ends)
        matched, error = _errors(pilot, ensemble, sizes, path.ridges)
    for end in _falling_ends(error, path.ridges):
        warn_of_ridge_at_end(end, stacklevel=3)
    (S, L), ridges = error.shape, path.ridges
    first = np.argmax(np.isfinite(error), axis=1)
    is_bound = (first > 0) & (np.argmin(error, axis=1) == first)
    error = error.ravel()
    ranks = np.argsort(np.argsort(error.reshape(S, L), axis=1), axis=1).ravel()
    compared = np.isfinite(error) & (ranks < _COMPARED)
    bounds = np.full(S * L, np.inf)
    if compared.any():
        found, spread = points(pilot, ensemble, matched[compared])
        bounds[compared] = _compared(found) * spread.interval_factor(found.error, level)
    table = bounds.reshape(S, L)
    known = np.isfinite(table).any(axis=1)
    best = np.where(known, np.argmin(table, axis=1), L - 1)
    return np.repeat(ridges[best][:, None], pilot.n_members, axis=1), is_bound & known


def _errors(
    pilot: Pilot, ensemble: DrawnEnsemble, sizes: FloatArray, path: FloatArray
) -> tuple[MatchedRidges, FloatArray]:
    """Every size with every ridge of a path, S L of them, and their errors (S, L): infinite where none is offered."""
    S, L = len(sizes), len(path)
    grid = np.tile(path, S)[:, None]
    matched = match_ridges(pilot, np.repeat(sizes, L), np.repeat(grid, pilot.n_members, axis=1))
    freedom = pilot.degrees_of_freedom(matched.penalties) / pilot.n_samples
    easy = matched.in_reach & ((freedom <= _MOST_FREEDOM).all(axis=1) | (matched.sizes <= pilot.n_samples))
    offered = np.where(np.repeat(easy.reshape(S, L).any(axis=1), L), easy, matched.in_reach)
    error = np.full(S * L, np.inf)
    if offered.any():
        error[offered] = _compared(point_errors(pilot, ensemble, matched[offered]))
    return matched, error.reshape(S, L)


def _compared(found: Points) -> FloatArray:
    """Errors to compare ridges by, shape (T,): where few rows dominate, those of the present, which are exact."""
    error, share = found.error - found.readout, found.steadiness
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
