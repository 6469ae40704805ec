"""Tables on disk: text, parquet, NumPy archives, zarr groups and feature stores."""

import re
import warnings
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias
from zipfile import BadZipFile, ZipFile
from zlib import error as ZlibError

import numpy as np
import numpy.typing as npt
import pandas as pd

from subridge.datasets.tables.columns import frame_of_array, require
from subridge.model.errors import DataError, counted, listed
from subridge.store.features import SCHEMA, read_features

ColumnName: TypeAlias = str | int  # column names of pandas may be numbers
TargetName: TypeAlias = ColumnName | Sequence[ColumnName]
TextOptions: TypeAlias = dict[str, Any]  # sep, decimal, encoding and na_values of pandas.read_csv
Array: TypeAlias = npt.NDArray[Any]

_TEXT = (".csv", ".tsv", ".txt")
_SUFFIXES = (*_TEXT, ".parquet", ".npz", ".zarr")
# Cells of a text file that stand for a missing value.
_MISSING_TEXT = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "-nan", "NULL", "null", "<NA>")
_LOOKS_LIKE_A_DATE = re.compile(r"\s*\d{1,4}([-/.])\d{1,2}\1\d{1,4}")
_DATE_FORMATS = ("ISO8601", "%Y/%m/%d", "%d/%m/%Y", "%d.%m.%Y", "%d-%m-%Y")


def read_file(
    path: Path, target: TargetName | None, groups: ColumnName | None, options: TextOptions
) -> tuple[pd.DataFrame | tuple[pd.DataFrame, Array], Array | None, list[str]]:
    """A file or a zarr directory, by the ending of its name, labels of groups, and notes.

    Text and parquet give one data frame. NumPy archives, zarr groups and feature stores give a frame of features, their
    target, and the labels of groups.
    """
    path = path.expanduser()
    suffix = (path.with_suffix("") if path.suffix.lower() == ".gz" else path).suffix.lower()
    known = _TEXT if path.suffix.lower() == ".gz" else _SUFFIXES
    told = f"source must end in {', '.join(_SUFFIXES)} or .csv.gz, got {str(path)!r}; convert it first"
    require(suffix in known, told)
    is_here = "://" not in str(path) and path.exists()
    require(is_here, f"source {str(path)!r} does not exist on this machine; check the path")
    if suffix in (*_TEXT, ".parquet"):
        asked = [groups, *([target] if isinstance(target, str | int) else target or [])]
        frame, notes = _read_parquet(path) if suffix == ".parquet" else _read_text(path, suffix, options, asked)
        return frame, None, notes
    if target is not None and not isinstance(target, str):
        raise DataError(f"target of a {suffix} source is the name of one array, got {target!r}")
    y, by = target or "y", str(groups)
    arrays, notes = (_read_npz(path), []) if suffix == ".npz" else _read_zarr(path, y, by)
    lacking = " and ".join(repr(name) for name in ("X", y) if name not in arrays)
    require(
        not lacking,
        f"{path} has no array {lacking}, only {listed(sorted(arrays)) or 'none'}; X holds the features, y the target, "
        "or name the target's array by target=",
    )
    frame = frame_of_array(arrays["X"], arrays.get("feature_names"))
    if groups is None:
        return (frame, arrays[y]), None, notes
    labels = arrays.get(by, np.empty(0))
    got = f"shape {labels.shape}" if by in arrays else "no such array"
    fits = labels.shape == (len(frame),)
    require(fits, f"groups {by!r} must be an array of {len(frame)} labels beside X, got {got}")
    return (frame, arrays[y]), labels, notes


def _read_text(
    path: Path, suffix: str, options: TextOptions, asked: Sequence[ColumnName | None]
) -> tuple[pd.DataFrame, list[str]]:
    """A table of text, plain or compressed; columns that are asked for by name must have a name of their own."""
    separator = options["sep"] or ("\t" if suffix == ".tsv" else ";" if options["decimal"] == "," else ",")
    encoding, missing = options["encoding"], [*_MISSING_TEXT, *options["na_values"]]
    options = options | {
        "sep": separator,
        # Spreadsheets write a byte-order mark, which is not part of the first name.
        "encoding": "utf-8-sig" if encoding.lower() in ("utf-8", "utf8") else encoding,
        "keep_default_na": False,
        "low_memory": False,
    }
    try:
        header = [
            str(name)
            for name in pd.read_csv(path, header=None, nrows=1, dtype=str, **options | {"na_values": []}).iloc[0]
        ]
        _check_header(path, header, separator, asked)
        with warnings.catch_warnings(action="error", category=pd.errors.ParserWarning):  # more cells than names
            # Nullable types: otherwise booleans with a gap are objects.
            frame = pd.read_csv(
                path, index_col=False, dtype_backend="numpy_nullable", **options | {"na_values": missing}
            )
    except DataError:
        raise
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path} is not written in {encoding} (byte {error.object[error.start]:#x}); give its encoding, for "
            "example encoding='latin-1'"
        ) from error
    except (OSError, EOFError, ZlibError) as error:
        raise DataError(f"{path} cannot be read ({error}); check the file") from error
    except (ValueError, pd.errors.ParserWarning) as error:
        short = str(error).strip().partition("\n")[0]
        raise DataError(f"{path} is not a table of text ({short}); check the file and its separator") from error
    notes = []
    named = [new for new, old in zip(frame.columns, header, strict=True) if new != old]
    first = frame.iloc[:, 0]
    if first.name == "Unnamed: 0" and first.is_unique and first.dtype in ("Int64", "string"):
        frame = frame.drop(columns=first.name)
        notes.append("dropped a column of row numbers or row names, the first one, which has no name")
    if named := [name for name in named if name in frame]:
        notes.append(f"named {counted(len(named), 'column')} whose name is repeated or empty: {listed(named)}")
    texts = {name: _parsed(column) for name, column in frame.select_dtypes("string").items()}
    return frame.assign(**texts), notes


def _check_header(path: Path, header: list[str], separator: str, asked: Sequence[ColumnName | None]) -> None:
    other = max((";", ",", "\t", "|"), key=header[0].count)
    if len(header) == 1 and other in header[0]:
        name = "tab" if other == "\t" else other
        raise DataError(
            f"{path} has no {separator!r} in its first line, but {other!r}: give its separator, separator={name!r}"
        )
    for column in map(str, asked):
        n = header.count(column)
        require(n < 2, f"{path} has {n} columns named {column!r}; rename those that are not meant")


def _parsed(text: "pd.Series[str]") -> "pd.Series[Any]":
    """Text that is all numbers, such as integers beyond 64 bits, or all dates, as numbers or dates."""
    numbers = pd.to_numeric(text, errors="coerce").astype("Float64")
    if numbers.count() == text.count():
        return numbers
    if _LOOKS_LIKE_A_DATE.match(text.dropna().iloc[0]):
        for form in _DATE_FORMATS:
            with suppress(ValueError):
                return pd.to_datetime(text, format=form, utc=True).dt.tz_localize(None)
    return text


def _read_parquet(path: Path) -> tuple[pd.DataFrame, list[str]]:
    try:
        frame = pd.read_parquet(path, dtype_backend="numpy_nullable")
    except ImportError as error:
        raise DataError(f"{path} needs pyarrow to be read; pip install 'subridge[tables]'") from error
    except (OSError, ValueError) as error:
        raise DataError(f"{path} is not a parquet file ({error}); check the file") from error
    numbering = [name for name in frame if str(name).startswith("__index_level_")]
    notes = [f"dropped a column of row numbers that pandas wrote: {listed(numbering)}"] if numbering else []
    return frame.drop(columns=numbering), notes


def _read_npz(path: Path) -> dict[str, Array]:
    try:
        with ZipFile(path) as archive:
            if (damaged := archive.testzip()) is not None:  # numpy.load does not notice every flipped bit
                raise BadZipFile(f"{damaged} is damaged")
        with np.load(path, allow_pickle=False) as file:
            return dict(file)
    except Exception as error:  # what is raised depends on which byte is damaged
        raise DataError(
            f"{path} cannot be read ({error}); save plain arrays, with labels as strings: np.savez(path, X=X, y=y)"
        ) from error


def _read_zarr(path: Path, y: str, by: str) -> tuple[dict[str, Array], list[str]]:
    try:
        import zarr
    except ImportError as error:
        raise DataError(f"{path} needs zarr to be read; pip install 'subridge[cluster]'") from error
    try:
        group = zarr.open_group(str(path), mode="r", use_consolidated=False)
    except (OSError, ValueError, KeyError) as error:
        raise DataError(f"{path} is not a zarr group ({error}); check the path") from error
    if group.attrs.get("schema") == SCHEMA:
        return _read_store(path, y)
    stored = dict(group.arrays())
    arrays: dict[str, Array] = dict.fromkeys(stored, np.empty(0))
    for name in {"X", y, by} & stored.keys():
        array = stored[name]
        lacking = array.nchunks - array.nchunks_initialized
        require(
            not lacking,
            f"{path} lacks {lacking} of the {counted(array.nchunks, 'chunk')} of {name}, which would be read as "
            f"{array.fill_value}; copy the directory again, or, if these are its values, write the array with "
            "config={'write_empty_chunks': True}",
        )
        arrays[name] = np.asarray(array[:])
    if isinstance(names := group.attrs.get("feature_names"), list):
        arrays["feature_names"] = np.array(names)
    return arrays, []


def _read_store(path: Path, y: str) -> tuple[dict[str, Array], list[str]]:
    """The training images of a feature store; the names of its classes are the labels."""
    found = read_features(path)
    training, notes = ~found.is_test, []
    if len(found.unreadable):
        notes.append(f"left out {counted(len(found.unreadable), 'image')} of the store that could not be read")
    if not training.all():
        tests = int(found.is_test.sum())
        notes.append(f"left out {tests:,} of {counted(len(training), 'image')} that the store keeps for testing")
    labels = np.array(found.class_names, dtype=object)[found.labels[training]]
    return {"X": found.features[training], y: labels}, notes
