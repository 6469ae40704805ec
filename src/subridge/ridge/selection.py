"""Choose ridges by the exact leave-one-out error of what the user will use: the aggregate."""

from collections.abc import Sequence
from typing import Any

import array_api_compat
import numpy as np

from subridge.arrays.types import IntArray
from subridge.ridge.aggregation import Loss, LossFunction, MeanLoss
from subridge.ridge.rows.path import MemberPath
from subridge.ridge.rows.training import TrainingRows

Array = Any


def stacked_errors(paths: Sequence[MemberPath], levels: Sequence[int] | IntArray) -> Array:
    """Leave-one-out errors of every member at its own level of the path, shape (k, C, n)."""
    errors = [path.errors(int(level)) for path, level in zip(paths, levels, strict=True)]
    return array_api_compat.array_namespace(errors[0]).stack(errors)


def common_level(
    paths: Sequence[MemberPath], rows: TrainingRows, n_levels: int, loss: LossFunction
) -> tuple[IntArray, list[Loss]]:
    """One level for all members: the one at which the aggregate errs least.

    Returns
    -------
    levels : ndarray of int, shape (k,)
        All equal. Of equal losses the last, i.e. the largest ridge of an ascending path, is taken.
    losses : list of Loss, length L
    """
    losses = [
        loss(stacked_errors(paths, [level] * len(paths)), rows.targets, rows.weights) for level in range(n_levels)
    ]
    return np.full(len(paths), _last_minimum(losses)), losses


def own_levels(paths: Sequence[MemberPath], rows: TrainingRows, n_levels: int) -> IntArray:
    """For each member the level at which it errs least by itself, as ``BaggingRegressor(RidgeCV)`` chooses.

    Returns
    -------
    ndarray of int, shape (k,)
    """
    single = MeanLoss()
    return np.array(
        [
            _last_minimum(
                [single(path.errors(level)[None, ...], rows.targets, rows.weights) for level in range(n_levels)]
            )
            for path in paths
        ]
    )


def joint_levels(
    paths: Sequence[MemberPath], rows: TrainingRows, n_levels: int, loss: LossFunction, start: IntArray
) -> IntArray:
    """One level per member, chosen together: coordinate descent on the aggregate's error.

    Each sweep offers every member in turn every level while the others stay; it ends when a sweep changes nothing.
    The error never rises, so the result is at least as good as `start`; a joint optimum is not guaranteed.

    Returns
    -------
    ndarray of int, shape (k,)
    """
    xp = array_api_compat.array_namespace(rows.targets)
    levels = np.array(start)
    current = stacked_errors(paths, levels)
    best = loss(current, rows.targets, rows.weights)
    for _ in range(_MOST_SWEEPS):
        changed = False
        for r, path in enumerate(paths):
            for level in range(n_levels):
                if level == levels[r]:
                    continue
                offered = path.errors(level)[None, ...]
                candidate = xp.concat([current[:r], offered, current[r + 1 :]], axis=0)
                value = loss(candidate, rows.targets, rows.weights)
                if value < best:
                    best, current, changed = value, candidate, True
                    levels[r] = level
        if not changed:
            break
    return levels


# Each sweep costs k L aggregates; three or four were enough in every case tried, so this only stops a cycle of
# rounding errors.
_MOST_SWEEPS = 20


def _last_minimum(losses: list[Loss]) -> int:
    least = min(losses)
    return max(level for level, value in enumerate(losses) if value == least)
