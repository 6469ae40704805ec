"""Columns of data frames as plain NumPy arrays, whichever library a frame belongs to."""

from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import narwhals as nw
import numpy as np
from narwhals.dependencies import is_into_dataframe, is_into_series
from narwhals.dtypes import DType
from narwhals.typing import IntoDataFrame, IntoSeries

from subridge.arrays.types import FloatArray
from subridge.model.checks import counted, listed
from subridge.model.errors import DataError

if TYPE_CHECKING:
    from typing_extensions import TypeIs

T = TypeVar("T")
Frame: TypeAlias = nw.DataFrame[IntoDataFrame]
Column: TypeAlias = nw.Series[IntoSeries]


def is_frame(value: T | IntoDataFrame) -> "TypeIs[IntoDataFrame]":
    """Whether this is a data frame of a library that narwhals reads."""
    return is_into_dataframe(value)


def is_column(value: T | IntoSeries) -> "TypeIs[IntoSeries]":
    """Whether this is one column of such a frame."""
    return is_into_series(value)


def open_frame(native: IntoDataFrame) -> Frame:
    """A frame of pandas, polars or another library behind one interface; its columns are named by text that differs."""
    try:
        frame = nw.from_native(native, eager_only=True)
        names = [str(name) for name in frame.columns]  # pandas allows any value as a name
    except nw.exceptions.DuplicateError:
        names = [str(name) for name in native.columns]
    repeated = sorted(name for name, count in Counter(names).items() if count > 1)
    if repeated:
        raise DataError(f"column names must differ, these are repeated: {listed(repeated)}; rename them")
    return frame if names == frame.columns else frame.rename(dict(zip(frame.columns, names, strict=True)))


def position(name: str | int, names: Sequence[str], argument: str) -> int:
    """Where a name stands in a list, or an error with the names that come close."""
    if str(name) in names:
        return names.index(str(name))
    close = get_close_matches(str(name), names, n=3, cutoff=0.5)
    remedy = f"did you mean {' or '.join(map(repr, close))}?" if close else f"the columns are {listed(names)}"
    raise DataError(f"{argument} {str(name)!r} is not a column; {remedy}")


def frame_features(frame: Frame, names: Sequence[str]) -> FloatArray:
    """Numeric and boolean columns as floats, shape (n, M), by rows, with NaN where a value is missing.

    Raises `DataError` when a column holds anything else.
    """
    kinds = frame.schema
    odd = {place: frame[name] for place, name in enumerate(names) if not _is_plain(kinds[name])}
    refuse_words([column for column in odd.values() if not is_number(column)])
    X = np.empty((len(frame), len(names)))
    # All columns of a type at once: a wide frame takes long to read column by column.
    for kind in {kinds[name] for name in names if _is_plain(kinds[name])}:
        places = [place for place, name in enumerate(names) if kinds[name] == kind]
        alike = frame.select([names[place] for place in places])
        values = alike.to_numpy()
        if values.dtype == object:  # booleans with gaps
            values = alike.select(nw.all().cast(nw.Float64)).to_numpy()
        X[:, places] = values
    for place, column in odd.items():
        X[:, place] = floats(column)
    return X


def refuse_words(columns: Sequence[Column]) -> None:
    """Refuse columns that hold no numbers, each with what it holds and where, and what can be done about it."""
    if not columns:
        return
    told = [f"{column.name} ({_held(column)})" for column in columns]
    remedies = {
        "decimal=',' reads decimal commas": "decimal comma",
        "missing_values=... names what stands for a missing value": "('",
        "categories='one-hot' makes a column of every value": "(text such as",
        "dates='days' counts days": "(dates)",
    }
    remedy = ", ".join(words for words, sign in remedies.items() if any(sign in each for each in told))
    remedy = remedy or "categories='one-hot' makes a column of every value"
    raise DataError(
        f"{counted(len(told), 'column')} of features without numbers: {listed(told)}; {remedy}, drop=[...] leaves "
        "columns out"
    )


def is_date(column: Column) -> bool:
    """Whether a column holds dates or times."""
    return column.dtype in (nw.Date, nw.Datetime) or isinstance(column.dtype, nw.Datetime)


def _held(column: Column) -> str:
    """What a column holds: its type, or for text that is mostly numbers the first cell that is none."""
    if column.dtype != nw.String:
        return "dates" if is_date(column) else _type_name(column)
    cells = [(row, text) for row, text in enumerate(column.to_list(), 1) if text is not None]
    odd = [(row, text) for row, text in cells if not _is_float(text)]
    if odd and all(_is_float(text.replace(",", ".", 1)) for _, text in odd):
        return f"numbers with a decimal comma, {odd[0][1]!r} in row {odd[0][0]}"
    if len(odd) < len(cells) / 2:
        return f"{odd[0][1]!r} in row {odd[0][0]}" + (f" and {len(odd) - 1} more" if len(odd) > 1 else "")
    return f"text such as {cells[0][1]!r}"


def _is_float(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def is_number(column: Column) -> bool:
    """Whether a column becomes floats; one without any value does, whatever its type."""
    if _is_plain(column.dtype) or column.null_count() == len(column):
        return True
    # The sparse columns of pandas have no type in narwhals; as arrays they are numbers like any other.
    return column.dtype == nw.Unknown and column.to_numpy().dtype.kind in "biuf"


def floats(column: Column) -> FloatArray:
    """The values of a column for which `is_number` holds, NaN where one is missing."""
    if column.null_count() == len(column):  # not every type without values can be cast
        return np.full(len(column), np.nan)
    return column.cast(nw.Float64).to_numpy()


def _is_plain(kind: DType) -> bool:
    return kind.is_numeric() or kind == nw.Boolean


def _type_name(column: Column) -> str:
    """The type of a column as its own library calls it."""
    return str(getattr(column.to_native(), "dtype", column.dtype))
