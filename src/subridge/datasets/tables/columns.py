"""Columns of pandas and polars frames, and targets of any kind, as plain NumPy arrays.

A missing value is NaN among numbers and None among labels, wherever it came from. Neither library is imported here: who
hands over a frame has loaded the one it belongs to.
"""

import sys
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from numbers import Real
from typing import Any

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.spec.errors import DataError

# Columns copied at a time: a table is stored by rows and a frame by columns, and writing one column of a wide table
# touches a cache line per row.
_COLUMNS_AT_A_TIME = 16
_NAMED = 5


def is_frame(value: Any) -> bool:
    """Whether this is a DataFrame of pandas or polars."""
    return any(isinstance(value, library.DataFrame) for library in _loaded())


def is_column(value: Any) -> bool:
    """Whether this is a Series of pandas or polars."""
    return any(isinstance(value, library.Series) for library in _loaded())


def column_names(frame: Any) -> list[str]:
    """Names of the columns as strings, which must differ."""
    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        repeated = sorted({name for name in names if names.count(name) > 1})
        raise DataError(f"column names must differ, these are repeated: {listed(repeated)}; rename them")
    return names


def position(name: Any, names: Sequence[str], argument: str) -> int:
    """Where a name stands in a list, or an error with the names that come close."""
    if str(name) in names:
        return names.index(str(name))
    close = get_close_matches(str(name), names, n=3, cutoff=0.5)
    remedy = f"did you mean {' or '.join(map(repr, close))}?" if close else f"the columns are {listed(names)}"
    raise DataError(f"{argument} {str(name)!r} is not a column; {remedy}")


def listed(names: Iterable[Any], most: int = _NAMED) -> str:
    """The first few names, and how many more there are.

    Examples
    --------
    >>> listed("abcdefg")
    'a, b, c, d, e and 2 more'
    """
    names = [str(name) for name in names]
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def counted(count: int, noun: str) -> str:
    """A number and its noun.

    Examples
    --------
    >>> counted(1, "row"), counted(2, "row")
    ('1 row', '2 rows')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def frame_features(frame: Any, positions: Sequence[int]) -> FloatArray:
    """Numeric and boolean columns as floats.

    Returns
    -------
    ndarray, shape (n, M)
        By rows, with NaN where a value is missing.

    Raises
    ------
    DataError
        When a column holds anything else.
    """
    names = column_names(frame)
    columns = [_column(frame, i) for i in positions]
    other = [f"{names[i]} ({c.dtype})" for i, c in zip(positions, columns, strict=True) if not _is_number(c)]
    if other:
        raise DataError(
            f"{counted(len(other), 'column')} of features hold no numbers: {listed(other)}; leave them out with "
            "drop=[...], or encode them first"
        )
    X = np.empty((len(frame), len(columns)))
    for start in range(0, len(columns), _COLUMNS_AT_A_TIME):
        some = columns[start : start + _COLUMNS_AT_A_TIME]
        X[:, start : start + len(some)] = np.stack([_floats(column) for column in some]).T
    return X


def frame_target(frame: Any, place: int) -> np.ndarray:
    """One column as a target: see `target_values`."""
    return target_values(_column(frame, place), column_names(frame)[place])


def target_values(values: Any, name: str = "y") -> np.ndarray:
    """A target as numbers or as labels.

    Parameters
    ----------
    values : array-like or column of a frame, shape (n,)
        Numbers, strings, booleans or categories.
    name : str
        For messages.

    Returns
    -------
    ndarray, shape (n,)
        Of float64, NaN where missing; or of object for labels, None where missing.

    Examples
    --------
    >>> target_values([1, 2]).dtype, target_values(["a", None]).tolist()
    (dtype('float64'), ['a', None])
    """
    categorical = False
    if is_column(values):
        kind = str(values.dtype).lower()
        categorical = kind.startswith(("category", "categorical", "enum"))
        if _is_number(values) and "bool" not in kind:
            return _floats(values)
        values = values.tolist() if hasattr(values, "tolist") else values.to_list()
        values = np.fromiter(values, dtype=object, count=len(values))
    if not isinstance(values, np.ndarray):
        plain = np.asarray(values)
        # NumPy writes a missing value in a list of strings as the string "nan".
        values = np.asarray(values, dtype=object) if plain.dtype.kind in "US" else plain
    if np.ma.isMaskedArray(values):
        hidden, values = np.ma.getmaskarray(values), np.ma.getdata(values).astype(object)
        values[hidden] = None
    if values.dtype.kind in "iuf":
        return np.asarray(values, dtype=np.float64)
    if values.dtype.kind == "S":
        values = np.char.decode(values, "utf-8")
    if values.dtype.kind not in "bUTO":
        raise DataError(f"the target {name!r} has type {values.dtype}; a target is numbers, or labels for classes")
    return _from_objects(values.astype(object), name, categorical=categorical)


def _from_objects(values: np.ndarray, name: str, *, categorical: bool) -> np.ndarray:
    """Python objects as floats where all are numbers, else as labels of one type."""
    present = np.array([not _absent(value) for value in values.flat], dtype=bool).reshape(values.shape)
    found = values[present]
    tests: dict[str, Callable[[Any], bool]] = {
        "labels": lambda value: isinstance(value, str),
        "booleans": lambda value: isinstance(value, bool | np.bool_),
        "numbers": lambda value: isinstance(value, Real) and not isinstance(value, bool | np.bool_),
    }
    kind = next((kind for kind, test in tests.items() if all(map(test, found))), None)
    if kind is None:
        types = sorted({type(value).__name__ for value in found})
        raise DataError(
            f"the target {name!r} holds values of type {', '.join(types)}; make them all numbers, or all "
            "strings for classes"
        )
    if kind == "numbers" and not categorical:
        floats = np.full(values.shape, np.nan)
        floats[present] = found.astype(np.float64)
        return floats
    labels = np.full(values.shape, None, dtype=object)
    labels[present] = found
    return labels


def _absent(value: Any) -> bool:
    # The missing values of pandas refuse comparison, so they are known by name.
    by_name = type(value).__name__ in {"NAType", "NaTType"}
    return value is None or by_name or (isinstance(value, float) and value != value)


def _loaded() -> list[Any]:
    return [sys.modules[name] for name in ("pandas", "polars") if sys.modules.get(name) is not None]


def _column(frame: Any, place: int) -> Any:
    return frame.iloc[:, place] if hasattr(frame, "iloc") else frame.to_series(place)


def _is_number(column: Any) -> bool:
    """Whether a column becomes floats; one without any value does, whatever its type."""
    if hasattr(column, "iloc"):
        types = sys.modules["pandas"].api.types
        if types.is_complex_dtype(column.dtype):
            return False
        return bool(types.is_numeric_dtype(column.dtype) or column.isna().all())
    return bool(column.dtype.is_numeric() or str(column.dtype) == "Boolean" or column.null_count() == len(column))


def _floats(column: Any) -> FloatArray:
    if not hasattr(column, "iloc"):
        return column.cast(sys.modules["polars"].Float64, strict=False).to_numpy()
    if not sys.modules["pandas"].api.types.is_numeric_dtype(column.dtype):  # no value at all: see `_is_number`
        return np.full(len(column), np.nan)
    return column.to_numpy(dtype=np.float64, na_value=np.nan)
