"""Targets as rows of numbers: as they are for regression, one row per class for classification."""

from typing import Any

import numpy as np

from subridge.arrays.types import BoolArray, FloatArray
from subridge.datasets.tables.columns import counted, listed
from subridge.spec.errors import DataError

# So few distinct whole numbers may well be the codes of classes.
_FEW_VALUES = 10


def missing_targets(target: np.ndarray) -> BoolArray:
    """Rows without target, shape (n,)."""
    if target.dtype == object:
        absent = np.array([value is None for value in target.flat], dtype=bool).reshape(target.shape)
    else:
        absent = np.isnan(target)
    return absent if absent.ndim == 1 else absent.any(axis=1)


def number_targets(target: np.ndarray, task: str) -> tuple[FloatArray, None, tuple[str, ...]]:
    """Targets of a regression.

    Parameters
    ----------
    target : ndarray, shape (n,) or (n, C)
        Complete; numbers or booleans.
    task : str
        As the user gave it: for "auto", numbers that look like codes of classes are worth a note.

    Returns
    -------
    targets : ndarray, shape (C, n)
    class_names : None
    notes : tuple of str

    Examples
    --------
    >>> number_targets(np.array([0.5, 1.5]), "auto")[0]
    array([[0.5, 1.5]])
    """
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
    return rows, None, notes


def class_targets(target: np.ndarray, task: str) -> tuple[FloatArray, tuple[str, ...], tuple[str, ...]]:
    """Targets of a classification: 1 for the members of a class, 0 for the others.

    Parameters
    ----------
    target : ndarray, shape (n,)
        Complete; labels or numbers.
    task : str
        As the user gave it.

    Returns
    -------
    targets : ndarray, shape (C, n)
    class_names : tuple of str
        Sorted, numbers by their size.
    notes : tuple of str

    Examples
    --------
    >>> targets, names, _ = class_targets(np.array([10.0, 9.0, 9.0, 10.0]), "classification")
    >>> names, targets.tolist()
    (('9', '10'), [[0.0, 1.0, 1.0, 0.0], [1.0, 0.0, 0.0, 1.0]])
    """
    if target.ndim != 1:
        raise DataError(
            f"classification needs one column of labels, got a target of shape {target.shape}; give one target, or use "
            "task='regression'"
        )
    if target.dtype != object:
        _refuse_infinite(target[None])
    n, values = len(target), target.tolist()
    classes = sorted(set(values))
    if len(classes) > n / 2:
        raise DataError(
            f"the target has {len(classes)} distinct values in {n} rows, too many for classes; use task='regression' "
            "for numbers, or another target"
        )
    if len(classes) < 2:
        raise DataError(f"the target is {_name(classes[0])!r} in every row; classification needs at least 2 classes")
    position = {value: i for i, value in enumerate(classes)}
    codes = np.array([position[value] for value in values])
    rare = np.flatnonzero(np.bincount(codes) < 2)
    if rare.size:
        raise DataError(
            f"a class needs at least 2 rows, these have one: {listed(_name(classes[i]) for i in rare)}; drop these "
            "rows, or merge the classes"
        )
    targets = np.zeros((len(classes), n))
    targets[codes, np.arange(n)] = 1.0
    return targets, tuple(map(_name, classes)), ()


def _refuse_infinite(rows: FloatArray) -> None:
    infinite = int(np.isinf(rows).any(axis=0).sum())
    if infinite:
        raise DataError(f"the target is infinite in {counted(infinite, 'row')} of {rows.shape[1]}; correct them")


def _name(value: Any) -> str:
    """A label as text; whole numbers without a decimal point, as they are in a file of integers."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
