"""Tables that are in memory, as frames or as pairs of arrays: either becomes one raw table of numbers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.datasets.tables.columns import (
    column_names,
    counted,
    frame_features,
    frame_target,
    is_frame,
    listed,
    position,
    target_values,
)
from subridge.spec.errors import DataError


@dataclass(frozen=True, eq=False)
class RawTable:
    """What a source holds, before any treatment.

    Attributes
    ----------
    X : ndarray, shape (n, M)
        float64 by rows, NaN where missing.
    owned : bool
        Whether X may be changed in place: False where it is the caller's own array.
    feature_names : tuple of str
    target : ndarray, shape (n,) or (n, C)
        Numbers (float64) or labels (object), see `target_values`.
    notes : tuple of str
    """

    X: FloatArray
    owned: bool
    feature_names: tuple[str, ...]
    target: np.ndarray
    notes: tuple[str, ...] = ()


def read_frame(frame: Any, target: Any, drop: Sequence[Any], notes: tuple[str, ...] = ()) -> RawTable:
    """A DataFrame of pandas or polars, whose target is one column or several."""
    names = column_names(frame)
    if target is None:
        raise DataError(f"target is missing: name the column to predict, one of {listed(names)}")
    several = isinstance(target, Iterable) and not isinstance(target, str)
    wanted = list(target) if several else [target]
    if not wanted or len(set(map(str, wanted))) < len(wanted):
        raise DataError(f"target must be a column, or several that differ, got {target!r}")
    places = [position(name, names, "target") for name in wanted]
    left_out = {position(name, names, "drop") for name in drop}
    if left_out & set(places):
        raise DataError(f"drop contains the target {target!r}; take it out of one of them")
    kept = [i for i in range(len(names)) if i not in left_out and i not in places]
    columns = [frame_target(frame, i) for i in places]
    if len(columns) > 1:
        _refuse_labels(columns, wanted)
    y = columns[0] if len(columns) == 1 else np.stack([column.astype(np.float64) for column in columns], axis=1)
    return RawTable(frame_features(frame, kept), True, tuple(names[i] for i in kept), y, notes + _note_of(drop))


def _refuse_labels(columns: list[np.ndarray], names: list[Any]) -> None:
    labels = [
        name
        for name, column in zip(names, columns, strict=True)
        if column.dtype == object and any(isinstance(value, str) for value in column)
    ]
    if labels:
        raise DataError(f"several targets must be numbers, but these are labels: {listed(labels)}; take one target")


def read_pair(X: Any, y: Any, drop: Sequence[Any], names: Sequence[str] | None = None) -> RawTable:
    """Features, an array or a frame of shape (n, M), and a target of shape (n,) or (n, C)."""
    target = target_values(y)
    if target.ndim == 2 and target.shape[1] == 1:
        target = target[:, 0]
    if target.ndim not in (1, 2) or target.shape[-1] == 0:
        raise DataError(f"y must have shape (n,) or (n, number of targets), got {target.shape}")
    if is_frame(X):
        names = column_names(X)
        left_out = {position(name, names, "drop") for name in drop}
        kept = [i for i in range(len(names)) if i not in left_out]
        features, owned = frame_features(X, kept), True
    else:
        features, owned = _features(X)
        names = [f"x{i}" for i in range(features.shape[1])] if names is None else list(names)
        if len(names) != features.shape[1]:
            raise DataError(f"feature_names has {len(names)} entries, but X has {features.shape[1]} columns")
        left_out = {position(name, names, "drop") for name in drop}
        kept = [i for i in range(len(names)) if i not in left_out]
        if left_out:
            features, owned = features.take(kept, axis=1), True
    if len(features) != len(target):
        raise DataError(f"X has {len(features)} rows but y has {len(target)}; give one target per row")
    return RawTable(features, owned, tuple(names[i] for i in kept), target, _note_of(drop))


def _features(X: Any) -> tuple[FloatArray, bool]:
    """Floats by rows, and whether they are a copy."""
    array = X if isinstance(X, np.ndarray) else np.asarray(X)
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise DataError(
            f"X must be a dense array of numbers of shape (n, number of features), got shape {array.shape} of "
            f"type {array.dtype}"
        )
    if np.ma.isMaskedArray(array):
        return array.astype(np.float64).filled(np.nan), True
    features = np.ascontiguousarray(array, dtype=np.float64)
    return features, isinstance(X, np.ndarray) and not np.may_share_memory(features, X)


def _note_of(drop: Sequence[Any]) -> tuple[str, ...]:
    return (f"left out {counted(len(drop), 'column')} as asked: {listed(drop)}",) if drop else ()
