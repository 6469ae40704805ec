"""Columns of data frames as plain NumPy arrays, whichever library a frame belongs to."""

from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import narwhals as nw
import numpy as np
from narwhals.dependencies import is_into_dataframe, is_into_series
from narwhals.typing import IntoDataFrame, IntoSeries

from subridge.arrays.types import FloatArray
from subridge.datasets.tables.wording import counted, listed
from subridge.spec.errors import DataError

if TYPE_CHECKING:
    from typing_extensions import TypeIs

T = TypeVar("T")
Frame: TypeAlias = nw.DataFrame[IntoDataFrame]
Column: TypeAlias = nw.Series[IntoSeries]

# Columns copied at a time: a table is stored by rows and a frame by columns, and writing one column of a wide table
# touches a cache line per row.
_COLUMNS_AT_A_TIME = 16


def is_frame(value: T | IntoDataFrame) -> "TypeIs[IntoDataFrame]":
    """Whether this is a data frame of a library that narwhals reads."""
    return is_into_dataframe(value)


def is_column(value: T | IntoSeries) -> "TypeIs[IntoSeries]":
    """Whether this is one column of such a frame."""
    return is_into_series(value)


def open_frame(native: IntoDataFrame) -> Frame:
    """A frame of pandas, polars or another library behind one interface; its column names must differ as text."""
    try:
        frame = nw.from_native(native, eager_only=True)
        names = column_names(frame)
    except nw.exceptions.DuplicateError:
        names = [str(name) for name in native.columns]
    repeated = sorted(name for name, count in Counter(names).items() if count > 1)
    if repeated:
        raise DataError(f"column names must differ, these are repeated: {listed(repeated)}; rename them")
    return frame


def column_names(frame: Frame) -> list[str]:
    """Names of the columns as text: pandas allows any value as a name."""
    return [str(name) for name in frame.columns]


def position(name: str | int, names: Sequence[str], argument: str) -> int:
    """Where a name stands in a list, or an error with the names that come close."""
    if str(name) in names:
        return names.index(str(name))
    close = get_close_matches(str(name), names, n=3, cutoff=0.5)
    remedy = f"did you mean {' or '.join(map(repr, close))}?" if close else f"the columns are {listed(names)}"
    raise DataError(f"{argument} {str(name)!r} is not a column; {remedy}")


def frame_features(frame: Frame, places: Sequence[int]) -> FloatArray:
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
    columns = [frame[:, place] for place in places]
    other = [f"{column.name} ({_type_name(column)})" for column in columns if not is_number(column)]
    if other:
        raise DataError(
            f"{counted(len(other), 'column')} of features hold no numbers: {listed(other)}; leave them out with "
            "drop=[...], or encode them first"
        )
    X = np.empty((len(frame), len(columns)))
    for start in range(0, len(columns), _COLUMNS_AT_A_TIME):
        some = columns[start : start + _COLUMNS_AT_A_TIME]
        X[:, start : start + len(some)] = np.stack([floats(column) for column in some]).T
    return X


def is_number(column: Column) -> bool:
    """Whether a column becomes floats; one without any value does, whatever its type."""
    if column.dtype.is_numeric() or column.dtype == nw.Boolean or column.null_count() == len(column):
        return True
    # The sparse columns of pandas have no type in narwhals; as arrays they are numbers like any other.
    return column.dtype == nw.Unknown and column.to_numpy().dtype.kind in "biuf"


def floats(column: Column) -> FloatArray:
    """The values of a column for which `is_number` holds, NaN where one is missing."""
    if column.null_count() == len(column):  # not every type without values can be cast
        return np.full(len(column), np.nan)
    return column.cast(nw.Float64).to_numpy()


def _type_name(column: Column) -> str:
    """The type of a column as its own library calls it."""
    return str(getattr(column.to_native(), "dtype", column.dtype))
