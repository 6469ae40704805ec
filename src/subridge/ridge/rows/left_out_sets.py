"""Which rows are left out together: the rows of a group, or a row with its neighbours in time."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from subridge.arrays.namespace import to_numpy
from subridge.arrays.types import ArrayLike, BoolArray, FloatArray, IntArray
from subridge.model.errors import DataError, ParameterError


@dataclass(frozen=True, eq=False)
class SetBatch:
    """Sets of equal size, so that they are solved together."""

    rows: IntArray  # the rows of every set, shape (G, m)
    answered: BoolArray  # rows whose left-out error is taken from this set, shape (G, m)

    def chunks(self, most: int) -> Iterator["SetBatch"]:
        """The same sets, at most so many at once."""
        for start in range(0, len(self.rows), max(1, most)):
            part = slice(start, start + max(1, most))
            yield SetBatch(self.rows[part], self.answered[part])


@dataclass(frozen=True, eq=False)
class LeftOutSets:
    """Sets of rows that are left out together; every row is answered by exactly one of them.

    Sets are numbered in the order of the batches. `is_partition` says that sets do not overlap: groups, not windows.
    """

    n_samples: int
    batches: tuple[SetBatch, ...]
    is_partition: bool

    @property
    def n_sets(self) -> int:
        """Groups, or rows where each is left out with its neighbours."""
        return sum(len(batch.rows) for batch in self.batches)

    @property
    def largest(self) -> int:
        """Rows of the largest set."""
        return max(int(batch.rows.shape[1]) for batch in self.batches)

    @cached_property
    def answered(self) -> IntArray:
        """Rows in the order in which batches answer them, shape (n,)."""
        return np.concatenate([batch.rows[batch.answered] for batch in self.batches])

    @cached_property
    def owners(self) -> IntArray:
        """The number of the set that answers each row, shape (n,)."""
        owners, start = np.empty(self.n_samples, dtype=np.intp), 0
        for batch in self.batches:
            numbers = np.arange(start, start + len(batch.rows))[:, None]
            owners[batch.rows[batch.answered]] = np.broadcast_to(numbers, batch.rows.shape)[batch.answered]
            start += len(batch.rows)
        return owners

    def row_masses(self) -> FloatArray:
        """Share of every row where each set has the same, shape (n,)."""
        sizes = np.bincount(self.owners, minlength=self.n_sets)
        return np.asarray(1 / (self.n_sets * sizes[self.owners]))


def group_labels(groups: ArrayLike, n_samples: int) -> npt.NDArray[np.object_]:
    """The label of every row's group as it was given, None where it is missing; shape (n,)."""
    try:
        given = groups if isinstance(groups, np.ndarray) else _array_of(groups)
    except ValueError as error:
        raise DataError(f"groups must have one label for each of the {n_samples} rows: {error}") from error
    if given.shape != (n_samples,):
        raise DataError(f"groups must have one label for each of the {n_samples} rows, got shape {given.shape}")
    labels = np.empty(n_samples, dtype=object)
    for row, label in enumerate(given.tolist()):
        if not isinstance(label, Hashable):
            raise DataError(f"groups must have one label for each of the {n_samples} rows, got {label!r} as a label")
        labels[row] = label
    if given.dtype.kind in "mM":
        labels[np.isnat(given)] = None
    return labels


def _array_of(groups: ArrayLike) -> npt.NDArray[np.generic]:
    """An array that keeps labels as they are: NumPy would write a missing one among strings as "nan"."""
    return np.asarray(groups, dtype=object) if isinstance(groups, list | tuple) else to_numpy(groups)


def _group_numbers(labels: npt.NDArray[np.object_]) -> IntArray:
    """Groups numbered in the order of their first rows; equal labels are one group."""
    known: dict[Hashable, int] = {}
    numbers = [-1 if _is_missing(label) else known.setdefault(label, len(known)) for label in labels.tolist()]
    if -1 in numbers:
        raise DataError(
            f"groups lacks the label of {numbers.count(-1)} of {len(numbers)} rows, which cannot be left out with the "
            "others of theirs; name their groups, or drop those rows"
        )
    return np.array(numbers, dtype=np.intp)


def _is_missing(label: Hashable) -> bool:
    # The missing values of pandas refuse comparison, so they are known by name.
    return label is None or type(label).__name__ in {"NAType", "NaTType"} or label != label


def left_out_groups(groups: ArrayLike, n_samples: int) -> LeftOutSets:
    """The sets of rows with equal labels; `groups` has shape (n,).

    >>> left_out_groups(["a", "b", "a"], 3).owners
    array([1, 0, 1])
    """
    numbers = _group_numbers(group_labels(groups, n_samples))
    sizes = np.bincount(numbers)
    if len(sizes) < 2:
        raise DataError("groups has one group only; leaving it out leaves nothing to train on, so give at least two")
    order = np.argsort(numbers, kind="stable")
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    batches = []
    for size in np.unique(sizes):
        rows = order[starts[sizes == size][:, None] + np.arange(size)]
        batches.append(SetBatch(rows, np.ones(rows.shape, dtype=bool)))
    return LeftOutSets(n_samples, tuple(batches), True)


def left_out_windows(gap: int, positions: Sequence[int] | IntArray) -> LeftOutSets:
    """Every row with its neighbours up to `gap` steps of time away; `positions`, shape (n,), ascend.

    >>> [batch.rows.tolist() for batch in left_out_windows(1, [0, 1, 2, 3]).batches]
    [[[0, 1], [2, 3]], [[0, 1, 2], [1, 2, 3]]]
    """
    times = np.asarray(positions)
    n = len(times)
    first = np.searchsorted(times, times - gap, side="left")
    last = np.searchsorted(times, times + gap, side="right")
    sizes = last - first
    if (sizes == n).any():
        raise ParameterError(f"gap={gap} leaves out all {n} rows at once; give a gap below {n // 2}")
    batches = []
    for size in np.unique(sizes):
        centres = np.flatnonzero(sizes == size)
        rows = first[centres][:, None] + np.arange(size)
        batches.append(SetBatch(rows, rows == centres[:, None]))
    return LeftOutSets(n, tuple(batches), False)
