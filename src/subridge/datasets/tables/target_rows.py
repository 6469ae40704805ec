"""Targets as rows of numbers: as they are for regression, one row per class for classification."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from sklearn.preprocessing import OneHotEncoder

from subridge.arrays.types import FloatArray
from subridge.datasets.tables.targets import Target
from subridge.model.checks import counted, listed
from subridge.model.errors import DataError

Task: TypeAlias = Literal["auto", "classification", "regression"]

# So few distinct whole numbers may well be the codes of classes.
_FEW_VALUES = 10


@dataclass(frozen=True, eq=False)
class Targets:
    """Rows of shape (C, n): one per target, or per class with 1 for its members; names of classes are sorted."""

    rows: FloatArray
    class_names: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()


def target_rows(target: Target, task: Task) -> Targets:
    """Lay out a target without missing values, shape (n,) or (n, C), numbers or labels as `read_target` gives them.

    The task "auto" takes labels for classes and numbers for numbers; a note says so where these look like codes of
    classes.

    >>> target_rows(np.array([0.5, 1.5]), "auto").rows
    array([[0.5, 1.5]])
    >>> classes = target_rows(np.array([10.0, 9.0, 9.0, 10.0]), "classification")
    >>> classes.class_names, classes.rows.tolist()
    (('9', '10'), [[0.0, 1.0, 1.0, 0.0], [1.0, 0.0, 0.0, 1.0]])
    """
    if task == "classification" or (task == "auto" and target.dtype == object):
        return _class_rows(target)
    return _number_rows(target, task)


def _number_rows(target: Target, task: Task) -> Targets:
    if target.dtype == object and not all(isinstance(value, bool | np.bool_) for value in target.flat):
        raise DataError(
            f"task='regression' needs a target of numbers, got labels such as {target.flat[0]!r}; convert "
            "them to numbers, or use task='classification'"
        )
    rows = np.ascontiguousarray(np.atleast_2d(target.T), dtype=np.float64)
    _refuse_infinite(rows)
    constant = np.flatnonzero(rows.min(axis=1) == rows.max(axis=1))
    if constant.size:
        which = "the target" if len(rows) == 1 else f"target {constant[0]}"
        raise DataError(f"{which} is {rows[constant[0], 0]:g} in every row; there is nothing to learn")
    notes: tuple[str, ...] = ()
    if task == "auto" and len(rows) == 1 and len(values := np.unique(rows)) <= _FEW_VALUES and (values % 1 == 0).all():
        notes = (f"took a target of {len(values)} whole values for numbers; task='classification' makes them classes",)
    return Targets(rows, None, notes)


def _class_rows(target: Target) -> Targets:
    if target.ndim != 1:
        raise DataError(
            f"classification needs one column of labels, got a target of shape {target.shape}; give one target, or use "
            "task='regression'"
        )
    if target.dtype != object:
        _refuse_infinite(target[None])
    encoder = OneHotEncoder(sparse_output=False).fit(target[:, None])
    names = tuple(map(_class_name, encoder.categories_[0].tolist()))
    if len(names) > len(target) / 2:
        raise DataError(
            f"the target has {counted(len(names), 'distinct value')} in {counted(len(target), 'row')}, "
            "too many for classes; use task='regression' for numbers, or another target"
        )
    if len(names) < 2:
        raise DataError(f"the target is {names[0]!r} in every row; classification needs at least 2 classes")
    rows = np.ascontiguousarray(encoder.transform(target[:, None]).T)
    rare = [name for name, row in zip(names, rows, strict=True) if row.sum() < 2]
    if rare:
        raise DataError(
            f"a class needs at least 2 rows, these have one: {listed(rare)}; drop these rows, or merge the classes"
        )
    return Targets(rows, names)


def _refuse_infinite(rows: Target) -> None:
    infinite = int(np.isinf(rows).any(axis=0).sum())
    if infinite:
        raise DataError(f"the target is infinite in {counted(infinite, 'row')} of {rows.shape[1]}; correct them")


def _class_name(value: str | float) -> str:
    """A label as text; whole numbers without a decimal point, as they are in a file of integers."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
