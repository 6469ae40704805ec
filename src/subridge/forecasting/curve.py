"""The forecast curve of one ensemble: choose its ridge, match effective ridges, transfer its errors, say how sure it is."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from subridge.arrays.types import ArrayLike, BoolArray, FloatArray, IntArray
from subridge.ensemble.aggregation import LinearAggregation
from subridge.ensemble.moments import MemberMoments
from subridge.forecasting.groups import design_effects, spread_over_groups
from subridge.forecasting.jackknife import Spread, jackknife
from subridge.forecasting.pilot import DrawnEnsemble, LeftOut, Pilot
from subridge.forecasting.rule import (
    RULE,
    TINY,
    finite_size_error,
    matched_penalties,
    settled_weights,
    variance_gain,
    variance_shares,
)
from subridge.ridge.rows.dependence import correlated_rows
from subridge.ridge.rows.diagnostics import dominant_rows, ridge_at_end
from subridge.ridge.rows.pair_traces import residual_gains
from subridge.ridge.rows.path import rests_on_few_rows
from subridge.ridge.rows.training import TrainingRows
from subridge.ridge.search_path import End, Outcome, default_ridges, extended_search, given_ridges, is_material
from subridge.spec.errors import ParameterError, RidgeError, SubridgeWarning

_LEAST_RIDGE = 1e-60  # of a given ridge that is not 0, in units of the mean square of a column
_DOMINANT = 0.9  # leverage of a row that dominates, where half of the rows have less than a tenth
_LITTLE = 1.1  # ratio of the error at the largest ridge and the least error
_LEAST_SHARE = 1e-6  # of the rows, behind an error that carries no information


@dataclass(frozen=True, eq=False)
class RidgePath:
    """Ascending ridges, shape (L,), and whether they may be extended where the best of them is at an end."""

    ridges: FloatArray
    may_grow: bool


def read_ridges(ridges: ArrayLike, rows: TrainingRows) -> RidgePath:
    """Given ridges, or for "auto" the path of the estimators.

    >>> from subridge.ridge.rows.training import training_rows
    >>> rows = training_rows(np.eye(3), np.zeros((1, 3)), None, False)
    >>> read_ridges([1.0, 0.0], rows).ridges, len(read_ridges("auto", rows).ridges)
    (array([0., 1.]), 17)
    """
    if isinstance(ridges, str):
        if ridges != "auto":
            raise ParameterError(f"ridges must be numbers or 'auto', got {ridges!r}")
        return RidgePath(default_ridges(rows.column_squares(), rows.n_samples, len(rows.feature_means)), may_grow=True)
    given = given_ridges(ridges)
    refuse_vanishing("ridges", given, rows)
    return RidgePath(given, may_grow=False)


def refuse_vanishing(name: str, ridges: FloatArray, rows: TrainingRows) -> None:
    """Refuse positive ridges that are negligible beside the columns: powers of them leave the range of floats."""
    least = _LEAST_RIDGE * float(rows.column_squares().mean())
    vanishing = ridges[(ridges > 0) & (ridges < least)]
    if vanishing.size:
        raise RidgeError(
            f"{name} must be 0 or at least {least:.0e}, which is already negligible beside these columns, got "
            f"{vanishing.min():g}; use 0"
        )


@dataclass(frozen=True, eq=False)
class AtPilot:
    """An ensemble at the pilot's own size, at L ridges."""

    ridges: FloatArray  # (L, k)
    moments: MemberMoments  # of left-out errors with readout noise, with pairs (L, k, k)
    noise: FloatArray  # error of each member by readout noise, (L, k)
    error: FloatArray  # to expect on new rows, without readout noise and without what weights gain by chance, (L,)
    weights: FloatArray  # of the members, (L, k)

    @property
    def readout(self) -> FloatArray:
        """Part of the error that is readout noise, (L,)."""
        return np.asarray((self.weights**2 * self.noise).sum(axis=1))

    @property
    def losses(self) -> FloatArray:
        """Errors by which ridges are chosen, (L,); infinite where unknown."""
        total = self.error + self.readout
        return np.where(np.isfinite(total), total, np.inf)

    @property
    def best(self) -> int:
        """The place of the least loss, the largest ridge among equals."""
        return int(len(self.ridges) - 1 - np.argmin(self.losses[::-1]))

    def weighted(self, aggregation: LinearAggregation) -> "AtPilot":
        """The same members with another aggregation."""
        found = settled_weights(aggregation, self.moments, self.moments, np.ones(len(self.ridges)))
        readout = (found.weights**2 * self.noise).sum(axis=1)
        return replace(self, error=found.expected - readout, weights=found.weights)


def at_pilot(pilot: Pilot, ensemble: DrawnEnsemble, ridges: FloatArray) -> AtPilot:
    """An ensemble at the pilot's own size and ridges (L, k); fitted weights need a pilot with a constant predictor."""
    parts, k, n = [], ensemble.plan.n_members, pilot.n_samples
    noise = np.zeros(ridges.shape)
    if ensemble.readout_noise.any():
        columns = [
            variance_shares([member], ridges[:, r : r + 1] * pilot.subset_sizes[r], n, pilot.intercept)[:, 0]
            for r, member in enumerate(pilot.members[:k])
        ]
        noise = _readout_noise(pilot, ensemble, np.concatenate(columns, axis=1))
    for block in pilot.left_out(_penalties(pilot, ridges)):
        moments = _moments(block, block.pairs, noise[block.rows])
        parts.append([each for each in (moments.pairs, moments.missed, moments.v, moments.behind) if each is not None])
    pairs, *rest = (np.concatenate(each) for each in zip(*parts, strict=True))
    moments = MemberMoments(pairs, rest[0], rest[1], behind=rest[2]) if rest else MemberMoments(pairs)
    return AtPilot(ridges, moments, noise, noise[:, 0], noise).weighted(ensemble.aggregation)


def search_ridges(
    pilot: Pilot,
    ensemble: DrawnEnsemble,
    path: RidgePath | None,
    tell: Callable[[SubridgeWarning], None] = warnings.warn,
) -> AtPilot:
    """An ensemble along a path, which is extended as that of the estimators is, and then made finer.

    Without a path, at its own ridges. `tell` takes a warning where the error still falls at an end.
    """
    if path is None:
        return at_pilot(pilot, ensemble, ensemble.ridges[None])
    spread = float(pilot.targets.var(axis=1).sum())

    def evaluate(ridges: FloatArray) -> Outcome[AtPilot]:
        table = at_pilot(pilot, ensemble, np.repeat(ridges[:, None], ensemble.plan.n_members, axis=1))
        best, last, losses = table.best, len(ridges) - 1, table.losses
        # Where the largest ridge is hardly worse than the best, little is learnt, and far smaller ridges are tried.
        little = losses[last] < _LITTLE * losses[best]
        end: End | None = "lower" if best == 0 and ridges[0] > 0 else "upper" if little else None
        inner = losses[min(1, last) if best == 0 else max(last - 1, 0)]
        falls = end is not None and best in (0, last) and is_material(float(losses[best]), float(inner), spread)
        return Outcome(table, float(losses[best]), end, falls)

    if not path.may_grow:
        outcome = evaluate(path.ridges)
    else:
        ridges, outcome = extended_search(path.ridges, evaluate)
        fine = np.geomspace(ridges[0], ridges[-1], RULE.path_steps * (len(ridges) - 1) + 1)
        outcome = replace(outcome, found=evaluate(fine).found)
    if outcome.is_falling and outcome.end is not None:
        tell(ridge_at_end(outcome.end))
    return outcome.found


@dataclass(frozen=True, eq=False)
class Curve:
    """Forecast of one ensemble at S sizes; arrays have one row for each size."""

    n_pilot: int
    floor: float  # label noise that no error is below
    sizes: FloatArray  # n′, (S,)
    ridges: FloatArray  # given or chosen, (S, k)
    penalties: FloatArray  # on the pilot, of the same effective ridges, (S, k)
    is_bound: BoolArray  # the chosen ridge is the smallest in reach, (S,)
    in_reach: BoolArray  # (S,)
    error: FloatArray  # prediction error, NaN where unknown, (S,)
    readout: FloatArray  # part of the error that is readout noise, (S,)
    present: FloatArray  # left-out error at the pilot's size, readout noise apart, (S,)
    weights: FloatArray  # of the members, (S, k)
    before: FloatArray  # γ_rr′ at the pilot's size, (S, k, k)
    after: FloatArray  # γ_rr′ at n′, (S, k, k)
    effective_samples: FloatArray  # independent rows that the pilot is worth, (S,)
    standard_error: FloatArray  # (S,)
    freedom: FloatArray  # as in `Spread`, (S,)
    excess: FloatArray  # as in `Spread`, (S,)

    def at(self, rows: slice | BoolArray) -> "Curve":
        """Some of the sizes."""
        arrays = {name: value[rows] for name, value in vars(self).items() if isinstance(value, np.ndarray)}
        return replace(self, **arrays)

    def scaled(self, factor: float) -> "Curve":
        """The curve with errors multiplied by a factor."""
        names = ("error", "readout", "present", "standard_error")
        return replace(self, **{name: getattr(self, name) * factor for name in names})

    def interval(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Lower and upper bounds of the prediction error, each of shape (S,)."""
        below, above = Spread(self.standard_error, self.freedom, self.excess).log_widths(self.error, level)
        with np.errstate(over="ignore"):  # next to a threshold the upper bound is infinite
            return np.maximum(self.error / np.exp(below), np.minimum(self.floor, self.error)), self.error * np.exp(
                above
            )


def forecast_curve(
    pilot: Pilot, ensemble: DrawnEnsemble, sizes: FloatArray, table: AtPilot, floor: float = 0.0
) -> Curve:
    """Forecast one ensemble at sizes (S,), at the best ridges of a table that are in reach.

    `floor` is the label noise that no error is below.
    """
    n, k = pilot.n_samples, ensemble.plan.n_members
    seen = pilot.with_constant() if ensemble.aggregation.fits_weights else pilot
    place, is_bound = choose_ridges(pilot, table, sizes)
    ridges, present, highest = table.ridges[place], table.error[place], table.error[table.best]
    penalties, reached = match_ridges(seen, sizes, ridges)
    gamma_n = n * variance_shares(seen.members, penalties, n, pilot.intercept)
    parts = [_transfer(block, ensemble, gamma_n[block.rows], sizes[block.rows]) for block in seen.left_out(penalties)]
    found = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    error, readout = np.where(reached, found["error"], np.nan), found["readout"]
    # A larger sample is not believed to raise the error, nor to lower it below the label noise.
    own = error - readout
    believed = np.where(sizes > n, np.maximum(np.minimum(own, highest), floor), own)
    with np.errstate(invalid="ignore", divide="ignore"):
        factor = np.where(np.isfinite(believed) & (own > 0), believed / own, 1.0)
        standard_error = np.where(np.isnan(error), np.nan, found["standard_error"] * factor)
        error = believed + readout
        vague = (sizes > n) & (standard_error > RULE.vague * error)
    return Curve(
        n, floor, sizes, ridges, penalties[:, :k], is_bound, np.isfinite(error) & ~vague | np.isposinf(error), error,
        readout, present, found["weights"], found["before"], found["after"], found["effective_samples"],
        standard_error, found["freedom"], found["excess"],
    )  # fmt: skip


def match_ridges(pilot: Pilot, sizes: FloatArray, ridges: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Penalties (T, k′) on the pilot with the effective ridges of T sizes and ridges (T, k), and which are in reach."""
    found = [
        matched_penalties(member.spectrum, pilot.n_samples, pilot.intercept, sizes, wanted)
        for member, wanted in zip(pilot.members, _penalties(pilot, ridges).T, strict=True)
    ]
    penalties, reached = (np.stack(parts, axis=1) for parts in zip(*found, strict=True))
    return penalties, np.asarray(reached.all(axis=1))


def _penalties(pilot: Pilot, ridges: FloatArray) -> FloatArray:
    """``λ_r N_r`` of all members; a constant predictor, which may follow the others, has none."""
    padded = np.zeros((len(ridges), len(pilot.members)))
    padded[:, : ridges.shape[1]] = ridges
    return padded * pilot.subset_sizes


def choose_ridges(pilot: Pilot, table: AtPilot, sizes: FloatArray) -> tuple[IntArray, BoolArray]:
    """For every size the place of the ridge of least left-out error among those in reach, the largest where none is.

    Ridges at which the pilot is all but interpolated are offered only if no others are in reach. The second result,
    of shape (S,), is True where the ridge is the smallest that the pilot can judge, so that a smaller one may err less.
    """
    n, penalties = pilot.n_samples, _penalties(pilot, table.ridges)
    reached = pilot.reach(penalties / pilot.subset_sizes).min(axis=1) >= sizes[:, None]
    freedom = RULE.most_freedom * n
    size, none = np.array([freedom]), np.zeros(1)
    least = np.array(
        [matched_penalties(member.spectrum, n, pilot.intercept, size, none)[0][0] for member in pilot.members]
    )
    with np.errstate(invalid="ignore"):
        needed = np.where(least > 0, least * (sizes[:, None] - freedom) / (n - freedom), 0.0)  # (S, k)
    easy = reached & ((penalties >= needed[:, None, :]).all(axis=2) | (sizes <= n)[:, None])
    offered = np.where(easy.any(axis=1, keepdims=True), easy, reached)
    losses = np.where(offered, table.losses, np.inf)
    known, L = np.isfinite(losses).any(axis=1), len(table.ridges)
    best = np.where(known, L - 1 - np.argmin(losses[:, ::-1], axis=1), L - 1)
    first = np.argmax(np.isfinite(losses), axis=1)
    return best, known & (first > 0) & (best == first)


def _transfer(block: LeftOut, ensemble: DrawnEnsemble, gamma_n: FloatArray, sizes: FloatArray) -> dict[str, FloatArray]:
    """Errors, weights and their spread at t sizes n′, by the names of `Curve`; γ n has shape (t, k′, k′)."""
    pilot, k = block.pilot, ensemble.plan.n_members
    n, by_groups = pilot.n_samples, pilot.rows.left_out is not None
    trained, most, effective = float(n), 1 - 1e-9, np.full(len(sizes), float(n))
    if by_groups:  # more rows count as one, and a group is predicted from the rows of the others
        effects = design_effects(block)
        gamma_n = gamma_n * np.sqrt(effects[:, :, None] * effects[:, None, :])
        trained, most, effective = n * (1 - 1 / pilot.n_groups), RULE.most_group_gamma, n / effects.mean(axis=1)
    before, after = np.minimum(gamma_n / trained, most), gamma_n / sizes[:, None, None]
    after = np.minimum(after, most) if by_groups else after
    ratio = (1 - before) * variance_gain(after)
    own = np.diagonal(after, axis1=1, axis2=2)[:, :k]
    noise = _readout_noise(pilot, ensemble, own)
    moments = [_moments(block, block.pairs, 0 * noise), _moments(block, block.pairs * ratio, noise)]
    settled = settled_weights(ensemble.aggregation, *moments, sizes / n)
    weights, error = settled.weights, settled.expected
    unsure = finite_size_error(block.pairs, before, after, n)[:, :k, :k]
    if block.pairs.shape[1] > k:
        weights = np.concatenate([weights, 1 - weights.sum(axis=1, keepdims=True)], axis=1)
        # The error of the mean of the labels is common to all pairs and cancels.
        apart = np.maximum(before - before[:, -1:, -1:], 0.0)[:, :k, :k]
        scale = np.sqrt(np.diagonal(apart, axis1=1, axis2=2))
        unsure = unsure * np.minimum(apart / np.maximum(scale[:, :, None] * scale[:, None, :], TINY), 1.0)
    doubt = np.einsum("tr,trs,ts->t", settled.weights, unsure, settled.weights)
    if block.pairs.shape[1] > k:
        error = np.where((error > 0) & (doubt < error), error, np.nan)
    spread = spread_over_groups(block, weights) if by_groups else jackknife(block, weights, ratio, 1 / (1 - before))
    jackknifed = spread.standard_error * (error if by_groups else 1.0)
    return {
        "error": error,
        "readout": (settled.weights**2 * noise).sum(axis=1),
        "weights": settled.weights,
        "before": before[:, :k, :k],
        "after": after[:, :k, :k],
        "effective_samples": effective,
        "standard_error": jackknifed if by_groups else np.hypot(jackknifed, np.hypot(doubt, settled.corrected)),
        "freedom": spread.freedom,
        "excess": spread.excess,
    }


def _readout_noise(pilot: Pilot, ensemble: DrawnEnsemble, gamma: FloatArray) -> FloatArray:
    """Error of each member by readout noise, ``η_r² C/(1 - γ_rr)``, for γ_rr of shape (t, k)."""
    noise = len(pilot.targets) * ensemble.readout_noise**2
    return np.where(noise > 0, noise * np.where(noise > 0, variance_gain(gamma), 0.0), 0.0)


def _moments(block: LeftOut, pairs: FloatArray, noise: FloatArray) -> MemberMoments:
    """Moments of the members from pairs (t, k, k), or (t, k + 1, k + 1) with a constant predictor, and noise (t, k)."""
    k, pilot = noise.shape[1], block.pilot
    members = pairs[:, :k, :k] + noise[:, :, None] * np.eye(k)
    if pairs.shape[1] == k:
        return MemberMoments(members)
    # Left-out errors of noise vary like those of m = (tr R²)²/tr R⁴ independent rows. The inverse of their variance,
    # which weights follow, is too large by m/(m - 2) in the mean, so that n rows are worth n (1 - 2/m).
    room, behind = pilot.n_samples - pilot.intercept, np.zeros(noise.shape)
    for r, member in enumerate(pilot.members[:k]):
        penalties = block.penalties[:, r]
        squares = residual_gains(member, penalties) ** 2
        squares = squares / squares.max(axis=1, keepdims=True) if member.spans_samples else squares
        spare = 0 if member.spans_samples else room - squares.shape[1]
        m = (squares.sum(axis=1) + spare) ** 2 / ((squares**2).sum(axis=1) + spare)
        if not rests_on_few_rows(member, float(penalties.min())):  # else the errors carry no information on its weight
            behind[:, r] = np.minimum(np.maximum(1 - 2 / m, _LEAST_SHARE) * pilot.n_samples, pilot.n_groups)
    return MemberMoments(members, pairs[:, k, :k], pairs[:, k, k], behind=behind * len(pilot.targets))


def doubts(pilot: Pilot, curve: Curve) -> list[SubridgeWarning]:
    """Warnings that the errors of an ensemble give cause for: rows that dominate, and rows in an order that matters."""
    (block,) = pilot.left_out(_penalties(pilot, curve.ridges[:1]))
    scale = np.where([member.spans_samples for member in pilot.members], block.penalties, 1.0)
    leverages, found = 1 - scale[0][:, None] * block.diagonals[0], list[SubridgeWarning]()
    top = float(leverages.max())
    if top > _DOMINANT and float(np.median(leverages)) < 1 - _DOMINANT:
        found.append(dominant_rows(top))
    mixed = np.einsum("k,kcn->cn", curve.weights[0], block.errors[0])
    in_order = correlated_rows(mixed + (1 - curve.weights[0].sum()) * pilot.rows.deviations, pilot.rows)
    return found if in_order is None else [*found, in_order]
