"""Predictions for rows that lack some columns: members that see one of them drop out, the others are weighed anew."""

from collections.abc import Iterator
from typing import Literal, TypeAlias

import numpy as np

from subridge.arrays.namespace import is_sparse, like, namespace_of, select_rows, to_numpy
from subridge.arrays.types import Array, BoolArray, FloatArray, IntArray
from subridge.estimators.inputs import Features
from subridge.estimators.members import FittedMembers
from subridge.model.aggregation import Aggregation, LinearAggregation
from subridge.model.checks import one_of
from subridge.model.errors import DataError
from subridge.model.moments import MemberMoments
from subridge.model.plan import SubsetPlan

Missing: TypeAlias = Literal["raise", "drop-members"]


def drops_members(missing: str) -> bool:
    """Whether rows that lack columns are predicted; refuses unknown words."""
    return one_of("missing", missing, ("raise", "drop-members")) == "drop-members"


def lacks_columns(X: Features) -> bool:
    """Whether any entry of X is NaN."""
    if is_sparse(X):
        return bool(np.isnan(X @ np.ones(X.shape[1])).any())
    return bool(namespace_of(X).any(namespace_of(X).isnan(X)))


def outputs_without(X: Features, members: FittedMembers, aggregation: Aggregation, moments: MemberMoments) -> Array:
    """Aggregate of the members that lack nothing, row by row; shape (C, m).

    Rows that lack the same members are predicted together. Weights of a linear aggregation come from the surviving
    block of the members' moments.
    """
    if is_sparse(X):
        raise DataError("X is sparse and contains NaN; missing='drop-members' needs a dense X")
    xp = namespace_of(X)
    gaps = xp.isnan(X)
    absent = to_numpy(gaps).astype(bool)
    filled = xp.where(gaps, xp.zeros_like(X), X)
    parts, order = [], []
    for rows, alive in _patterns(absent, members.plan):
        block = select_rows(filled, rows)
        scores = namespace_of(block).stack([members.scores_of(int(r), block) for r in alive])
        if isinstance(aggregation, LinearAggregation):
            weights = aggregation.weights(surviving(moments, alive))
            mean = like(members.target_mean, scores)[:, None]
            parts.append(aggregation.combine(scores - mean, weights) + mean)
        else:
            parts.append(aggregation.combine(scores) / (len(alive) if aggregation.decides_classes else 1))
        order.append(rows)
    joined = namespace_of(parts[0]).concat(parts, axis=1)
    return select_rows(joined.T, np.argsort(np.concatenate(order))).T


def surviving(moments: MemberMoments, alive: IntArray) -> MemberMoments:
    """The moments of some members only."""
    pairs: FloatArray = moments.pairs[..., alive[:, None], alive]
    missed, behind = (None if each is None else each[..., alive] for each in (moments.missed, moments.behind))
    return MemberMoments(pairs, missed, moments.v, behind=behind)


def _patterns(absent: BoolArray, plan: SubsetPlan) -> Iterator[tuple[IntArray, IntArray]]:
    """Rows with the same members alive, and these members."""
    lost = np.empty((len(absent), plan.n_members), dtype=bool)
    for r, A in enumerate(plan.measurements):
        lost[:, r] = absent[:, A].any(axis=1) if A.ndim == 1 else absent[:, (A != 0).any(axis=0)].any(axis=1)
    hopeless = np.flatnonzero(lost.all(axis=1))
    if hopeless.size:
        raise DataError(
            f"row {hopeless[0]} of X lacks an input of every member ({hopeless.size} such rows); drop or impute them, "
            "or fit more and smaller members"
        )
    patterns, numbers = np.unique(lost, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        yield np.flatnonzero(numbers == number), np.flatnonzero(~pattern)
