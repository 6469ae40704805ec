"""Rows with more columns than memory holds: kernels are summed over blocks of columns that are read from disk.

A member of more features than rows needs its kernel F Fᵀ, n × n, and its weights ``C F``. The kernel is a sum over
blocks of columns, and each block gives its own part of the weights. So one pass over the file for every set of members,
and one for the weights of those that are taken, give the same results as rows in memory, exact left-out errors
included.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from subridge.arrays.machine import forget_pages
from subridge.arrays.types import Array, FloatArray, IntArray
from subridge.model.checks import refuse_beyond_memory
from subridge.model.ensemble import SubsetPlan
from subridge.model.errors import DataError, counted, listed
from subridge.ridge.rows import Design, LeftOutSets, TrainingRows, training_rows

_BLOCK = 2**25  # bytes of a block of columns, as float64
_MATRICES = 4  # n × n, beside the kernels: eigenvectors, their work space, and left-out errors


def gaps_error(gaps: IntArray, names: Sequence[str] | None, remedy: str) -> DataError:
    """The error of a table that lacks values: how many in each column, shape (M,)."""
    columns = np.flatnonzero(gaps).tolist()
    named = [f"{column if names is None else names[column]!r}: {gaps[column]}" for column in columns]
    return DataError(f"X contains NaN or infinity in {counted(len(columns), 'column')} ({listed(named)}); {remedy}")


def read_part(array: Any, part: Any, name: str) -> Any:
    """A part of an array on disk, given by slices and named in messages."""
    try:
        return np.array(array[part])
    except Exception as error:  # whatever a damaged file makes a reader raise
        raise DataError(
            f"{name} cannot be read ({type(error).__name__}: {error}); the file may be truncated or damaged: write it "
            "again"
        ) from error
    finally:
        forget_pages(array)


@dataclass(frozen=True, eq=False)
class DiskColumns:
    """An array on disk, shape (n, M), of which some rows are used: a memory map or a zarr array.

    `kept` are the numbers of these rows. `bar` makes a progress bar for the columns of a pass. Blocks are small enough
    for the coefficients of `n_targets` targets too, which go to the directory `scratch` if there is one.
    """

    array: np.memmap[tuple[int, ...], np.dtype[np.float64]]
    kept: IntArray
    bar: Callable[[], AbstractContextManager[Any]]
    n_targets: int = 1
    scratch: Path | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows that are used, and columns."""
        return len(self.kept), self.array.shape[1]

    @property
    def step(self) -> int:
        """Columns of a block: whole chunks of a zarr array."""
        least = int(getattr(self.array, "chunks", (0, 1))[1])
        most = _BLOCK // (8 * max(self.array.shape[0], self.n_targets))
        return max(least, most // least * least, 1)

    def blocks(self) -> Iterator[tuple[slice, FloatArray]]:
        """Blocks of columns in turn, shape (n, b), in float64, and where they lie."""
        with self.bar() as bar:
            for part, values in self._read():
                if not np.isfinite(values).all():  # the message has the counts of all columns
                    gaps = np.concatenate([(~np.isfinite(each)).sum(axis=0) for _, each in self._read()])
                    raise gaps_error(gaps, None, "replace them, or drop those rows")
                yield part, values
                bar.move(part.stop - part.start)

    def _read(self) -> Iterator[tuple[slice, FloatArray]]:
        M = self.shape[1]
        for start in range(0, M, self.step):
            part = slice(start, min(start + self.step, M))
            values = read_part(self.array, (slice(None), part), f"columns {start} to {part.stop}")
            yield part, values[self.kept].astype(float)


@dataclass(frozen=True, eq=False)
class ColumnDesign(Design):
    """A member's rows, read when they are needed; `places` are its columns."""

    rows: "ColumnRows"
    places: IntArray

    def kernel(self) -> Array:
        """``F Fᵀ``, shape (n, n)."""
        known = self.rows.kernels.pop(self.places.tobytes(), None)
        return self.rows.kernels_of([self.places])[0] if known is None else known

    def onto_features(self, combinations: Array) -> Array:
        """``C F`` for rows C of shape (m, n); shape (m, N_r)."""
        found = np.empty((len(combinations), len(self.places)))
        for _, own, F in self.rows.seen([self.places]):
            found[:, own[0]] = combinations @ F[0].T
        return found

    def dense(self) -> Array:
        """Refuse to make ``Fᵀ``, which does not fit in memory."""
        raise DataError(
            "rows of X depend on each other up to rounding, at a ridge too small to hide it, and X is too wide to "
            "decompose in memory; give ridges of at least 1e-3 times the mean square of a column, or drop such rows"
        )

    gram = dense


@dataclass(frozen=True, eq=False)
class ColumnRows(TrainingRows):
    """Training rows of which one block of columns at a time is in memory; build them by `column_rows`.

    `kernels` are those of members that were read together and are not yet factorised.
    """

    columns: DiskColumns = field(kw_only=True)
    column_squares: FloatArray = field(kw_only=True)
    kernels: dict[bytes, Array] = field(kw_only=True, default_factory=dict)

    def seen(self, members: Sequence[IntArray]) -> Iterator[tuple[slice, list[IntArray], list[Array]]]:
        """For each block of columns: where it lies, and of every member the places among its own and Fᵀ, (b_r, n)."""
        for part, values in self.columns.blocks():
            centred = training_rows(values, self.targets, self.weights, self.fit_intercept)
            own = [np.flatnonzero((part.start <= A) & (part.stop > A)) for A in members]
            seen = [centred.design(A[each] - part.start).dense() for A, each in zip(members, own, strict=True)]
            yield part, own, seen

    def kernels_of(self, members: list[IntArray]) -> list[Array]:
        """``F Fᵀ`` of several members, in one pass over the columns."""
        found = [np.zeros((self.n_samples, self.n_samples)) for _ in members]
        for _, _, parts in self.seen(members):
            for kernel, F in zip(found, parts, strict=True):
                kernel += F.T @ F
        return found

    def paths(self, plan: SubsetPlan, ridges: FloatArray) -> None:
        """Sum the kernels of members that see more columns than there are rows, before they are factorised."""
        if not plan.selects_features:
            raise DataError("members of a table on disk select columns; projections need X in memory")
        wide = [A for A in plan.measurements if len(A) >= self.room]
        n = self.n_samples
        needed = 8 * n**2 * (len(wide) + _MATRICES)
        refuse_beyond_memory(f"a fit of {counted(len(wide), 'member')} to {n:,} rows", needed, "take fewer of both")
        self.kernels.clear()
        self.kernels.update(zip([A.tobytes() for A in wide], self.kernels_of(wide), strict=True))

    def design(self, measurement: IntArray) -> Design:
        """A member's rows: read at once if they are no larger than a kernel, else when they are needed."""
        if len(measurement) >= self.room:
            return ColumnDesign(np.empty((0, 0)), self.feature_means, self.root_weights, self, measurement)
        values = np.empty((len(measurement), self.n_samples))
        for _, own, F in self.seen([measurement]):
            values[own[0]] = F[0]
        return Design(values, self.feature_means, self.root_weights)


def column_rows(
    X: DiskColumns, targets: Array, weights: Array | None, fit_intercept: bool, left_out: LeftOutSets | None
) -> ColumnRows:
    """Training rows of a wide table on disk; a first pass finds the means and mean squares of the columns."""
    n, M = X.shape
    means = np.empty(M)
    squares = np.empty(M)
    columns = replace(X, n_targets=len(targets))
    for part, values in columns.blocks():
        rows = training_rows(values, targets, weights, fit_intercept)
        means[part], squares[part] = rows.feature_means, rows.column_squares
    return ColumnRows(
        np.empty((0, n)), targets, means, rows.weights, fit_intercept, left_out, columns=columns, column_squares=squares
    )
