"""Targets: y as numbers or labels, and as rows of numbers."""

from typing import Literal, TypeAlias

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pandas as pd
from narwhals.typing import IntoDataFrame, IntoSeries

from subridge.arrays.types import ArrayLike, BoolArray, FloatArray
from subridge.datasets.tables.columns import open_frame
from subridge.model.errors import DataError, counted, listed, require

TargetLike: TypeAlias = ArrayLike | IntoSeries | IntoDataFrame
# Numbers, NaN where missing, or labels, None where missing; shape (n,) or (n, C).
Target: TypeAlias = FloatArray | npt.NDArray[np.object_]
Task: TypeAlias = Literal["auto", "classification", "regression"]

LEAST_ROWS = 20  # fewer rows cannot estimate a covariance or a residual
_FEW_VALUES = 10  # whole numbers with at most so many values may be codes of classes


def read_target(values: TargetLike | None) -> Target:
    """A target of shape (n,) or (n, C): numbers become float64, NaN where missing; labels objects, None where missing.

    >>> read_target(["a", float("nan"), None]).tolist()
    ['a', None, None]
    """
    try:
        table = nw.from_native(values, eager_only=True, allow_series=True, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise DataError(f"column names of y must differ: {error}; rename them") from error
    if isinstance(table, nw.Series):
        table = table.alias("y").to_frame()
    if isinstance(table, nw.DataFrame):
        frame = open_frame(table.to_native())
    else:
        # NumPy writes a missing value in a list of strings as "nan", so lists are left to pandas.
        cells = list(values) if isinstance(values, list | tuple) else np.asanyarray(values)
        if isinstance(cells, np.ndarray) and cells.dtype.kind in "ST":
            cells = np.char.decode(cells, "utf-8") if cells.dtype.kind == "S" else cells.astype(object)
        try:
            frame = open_frame(pd.DataFrame(cells).add_prefix("y"))
        except ValueError as error:
            raise DataError(f"y must have shape (n,) or (n, number of targets): {error}") from error
    require(frame.shape[1] > 0, f"y must have shape (n,) or (n, number of targets), got {frame.shape}")
    if all(dtype.kind in "iuf" for dtype in frame.dtypes):  # all columns at once, which takes far less time
        numbers: FloatArray = frame.to_numpy(dtype=float, na_value=np.nan)
        return numbers if numbers.shape[1] > 1 else numbers[:, 0]
    columns = [_read_column(column) for _, column in frame.items()]
    if len(columns) == 1:
        return columns[0]
    labels = [name for name, target in zip(frame, columns, strict=True) if _is_text(target)]
    require(not labels, f"several targets must be numbers, but these are labels: {listed(labels)}; take one target")
    return np.stack(columns, axis=1).astype(float)


def _read_column(column: "pd.Series[float] | pd.Series[str]") -> Target:
    if column.dtype.kind in "iuf" or column.isna().all():
        return np.asarray(column.astype("Float64").to_numpy(dtype=float, na_value=np.nan))
    types = {type(value).__name__ for value in column.dropna()}
    held = ", ".join(sorted(types)) if column.dtype == object else column.dtype
    require(
        types <= {"bool"} or types <= {"str"} or isinstance(column.dtype, pd.CategoricalDtype),
        f"the target {column.name!r} has type {held}; a target is numbers, or text for classes",
    )
    return np.asarray(column.to_numpy(dtype=object, na_value=None))


def _is_text(target: Target) -> bool:
    return target.dtype == object and any(isinstance(value, str) for value in target)


def missing_targets(target: Target) -> BoolArray:
    """Rows without target, shape (n,)."""
    return np.asarray(pd.DataFrame(target).isna().any(axis=1), dtype=np.bool_)


def target_rows(target: Target, task: Task, notes: list[str]) -> tuple[FloatArray, tuple[str, ...] | None]:
    """Lay out a target without missing values, as `read_target` gives it: rows of shape (C, n), and names of classes.

    There is a row for each target, or one for each class with 1 for its members; class names are sorted. The task
    "auto" treats labels as classes and numbers as numbers. A note says so if the numbers look like codes of classes.

    >>> target_rows(np.array([0.5, 1.5]), "auto", [])
    (array([[0.5, 1.5]]), None)
    >>> rows, class_names = target_rows(np.array([10.0, 9.0, 9.0, 10.0]), "classification", [])
    >>> class_names, rows.tolist()
    (('9', '10'), [[0.0, 1.0, 1.0, 0.0], [1.0, 0.0, 0.0, 1.0]])
    """
    columns = target.reshape(len(target), -1)
    infinite = 0 if target.dtype == object else np.isinf(columns).any(axis=1).sum()
    require(not infinite, f"the target is infinite in {counted(infinite, 'row')} of {len(target)}; correct them")
    constant = listed(columns[0, (columns == columns[0]).all(axis=0)])
    require(not constant, f"the target is {constant} in every row; there is nothing to learn")
    if task == "classification" or (task == "auto" and target.dtype == object):
        return _class_rows(target)
    require(
        not _is_text(target),
        f"task='regression' needs a target of numbers, got labels such as {target.flat[0]!r}; write plain numbers, "
        "without units or thousands separators, or use task='classification'",
    )
    rows = np.ascontiguousarray(np.atleast_2d(target.T), dtype=float)
    values = np.unique(rows[0])
    if task == "auto" and len(rows) == 1 and len(values) <= _FEW_VALUES and (values % 1 == 0).all():
        notes.append(
            f"treated a target of {len(values)} whole values as numbers; task='classification' makes them classes"
        )
    return rows, None


def _class_rows(target: Target) -> tuple[FloatArray, tuple[str, ...]]:
    require(
        target.ndim == 1,
        f"classification needs one column of labels, got a target of shape {target.shape}; give one target, or use "
        "task='regression'",
    )
    values, places, counts = np.unique(target, return_inverse=True, return_counts=True)
    # Whole numbers are written without a decimal point, as in a file of integers.
    names = tuple(
        f"{value:.0f}" if isinstance(value, float) and value.is_integer() else str(value) for value in values.tolist()
    )
    require(
        len(names) <= len(target) / 2,
        f"the target has {counted(len(names), 'distinct value')} in {counted(len(target), 'row')}, too many for "
        "classes; for numbers use task='regression', and write them without units and thousands separators",
    )
    rare = listed(name for name, count in zip(names, counts, strict=True) if count < 2)
    require(
        not rare,
        f"a class needs at least 2 rows, these have one: {rare}; drop these rows, merge the classes, or, if these are "
        "numbers, use task='regression'",
    )
    return np.eye(len(names)).take(places, axis=1), names
