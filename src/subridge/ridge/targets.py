"""A ridge, and weights of the members, for each target of its own.

Members are factorised once for all targets, which are then seen in blocks: only the coefficients have the size of all
targets. Ridges are chosen by plain left-out errors, as himalaya's ``RidgeCV`` does. The error of what was chosen comes
from parts of the rows: each part is judged at the ridge and the weights that the others choose.
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

_PARTS = 10  # of the rows or groups, each judged at what the others choose
# Bytes of the left-out errors of a block of targets, for all members and ridges, on a processor and on a card.
_BLOCK, _BLOCK_ON_A_CARD = 2**26, 2**29


class TargetLosses(Losses):
    """Losses of C targets, each at places of its own, without each of J + 1 parts of the rows, of which one is empty.

    There are (J + 1) C entries: the targets with all rows, then without the first part, and so on. All of them follow
    from products of left-out errors, summed over each part.
    """

    is_cautious: ClassVar[bool] = False

    def __init__(self, paths: Sequence[MemberPath], rows: TrainingRows, aggregation: Aggregation) -> None:
        super().__init__(paths, rows, aggregation)
        J = min(_PARTS, rows.n_units)
        self._parts = [np.flatnonzero(rows.owners % J == part) for part in range(-1, J)]
        self.floors = np.zeros(len(self._parts) * len(rows.targets), dtype=np.intp)

    def products(self, places: IntArray) -> FloatArray:
        """Mean products of the members' errors and the labels' deviations, in the part of each entry and in the others.

        The shape is (2, (J + 1) C, k + 1, k + 1), that of places ((J + 1) C, k).
        """
        rows, xp, found = self.rows, namespace_of(self.rows.targets), []
        for number, own in enumerate(places.reshape((len(self._parts), -1, len(self.paths)))):
            if self._last[0] != own.tobytes():
                members = [_errors_at(path, at) for path, at in zip(self.paths, own.T, strict=True)]
                table = xp.stack([*members, rows.deviations], axis=1) * rows.root_weights
                parts = (take_last(table, part) for part in self._parts)
                sums = np.stack([to_numpy(part @ xp.matrix_transpose(part)) for part in parts])
                self._last = own.tobytes(), sums / rows.total_weight
            found.append((self._last[1][number], self._last[1].sum(axis=0) - self._last[1][number]))
        return np.concatenate(found, axis=1)

    def _judged(self, places: IntArray) -> Judged:
        worth = np.array([path.independent[at] for path, at in zip(self.paths, places.T, strict=True)]).T
        settled = self.aggregation.settle(_moments(self.products(places)[1], worth))
        return Judged(settled.expected, np.zeros(len(places)), settled.weights)

    def error(self, places: IntArray, weights: FloatArray) -> FloatArray:
        """Squared errors, shape (C,), where each part of the rows is judged at what the others choose."""
        errors = _moments(self.products(places)[0]).risk_of(weights)
        return np.asarray(errors.reshape((len(self._parts), -1)).sum(axis=0))


def _moments(products: FloatArray, behind: FloatArray | None = None) -> MemberMoments:
    return MemberMoments(products[..., :-1, :-1], products[..., -1, :-1], products[..., -1, -1], None, behind)


def _errors_at(path: MemberPath, places: IntArray) -> Array:
    """Left-out errors of a member with a place for each target, shape (C, n)."""
    numbers, inverse = np.unique(places, return_inverse=True)
    tables: Array = namespace_of(path.target_means).stack([path.errors(int(place)) for place in numbers])
    found: Array = tables[index_on(tables, inverse), index_on(tables, np.arange(len(places)))]
    return found


def fit_targets(
    rows: TrainingRows, plan: SubsetPlan, ridges: FloatArray, aggregation: Aggregation, scope: Scope
) -> tuple[IntArray, FloatArray, FloatArray, Array]:
    """Choose ridges from a path, shape (L,) or (L, k), and weights, for each target.

    Returns places on the path and weights of the members, each of shape (C, k), errors (C,), and the weighted sums of
    the members as weights of features, shape (C, M).
    """
    C, k, penalties = len(rows.targets), plan.n_members, ridges.reshape(len(ridges), -1) * plan.subset_sizes
    fits, room = list(factorise_members(rows, plan, penalties.min(axis=0))), _BLOCK
    if "cuda" in str(device_of(rows.targets)):
        room = _BLOCK_ON_A_CARD
    block = max(1, room // (8 * rows.n_samples * k * len(ridges)))
    places, weights, errors = np.empty((C, k), dtype=np.intp), np.empty((C, k)), np.empty(C)
    options = {"dtype": rows.targets.dtype, "device": device_of(rows.targets)}
    coef = namespace_of(rows.targets).zeros((C, plan.n_features), **options)
    for start in range(0, C, block):
        part = slice(start, min(start + block, C))
        some = replace(rows, targets=rows.targets[part, :])
        paths = [MemberPath(replace(each, rows=some), penalties[:, r]) for r, each in enumerate(fits)]
        losses = TargetLosses(paths, some, aggregation)
        found = choose_ridges(losses, scope)
        fitted = np.asarray(losses.at(found).weights)
        errors[part], own = losses.error(found, fitted), slice(0, part.stop - start)
        places[part], weights[part] = found[own], fitted[own]
        for r, path in enumerate(paths):
            of_member = path.coefficients(found[own, r]) * like(fitted[own, r], coef)[:, None]
            plan.add_lifted(r, of_member, coef[part, :])
    return places, weights, errors, coef
