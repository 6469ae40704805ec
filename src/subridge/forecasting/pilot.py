"""One ensemble on the pilot sample: its factorisations, and what they say at a table of penalties."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from subridge.arrays.types import BoolArray, FloatArray, IntArray
from subridge.forecasting.effective_ridge import pilot_penalties
from subridge.ridge.rows.decomposition import MemberDecomposition, decompose
from subridge.ridge.rows.leave_one_out import leave_one_out
from subridge.ridge.rows.pair_traces import hat_gains, residual_gains, residual_pair_traces
from subridge.ridge.rows.training import TrainingRows
from subridge.spec.errors import DataError
from subridge.spec.plan import SubsetPlan

# Entries of the largest table of leave-one-out errors held at once: 40 MB, of which the jackknife needs a handful.
_TABLE = 5_000_000
# An estimate from a sample needs no more than a few digits: eigenvalues of the Gram matrix this far below the largest
# still have four.
_GRAM_LIMIT = 1e-12


@dataclass(frozen=True, eq=False)
class Pilot:
    """Factorised members of one ensemble on n rows.

    Attributes
    ----------
    factors : sequence of MemberDecomposition, length k
    targets : ndarray, shape (C, n)
        Centred labels.
    subset_sizes : ndarray of int, shape (k,)
        N_r, which turn ridges into penalties λ N_r.
    intercept : int
        1 if the data were centred, else 0.
    """

    factors: Sequence[MemberDecomposition]
    targets: FloatArray
    subset_sizes: IntArray
    intercept: int

    @property
    def n(self) -> int:
        """Rows of the pilot."""
        return int(self.targets.shape[1])

    @property
    def n_members(self) -> int:
        """k."""
        return len(self.factors)

    def penalties_for(self, sizes: FloatArray, ridges: FloatArray) -> tuple[FloatArray, BoolArray]:
        """Pilot penalties that stand for sizes (T,) and ridges (T, k), and what is in reach; both of shape (T, k).

        Left-out errors are those of n - 1 rows, so a penalty is lowered by what keeps the effective ridge of those; at
        the pilot's own size it is the wanted one.
        """
        columns = [
            pilot_penalties(factor.spectrum, self.n, self.intercept, sizes, ridges[:, r] * self.subset_sizes[r])
            for r, factor in enumerate(self.factors)
        ]
        penalties, in_reach = (np.stack(parts, axis=1) for parts in zip(*columns, strict=True))
        left = self.n * (1 - self.freedom(penalties))  # n - df
        lowered = penalties * np.maximum(1 - 1 / np.maximum(left, 1.0), 0.0)
        return np.where((sizes == self.n)[:, None], penalties, lowered), in_reach

    def reach(self, ridges: FloatArray) -> FloatArray:
        """The largest sample size each member can be forecast at, ``n + p/κ̄(n, 0)``; shape (k,)."""
        return np.array(
            [
                self.n + ridges[r] * self.subset_sizes[r] * float((1 / factor.spectrum).sum())
                if factor.spans_samples
                else np.inf
                for r, factor in enumerate(self.factors)
            ]
        )

    def pair_traces(self, penalties: FloatArray) -> FloatArray:
        """``tr(R_r R_r′)`` with R = I - H in the scale of `leave_one_out`; shape (T, k) to (T, k, k)."""
        return residual_pair_traces(self.factors, penalties, self.n, self.intercept)

    def leverages(self, penalties: FloatArray, diagonals: FloatArray) -> FloatArray:
        """h_i = 1 - R_ii from the diagonals of `left_out`; shape (t, k, n)."""
        scale = np.where([factor.spans_samples for factor in self.factors], penalties, 1.0)
        return np.asarray(1 - scale[:, :, None] * diagonals)

    def left_out(self, penalties: FloatArray) -> Iterator[tuple[slice, FloatArray, FloatArray]]:
        """Leave-one-out errors block by block: rows of the table, errors (t, k, C, n), diagonals (t, k, n)."""
        T = len(penalties)
        block = max(1, _TABLE // (self.n_members * self.targets.size))
        leverage = np.full(self.n, self.intercept / self.n)
        for start in range(0, T, block):
            rows = slice(start, min(start + block, T))
            tables = [
                leave_one_out(factor, self.targets, penalties[rows, r], leverage)
                for r, factor in enumerate(self.factors)
            ]
            yield (
                rows,
                np.stack([errors for errors, _ in tables], axis=1),
                np.stack([diagonal for _, diagonal in tables], axis=1),
            )

    def freedom(self, penalties: FloatArray) -> FloatArray:
        """Degrees of freedom per row of the pilot, df_r/n, intercept included; shape (T, k)."""
        sums = [hat_gains(factor, penalties[:, r]).sum(axis=1) for r, factor in enumerate(self.factors)]
        return np.asarray((np.stack(sums, axis=1) + self.intercept) / self.n)

    def squared_diagonals(self, penalties: FloatArray) -> FloatArray:
        """``(R_r²)_ii`` in the scale of `leave_one_out`; shape (t, k) to (t, k, n)."""
        columns = []
        for r, factor in enumerate(self.factors):
            squares = factor.left**2
            gains = residual_gains(factor, penalties[:, r])
            # Outside of the member's directions R is a projection, its own square.
            rest = 0.0 if factor.spans_samples else 1 - self.intercept / self.n - squares.sum(axis=0)
            columns.append(gains**2 @ squares + rest)
        return np.stack(columns, axis=1)

    def relative_residuals(
        self, r: int, penalties: FloatArray, diagonals: FloatArray, vectors: FloatArray
    ) -> FloatArray:
        """``Σ_i R_ij v_i/R_ii`` with member r's residual operator R = I - H.

        Parameters
        ----------
        r : int
        penalties : ndarray, shape (t,)
        diagonals : ndarray, shape (t, n)
            R_ii in the scale of `leave_one_out`. Rows that are interpolated, R_ii = 0, are passed over.
        vectors : ndarray, shape (t, C, n)
            v, one table for each penalty.

        Returns
        -------
        ndarray, shape (t, C, n)
        """
        factor = self.factors[r]
        Qt, gains = factor.left, residual_gains(factor, penalties)
        scaled = vectors / np.where(diagonals > 0, diagonals, np.inf)[:, None, :]
        flat = scaled.reshape(-1, self.n)
        inside = (flat @ Qt.T).reshape(*vectors.shape[:2], -1)
        if factor.spans_samples:
            return np.asarray(((inside * gains[:, None, :]).reshape(len(flat), -1) @ Qt).reshape(vectors.shape))
        removed = (inside * (1 - gains)[:, None, :]).reshape(len(flat), -1) @ Qt
        if self.intercept:
            removed += flat.mean(axis=1, keepdims=True)
        return np.asarray((flat - removed).reshape(vectors.shape))


def pilot_of(rows: TrainingRows, plan: SubsetPlan, gram: FloatArray | None = None) -> Pilot:
    """Factorise every member of a plan.

    Parameters
    ----------
    rows : TrainingRows
        Unweighted, in NumPy.
    plan : SubsetPlan
    gram : ndarray, shape (M, M), optional
        ``FᵀF`` of all features, which serves every plan on the same rows.

    Returns
    -------
    Pilot
    """
    factors = [
        decompose(rows.member(plan, r, gram), 0.0, rows.fit_intercept, _GRAM_LIMIT) for r in range(plan.n_members)
    ]
    for r, factor in enumerate(factors):
        if not factor.spectrum.size:
            raise DataError(f"member {r} sees only constant columns in the pilot; leave constant columns out of X")
    return Pilot(factors, rows.centred(rows.targets)[0], plan.subset_sizes, int(rows.fit_intercept))
