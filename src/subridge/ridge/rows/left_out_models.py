"""What a member trained without a set of rows says of new rows, for every set at once and without refitting.

Leaving out a set s is the same as replacing its labels by what is then predicted for them, so that with left-out errors
e_s of the set's rows

    f^(-s)(x) = f(x) - h_s(x)ᵀ e_s,        h(x) = √w (√w/Σw + Q √d/(d+p) Vᵀ(x - x̄)),

exact for every linear smoother, in the limit p → 0 as well. A member that was solved at one ridge has ``h(x) = √w
(√w/Σw + Kᵀ(x - x̄))``.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from subridge.arrays.namespace import namespace_of, take_last
from subridge.arrays.types import Array, IntArray
from subridge.ridge.rows.decomposition import MemberDecomposition
from subridge.ridge.rows.leave_sets_out import set_errors
from subridge.ridge.rows.one_ridge import SolvedMember
from subridge.ridge.rows.training import TrainingRows

Solution: TypeAlias = MemberDecomposition | SolvedMember


@dataclass(frozen=True, eq=False)
class LeftOutMember:
    """One member at one penalty, without each of S sets of rows in turn.

    `pulls`, shape (C, ρ, S), are ``Q_sᵀ ẽ_s``, and `shifts`, shape (C, S), what leaving out s changes at x = x̄, both
    from errors in weighted units. Single rows have S = n; for several targets their pulls stay apart as Qᵀ and errors
    (C, n).
    """

    member: Solution
    penalty: float
    pulls: Array | None
    errors: Array | None
    shifts: Array

    def scores(self, centred: Array) -> Array:
        """What new rows x - x̄ of shape (m, N_r) mean to the member, shape (m, ρ)."""
        return centred if isinstance(self.member, SolvedMember) else self.member.scores(centred, self.penalty)

    def changes(self, scores: Array) -> Array:
        """``f(x) - f^(-s)(x)`` less the shifts, from scores (m, ρ), or (C, m, ρ) where targets differ; (C, m, S)."""
        if self.pulls is not None:
            return scores @ self.pulls
        assert self.errors is not None
        return (scores @ _rows_of(self.member)) * self.errors[:, None, :]

    def largest_changes(self, scores: Array) -> Array:
        """A bound of all changes of one target, by Cauchy and Schwarz; shape (S,)."""
        largest: float = (scores * scores).sum(axis=-1).max() ** 0.5
        return self._pull_norms * largest

    @cached_property
    def _pull_norms(self) -> Array:
        assert self.pulls is not None
        norms: Array = (self.pulls[0, ...] * self.pulls[0, ...]).sum(axis=0) ** 0.5
        return norms

    def of_sets(self, wanted: IntArray) -> "LeftOutMember":
        """The same for some of the sets."""
        assert self.pulls is not None
        shifts = take_last(self.shifts, wanted)
        return LeftOutMember(self.member, self.penalty, take_last(self.pulls, wanted), None, shifts)


def _rows_of(member: Solution) -> Array:
    """What the scores of a new row meet in every training row: Qᵀ, or K; shape (ρ, n)."""
    return member.smoother if isinstance(member, SolvedMember) else member.left


def left_out_member(
    member: Solution, targets: Array, penalty: float, rows: TrainingRows, errors: Array
) -> LeftOutMember:
    """Prepare a member at one penalty.

    `targets` are its centred and weighted labels and `errors` what it errs on left-out rows in weighted units, both of
    shape (C, n).
    """
    reach = rows.root_weights * (float(rows.fit_intercept) / rows.total_weight)
    if rows.left_out is None or isinstance(member, SolvedMember):
        if errors.shape[0] == 1:
            return LeftOutMember(member, penalty, (_rows_of(member) * errors)[None, :, :], None, errors * reach)
        return LeftOutMember(member, penalty, None, errors, errors * reach)
    xp, pulls, shifts = namespace_of(targets), [], []
    for batch, found in set_errors(member, targets, np.array([penalty]), rows, rows.left_out):
        (G, m), flat, e = batch.rows.shape, batch.rows.ravel(), found[0, ...]
        Q = take_last(member.left, flat).reshape((1, -1, G, m))
        pulls.append((Q * e[:, None, :, :]).sum(axis=-1))
        shifts.append((take_last(reach, flat).reshape((G, m)) * e).sum(axis=-1))
    return LeftOutMember(member, penalty, xp.concat(pulls, axis=-1), None, xp.concat(shifts, axis=-1))
