"""Tables on disk: text, parquet, NumPy archives, zarr groups and feature stores."""

import gzip
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias
from zipfile import ZipFile

import numpy as np
import numpy.typing as npt
import pandas as pd

from subridge.arrays.machine import available_memory
from subridge.datasets.images.features import SCHEMA, read_features
from subridge.datasets.tables.columns import as_dates, as_numbers, frame_of_array
from subridge.model.checks import refuse_beyond_memory
from subridge.model.errors import DataError, SubridgeError, counted, listed, require
from subridge.store.tasks import arrays_of

ColumnName: TypeAlias = str | int  # column names of pandas may be numbers
TargetName: TypeAlias = ColumnName | Sequence[ColumnName]
TextOptions: TypeAlias = dict[str, Any]  # sep, decimal, encoding and na_values of pandas.read_csv
Array: TypeAlias = npt.NDArray[Any]

_SUFFIXES = (".csv", ".tsv", ".txt", ".parquet", ".npz", ".zarr")
_EXTRAS = {".parquet": ("pyarrow", "tables"), ".zarr": ("zarr", "cluster")}
_REMEDIES = {
    ".npz": "save plain arrays, with labels as strings: np.savez(path, X=X, y=y)",
    ".parquet": "check the file",
    ".txt": "check the file, its separator and its encoding, for example encoding='latin-1'",
    ".zarr": "check the path",
}
_PER_BYTE = 4  # bytes of memory per byte of text while it is read, measured for numbers of seven characters
_FEWER = "keep only the rows and columns that you need"
# Cells of a text file that stand for a missing value.
_MISSING_TEXT = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "-nan", "NULL", "null", "<NA>")
# Columns that hold the index of a pandas frame: written as text, and as parquet by another library.
_ROW_NAMES = ("Unnamed: 0", "__index_level_0__")


def read_file(
    path: Path, wanted: Sequence[ColumnName], groups: ColumnName | None, options: TextOptions, notes: list[str]
) -> tuple[pd.DataFrame, Array | None, Array | None]:
    """Read a file or a zarr directory, by its suffix: a frame, the target and labels of groups.

    Text and parquet have target and groups among the columns of the frame; the other results are then None. NumPy
    archives, zarr groups and feature stores have them in other arrays.
    """
    path = path.expanduser()
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    require(
        suffix in _SUFFIXES,
        f"source must end in {', '.join(_SUFFIXES)} or .csv.gz, got {str(path)!r}; convert it first",
    )
    require(
        "://" not in str(path) and path.exists(), f"source {str(path)!r} does not exist on this machine; check the path"
    )
    y = " and ".join(map(str, wanted)) if wanted else "y"
    found: pd.DataFrame | dict[str, Array]
    try:
        if suffix == ".npz":
            found = _read_npz(path)
        elif suffix == ".zarr":
            found = _read_zarr(path, y, str(groups), notes)
        elif suffix == ".parquet":
            found = pd.read_parquet(path, dtype_backend="numpy_nullable")
        else:
            found = _read_text(path, suffix, options, [groups, *wanted], notes)
    except SubridgeError:
        raise
    except ImportError as error:
        library, extra = _EXTRAS[suffix]
        raise DataError(f"{path} needs {library} to be read; pip install 'subridge[{extra}]'") from error
    except Exception as error:  # the kind depends on the format, and on which byte is damaged
        reason = str(error).strip().partition("\n")[0]
        raise DataError(f"{path} cannot be read ({reason}); {_REMEDIES.get(suffix, _REMEDIES['.txt'])}") from error
    if isinstance(found, pd.DataFrame):
        names = [name for name in found if _names_rows(found, name)]
        if names:
            notes.append(f"dropped a column of row numbers or row names: {listed(names)}")
        return found.drop(columns=names), None, None
    lacking = " and ".join(repr(name) for name in ("X", y) if name not in found)
    require(
        not lacking,
        f"{path} has no array {lacking}, only {listed(sorted(found)) or 'none'}; X holds the features, y the target, "
        "or name the target's array by target=",
    )
    frame = frame_of_array(found["X"], found.get("feature_names"))
    labels = None if groups is None else found.get(str(groups), np.empty(0))
    require(
        labels is None or labels.shape == (len(frame),),
        f"groups {groups!r} must be an array beside X with a label for each of its {len(frame)} rows",
    )
    return frame, found[y], labels


def _names_rows(frame: pd.DataFrame, name: str) -> bool:
    """Whether a column is the index of a pandas frame: whole numbers, text or dates that differ."""
    return name in _ROW_NAMES and frame[name].is_unique and frame[name].dtype.kind in "iOM"


def _read_text(
    path: Path, suffix: str, options: TextOptions, asked: Sequence[ColumnName | None], notes: list[str]
) -> pd.DataFrame:
    """A table of text, plain or compressed. The names of columns in `asked` must be unique."""
    separator = options["sep"] or ("\t" if suffix == ".tsv" else ";" if options["decimal"] == "," else ",")
    missing = [*_MISSING_TEXT, *options["na_values"]]
    options = options | {"sep": separator, "keep_default_na": False, "low_memory": False, "na_values": []}
    if options["encoding"].lower() in ("utf-8", "utf8"):
        options["encoding"] = "utf-8-sig"  # spreadsheets write a byte-order mark before the first name
    n_bytes = path.stat().st_size
    if path.name.lower().endswith(".gz"):
        with gzip.open(path) as file:  # counting stops where the text no longer fits into memory
            n_bytes = file.seek(available_memory() // _PER_BYTE + 1)
    refuse_beyond_memory(str(path), _PER_BYTE * n_bytes, _FEWER)
    header = pd.read_csv(path, header=None, nrows=1, dtype=str, **options).iloc[0].tolist()
    other = max((";", ",", "\t", "|"), key=header[0].count)
    require(
        len(header) > 1 or other not in header[0],
        f"{path} has no {separator!r} in its first line, but {other!r}: give its separator, "
        f"separator={other.replace(chr(9), 'tab')!r}",
    )
    for name in asked:
        n = header.count(str(name))
        require(n < 2, f"{path} has {n} columns named {str(name)!r}; rename those that are not meant")
    with warnings.catch_warnings(action="error", category=pd.errors.ParserWarning):  # more cells than names
        # Nullable types: otherwise booleans with a gap are objects.
        frame = pd.read_csv(path, index_col=False, dtype_backend="numpy_nullable", **options | {"na_values": missing})
    renamed = [name for name in frame.columns[frame.columns != header] if not _names_rows(frame, name)]
    if renamed:
        notes.append(f"named {counted(len(renamed), 'column')} whose name is repeated or empty: {listed(renamed)}")
    for name, column in frame.select_dtypes("string").items():
        frame[name] = _parsed(column, options["decimal"])
    return frame


def _parsed(text: "pd.Series[str]", decimal: str) -> "pd.Series[Any]":
    """Text as numbers (also integers beyond 64 bits) or dates, if all of it is; otherwise as it is."""
    numbers = as_numbers(text, decimal).astype("Float64")
    if numbers.count() == text.count():
        return numbers
    readings = as_dates(text)
    return readings[0] if len(readings) == 1 else text


def _read_npz(path: Path) -> dict[str, Array]:
    with ZipFile(path) as archive:
        refuse_beyond_memory(str(path), 2 * sum(each.file_size for each in archive.infolist()), _FEWER)
        return arrays_of(archive)


def _read_zarr(path: Path, y: str, by: str, notes: list[str]) -> dict[str, Array]:
    """The arrays of a zarr group; of a feature store the training images, whose labels are the names of classes."""
    import zarr

    group = zarr.open_group(path, mode="r", use_consolidated=False)
    if group.attrs.get("schema") == SCHEMA:
        found = read_features(path)
        training = ~found.is_test
        if len(found.unreadable):
            notes.append(f"left out {counted(len(found.unreadable), 'image')} of the store that could not be read")
        if found.is_test.any():
            notes.append(
                f"left out {found.is_test.sum():,} of {counted(len(training), 'image')} that the store keeps for "
                "testing"
            )
        labels = np.array(found.class_names, dtype=object)[found.labels[training]]
        return {"X": found.features[training], y: labels}
    stored = dict(group.arrays())
    arrays = dict.fromkeys(stored, np.empty(0))
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
    return arrays
