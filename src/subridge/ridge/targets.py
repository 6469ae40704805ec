"""Separate ridges, and separate weights of the members, for each target.

Members are factorised once for all targets, which are then processed in blocks: only the coefficients have the size of
all targets. Ridges are chosen by plain left-out errors, as himalaya's ``RidgeCV`` does. The error of the chosen models
comes from parts of the rows: each part is judged at the ridge and the weights that the others choose.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from subridge.arrays.namespace import device_of, index_on, like, namespace_of, take_last, to_numpy
from subridge.arrays.types import Array, FloatArray, IntArray
from subridge.model.aggregation import Aggregation, MemberMoments
from subridge.model.checks import Scope
from subridge.model.ensemble import SubsetPlan
from subridge.ridge.choose import Judged, Losses, choose_ridges
from subridge.ridge.member import MemberPath, factorise_members
from subridge.ridge.rows import TrainingRows

_PARTS = 10  # of the rows or groups, each judged at the choice that the others make
# Bytes of the left-out errors of a block of targets, for all members and ridges, on a CPU and on a GPU.
_BLOCK = 2**27
_BLOCK_ON_A_GPU = 2**29


class TargetLosses(Losses):
    """Losses of C targets, each at its own places, without each of J + 1 parts of the rows; the first part is empty.
    There are (J + 1) C entries: the targets with all rows, then without the next part, and so on. All of them follow
    from products of left-out errors, summed over each part.
    """

    is_cautious: ClassVar[bool] = False
    at_once: ClassVar[int] = 0  # one trial at a time

    def __init__(self, paths: Sequence[MemberPath], rows: TrainingRows, aggregation: Aggregation) -> None:
        numbers = rows.owners % min(_PARTS, rows.n_units)
        self._parts = [np.flatnonzero(numbers == part) for part in range(-1, numbers.max() + 1)]
        super().__init__(paths, rows, aggregation, n_entries=len(self._parts) * len(rows.targets))
        self._sums: dict[tuple[int, ...], FloatArray] = {}  # by members and their common place

    def products(self, places: IntArray) -> FloatArray:
        """Mean products of the members' errors and the labels' deviations, in the part of each entry and in the others.

        The shape is (2, (J + 1) C, k + 1, k + 1), that of places ((J + 1) C, k).
        """
        C = len(self.rows.targets)
        at = np.arange(len(places)) // C
        if (places == places[:, :1]).all():  # a target's members have one place, and there are few different places
            common, at = np.unique(places[:, 0], return_inverse=True)
            sums = np.stack([self._sums_in_common(place) for place in common])
        else:
            sums = np.stack([self._sums_at(own) for own in places.reshape(len(self._parts), C, -1)])
        at = at.reshape((-1, C))
        target = np.arange(C)
        part = sums[at, np.arange(len(at))[:, None], target]
        return np.stack([part, sums.sum(axis=1)[at, target] - part]).reshape(2, -1, *part.shape[2:])

    def _sums_in_common(self, place: int) -> FloatArray:
        """The products summed over each part, at one place for all targets and members; computed once."""
        key = (*map(id, self.paths), place)
        if key not in self._sums:
            self._sums[key] = self._sums_at(np.full((len(self.rows.targets), len(self.paths)), place))
        return self._sums[key]

    def _sums_at(self, places: IntArray) -> FloatArray:
        """The products summed over each part, shape (J + 1, C, k + 1, k + 1), at places (C, k)."""
        rows = self.rows
        xp = namespace_of(rows.targets)
        members = [_errors_at(*each) for each in zip(self.paths, places.T, strict=True)]
        table = xp.stack([*members, rows.deviations], axis=1) * rows.root_weights
        blocks = (take_last(table, part) for part in self._parts)
        return to_numpy(xp.stack([each @ xp.matrix_transpose(each) for each in blocks])) / rows.total_weight

    def _judged(self, places: IntArray) -> Judged:
        worth = np.array([path.independent[at] for path, at in zip(self.paths, places.T, strict=True)]).T
        every = places[:1].repeat(len(self.floors), axis=0)
        every[self.numbers] = places
        settled = self.aggregation.settle(_moments(self.products(every)[1][self.numbers], worth))
        return Judged(settled.expected, np.zeros(len(places)), settled.weights)


def _moments(products: FloatArray, behind: FloatArray | None = None) -> MemberMoments:
    return MemberMoments(products[..., :-1, :-1], products[..., -1, :-1], products[..., -1, -1], None, behind)


def _errors_at(path: MemberPath, places: IntArray) -> Array:
    """Left-out errors of a member with a place for each target, shape (C, n)."""
    first, *others = np.unique(places).tolist()
    found = namespace_of(path.target_means).asarray(path.errors(first), copy=True if others else None)
    for place in others:
        own = index_on(found, np.flatnonzero(places == place))
        found[own, :] = path.errors(place)[own, :]
    return found


def fit_targets(
    rows: TrainingRows, plan: SubsetPlan, ridges: FloatArray, aggregation: Aggregation, scope: Scope
) -> tuple[IntArray, FloatArray, FloatArray, Array]:
    """Choose ridges from a path, shape (L,) or (L, k), and weights, for each target.

    Returns places on the path and weights of the members, each of shape (C, k), errors (C,), and the weighted sums of
    the members as weights of features, shape (C, M).
    """
    targets = rows.targets
    C = len(targets)
    device = device_of(targets)
    penalties = ridges.reshape(len(ridges), -1) * plan.subset_sizes
    fits = list(factorise_members(rows, plan, penalties.min(axis=0)))
    room = _BLOCK_ON_A_GPU if "cuda" in str(device) else _BLOCK
    block = max(1, room // (8 * rows.n_samples * penalties.size))
    coef = namespace_of(targets).zeros((C, plan.n_features), dtype=targets.dtype, device=device)
    kept = []
    for start in range(0, C, block):
        some = replace(rows, targets=targets[start : start + block, :])
        b = len(some.targets)
        paths = [MemberPath(replace(each, rows=some), penalties[:, r], None, True) for r, each in enumerate(fits)]
        losses = TargetLosses(paths, some, aggregation)
        found = choose_ridges(losses, scope)
        fitted = np.asarray(losses.at(found).weights)
        # The error of each part of the rows, at the choice that the others make.
        errors = _moments(losses.products(found)[0]).risk_of(fitted).reshape(-1, b).sum(axis=0)
        kept.append((found[:b], fitted[:b], errors))
        for r, path in enumerate(paths):
            weighted = path.coefficients(found[:b, r]) * like(fitted[:b, r], coef)[:, None]
            plan.add_lifted(r, weighted, coef[start : start + b, :])
    places, weights, losses_of_all = (np.concatenate(each) for each in zip(*kept, strict=True))
    return places, weights, losses_of_all, coef
