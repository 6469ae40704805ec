"""What a member trained without a set of rows says of new rows, for every set at once and without refitting.

Leaving out a set s is the same as replacing its labels by what is then predicted for them, so that with left-out errors
e_s of the set's rows

    f^(-s)(x) = f(x) - h_s(x)ᵀ e_s,        h(x) = √w (√w/Σw + Q √d/(d+p) Vᵀ(x - x̄)),

exact for every linear smoother, in the limit p → 0 as well.
"""

from dataclasses import dataclass

import numpy as np

from subridge.arrays.namespace import namespace_of, take_last
from subridge.arrays.types import Array
from subridge.ridge.rows.decomposition import MemberDecomposition
from subridge.ridge.rows.leave_sets_out import set_errors
from subridge.ridge.rows.training import TrainingRows


@dataclass(frozen=True, eq=False)
class LeftOutMember:
    """One member at one penalty, without each of S sets of rows in turn.

    `pulls`, shape (C, ρ, S), are ``Q_sᵀ ẽ_s``, and `shifts`, shape (C, S), what leaving out s changes at x = x̄, both
    from errors in weighted units. Single rows have S = n; for several targets their pulls stay apart as Qᵀ and errors
    (C, n).
    """

    member: MemberDecomposition
    penalty: float
    pulls: Array | None
    errors: Array | None
    shifts: Array

    def changes(self, centred: Array) -> Array:
        """``f(x) - f^(-s)(x)`` for new rows x - x̄ of shape (m, N_r) that the member sees; shape (C, m, S)."""
        member, d = self.member, self.member.spectrum
        if member.right is None:
            scores = member.design.onto_samples(centred) @ member.left.T / (d + self.penalty)
        else:
            scores = (centred @ member.right.T) * (d**0.5 / (d + self.penalty))
        if self.pulls is not None:
            return scores[None, :, :] @ self.pulls + self.shifts[:, None, :]
        assert self.errors is not None
        return (scores @ member.left)[None, :, :] * self.errors[:, None, :] + self.shifts[:, None, :]


def left_out_member(
    member: MemberDecomposition, targets: Array, penalty: float, rows: TrainingRows, errors: Array
) -> LeftOutMember:
    """Prepare a member at one penalty.

    `targets` are its centred and weighted labels and `errors` what it errs on left-out rows in weighted units, both of
    shape (C, n).
    """
    reach = rows.root_weights * (float(rows.fit_intercept) / rows.total_weight)
    if rows.left_out is None:
        if errors.shape[0] == 1:
            return LeftOutMember(member, penalty, (member.left * errors)[None, :, :], None, errors * reach)
        return LeftOutMember(member, penalty, None, errors, errors * reach)
    xp, pulls, shifts = namespace_of(targets), [], []
    for batch, found in set_errors(member, targets, np.array([penalty]), rows, rows.left_out):
        (G, m), flat, e = batch.rows.shape, batch.rows.ravel(), found[0, ...]
        Q = take_last(member.left, flat).reshape((1, -1, G, m))
        pulls.append((Q * e[:, None, :, :]).sum(axis=-1))
        shifts.append((take_last(reach, flat).reshape((G, m)) * e).sum(axis=-1))
    return LeftOutMember(member, penalty, xp.concat(pulls, axis=-1), None, xp.concat(shifts, axis=-1))
