"""The fitted ensemble without each left-out set in turn: what it says of new rows, in closed form."""

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from subridge.arrays.namespace import is_sparse, like, namespace_of, select_rows, take_last
from subridge.arrays.types import Array, FloatArray, IntArray
from subridge.ensemble.aggregation import LinearAggregation
from subridge.ensemble.ensemble import Ensemble
from subridge.estimators.inputs import Features
from subridge.estimators.left_out import LeftOutRows
from subridge.estimators.members import FittedMembers, example_of
from subridge.ridge.rows.decomposition import MemberDecomposition, decompose
from subridge.ridge.rows.leave_sets_out import GRAM_LIMIT
from subridge.ridge.rows.left_out_models import LeftOutMember, left_out_member

_ENTRIES = 250_000  # of the largest table over new rows and sets held at once: 2 MB, which a cache holds


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
        decompositions: list[MemberDecomposition] | None = None,
    ) -> None:
        self.kept, self._ensemble, self._members = kept, ensemble, members
        self._weights = weights if isinstance(ensemble.aggregation, LinearAggregation) else None
        self._decompositions = decompositions

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

    def outputs(self, X: Features) -> Iterator[tuple[slice, Array]]:
        """Outputs for new rows without each set, shape (C, m, S), for blocks of m rows."""
        n_sets = int(self.owners.max()) + 1
        block = max(1, _ENTRIES // (n_sets * self.kept.errors.shape[1]))
        for start in range(0, X.shape[0], block):
            part = slice(start, min(start + block, X.shape[0]))
            yield part, self._block(X[np.arange(part.start, part.stop)] if is_sparse(X) else X[part])

    def _block(self, X: Features) -> Array:
        aggregation, rows = self._ensemble.aggregation, self.kept.rows
        if self._weights is None:
            whole = [self._members.scores_of(r, X)[:, :, None] for r in range(len(self._left_out))]
            apart = namespace_of(whole[0]).stack(
                [full - self._changes(r, X) for r, full in enumerate(whole)]
            )  # (k, C, m, S)
            k, C, m, S = apart.shape
            return aggregation.combine(apart.reshape((k, C, m * S))).reshape((C, m, S))
        coef, intercept = self._collapsed
        example = example_of(X)
        whole_output = (X @ like(coef, example).T).T + like(intercept, example)[:, None]
        changes: Array | None = None
        shares = np.broadcast_to(self._weights, (coef.shape[0], len(self._left_out))).T  # (k, C)
        for r, share in enumerate(shares):
            if share.any():
                change = self._changes(r, X)
                change *= like(share, change)[:, None, None]
                changes = change if changes is None else changes + change
        rest = 1.0 - shares.sum(axis=0)
        if changes is None:
            changes = like(np.zeros((coef.shape[0], X.shape[0], 1)), example)
        if rows.fit_intercept and (abs(rest) > 1e-12).any():
            means = like(rest, self._mean_changes)[:, None] * self._mean_changes
            changes = changes + like(means, example)[:, None, :]
        return whole_output[:, :, None] - changes

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
        return rows.centred(rows.targets)[1][:, None] - others

    @cached_property
    def _left_out(self) -> list[LeftOutMember]:
        rows, found = self.kept.rows, []
        plan = self._ensemble.plan
        for r, ridge in enumerate(self._ensemble.ridge):
            penalty = float(ridge) * int(plan.subset_sizes[r])
            if self._decompositions is None:
                member = decompose(rows.member(plan, r), penalty, rows.fit_intercept, GRAM_LIMIT)
            else:
                member = self._decompositions[r]
            noise, errors = self.kept.noise, self.kept.errors[r]
            labels = rows.targets if noise is None else rows.targets - noise[r]
            errors = errors if noise is None else errors - noise[r]
            weighted = errors * rows.root_weights
            found.append(left_out_member(member, rows.centred(labels)[0], penalty, rows, weighted))
        return found

    def _changes(self, r: int, X: Features) -> Array:
        """``f_r(x) - f_r^(-s)(x)``, shape (C, m, S), in the library of X."""
        A, means = self._ensemble.plan.measurements[r], self.kept.rows.feature_means
        if is_sparse(X):
            seen = X.tocsc()[:, A].toarray() - means[A] if A.ndim == 1 else X @ A.T - A @ means
        else:
            own = like(means, X)
            seen = select_rows(X.T, A).T - select_rows(own, A) if A.ndim == 1 else (X - own) @ like(A, X).T
        changes = self._left_out[r].changes(like(seen, self.kept.errors))
        return like(changes, example_of(X))
