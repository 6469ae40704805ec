"""Members that see only some of the rows: a left-out row changes the members that saw it, and no others.

Member r is trained on its own rows. One of these is left out as for any member. For any other row the member predicts
without a change, because it never saw that row. If two rows are left out, and the member saw only the first, its output
for the second changes by ``h_i(x) e_i``, as for any new row.
"""

import numpy as np

from subridge.arrays.namespace import is_sparse, namespace_of, select_rows, take_last
from subridge.arrays.types import Array, FloatArray, IntArray, SparseMatrix
from subridge.model.checks import stream
from subridge.model.ensemble import SubsetPlan
from subridge.ridge.member import MemberPath, factorise
from subridge.ridge.rows import TrainingRows, new_rows, training_rows


def draw_rows(n_samples: int, number: int, n_members: int, seed: int) -> tuple[IntArray, ...]:
    """Numbers of n rows for each member, drawn independently without repeats, ascending; shape (number,) each."""
    return tuple(np.sort(stream(seed, r).permutation(n_samples)[:number]) for r in range(n_members))


def part_of_rows(rows: TrainingRows, index: IntArray) -> TrainingRows:
    """Some of the rows, centred again."""
    return training_rows(
        _given(rows, index), take_last(rows.targets, index), take_last(rows.weights, index), rows.fit_intercept
    )


def _given(rows: TrainingRows, index: IntArray) -> Array | SparseMatrix:
    """Some of the rows of X as it was given."""
    assert rows.given is not None
    return rows.given[index] if is_sparse(rows.given) else select_rows(rows.given, index)


class PartialPath(MemberPath):
    """One member that sees some rows, at L penalties; it has errors on all rows."""

    def __init__(
        self, rows: TrainingRows, plan: SubsetPlan, r: int, seen: IntArray, penalties: FloatArray, noise: Array | None
    ) -> None:
        own = part_of_rows(rows, seen)
        noise = None if noise is None else take_last(noise, seen)
        super().__init__(factorise(own, plan, r, penalties.min()), penalties, noise)
        self.rows = rows
        self._seen = seen
        self._others = np.setdiff1d(np.arange(rows.n_samples), seen)
        self._order = np.concatenate([seen, self._others]).argsort()
        self._new = new_rows(_given(rows, self._others), plan.measurements[r], own.feature_means)

    def errors(self, index: int | IntArray) -> Array:
        own = super().errors(index)
        coefficients = self._fit.coefficients(np.atleast_1d(self.penalties[index]), self._targets, self._projected)
        outputs = (coefficients @ self._new.T).reshape(*own.shape[:-1], -1) + self.target_means[:, None]
        others = take_last(self.rows.targets, self._others) - outputs
        return take_last(namespace_of(own).concat([own, others], axis=-1), self._order)

    def pair_errors(self, places: IntArray, left_out: IntArray) -> Array:
        xp = namespace_of(self._new)
        fit = self._fit
        touched = np.flatnonzero(np.isin(left_out, self._seen))
        seen = self._seen.searchsorted(left_out[touched])
        inside = super().pair_errors(places, seen)
        found = []
        for place, pairs in zip(places.tolist(), inside, strict=True):
            plain = self.errors(place)
            p = float(self.penalties[place])
            own = super().errors(place) - (0.0 if self._noise is None else self._noise)
            pulls, shifts = fit.pulls(p, self._targets, own * fit.rows.root_weights)
            changes = fit.output_changes(fit.scores(self._new, p), pulls, seen) + take_last(shifts, seen)[:, None, :]
            outside = take_last(plain, self._others) + xp.permute_dims(changes, (2, 0, 1))
            every = xp.stack([plain] * len(left_out))
            every[touched] = take_last(xp.concat([pairs, outside], axis=-1), self._order)
            found.append(every)
        return xp.stack(found)
