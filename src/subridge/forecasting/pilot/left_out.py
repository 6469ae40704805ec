"""What every member errs on the pilot's rows when they are left out, at a table of penalties.

R = I - H is a member's residual operator. For a member that spans all samples it vanishes with the penalty p, so its
entries are kept divided by p, the scale of `leave_one_out`; ratios of them are the same.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.forecasting.pilot.pilot import Pilot
from subridge.ridge.rows.leave_one_out import leave_one_out
from subridge.ridge.rows.pair_traces import residual_gains, residual_pair_traces

# Entries of the largest table of leave-one-out errors held at once: 40 MB, of which the jackknife needs a handful.
_TABLE = 5_000_000


@dataclass(frozen=True, eq=False)
class LeftOut:
    """t rows of a table of penalties."""

    pilot: Pilot
    rows: slice  # where these rows lie in the table
    penalties: FloatArray  # shape (t, k)
    errors: FloatArray  # leave-one-out errors, shape (t, k, C, n)
    diagonals: FloatArray  # R_ii, shape (t, k, n)
    traces: "PairTraces"  # of the whole table

    @property
    def pair_traces(self) -> FloatArray:
        """``tr(R_r R_r′)``, shape (t, k, k)."""
        return self.traces.table[self.rows]

    @cached_property
    def pairs(self) -> FloatArray:
        """``Ê_rr′ + ζ²`` at the pilot's size, summed over targets; shape (t, k, k)."""
        flat = self.errors.reshape(*self.errors.shape[:2], -1)
        return np.asarray(flat @ flat.transpose(0, 2, 1) / self.pilot.n_samples)

    def leverages(self) -> FloatArray:
        """h_i = 1 - R_ii, intercept included; shape (t, k, n)."""
        scale = np.where([member.spans_samples for member in self.pilot.members], self.penalties, 1.0)
        return np.asarray(1 - scale[:, :, None] * self.diagonals)

    def squared_diagonals(self) -> FloatArray:
        """``(R_r²)_ii``; shape (t, k, n)."""
        columns = []
        for r, member in enumerate(self.pilot.members):
            squares = self.pilot.known(r).squares
            gains = residual_gains(member, self.penalties[:, r])
            # A last row of ones gives what the member's directions hold of every sample. Outside of them R is a
            # projection, its own square.
            sums = np.concatenate([gains**2, np.ones((1, gains.shape[1]))]) @ squares
            outside = 1 - self.pilot.intercept / self.pilot.n_samples - sums[-1]
            columns.append(sums[:-1] + (0.0 if member.spans_samples else outside))
        return np.stack(columns, axis=1)

    def relative_residuals(self, r: int, vectors: FloatArray) -> FloatArray:
        """``Σ_i R_ij v_i/R_ii`` of member r for one table of vectors v per row; shape (t, C, n).

        Samples that are interpolated, R_ii = 0, are passed over.
        """
        member, diagonals = self.pilot.members[r], self.diagonals[:, r]
        Qt, gains = member.left, residual_gains(member, self.penalties[:, r])
        scaled = vectors / np.where(diagonals > 0, diagonals, np.inf)[:, None, :]
        flat = scaled.reshape(-1, self.pilot.n_samples)
        inside = (flat @ Qt.T).reshape(*vectors.shape[:2], -1)
        if member.spans_samples:
            return np.asarray(((inside * gains[:, None, :]).reshape(len(flat), -1) @ Qt).reshape(vectors.shape))
        removed = (inside * (1 - gains)[:, None, :]).reshape(len(flat), -1) @ Qt
        if self.pilot.intercept:
            removed += flat.mean(axis=1, keepdims=True)
        return np.asarray((flat - removed).reshape(vectors.shape))


@dataclass(frozen=True, eq=False)
class PairTraces:
    """Traces of pairs for a table of penalties (T, k), which cost as much as a Gram matrix: made when asked for."""

    pilot: Pilot
    penalties: FloatArray

    @cached_property
    def table(self) -> FloatArray:
        """``tr(R_r R_r′)``, shape (T, k, k)."""
        return residual_pair_traces(self.pilot.members, self.penalties, self.pilot.n_samples, self.pilot.intercept)


def row_errors(pilot: Pilot, ridges: FloatArray, weights: FloatArray) -> FloatArray:
    """Squared leave-one-out error of every row, summed over targets, at ridges and weights of shape (T, k); (T, n)."""
    n = pilot.n_samples
    leverage, mixed = np.full(n, pilot.intercept / n), np.zeros((len(ridges), pilot.n_targets, n))
    for r, member in enumerate(pilot.members):
        penalties = ridges[:, r] * pilot.subset_sizes[r]
        found = leave_one_out(member, pilot.targets, penalties, leverage, pilot.known(r))
        mixed += weights[:, r, None, None] * found.errors
    return np.asarray((mixed**2).sum(axis=1))


def left_out(pilot: Pilot, penalties: FloatArray) -> Iterator[LeftOut]:
    """Leave-one-out errors at a table of penalties, shape (T, k), block by block so that they fit into memory."""
    T, n = len(penalties), pilot.n_samples
    block = max(1, _TABLE // (pilot.n_members * pilot.targets.size))
    leverage = np.full(n, pilot.intercept / n)
    traces = PairTraces(pilot, penalties)
    for start in range(0, T, block):
        rows = slice(start, min(start + block, T))
        errors, diagonals, _ = zip(
            *(
                leave_one_out(member, pilot.targets, penalties[rows, r], leverage, pilot.known(r))
                for r, member in enumerate(pilot.members)
            ),
            strict=True,
        )
        yield LeftOut(pilot, rows, penalties[rows], np.stack(errors, axis=1), np.stack(diagonals, axis=1), traces)
