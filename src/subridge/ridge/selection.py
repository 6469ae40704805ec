"""Choose ridges by the exact leave-one-out error of what the user will use: the aggregate.

A path offers every member the same number of ridges; a choice is an index on that path for each member.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from subridge.arrays.namespace import namespace_of
from subridge.arrays.types import Array, FloatArray, IntArray
from subridge.model.aggregation import Aggregation, LinearAggregation, Loss, Mean, Settled
from subridge.model.checks import Scope
from subridge.model.moments import MemberMoments
from subridge.ridge.rows.path import MemberPath
from subridge.ridge.rows.training import TrainingRows
from subridge.ridge.search_path import End, is_material

# Each sweep of the joint choice costs k L aggregates; three or four were enough in every case tried, so this only stops
# a cycle of rounding errors.
_MOST_SWEEPS = 20


@dataclass(frozen=True, eq=False)
class RidgeChoice:
    """Where on the path each member stands, `indices` of shape (k,).

    `common_losses`, shape (L,), is the error of the aggregate where all members share a ridge; None where it was not
    needed. `is_common` says that they had to share it. `shared` is what is known of these places, for those who ask on.
    """

    indices: IntArray
    common_losses: FloatArray | None
    is_common: bool = False
    shared: "SharedRidges | None" = None


@dataclass(frozen=True, eq=False)
class SharedRidges:
    """The aggregate at every ridge that all members share: its losses and, of fitted weights, what they follow from.

    Moments and weights have a leading axis of L ridges.
    """

    losses: list[Loss]
    moments: MemberMoments | None = None
    settled: Settled | None = None

    def at(self, index: int) -> tuple[MemberMoments, Settled]:
        """What fitted weights follow from at one ridge, and they themselves."""
        found = self.settled
        assert found is not None
        assert self.moments is not None
        parts = (found.weights, found.least, found.expected, found.n_fitted)
        return self.moments.at(index), Settled(*(np.asarray(part[index]) for part in parts))


def shared_ridges(paths: Sequence[MemberPath], rows: TrainingRows, aggregation: Aggregation) -> SharedRidges:
    """Judge the aggregate at every ridge of the path."""
    places = [np.full(len(paths), index) for index in range(paths[0].n_ridges)]
    if not isinstance(aggregation, LinearAggregation) or not aggregation.fits_weights:
        return SharedRidges([left_out_loss(aggregation, *left_out_at(paths, place), rows) for place in places])
    moments = MemberMoments.stacked([moments_at(paths, rows, aggregation, place) for place in places])
    settled = aggregation.settle(moments)
    expected = settled.expected.reshape(len(places), -1).sum(axis=1)
    return SharedRidges([(float(value), 0.0) for value in expected], moments, settled)


def choose_ridges(
    paths: Sequence[MemberPath], rows: TrainingRows, aggregation: Aggregation, scope: Scope
) -> RidgeChoice:
    """Choose a ridge for every member by the aggregation's left-out loss; of equal losses the largest ridge is taken.

    The scope "member" takes each member's own best, by its squared error; "ensemble" one common value, best for the
    aggregate; "joint" one value per member, best together.
    """
    if scope == "member":
        return RidgeChoice(best_for_members(paths, rows), None)
    shared = shared_ridges(paths, rows, aggregation)
    common = np.full(len(paths), _last_minimum(shared.losses))
    indices = best_together(paths, rows, aggregation, common) if scope == "joint" else common
    return RidgeChoice(indices, np.array([value for value, _ in shared.losses]), scope == "ensemble", shared)


@dataclass(frozen=True)
class EndOfPath:
    """The end of the path at which members stand, if any does, and whether the aggregate's error still falls there."""

    error: float
    end: End | None
    is_falling: bool


def end_of_path(
    paths: Sequence[MemberPath], rows: TrainingRows, aggregation: Aggregation, choice: RidgeChoice
) -> EndOfPath:
    """Judge a choice by a step inwards of the members that stand at an end: does it cost a material share of the error?

    A share of wrong classes goes up and down by single samples, so what decides among equal shares must be worse too.
    """

    def loss_at(places: IntArray) -> Loss:
        if choice.shared is not None and (places == places[0]).all():
            return choice.shared.losses[int(places[0])]
        return left_out_loss(aggregation, *left_out_at(paths, places), rows)

    indices = choice.indices
    here = loss_at(indices)
    last, found = paths[0].n_ridges - 1, EndOfPath(here[0], None, False)
    spread = float(rows.centred_targets[0].var())
    ends: tuple[tuple[End, int, int], ...] = (("lower", 0, 1), ("upper", last, -1))
    for end, place, step in ends if last else ():
        at_end = indices == place
        if at_end.any():
            inner = np.where(at_end, indices + step, indices)
            there = loss_at(inner)
            worse = [is_material(best, other, spread) for best, other in zip(here, there, strict=True)]
            falling = worse[0] and (worse[1] or here[1] == there[1] == 0)
            if falling or found.end is None:
                found = EndOfPath(here[0], end, falling)
    return found


def left_out_loss(aggregation: Aggregation, errors: Array, independent: FloatArray, rows: TrainingRows) -> Loss:
    """Loss of the aggregate of left-out errors, shape (k, C, n), with the targets as the aggregate measures them.

    Fitted weights are judged by what is to be expected of them on new samples; see `left_out_at` for `independent`.
    """
    if isinstance(aggregation, LinearAggregation) and aggregation.fits_weights:
        moments = aggregation.moments(errors, rows.deviations, rows.weights, independent)
        return float(aggregation.settle(moments).expected.sum()), 0.0
    return aggregation.loss(errors, rows.deviations if aggregation.is_linear else rows.targets, rows.weights)


def left_out_at(paths: Sequence[MemberPath], indices: Sequence[int] | IntArray) -> tuple[Array, FloatArray]:
    """Errors of every member at its place on the path, (k, C, n), and the samples they are worth, (k,)."""
    return errors_at(paths, indices), independent_at(paths, indices)


def independent_at(paths: Sequence[MemberPath], indices: Sequence[int] | IntArray) -> FloatArray:
    """The samples that the errors of every member are worth at its place on the path, (k,)."""
    return np.array([path.independent[int(index)] for path, index in zip(paths, indices, strict=True)])


def moments_at(
    paths: Sequence[MemberPath], rows: TrainingRows, aggregation: LinearAggregation, indices: IntArray
) -> MemberMoments:
    """Moments of the left-out errors of every member at its place on the path."""
    errors, independent = left_out_at(paths, indices)
    return aggregation.moments(errors, rows.deviations, rows.weights, independent)


def errors_at(paths: Sequence[MemberPath], indices: Sequence[int] | IntArray) -> Array:
    """Leave-one-out errors of every member at its place on the path, shape (k, C, n)."""
    errors = [path.errors(int(index)) for path, index in zip(paths, indices, strict=True)]
    return namespace_of(errors[0]).stack(errors)


def best_for_members(paths: Sequence[MemberPath], rows: TrainingRows) -> IntArray:
    """For each member the index at which it errs least by itself, as ``BaggingRegressor(RidgeCV)`` chooses."""
    single = Mean()
    losses = [
        [single.loss(path.errors(index)[None, ...], rows.targets, rows.weights) for index in range(path.n_ridges)]
        for path in paths
    ]
    return np.array([_last_minimum(each) for each in losses])


def best_together(
    paths: Sequence[MemberPath], rows: TrainingRows, aggregation: Aggregation, start: IntArray
) -> IntArray:
    """One index per member, chosen together: coordinate descent on the aggregate's error.

    Each sweep offers every member in turn every ridge while the others stay; it ends when a sweep changes nothing.
    The error never rises, so the result is at least as good as `start`; a joint optimum is not guaranteed.
    """
    xp = namespace_of(rows.targets)
    indices = np.array(start)
    current, shares = left_out_at(paths, indices)
    best = left_out_loss(aggregation, current, shares, rows)
    for _ in range(_MOST_SWEEPS):
        changed = False
        for r, path in enumerate(paths):
            for index in range(path.n_ridges):
                if index == indices[r]:
                    continue
                offered = path.errors(index)[None, ...]
                candidate = xp.concat([current[:r], offered, current[r + 1 :]], axis=0)
                trial = shares.copy()
                trial[r] = path.independent[index]
                value = left_out_loss(aggregation, candidate, trial, rows)
                if value < best:
                    best, current, shares, changed = value, candidate, trial, True
                    indices[r] = index
        if not changed:
            break
    return indices


def _last_minimum(losses: list[Loss]) -> int:
    least = min(losses)
    return max(index for index, value in enumerate(losses) if value == least)
