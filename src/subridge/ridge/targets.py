"""A ridge, and weights of the members, for each target of its own.

Members are factorised once for all targets, which are then seen in blocks: only the coefficients have the size of all
targets. Ridges are chosen by plain left-out errors, as himalaya's ``RidgeCV`` does. The error of what was chosen comes
from parts of the rows: each part is judged at the ridge and the weights that the others choose.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from subridge.arrays.namespace import device_of, index_on, like, namespace_of, to_numpy
from subridge.arrays.types import Array, FloatArray, IntArray
from subridge.model.aggregation import Aggregation, MemberMoments
from subridge.model.checks import Scope
from subridge.model.ensemble import SubsetPlan
from subridge.ridge.choose import Judged, Losses, choose_ridges
from subridge.ridge.member import MemberPath, factorise_members
from subridge.ridge.rows import TrainingRows

_PARTS = 10  # of the rows or groups, each judged at what the others choose
# Bytes of the left-out errors of a block of targets, for all members and ridges, on a processor and on a card.
_BLOCK, _BLOCK_ON_A_CARD = 2**27, 2**29


class TargetLosses(Losses):
    """Losses of C targets, each at places of its own, without each of J + 1 parts of the rows, of which one is empty.

    There are (J + 1) C entries: the targets with all rows, then without the first part, and so on. All of them follow
    from products of left-out errors, summed over each part.
    """

    is_cautious: ClassVar[bool] = False

    def __init__(self, paths: Sequence[MemberPath], rows: TrainingRows, aggregation: Aggregation) -> None:
        super().__init__(paths, rows, aggregation)
        parts = np.arange(-1, min(_PARTS, rows.n_units))
        self._marks = like(rows.owners[:, None] % len(parts[1:]) == parts, rows.targets)  # (n, J + 1)
        self.floors = np.zeros(len(parts) * len(rows.targets), dtype=np.intp)

    def products(self, places: IntArray) -> FloatArray:
        """Mean products of the members' errors and the labels' deviations, in the part of each entry and in the others.

        The shape is (2, (J + 1) C, k + 1, k + 1), that of places ((J + 1) C, k).
        """
        rows, xp, found = self.rows, namespace_of(self.rows.targets), []
        for number, own in enumerate(places.reshape((int(self._marks.shape[1]), -1, len(self.paths)))):
            if self._last[0] != own.tobytes():
                members = [_errors_at(path, at) for path, at in zip(self.paths, own.T, strict=True)]
                table = xp.stack([*members, rows.deviations], axis=1) * rows.root_weights
                sums = (table[:, :, None, :] * table[:, None, :, :]) @ self._marks / rows.total_weight
                self._last = own.tobytes(), to_numpy(sums)
            sums = self._last[1]
            found.append((sums[..., number], sums.sum(axis=-1) - sums[..., number]))
        return np.concatenate(found, axis=1)

    def _judged(self, places: IntArray) -> Judged:
        worth = np.array([path.independent[at] for path, at in zip(self.paths, places.T, strict=True)]).T
        settled = self.aggregation.settle(_moments(self.products(places)[1], worth))
        return Judged(settled.expected, np.zeros(len(places)), settled.weights)


def _moments(products: FloatArray, behind: FloatArray | None = None) -> MemberMoments:
    return MemberMoments(products[..., :-1, :-1], products[..., -1, :-1], products[..., -1, -1], None, behind)


def _errors_at(path: MemberPath, places: IntArray) -> Array:
    """Left-out errors of a member with a place for each target, shape (C, n)."""
    numbers, inverse = np.unique(places, return_inverse=True)
    tables = namespace_of(path.target_means).stack([path.errors(int(place)) for place in numbers])
    return tables[index_on(tables, inverse), index_on(tables, np.arange(len(places)))]  # type: ignore[no-any-return]


def fit_targets(
    rows: TrainingRows, plan: SubsetPlan, ridges: FloatArray, aggregation: Aggregation, scope: Scope
) -> tuple[IntArray, FloatArray, FloatArray, Array]:
    """Choose ridges from a path, shape (L,) or (L, k), and weights, for each target.

    Returns places on the path and weights of the members, each of shape (C, k), errors (C,), and the weighted sums of
    the members as weights of features, shape (C, M).
    """
    targets, k, penalties = rows.targets, plan.n_members, ridges.reshape(len(ridges), -1) * plan.subset_sizes
    fits, device, C = list(factorise_members(rows, plan, penalties.min(axis=0))), device_of(targets), len(targets)
    room = _BLOCK_ON_A_CARD if "cuda" in str(device) else _BLOCK
    block = max(1, room // (8 * rows.n_samples * k * len(ridges)))
    places, weights, errors = np.empty((C, k), dtype=np.intp), np.empty((C, k)), np.empty(C)
    coef = namespace_of(targets).zeros((C, plan.n_features), dtype=targets.dtype, device=device)
    for part in (slice(start, min(start + block, C)) for start in range(0, C, block)):
        some, own = replace(rows, targets=targets[part, :]), slice(0, part.stop - part.start)
        paths = [MemberPath(replace(each, rows=some), penalties[:, r], None, True) for r, each in enumerate(fits)]
        losses = TargetLosses(paths, some, aggregation)
        found = choose_ridges(losses, scope)
        fitted = np.asarray(losses.at(found).weights)
        places[part], weights[part] = found[own], fitted[own]
        # Each part of the rows at what the others choose.
        errors[part] = _moments(losses.products(found)[0]).risk_of(fitted).reshape((-1, own.stop)).sum(axis=0)
        for r, path in enumerate(paths):
            plan.add_lifted(r, path.coefficients(found[own, r]) * like(fitted[own, r], coef)[:, None], coef[part, :])
    return places, weights, errors, coef
