"""What a user hands over as a target, read as numbers or as labels."""

from collections.abc import Hashable
from numbers import Real
from typing import TypeAlias

import narwhals as nw
import numpy as np
import numpy.typing as npt
from narwhals.typing import IntoDataFrame, IntoSeries

from subridge.arrays.types import ArrayLike, BoolArray, FloatArray
from subridge.datasets.tables.columns import Column, floats, is_column, is_frame, is_number, open_frame
from subridge.model.checks import listed
from subridge.model.errors import DataError

TargetLike: TypeAlias = ArrayLike | IntoSeries | IntoDataFrame
# Numbers, NaN where missing, or labels, None where missing; shape (n,) or (n, C).
Target: TypeAlias = FloatArray | npt.NDArray[np.object_]

_BOOLEAN = (bool, np.bool_)


def read_target(values: TargetLike) -> Target:
    """A target of shape (n,) or (n, C), of numbers, strings, booleans or categories, as numbers or as labels.

    Numbers become float64, NaN where missing; labels stay objects, None where missing.
    """
    if is_frame(values):
        frame = open_frame(values)
        target = columns_target(list(frame.iter_columns()))
    elif is_column(values):
        return _column_target(nw.from_native(values, series_only=True), "y")
    else:
        target = _array_target(values)
    if target.ndim == 2 and target.shape[1] == 1:
        target = target[:, 0]
    if target.ndim not in (1, 2) or target.shape[-1] == 0:
        raise DataError(f"y must have shape (n,) or (n, number of targets), got {target.shape}")
    return target


def columns_target(columns: list[Column]) -> Target:
    """One column as a target, or several columns of numbers."""
    targets = [_column_target(column, column.name) for column in columns]
    if len(targets) == 1:
        return targets[0]
    labels = [column.name for column, target in zip(columns, targets, strict=True) if _has_text(target)]
    if labels:
        raise DataError(f"several targets must be numbers, but these are labels: {listed(labels)}; take one target")
    return np.stack([target.astype(np.float64) for target in targets], axis=1)


def missing_targets(target: Target) -> BoolArray:
    """Rows without target, shape (n,)."""
    if target.dtype == object:
        absent = np.array([value is None for value in target.ravel().tolist()], dtype=np.bool_).reshape(target.shape)
    else:
        absent = np.isnan(target.astype(np.float64, copy=False))
    return absent if absent.ndim == 1 else np.logical_or.reduce(absent, axis=1)


def _column_target(column: Column, name: str) -> Target:
    if column.dtype != nw.Boolean and is_number(column):
        return floats(column)
    values = np.fromiter(column.to_list(), dtype=object, count=len(column))
    return _from_objects(values, name, categorical=column.dtype in (nw.Categorical, nw.Enum))


def _array_target(values: ArrayLike) -> Target:
    try:
        array = np.asanyarray(values)
    except ValueError as error:
        raise DataError(f"y must have shape (n,) or (n, number of targets): {error}") from error
    if array.dtype.kind in "US" and not isinstance(values, np.ndarray):
        array = np.asarray(values, dtype=object)  # NumPy wrote a missing value in a list of strings as "nan"
    if isinstance(array, np.ma.MaskedArray):
        hidden, array = np.ma.getmaskarray(array), np.ma.getdata(array).astype(object)
        array[hidden] = None
    if array.dtype.kind in "iuf":
        return np.asarray(array, dtype=np.float64)
    if array.dtype.kind == "S":
        array = np.char.decode(array, "utf-8")
    if array.dtype.kind not in "bUTO":
        raise DataError(f"the target 'y' has type {array.dtype}; a target is numbers, or labels for classes")
    return _from_objects(array.astype(object), "y", categorical=False)


def _from_objects(values: npt.NDArray[np.object_], name: str, *, categorical: bool) -> Target:
    """Python objects as floats where all are numbers, else as labels of one type."""
    absent = np.array([is_absent(value) for value in values.ravel().tolist()], dtype=np.bool_).reshape(values.shape)
    found = values[~absent].tolist()
    numbers = all(isinstance(value, Real) and not isinstance(value, _BOOLEAN) for value in found)
    if numbers and not categorical:
        target = np.full(values.shape, np.nan)
        target[~absent] = found
        return target
    if not numbers and not any(all(isinstance(value, kind) for value in found) for kind in (str, _BOOLEAN)):
        types = sorted({type(value).__name__ for value in found})
        raise DataError(
            f"the target {name!r} holds values of type {', '.join(types)}; make them all numbers, or all "
            "strings for classes"
        )
    values[absent] = None
    return values


def is_absent(value: Hashable) -> bool:
    """Whether a value of any library stands for a missing one."""
    # The missing values of pandas refuse comparison, so they are known by name.
    by_name = type(value).__name__ in {"NAType", "NaTType"}
    return value is None or by_name or (isinstance(value, float) and value != value)


def _has_text(target: Target) -> bool:
    return target.dtype == object and any(isinstance(value, str) for value in target)
