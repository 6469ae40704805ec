"""One ensemble on the pilot sample: every member decomposed once, for all ridges."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from subridge.arrays.types import FloatArray, IntArray
from subridge.model.errors import DataError
from subridge.model.plan import SubsetPlan
from subridge.ridge.rows.decomposition import MemberDecomposition, decompose
from subridge.ridge.rows.leave_one_out import InDirections
from subridge.ridge.rows.pair_traces import hat_gains
from subridge.ridge.rows.training import TrainingRows

# An estimate from a sample needs no more than a few digits: eigenvalues of the Gram matrix this far below the largest
# still have four.
_GRAM_LIMIT = 1e-12
# Numbers of factors whose squares are kept: 32 MB. Of larger ones a square costs little beside the decomposition.
_KEPT = 4_000_000


@dataclass(frozen=True, eq=False)
class Pilot:
    """Decomposed members of one ensemble on n rows."""

    members: Sequence[MemberDecomposition]
    targets: FloatArray  # centred labels, shape (C, n)
    subset_sizes: IntArray  # N_r, which turn ridges into penalties λ N_r, shape (k,)
    intercept: int  # 1 if the data were centred, else 0

    @property
    def n_samples(self) -> int:
        """n, the rows of the pilot."""
        return int(self.targets.shape[1])

    @property
    def n_members(self) -> int:
        """k."""
        return len(self.members)

    @property
    def n_targets(self) -> int:
        """C."""
        return len(self.targets)

    @cached_property
    def row_powers(self) -> FloatArray:
        """‖x_i‖² of every row as each member sees it, centred; shape (k, n)."""
        return np.stack([member.spectrum @ self.known(r).squares for r, member in enumerate(self.members)])

    def known(self, r: int) -> InDirections:
        """What every question about member r begins with."""
        return InDirections.of(self.members[r], self.targets) if self._known is None else self._known[r]

    @cached_property
    def _known(self) -> list[InDirections] | None:
        if sum(member.left.size for member in self.members) > _KEPT:
            return None
        return [InDirections.of(member, self.targets) for member in self.members]

    def reach(self, ridges: FloatArray) -> FloatArray:
        """The largest sample size each member can be forecast at, ``n + p/κ̄(n, 0)``; shape (k,)."""
        sums = [(1 / member.spectrum).sum() for member in self.members]
        limits = self.n_samples + ridges * self.subset_sizes * np.array(sums)
        return np.where([member.spans_samples for member in self.members], limits, np.inf)

    def degrees_of_freedom(self, penalties: FloatArray) -> FloatArray:
        """df_r, the trace of the hat matrix with the intercept; shape (T, k)."""
        sums = [hat_gains(member, penalties[:, r]).sum(axis=1) for r, member in enumerate(self.members)]
        return np.asarray(np.stack(sums, axis=1) + self.intercept)


def decompose_pilot(rows: TrainingRows, plan: SubsetPlan, gram: FloatArray | None = None) -> Pilot:
    """Decompose every member of a plan on unweighted rows; `gram` is ``FᵀF`` of all features, where it is at hand.

    A member whose columns are all constant in the pilot has an empty spectrum: it predicts the mean.
    """
    members = [
        decompose(rows.member(plan, r, gram), 0.0, rows.fit_intercept, _GRAM_LIMIT) for r in range(plan.n_members)
    ]
    if not any(member.spectrum.size for member in members):
        raise DataError("the members see only constant columns in the pilot; give X columns that vary")
    return Pilot(members, rows.centred_targets[0], plan.subset_sizes, int(rows.fit_intercept))
