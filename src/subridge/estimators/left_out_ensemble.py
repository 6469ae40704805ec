"""The fitted ensemble without each left-out set in turn: what it says of new rows, in closed form."""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TypeAlias

import numpy as np

from subridge.arrays.namespace import is_sparse, like, namespace_of, select_rows, take_last, to_numpy
from subridge.arrays.types import Array, FloatArray, IntArray
from subridge.estimators.inputs import Features
from subridge.estimators.left_out import LeftOutRows
from subridge.estimators.members import FittedMembers, example_of
from subridge.model.aggregation import LinearAggregation
from subridge.model.ensemble import Ensemble
from subridge.ridge.rows.decomposition import decompose
from subridge.ridge.rows.leave_sets_out import GRAM_LIMIT
from subridge.ridge.rows.left_out_models import LeftOutMember, Solution, left_out_member

_ENTRIES = 1_000_000  # of the largest table over new rows and sets held at once: 8 MB

# From bounds of what leaving out each set changes, (S,), to the numbers of the sets that matter.
Choice: TypeAlias = Callable[[FloatArray], IntArray]


class LeftOutEnsemble:
    """An ensemble at its fitted ridges and weights, trained without each of S sets of rows.

    Ridges and weights are those of the whole fit: only the members' coefficients are trained again.
    """

    def __init__(
        self,
        kept: LeftOutRows,
        ensemble: Ensemble,
        members: FittedMembers,
        weights: FloatArray | None,
        solutions: list[Solution] | None = None,
    ) -> None:
        self.kept, self._ensemble, self._members = kept, ensemble, members
        self._weights = weights if isinstance(ensemble.aggregation, LinearAggregation) else None
        self._solutions = solutions

    def deciding_by(self, ensemble: Ensemble) -> "LeftOutEnsemble":
        """The same members, whose votes count otherwise."""
        return LeftOutEnsemble(self.kept, ensemble, self._members, None, self._solutions)

    @property
    def is_weighted(self) -> bool:
        """Whether outputs are weighted sums, rather than votes or sums."""
        return self._weights is not None

    @property
    def errors(self) -> Array:
        """Left-out errors of the aggregate on the rows of the fit, shape (C, n)."""
        return self.kept.rows.targets - self.kept.outputs(self._ensemble.aggregation, self._weights)

    @property
    def owners(self) -> IntArray:
        """The number of the set with which each row is left out, shape (n,)."""
        sets = self.kept.rows.left_out
        return np.arange(self.kept.rows.n_samples) if sets is None else sets.owners

    def outputs(self, X: Features, choose: Choice | None = None) -> Iterator[tuple[IntArray | None, Array]]:
        """Outputs for new rows without each set, shape (C, m, S), for blocks of m rows.

        Of a weighted sum for one target `choose` may leave out sets: from bounds (S,) of what leaving out each of them
        changes in any output of a block it returns those that matter, which come first in the answer; None is all.
        """
        n_sets = int(self.owners.max()) + 1
        block = max(1, _ENTRIES // (n_sets * self.kept.errors.shape[1]))
        for start in range(0, X.shape[0], block):
            part = np.arange(start, min(start + block, X.shape[0]))
            rows = X[part] if is_sparse(X) else X[start : start + block]
            if self._weights is None:
                yield None, self._unweighted(rows)
            else:
                yield self._weighted(rows, choose if self.kept.errors.shape[1] == 1 else None)

    def _unweighted(self, X: Features) -> Array:
        """Outputs of votes, sums and medians, shape (C, m, S)."""
        apart = []
        for r, member in enumerate(self._left_out):
            output = like(member.changes(member.scores(self._seen(r, X))), example_of(X))
            whole = self._members.scores_of(r, X)[:, :, None]
            apart.append(whole - output - like(member.shifts, whole)[:, None, :])
        stacked = namespace_of(apart[0]).stack(apart)  # (k, C, m, S)
        flat = stacked.reshape((*stacked.shape[:2], -1))
        return self._ensemble.aggregation.combine(flat).reshape(stacked.shape[1:])

    def _weighted(self, X: Features, choose: Choice | None) -> tuple[IntArray | None, Array]:
        """The sets that matter, and outputs of weighted sums without them, shape (C, m, S)."""
        example, shifts, wanted = example_of(X), self._shifts, None
        (coef, intercept), shares = self._collapsed, like(self._shares, self._shifts)
        counted = [r for r, share in enumerate(self._shares) if share.any()]
        scores = [self._left_out[r].scores(self._seen(r, X)) for r in counted]
        if choose is not None:
            bounds = abs(shifts[0, :])
            for r, score in zip(counted, scores, strict=True):
                bounds = bounds + abs(shares[r, 0]) * self._left_out[r].largest_changes(score)
            wanted = choose(to_numpy(bounds))
            shifts = take_last(shifts, wanted)
        outputs = ((X @ like(coef, example).T).T + like(intercept, example)[:, None])[:, :, None]
        outputs = outputs - like(shifts, example)[:, None, :]
        for r, score in zip(counted, scores, strict=True):
            member = self._left_out[r] if wanted is None else self._left_out[r].of_sets(wanted)
            changes = like(member.changes(score[None, :, :] * shares[r, :, None, None]), example)
            outputs -= changes
        return wanted, outputs

    @property
    def _shares(self) -> FloatArray:
        """Weights of members for every target, shape (k, C)."""
        assert self._weights is not None
        k, C = self.kept.errors.shape[:2]
        return np.broadcast_to(self._weights, (C, k)).T

    @cached_property
    def _shifts(self) -> Array:
        """What leaving out each set changes in the aggregate at x = x̄, shape (C, S)."""
        shares, members = like(self._shares, self.kept.errors), self._left_out
        shifts = shares[0, :, None] * members[0].shifts
        for r in range(1, len(members)):
            shifts = shifts + shares[r, :, None] * members[r].shifts
        if not self.kept.rows.fit_intercept:
            return shifts
        rest: Array = 1.0 - shares.sum(axis=0)
        return shifts + rest[:, None] * self._mean_changes

    @cached_property
    def _collapsed(self) -> tuple[Array, Array]:
        assert self._weights is not None
        return self._members.collapse(self._weights)

    @cached_property
    def _mean_changes(self) -> Array:
        """What leaving out each set changes in the mean of the labels, shape (C, S)."""
        rows, owners = self.kept.rows, self.owners
        one_of_set = np.empty(int(owners.max()) + 1, dtype=np.intp)
        one_of_set[owners] = np.arange(len(owners))
        others = take_last(rows.targets - rows.deviations, one_of_set)
        return rows.centred_targets[1][:, None] - others

    @cached_property
    def _left_out(self) -> list[LeftOutMember]:
        rows, found = self.kept.rows, []
        plan = self._ensemble.plan
        for r, ridge in enumerate(self._ensemble.ridge):
            penalty = float(ridge) * int(plan.subset_sizes[r])
            if self._solutions is None:
                member: Solution = decompose(rows.member(plan, r), penalty, rows.fit_intercept, GRAM_LIMIT)
            else:
                member = self._solutions[r]
            noise, errors = self.kept.noise, self.kept.errors[r]
            labels = rows.targets if noise is None else rows.targets - noise[r]
            errors = errors if noise is None else errors - noise[r]
            weighted = errors * rows.root_weights
            found.append(left_out_member(member, rows.centred(labels)[0], penalty, rows, weighted))
        return found

    def _seen(self, r: int, X: Features) -> Array:
        """What a member sees of new rows, less its means, shape (m, N_r), in the library of the fit."""
        A, means = self._ensemble.plan.measurements[r], self.kept.rows.feature_means
        if is_sparse(X):
            seen = X.tocsc()[:, A].toarray() - means[A] if A.ndim == 1 else X @ A.T - A @ means
        else:
            own = like(means, X)
            seen = select_rows(X.T, A).T - select_rows(own, A) if A.ndim == 1 else (X - own) @ like(A, X).T
        return like(seen, self.kept.errors)
