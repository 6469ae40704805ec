"""Data frames of any library as pandas frames, and their columns as numbers."""

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any, Literal, TypeAlias

import narwhals as nw
import numpy as np
import pandas as pd
from narwhals.typing import IntoDataFrame
from pandas.api.types import infer_dtype

from subridge.model.errors import DataError, counted, listed, require

Categories: TypeAlias = Literal["error", "one-hot"]
Dates: TypeAlias = Literal["error", "days"]

_LOOKS_LIKE_A_DATE = re.compile(r"\s*\d{1,4}([-/.])\d{1,2}\1\d{1,4}")
# Text that two of these forms read as different dates stays text.
_DATE_FORMATS = ("ISO8601", "%Y/%m/%d", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y")
# How columns of objects are read that pandas has no type for; databases and parquet give such ones.
_FROM_OBJECTS = {"date": lambda column: column.astype("datetime64[s]"), "decimal": pd.to_numeric}
_MOST_CATEGORIES = 100  # of one column; more are names or numbers, not categories


def open_frame(native: IntoDataFrame) -> pd.DataFrame:
    """A frame of any library as one of pandas, with rows numbered from 0 and names of columns as text."""
    if isinstance(native, pd.DataFrame):
        frame = native.set_axis([str(name) for name in native.columns], axis=1).reset_index(drop=True)
        require(
            frame.columns.is_unique,
            "column names must differ, these are repeated: "
            f"{listed(frame.columns[frame.columns.duplicated()].unique())}; rename them",
        )
    else:
        frame = pd.DataFrame(
            {
                each.name: (each.cast(nw.Float64) if each.dtype.is_numeric() else each).to_numpy()
                for each in nw.from_native(native, eager_only=True).iter_columns()
            }
        )
    # Columns of objects that are all numbers, all booleans, all dates or all text get that type; so do those of Arrow,
    # whose decimals, dates and text cannot do all that is asked of the types of pandas.
    objects = [
        isinstance(dtype, np.dtypes.ObjectDType | pd.ArrowDtype) and dtype.kind in "OUM" for dtype in frame.dtypes
    ]
    for name, each in frame.loc[:, objects].items():
        frame[name] = _FROM_OBJECTS.get(infer_dtype(each), pd.Series.convert_dtypes)(
            each.astype(object).where(each.notna(), None)
        )
    return frame


def known_name(name: str | int, names: Sequence[str], argument: str) -> str:
    """The name of a column as text; `DataError` with the closest name if there is no such column."""
    if str(name) in names:
        return str(name)
    close = get_close_matches(str(name), names, n=1)
    raise DataError(
        f"{argument} {str(name)!r} is not a column; "
        + (f"did you mean {close[0]!r}?" if close else f"the columns are {listed(names)}")
    )


def frame_of_array(X: Any, names: Iterable[str] | None = None) -> pd.DataFrame:
    """An array of shape (n, M) as a frame, without a copy; features without names are called x0, x1, and so on."""
    array = np.asanyarray(X)
    require(
        array.ndim == 2 and array.dtype.kind in "biuf",
        f"X must be a dense array of numbers of shape (n, number of features), got shape {array.shape} of type "
        f"{array.dtype}",
    )
    if isinstance(array, np.ma.MaskedArray):
        array = np.ma.filled(array.astype(float), np.nan)
    names = [f"x{i}" for i in range(array.shape[1])] if names is None else [str(name) for name in names]
    require(
        len(set(names)) == len(names) == array.shape[1],
        f"feature_names has {len(set(names))} different names, but X has {counted(array.shape[1], 'column')}; name "
        "each of them",
    )
    return pd.DataFrame(array, columns=names, copy=False)


def as_numbers(text: "pd.Series[str]", decimal: str) -> "pd.Series[float]":
    """Text as numbers, NaN where it is none. Where the decimal sign is a comma, a point before three digits is none.

    >>> as_numbers(pd.Series(["2", "1,5", "0.5", "1.500", "1.500,25"]), ",").tolist()
    [2.0, 1.5, 0.5, nan, nan]
    """
    if decimal == ",":  # the point may separate thousands
        text = text.str.replace(r"\.\d{3}\b", "?", regex=True).str.replace(",", ".")
    return pd.to_numeric(text, errors="coerce")


def as_dates(column: "pd.Series[Any]") -> list["pd.Series[Any]"]:
    """The dates that a column of text may stand for: none, one reading, or several that differ.

    >>> [len(as_dates(pd.Series([text], dtype="string"))) for text in ("1.2.3", "2024-01-02", "01/02/2024")]
    [0, 1, 2]
    """
    if not (isinstance(column.dtype, pd.StringDtype) and _LOOKS_LIKE_A_DATE.match(column.dropna().iloc[0])):
        return []
    found = [
        dates.dt.tz_localize(None)
        for form in _DATE_FORMATS
        if pd.to_datetime(column.dropna()[:1], format=form, utc=True, errors="coerce").count()  # most fail here
        and (dates := pd.to_datetime(column, format=form, utc=True, errors="coerce")).count() == column.count()
    ]
    return found[:1] if all(dates.equals(found[0]) for dates in found) else found


def read_features(
    frame: pd.DataFrame, categories: Categories, dates: Dates, decimal: str, notes: list[str]
) -> pd.DataFrame:
    """Columns as float64, with NaN where a value is missing, and notes on what was encoded.

    Columns that hold no numbers are encoded as `categories` and `dates` say, or refused with a remedy. The attributes
    of the result map each column of 0 and 1 to its column of text.
    """
    if (frame.dtypes == np.float64).all():
        return frame
    # Columns without any value count as missing.
    held = frame[[name for name, dtype in frame.dtypes.items() if dtype.kind not in "biuf"]].dropna(axis=1, how="all")
    readings = {name: [each] if each.dtype.kind == "M" else as_dates(each) for name, each in held.items()}
    times = {
        name: found[0].dt.as_unit("us")  # nanoseconds cannot hold a difference of 293 years
        for name, found in readings.items()
        if len(found) == 1 and (held[name].dtype.kind == "M" or dates == "days" or categories == "error")
    }
    texts = [name for name in held if name not in times]
    refused = {
        name: ("dates", "dates='days' counts days") if name in times else _what_it_holds(each, decimal)
        for name, each in held.items()
        if (dates if name in times else categories) == "error" or (dates == "days" and len(readings[name]) > 1)
    }
    require(
        not refused,
        f"{counted(len(refused), 'column')} of features without numbers: "
        f"{listed(f'{name} ({what})' for name, (what, _) in refused.items())}; "
        f"{', '.join(dict.fromkeys(remedy for _, remedy in refused.values()))}, drop=[...] leaves columns out",
    )
    encoded = [_one_hot(held[name]) for name in texts]
    if texts:
        notes.append(
            f"made {counted(sum(len(part.columns) for part in encoded), 'column')} of 0 and 1 from categories: "
            f"{listed(texts)}"
        )
    if times:
        notes.append(f"counted days since the first date of {listed(times)}")
    # One by one, because columns may differ in their unit and time zone.
    days = [(each - each.min()) / np.timedelta64(1, "D") for each in times.values()]
    joined = pd.concat([frame.drop(columns=held.columns), *encoded, *days], axis=1)
    require(
        joined.columns.is_unique,
        "columns made of categories get names that other features have: "
        f"{listed(joined.columns[joined.columns.duplicated()].unique())}; rename the columns of text, or leave one of "
        "the columns out with drop=[...]",
    )
    values = np.ascontiguousarray(joined.to_numpy(dtype=float, na_value=np.nan))
    features = pd.DataFrame(values, columns=joined.columns, copy=False)
    features.attrs = {made: name for name, part in zip(texts, encoded, strict=True) for made in part.columns}
    return features


def _what_it_holds(column: "pd.Series[str]", decimal: str) -> tuple[str, str]:
    """What a column without numbers and dates holds, and what can be done about it.

    Text that is mostly numbers shows its first odd cell, and text like dates the first that is not in the usual form.
    """
    as_categories = "categories='one-hot' makes a column of every value"
    if not isinstance(column.dtype, pd.StringDtype):
        return str(column.dtype), as_categories
    odd = column[column.notna() & as_numbers(column, decimal).isna()]
    if odd.empty:
        return f"numbers as text such as {max(column.dropna(), key=len)!r}", "convert them to numbers"
    where = f"{odd.iloc[0]!r} in row {odd.index[0] + 1}"
    other, sign = (",", "decimal comma") if decimal == "." else (".", "decimal point")
    if as_numbers(odd, other).notna().all():
        return (
            f"numbers with a {sign}, {where}",
            f"decimal={other!r} reads {sign}s; thousands are written without a sign",
        )
    if len(odd) < column.notna().sum() / 2:
        more = f" and {len(odd) - 1} more" if len(odd) > 1 else ""
        return f"{where}{more}", "missing_values=... names what stands for a missing value"
    if _LOOKS_LIKE_A_DATE.match(odd.iloc[0]):
        place = pd.to_datetime(odd, format="ISO8601", utc=True, errors="coerce").isna().argmax()
        return (
            f"dates in an unknown form, or in one with two readings, {odd.iloc[place]!r} in row {odd.index[place] + 1}",
            f"write dates as 2024-12-31; {as_categories}",
        )
    return f"text such as {odd.iloc[0]!r}", as_categories


def _one_hot(column: "pd.Series[str]") -> pd.DataFrame:
    """A column of 0 and 1 for every value; a missing value is missing in all of them."""
    text = column.astype("string")
    require(
        text.nunique() <= min(_MOST_CATEGORIES, len(text) / 2),
        f"the column {column.name} has {counted(text.nunique(), 'different value')} in {counted(len(text), 'row')}, "
        f"too many for categories; drop=['{column.name}'] leaves it out",
    )
    return pd.get_dummies(text, prefix=column.name, prefix_sep="=", dtype=float).mask(text.isna())
