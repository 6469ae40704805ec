"""The forecast curve of one ensemble: choose its ridge, match effective ridges, transfer errors, say how sure it is."""

from dataclasses import dataclass, replace

import numpy as np

from subridge.arrays.types import ArrayLike, BoolArray, FloatArray, IntArray
from subridge.forecasting.groups import design_effects, spread_over_groups
from subridge.forecasting.jackknife import Spread, jackknife
from subridge.forecasting.pilot import LeftOut, Pilot
from subridge.forecasting.rule import RULE, TINY, finite_size_error, matched_penalties, variance_gain, variance_shares
from subridge.model.aggregation import Aggregation
from subridge.model.ensemble import Ensemble
from subridge.model.errors import ParameterError, RidgeError, SubridgeWarning
from subridge.model.moments import MemberMoments
from subridge.ridge.checks import correlated_rows, dominant_rows
from subridge.ridge.choose import Outcome, default_ridges, extended_search, given_ridges, outcome_of, ridge_at_end
from subridge.ridge.member import independent_samples
from subridge.ridge.rows import TrainingRows

_LEAST_RIDGE = 1e-60  # of a given ridge that is not 0, in units of the mean square of a column
_LITTLE = 1.1  # ratio of the error at the largest ridge and the least error
_DOMINANT = 0.9  # leverage of a row that dominates, where half of the rows have less than a tenth


def read_ridges(ridges: ArrayLike | None, rows: TrainingRows) -> FloatArray | None:
    """Given ridges, ascending; None for those that an ensemble has. "auto" is the path of the estimators.

    >>> from subridge.ridge.rows import training_rows
    >>> rows = training_rows(np.eye(3), np.zeros((1, 3)))
    >>> read_ridges([1.0, 0.0], rows), len(read_ridges("auto", rows))
    (array([0., 1.]), 17)
    """
    if ridges is None:
        return None
    if not isinstance(ridges, str):
        return refuse_vanishing("ridges", given_ridges(ridges), rows)
    if ridges != "auto":
        raise ParameterError(f"ridges must be numbers or 'auto', got {ridges!r}")
    return default_ridges(rows.column_squares, rows.n_samples, len(rows.feature_means))


def refuse_vanishing(name: str, ridges: FloatArray, rows: TrainingRows) -> FloatArray:
    """Refuse positive ridges that are negligible beside the columns: powers of them leave the range of floats."""
    least = _LEAST_RIDGE * float(rows.column_squares.mean())
    vanishing = ridges[(ridges > 0) & (ridges < least)]
    if vanishing.size:
        raise RidgeError(
            f"{name} must be 0 or at least {least:.0e}, which is already negligible beside these columns, got "
            f"{vanishing.min():g}; use 0"
        )
    return ridges


@dataclass(frozen=True, eq=False)
class AtPilot:
    """An ensemble at the pilot's own size, at L ridges."""

    ridges: FloatArray  # (L, k)
    moments: MemberMoments  # of left-out errors with readout noise, with pairs (L, k, k)
    noise: FloatArray  # error of each member by readout noise, (L, k)
    losses: FloatArray  # error to expect on new rows, without what weights gain by chance, (L,)
    weights: FloatArray  # of the members, (L, k)

    @property
    def best(self) -> int:
        """The place of the least loss, the largest ridge among equals."""
        return int(len(self.ridges) - 1 - np.argmin(self.losses[::-1]))

    def weighted(self, aggregation: Aggregation) -> "AtPilot":
        """The same members with another aggregation."""
        found = aggregation.settle(self.moments)
        losses = np.where(np.isfinite(found.expected), found.expected, np.inf)
        return replace(self, losses=losses, weights=found.weights)


def at_pilot(pilot: Pilot, ensemble: Ensemble, ridges: FloatArray) -> AtPilot:
    """An ensemble at the pilot's own size and ridges (L, k); fitted weights need a pilot with a constant predictor."""
    penalties, own = pilot.penalties(ridges), np.zeros(ridges.shape)
    if ensemble.readout_noise.any():
        members = pilot.members[: ridges.shape[1]]
        own = np.stack(
            [variance_shares([fit], penalties[:, r : r + 1])[:, 0, 0] for r, fit in enumerate(members)], axis=1
        )
    noise = _readout_noise(pilot, ensemble, own)
    pairs = np.concatenate([block.pairs for block in pilot.left_out(penalties)])
    moments = _moments(pilot, penalties, pairs, noise)
    return AtPilot(ridges, moments, noise, own, own).weighted(ensemble.aggregation)


def search_ridges(
    pilot: Pilot, ensemble: Ensemble, path: FloatArray | None, said: list[SubridgeWarning], *, may_grow: bool
) -> AtPilot:
    """An ensemble along a path; without one, at its own ridges.

    A path that may grow is extended as that of the estimators is, and then made finer. A warning where the error still
    falls at an end is added to `said`.
    """
    if path is None:
        return at_pilot(pilot, ensemble, ensemble.ridge[None])
    spread = float(pilot.targets.var(axis=1).sum())

    def evaluate(ridges: FloatArray) -> Outcome[AtPilot]:
        table = at_pilot(pilot, ensemble, np.repeat(ridges[:, None], len(ensemble.ridge), axis=1))
        losses = table.losses
        outcome = outcome_of(table, [table.best], len(ridges), spread, lambda at: (float(losses[at[0]]), 0.0))
        # Where the largest ridge is hardly worse than the best, little is learnt, and far smaller ridges are tried.
        is_little = outcome.end is None and losses[-1] < _LITTLE * losses.min()
        return replace(outcome, end="upper") if is_little else outcome

    outcome = evaluate(path)
    if may_grow:
        path, outcome = extended_search(path, evaluate)
        fine = np.geomspace(path[0], path[-1], RULE.path_steps * (len(path) - 1) + 1)
        outcome = replace(outcome, found=evaluate(fine).found)
    warning = ridge_at_end(path, outcome.end, outcome.is_falling)
    said += [] if warning is None else [warning]
    return outcome.found


def choose_ridges(pilot: Pilot, table: AtPilot, sizes: FloatArray) -> tuple[IntArray, BoolArray]:
    """For every size the place of the ridge of least left-out error among those in reach, the largest where none is.

    The second result, of shape (S,), is True where the ridge is the smallest that the pilot can judge, so that a
    smaller one may err less.
    """
    reached = pilot.reach(table.ridges).min(axis=1) >= sizes[:, None]
    losses, L = np.where(reached, table.losses, np.inf), len(table.ridges)
    known, first = np.isfinite(losses).any(axis=1), np.argmax(np.isfinite(losses), axis=1)
    best = np.where(known, L - 1 - np.argmin(losses[:, ::-1], axis=1), L - 1)
    return best, known & (first > 0) & (best == first)


@dataclass(frozen=True, eq=False)
class Curve:
    """Forecast of one ensemble at S sizes; arrays have one row for each size."""

    sizes: FloatArray  # n′, (S,)
    ridges: FloatArray  # given or chosen, (S, k)
    penalties: FloatArray  # on the pilot, of the same effective ridges, (S, k)
    is_bound: BoolArray  # the chosen ridge is the smallest in reach, (S,)
    in_reach: BoolArray  # (S,)
    error: FloatArray  # prediction error, NaN where unknown, (S,)
    fall: FloatArray  # error over the left-out error at the pilot's size, readout noise apart, (S,)
    weights: FloatArray  # of the members, (S, k)
    surplus: FloatArray  # (γ - γ′)/(1 - γ′) with γ_rr′ at the pilot's size and γ′_rr′ at n′, (S, k, k)
    effective_samples: FloatArray  # independent rows that the pilot is worth, (S,)
    spread: Spread  # of the error, over pilots

    def interval(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Lower and upper bounds of the prediction error, each of shape (S,)."""
        below, above = (RULE.interval_stretch * width for width in self.spread.log_widths(self.error, level))
        with np.errstate(over="ignore"):  # next to a threshold the upper bound is infinite
            return self.error / np.exp(below), self.error * np.exp(above)


def forecast_curve(pilot: Pilot, ensemble: Ensemble, sizes: FloatArray, table: AtPilot) -> Curve:
    """Forecast one ensemble at sizes (S,), each at the best ridge of a table that is in reach."""
    n = pilot.rows.n_samples
    seen = pilot.with_constant() if ensemble.aggregation.fits_weights else pilot
    place, is_bound = choose_ridges(pilot, table, sizes)
    wanted = seen.penalties(table.ridges[place]).T
    members = zip(seen.members, wanted, strict=True)
    matched = [matched_penalties(fit.spectrum, n, pilot.rows.room, sizes, penalties) for fit, penalties in members]
    penalties, reached = np.stack(matched, axis=1), pilot.reach(table.ridges[place]) >= sizes[:, None]
    gamma_n = n * variance_shares(seen.members, penalties)
    parts = [_transfer(block, ensemble, gamma_n[block.rows], sizes[block.rows]) for block in seen.left_out(penalties)]
    found = (np.concatenate(part) for part in zip(*parts, strict=True))
    error, readout, deviation, weights, surplus, effective, freedom, excess = found
    # A larger sample is not believed to raise the error.
    present = table.losses - (table.weights**2 * table.noise).sum(axis=1)  # at the pilot's size, (L,)
    own = np.where(reached.all(axis=1), error, np.nan)
    believed = np.where(sizes > n, np.minimum(own, present[table.best]), own)
    with np.errstate(invalid="ignore", divide="ignore"):
        factor = np.where(np.isfinite(own) & (own > 0), believed / own, 1.0)
        deviation = np.where(np.isnan(own), np.nan, deviation * factor)
        fall = np.where((present[place] > 0) & (sizes != n), believed / present[place], 1.0)
        error = believed + readout
        vague = (sizes > n) & (deviation > RULE.vague * error) & (pilot.rows.left_out is None)
    ridges, spread, reach = table.ridges[place], Spread(deviation, freedom, excess), ~np.isnan(error) & ~vague
    own_penalties = penalties[:, : len(pilot.members)]
    return Curve(sizes, ridges, own_penalties, is_bound, reach, error, fall, weights, surplus, effective, spread)


def _transfer(block: LeftOut, ensemble: Ensemble, gamma_n: FloatArray, sizes: FloatArray) -> tuple[FloatArray, ...]:
    """At t sizes, from γ n of shape (t, k′, k′): error without readout noise, what that adds, standard error, weights
    (t, k), surplus (t, k, k), effective rows, degrees of freedom and skewness of the standard error.
    """
    pilot, k, n = block.pilot, len(ensemble.ridge), block.pilot.rows.n_samples
    trained, most, effective = float(n), 1 - 1e-9, np.full(len(sizes), float(n))
    by_groups, has_constant = pilot.rows.left_out is not None, len(pilot.members) > k
    if by_groups:  # several rows count as one, and a group is predicted from the rows of the others
        effects = design_effects(block)
        gamma_n = gamma_n * np.sqrt(effects[:, :, None] * effects[:, None, :])
        trained, most, effective = n * (1 - 1 / pilot.n_groups), RULE.most_group_gamma, n / effects.mean(axis=1)
    before = np.minimum(gamma_n / trained, most)
    after = np.minimum(gamma_n / sizes[:, None, None], most if by_groups else np.inf)
    ratio = (1 - before) * variance_gain(after)
    noise = _readout_noise(pilot, ensemble, np.diagonal(after, axis1=1, axis2=2)[:, :k])
    settled = ensemble.aggregation.settle(_moments(pilot, block.penalties, block.pairs * ratio, noise))
    weights, error = settled.weights, settled.expected
    unsure = finite_size_error(block.pairs, before, after, n)[:, :k, :k]
    if has_constant:  # the error of the mean of the labels is common to all pairs and cancels
        apart = np.maximum(before - before[:, -1:, -1:], 0.0)[:, :k, :k]
        scale = np.sqrt(np.diagonal(apart, axis1=1, axis2=2))
        unsure = unsure * np.minimum(apart / np.maximum(scale[:, :, None] * scale[:, None, :], TINY), 1.0)
    doubt = np.einsum("tr,trs,ts->t", weights, unsure, weights)
    if has_constant:
        error = np.where((error > 0) & (doubt < error), error, np.nan)
    all_weights = np.column_stack([weights, 1 - weights.sum(axis=1)]) if has_constant else weights
    if by_groups:
        spread = spread_over_groups(block, all_weights, error)
    else:
        spread = jackknife(block, all_weights, ratio, 1 / (1 - before))
        # What weights gain by chance is as unsure as it is large.
        chance = np.where(np.isfinite(error), error, 0.0) - np.where(np.isfinite(error), settled.least, 0.0)
        spread = replace(spread, standard_error=np.hypot(spread.standard_error, np.hypot(doubt, chance)))
    readout = (weights**2 * noise).sum(axis=1)
    surplus = ((before - after) / np.maximum(1 - after, 1e-12))[:, :k, :k]
    return error - readout, readout, spread.standard_error, weights, surplus, effective, spread.freedom, spread.excess


def _readout_noise(pilot: Pilot, ensemble: Ensemble, gamma: FloatArray) -> FloatArray:
    """Error of each member by readout noise, ``η_r² C/(1 - γ_rr)``, for γ_rr of shape (t, k)."""
    noise = len(pilot.targets) * ensemble.readout_noise**2
    return np.where(noise > 0, noise * np.where(noise > 0, variance_gain(gamma), 0.0), 0.0)


def _moments(pilot: Pilot, penalties: FloatArray, pairs: FloatArray, noise: FloatArray) -> MemberMoments:
    """Moments of the members from pairs (t, k, k), or (t, k + 1, k + 1) with a constant predictor, and noise (t, k)."""
    k = noise.shape[1]
    members = pairs[:, :k, :k] + noise[:, :, None] * np.eye(k)
    if pairs.shape[1] == k:
        return MemberMoments(members)
    behind = [independent_samples(fit, penalties[:, r]) for r, fit in enumerate(pilot.members[:k])]
    return MemberMoments(members, pairs[:, k, :k], pairs[:, k, k], behind=np.stack(behind, axis=1) * len(pilot.targets))


def doubts(pilot: Pilot, curve: Curve) -> list[SubridgeWarning]:
    """Warnings that the errors of an ensemble give cause for: rows that dominate, and rows in an order that matters."""
    rows, weights = pilot.rows, curve.weights[0]
    (block,) = pilot.left_out(pilot.penalties(curve.ridges[:1]))
    scale = np.where([fit.spans_samples for fit in pilot.members], block.penalties[0], 1.0)
    leverages = 1 - scale[:, None] * np.concatenate([np.asarray(each) for each in block.diagonals])
    top, is_usual = float(leverages.max()), float(np.median(leverages)) < 1 - _DOMINANT
    mixed = np.einsum("k,kcn->cn", weights, block.errors[0]) + (1 - weights.sum()) * rows.deviations
    found = (dominant_rows(top) if top > _DOMINANT and is_usual else None, correlated_rows(mixed, rows))
    return [each for each in found if each is not None]
