"""Columns that hold no numbers, turned into numbers as asked: categories into columns of 0 and 1, dates into days."""

import narwhals as nw
import numpy as np

from subridge.arrays.types import FloatArray
from subridge.datasets.tables.columns import Column, Frame, frame_features, is_date, is_number
from subridge.datasets.tables.reading_form import Encoding
from subridge.model.checks import counted, listed
from subridge.model.errors import DataError

_MOST_CATEGORIES = 100  # of one column; more are names or numbers, not categories


def encoded_features(
    frame: Frame, names: list[str], encoding: Encoding
) -> tuple[FloatArray, tuple[str, ...], tuple[str, ...]]:
    """Features (n, M) with NaN where missing, their names, and a note on what was encoded."""
    words = [frame[name] for name in names if not is_number(frame[name])] if encoding != Encoding() else []
    dates = [column for column in words if is_date(column) and encoding.dates == "days"]
    categories = [column for column in words if not is_date(column) and encoding.categories == "one-hot"]
    done = {column.name for column in (*dates, *categories)}
    plain = [name for name in names if name not in done]
    parts, named, notes = [frame_features(frame, plain)], list(plain), []
    for column in categories:
        columns, values = _one_hot(column)
        parts.append(columns)
        named += [f"{column.name}={value}" for value in values]
    if categories:
        made = len(named) - len(plain)
        notes.append(f"made {counted(made, 'column')} of 0 and 1 from categories: {listed(c.name for c in categories)}")
    for column in dates:
        parts.append(_days(column)[:, None])
        named.append(column.name)
    if dates:
        notes.append(f"counted days since the first date of {listed(column.name for column in dates)}")
    return np.concatenate(parts, axis=1) if done else parts[0], tuple(named), tuple(notes)


def _one_hot(column: Column) -> tuple[FloatArray, list[str]]:
    """A column for every value; a missing value is missing in all of them."""
    cells = [None if cell is None or cell != cell else str(cell) for cell in column.to_list()]
    values = sorted({cell for cell in cells if cell is not None})
    if len(values) > min(_MOST_CATEGORIES, len(cells) / 2):
        raise DataError(
            f"the column {column.name} has {counted(len(values), 'different value')} in {counted(len(cells), 'row')}, "
            f"too many for categories; drop=['{column.name}'] leaves it out"
        )
    place = {value: position for position, value in enumerate(values)}
    columns = np.zeros((len(cells), len(values)))
    for row, cell in enumerate(cells):
        if cell is None:
            columns[row] = np.nan
        else:
            columns[row, place[cell]] = 1.0
    return columns, values


def _days(column: Column) -> FloatArray:
    """Days since the first date, NaN where missing."""
    times = column.cast(nw.Datetime("us")).to_numpy().astype("datetime64[us]")
    known = times[~np.isnat(times)]
    days = (times - (known.min() if len(known) else np.datetime64(0, "us"))) / np.timedelta64(86_400_000_000, "us")
    return np.asarray(days, dtype=np.float64)
