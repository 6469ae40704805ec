"""The forecast curve of one ensemble: rows of sizes and ridges, intervals, reach."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from subridge.arrays.types import BoolArray, FloatArray
from subridge.ensemble.member_weights import member_weights
from subridge.forecasting.extrapolation import Extrapolation, Tail, extrapolate
from subridge.forecasting.jackknife import Jackknife
from subridge.forecasting.label_noise import LabelNoise
from subridge.forecasting.pilot import Pilot
from subridge.forecasting.transfer import WeightRule, equal_weights, transfer

_MOST_FREEDOM = 0.85  # df/n of a member; beyond, forecasts on deep features were 5 % and more too low
_FOLDS = 20  # that judge fitted weights
_STRIDE, _MOST_TRIED = 3, 5  # ridges beyond reach that are tried where the best seems to lie there: two decades
_COMPARED = 8  # ridges of least error whose intervals are looked at: more than a decade of the default path


@dataclass(frozen=True, eq=False)
class ForecastCurve:
    """Forecast of one ensemble at S sizes.

    Attributes
    ----------
    error, lower, upper, standard_error : ndarray, shape (S,)
        NaN where out of reach and not extrapolated.
    in_reach : ndarray of bool, shape (S,)
    is_bound : ndarray of bool, shape (S,)
        True where a chosen ridge is the smallest that the pilot can judge: a smaller one may err less.
    ridges : ndarray, shape (S, k)
        λ_r, given or chosen.
    weights : ndarray, shape (S, k)
    penalties : ndarray, shape (S, k)
        Of the pilot, 0 where a member is out of reach.
    spread : Jackknife
    """

    error: FloatArray
    lower: FloatArray
    upper: FloatArray
    standard_error: FloatArray
    in_reach: BoolArray
    is_bound: BoolArray
    ridges: FloatArray
    weights: FloatArray
    penalties: FloatArray
    spread: Jackknife


def optimal_weights(pairs: FloatArray) -> FloatArray:
    """Weights on the simplex that minimise wᵀEw; equal ones where every member's error is infinite."""
    lost = ~np.isfinite(np.diagonal(pairs, axis1=1, axis2=2)).any(axis=1)
    weights = equal_weights(pairs)
    if not lost.all():
        weights[~lost] = member_weights(pairs[~lost])
    return weights


AGGREGATIONS: dict[str, WeightRule] = {"mean": equal_weights, "optimal": optimal_weights}


def forecast_curve(
    pilot: Pilot,
    sizes: FloatArray,
    ridges: FloatArray,
    readout_noise: FloatArray,
    *,
    aggregation: str,
    level: float,
    tuned: bool,
    beyond: Callable[[], LabelNoise] | None,
) -> ForecastCurve:
    """Forecast one ensemble.

    Parameters
    ----------
    pilot : Pilot
    sizes : ndarray, shape (S,)
    ridges : ndarray, shape (L, k)
        One row without `tuned`; with it, a path from which every size takes the row of least error in reach.
    readout_noise : ndarray, shape (k,)
    aggregation : {"mean", "optimal"}
    level : float
        Of the intervals.
    tuned : bool
    beyond : callable, optional
        Gives the label noise when extrapolation is wanted and needed.

    Returns
    -------
    ForecastCurve
    """
    rule, S = AGGREGATIONS[aggregation], len(sizes)
    folds = _FOLDS if aggregation == "optimal" else 0
    chosen, is_bound = np.repeat(ridges, S, axis=0), np.zeros(S, dtype=bool)
    if tuned:
        chosen, is_bound = _best_ridges(pilot, sizes, ridges, readout_noise, rule, folds, level)
    penalties, reached = pilot.penalties_for(sizes, chosen)
    in_reach = reached.all(axis=1)
    carried = transfer(pilot, penalties, sizes, weights_of=rule, readout_noise=readout_noise, folds=folds)
    assert carried.spread is not None
    error = np.where(in_reach, carried.error, np.nan)
    lowest, highest = error.copy(), error.copy()
    spread, weights = carried.spread, carried.weights
    if beyond is not None and (is_bound | ~in_reach).any():
        noise, tails = beyond(), dict[int, Tail]()
        for s in np.flatnonzero(is_bound | ~in_reach):
            smaller = ridges[ridges.sum(axis=1) < chosen[s].sum()][::-_STRIDE][:_MOST_TRIED]
            for ridge in smaller if is_bound[s] else chosen[s : s + 1]:
                (penalty,), (reach,) = pilot.penalties_for(sizes[s : s + 1], ridge[None])
                if reach.all():
                    continue
                far = extrapolate(pilot, tails, sizes[s], ridge, reach, penalty, rule, readout_noise, noise)
                if np.isnan(error[s]) or far.error < error[s]:
                    error[s], lowest[s], highest[s] = far.error, far.lowest, far.highest
                    chosen[s], in_reach[s], is_bound[s] = ridge, False, False
                    spread = _with_row(spread, s, far)
    known = np.isfinite(error)
    factor = spread.upper_factor(error, level)
    lower, upper = np.where(known, lowest / factor, error), np.where(known, highest * factor, error)
    standard_error = np.where(known, spread.standard_error, np.nan)
    return ForecastCurve(error, lower, upper, standard_error, in_reach, is_bound, chosen, weights, penalties, spread)


def _best_ridges(
    pilot: Pilot,
    sizes: FloatArray,
    path: FloatArray,
    readout_noise: FloatArray,
    rule: WeightRule,
    folds: int,
    level: float,
) -> tuple[FloatArray, BoolArray]:
    """For every size the best ridges in reach, the largest where none is, and whether smaller ones may be better.

    Shapes (S, k) and (S,). The least of many noisy numbers is too good, most of all where the pilot is all but
    interpolated. Such ridges are taken only for want of others, and the few of least error are compared by the upper
    bounds of their intervals.
    """
    S, L = len(sizes), len(path)
    every_size, every_ridge = np.repeat(sizes, L), np.tile(path, (S, 1))
    penalties, reached = pilot.penalties_for(every_size, every_ridge)
    error = np.full(S * L, np.inf)

    def fill(rows: BoolArray, with_spread: bool) -> None:
        carried = transfer(
            pilot,
            penalties[rows],
            every_size[rows],
            weights_of=rule,
            readout_noise=readout_noise,
            folds=folds,
            with_spread=with_spread,
        )
        factor = 1.0 if carried.spread is None else carried.spread.upper_factor(carried.error, level)
        error[rows] = carried.error * factor

    in_reach = reached.all(axis=1)
    modest = (pilot.freedom(penalties) <= _MOST_FREEDOM).all(axis=1)
    easy = in_reach & (modest | (every_size <= pilot.n))
    offered = np.where(np.repeat(easy.reshape(S, L).any(axis=1), L), easy, in_reach)
    if offered.any():
        fill(offered, False)
    first = np.argmax(offered.reshape(S, L), axis=1)
    is_bound = (first > 0) & (np.argmin(error.reshape(S, L), axis=1) == first)
    ranks = np.argsort(np.argsort(error.reshape(S, L), axis=1), axis=1).ravel()
    few = np.isfinite(error) & (ranks < _COMPARED)
    if few.any():
        fill(few, True)
    table = np.where(few, error, np.inf).reshape(S, L)
    best = np.where(np.isfinite(table).any(axis=1), np.argmin(table, axis=1), np.argmax(path.sum(axis=1)))
    return np.asarray(path[best]), is_bound & np.isfinite(table).any(axis=1)


def _with_row(spread: Jackknife, s: int, far: Extrapolation) -> Jackknife:
    influence, shrink, allowance = spread.influence.copy(), spread.shrink.copy(), spread.allowance.copy()
    influence[s], shrink[s], allowance[s] = far.spread.influence[0], far.spread.shrink[0], far.spread.allowance[0]
    return Jackknife(influence, shrink, allowance)
