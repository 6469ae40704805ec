"""Tables that are in memory, as frames or as pairs of arrays: either becomes one raw table of numbers."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from narwhals.typing import IntoDataFrame

from subridge.arrays.types import ArrayLike, BoolArray, FloatArray, IntArray
from subridge.datasets.tables.columns import is_frame, open_frame, position
from subridge.datasets.tables.encoding import encoded_features
from subridge.datasets.tables.reading_form import Encoding
from subridge.datasets.tables.targets import Target, TargetLike, columns_target, is_absent, read_target
from subridge.model.checks import counted, listed
from subridge.model.errors import DataError

# Names of columns as a user writes them; those of pandas may be numbers.
ColumnName: TypeAlias = str | int
TargetName: TypeAlias = ColumnName | Sequence[ColumnName]


@dataclass(frozen=True, eq=False)
class RawTable:
    """Features X of shape (n, M) with NaN where missing, a target as `read_target` gives it, a note per treatment.

    X may be changed in place where it is ``owned``; otherwise it is the caller's own array.
    """

    X: FloatArray
    owned: bool
    feature_names: tuple[str, ...]
    target: Target
    notes: tuple[str, ...] = ()
    groups: IntArray | None = None  # number of every row's group, -1 where it has none; shape (n,)

    def with_features(self, X: FloatArray, note: str) -> "RawTable":
        """The same with new values of the features, which nobody else holds."""
        return replace(self, X=X, owned=True, notes=(*self.notes, note))

    def of_rows(self, kept: BoolArray, note: str) -> "RawTable":
        """The same for some of the rows."""
        groups = None if self.groups is None else self.groups[kept]
        return replace(self.with_features(self.X[kept], note), target=self.target[kept], groups=groups)

    def without_features(self, dropped: BoolArray, what: str) -> "RawTable":
        """The same without some columns, told by what they are and their names."""
        names = np.array(self.feature_names, dtype=object)
        left = self.with_features(self.X.compress(~dropped, axis=1), f"dropped {what}: {listed(names[dropped])}")
        return replace(left, feature_names=tuple(names[~dropped]))


def read_frame(
    native: IntoDataFrame,
    target: TargetName | None,
    drop: Sequence[ColumnName],
    encoding: Encoding,
    groups: ColumnName | None = None,
) -> RawTable:
    """A data frame, whose target is one column or several; a column that names groups is no feature."""
    frame = open_frame(native)
    names = frame.columns
    if target is None:
        raise DataError(f"target is missing: name the column to predict, one of {listed(names)}")
    wanted = [target] if isinstance(target, str | int) else list(target)
    if not wanted or len(set(map(str, wanted))) < len(wanted):
        raise DataError(f"target must be a column, or several that differ, got {target!r}")
    places = [position(name, names, "target") for name in wanted]
    kept = _kept(names, drop)
    if not set(places) <= set(kept):
        raise DataError(f"drop contains the target {target!r}; take it out of one of them")
    y = columns_target([frame[names[place]] for place in places])
    numbers = None
    if groups is not None:
        by = position(groups, names, "groups")
        if by in places:
            raise DataError(f"groups {str(groups)!r} is the target; name the column that says whose row it is")
        numbers = group_numbers(frame[names[by]].to_list())
        places = [*places, by]
    wanted_names = [names[place] for place in kept if place not in places]
    X, features, notes = encoded_features(frame, wanted_names, encoding)
    return RawTable(X, True, features, y, (*_notes(drop), *notes), numbers)


def read_pair(
    X: ArrayLike | IntoDataFrame,
    y: TargetLike,
    drop: Sequence[ColumnName],
    names: Sequence[str] | None = None,
    encoding: Encoding | None = None,
) -> RawTable:
    """Features, an array or a frame of shape (n, M), and a target of shape (n,) or (n, C)."""
    target = read_target(y)
    if is_frame(X):
        frame = open_frame(X)
        wanted = [frame.columns[place] for place in _kept(frame.columns, drop)]
        features, names, notes = encoded_features(frame, wanted, Encoding() if encoding is None else encoding)
        kept, owned = list(range(len(names))), True
    else:
        notes = ()
        features, owned = _features(X)
        names = [f"x{i}" for i in range(features.shape[1])] if names is None else list(names)
        if len(names) != features.shape[1]:
            raise DataError(
                f"feature_names has {counted(len(names), 'entry', 'entries')}, "
                f"but X has {counted(features.shape[1], 'column')}"
            )
        kept = _kept(names, drop)
        if drop:
            features, owned = features.take(kept, axis=1), True
    if len(features) != len(target):
        raise DataError(f"X has {counted(len(features), 'row')} but y has {len(target):,}; give one target per row")
    return RawTable(features, owned, tuple(names[i] for i in kept), target, (*_notes(drop), *notes))


def group_numbers(labels: Iterable[Hashable]) -> IntArray:
    """Groups numbered in the order of their first rows, -1 for a missing label.

    >>> group_numbers(["b", None, "a", "b", float("nan")])
    array([ 0, -1,  1,  0, -1])
    """
    known: dict[Hashable, int] = {}
    return np.array([-1 if is_absent(label) else known.setdefault(label, len(known)) for label in labels], dtype=int)


def _features(X: ArrayLike) -> tuple[FloatArray, bool]:
    """Floats by rows, and whether they are a copy."""
    array = X if isinstance(X, np.ndarray) else np.asarray(X)
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise DataError(
            f"X must be a dense array of numbers of shape (n, number of features), got shape {array.shape} of "
            f"type {array.dtype}"
        )
    if isinstance(array, np.ma.MaskedArray):
        return np.ma.filled(array.astype(np.float64), np.nan), True
    features = np.ascontiguousarray(array, dtype=np.float64)
    return features, isinstance(X, np.ndarray) and not np.may_share_memory(features, X)


def _kept(names: Sequence[str], drop: Sequence[ColumnName]) -> list[int]:
    dropped = {position(name, names, "drop") for name in drop}
    return [place for place in range(len(names)) if place not in dropped]


def _notes(drop: Sequence[ColumnName]) -> tuple[str, ...]:
    return (f"left out {counted(len(drop), 'column')} as asked: {listed(drop)}",) if drop else ()
