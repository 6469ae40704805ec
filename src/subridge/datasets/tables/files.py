"""Tables on disk: text, parquet, NumPy archives, zarr groups and features stores."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from subridge.datasets.tables.columns import column_names, counted, listed
from subridge.datasets.tables.sources import RawTable, read_frame, read_pair
from subridge.spec.errors import DataError
from subridge.store.features import SCHEMA, read_features

# Cells of a text file that stand for a missing value; the libraries' own lists differ.
_MISSING_TEXT = ["", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "-nan", "NULL", "null", "<NA>"]
_SUFFIXES = (".csv", ".tsv", ".parquet", ".npz", ".zarr")
_TABLES = "pip install 'subridge[tables]'"


def read_path(path: Path, target: Any, drop: Sequence[Any]) -> RawTable:
    """A file or a zarr directory, by the ending of its name."""
    suffix = path.suffix.lower()
    if suffix not in _SUFFIXES:
        raise DataError(f"source must end in {', '.join(_SUFFIXES)}, got {str(path)!r}; convert it first")
    if not path.exists():
        raise DataError(f"source {str(path)!r} does not exist; check the path")
    if suffix in (".npz", ".zarr"):
        key = "y" if target is None else target
        if not isinstance(key, str):
            raise DataError(f"target of a {suffix} source is the name of one array, got {target!r}")
        return (_from_npz if suffix == ".npz" else _from_zarr)(path, key, drop)
    frame = _read_parquet(path) if suffix == ".parquet" else _read_text(path, "," if suffix == ".csv" else "\t")
    numbering = _row_numbers(column_names(frame), suffix)
    if not numbering:
        return read_frame(frame, target, drop)
    notes = (f"dropped a column of row numbers without a name: {listed(map(repr, numbering))}",)
    frame = frame.drop(columns=numbering) if hasattr(frame, "iloc") else frame.drop(numbering)
    return read_frame(frame, target, drop, notes)


def _row_numbers(names: list[str], suffix: str) -> list[str]:
    """The index that pandas writes beside the data when not told otherwise: it would pass for a feature."""
    if suffix == ".parquet":
        return [name for name in names if name.startswith("__index_level_")]
    return [name for name in names[:1] if name in ("", "Unnamed: 0")]


def _read_text(path: Path, separator: str) -> Any:
    try:
        import polars as pl
    except ImportError:
        return _read_text_by_pandas(path, separator)
    try:
        frame = pl.read_csv(path, separator=separator, null_values=_MISSING_TEXT, infer_schema_length=None)
    except (OSError, ValueError, pl.exceptions.PolarsError) as error:
        raise DataError(f"{path} is not a table of text ({error}); check the file and its separator") from error
    # Polars leaves numbers in quotes or with blanks around them as text, pandas does not.
    for name, kind in frame.schema.items():
        if kind == pl.String:
            numbers = frame[name].str.strip_chars().cast(pl.Float64, strict=False)
            if numbers.null_count() == frame[name].null_count():
                frame = frame.with_columns(numbers.alias(name))
    return frame


def _read_text_by_pandas(path: Path, separator: str) -> Any:
    try:
        import pandas as pd
    except ImportError as error:
        raise DataError(f"{path} needs polars or pandas to be read; {_TABLES}") from error
    # Nullable types: otherwise booleans with a gap come as objects.
    options = {"keep_default_na": False, "na_values": _MISSING_TEXT, "dtype_backend": "numpy_nullable"}
    try:
        return pd.read_csv(path, sep=separator, **options)
    except (OSError, ValueError) as error:
        raise DataError(f"{path} is not a table of text ({error}); check the file and its separator") from error


def _read_parquet(path: Path) -> Any:
    try:
        import polars as pl
    except ImportError:
        try:
            import pandas as pd

            return pd.read_parquet(path)
        except ImportError as error:
            raise DataError(f"{path} needs polars, or pandas with pyarrow, to be read; {_TABLES}") from error
        except (OSError, ValueError) as error:
            raise DataError(f"{path} is not a parquet file ({error}); check the file") from error
    try:
        return pl.read_parquet(path)
    except (OSError, ValueError, pl.exceptions.PolarsError) as error:
        raise DataError(f"{path} is not a parquet file ({error}); check the file") from error


def _from_npz(path: Path, key: str, drop: Sequence[Any]) -> RawTable:
    try:
        # NumPy leaves the file of a broken archive open, so it is opened here.
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            arrays = {name: file[name] for name in {"X", key, "feature_names"} & set(file.files)}
            found = list(file.files)
    except (OSError, ValueError, TypeError, EOFError, BadZipFile) as error:
        raise DataError(
            f"{path} cannot be read ({error}); save plain arrays, with labels as strings: np.savez(path, X=X, y=y)"
        ) from error
    _need_arrays(path, ("X", key), found)
    names = [str(name) for name in arrays["feature_names"]] if "feature_names" in arrays else None
    return _loaded_pair(arrays["X"], arrays[key], drop, names)


def _from_zarr(path: Path, key: str, drop: Sequence[Any]) -> RawTable:
    try:
        import zarr
    except ImportError as error:
        raise DataError(f"{path} needs zarr to be read; pip install 'subridge[cluster]'") from error
    try:
        group = zarr.open_group(str(path), mode="r", use_consolidated=False)
    except (OSError, ValueError, KeyError) as error:
        raise DataError(f"{path} is not a zarr group ({error}); check the path") from error
    if group.attrs.get("schema") == SCHEMA:
        return _from_store(path, drop)
    _need_arrays(path, ("X", key), sorted(group.array_keys()))
    names = group.attrs.get("feature_names")
    return _loaded_pair(np.asarray(group["X"][:]), np.asarray(group[key][:]), drop, names)


def _from_store(path: Path, drop: Sequence[Any]) -> RawTable:
    """The training images of a features store; the names of its classes are the labels."""
    arrays, attributes = read_features(path)
    training, classes = ~arrays["is_test"].astype(bool), np.array(attributes["class_names"], dtype=object)
    X, labels, notes = arrays["features"], arrays["labels"], []
    unread = len(attributes.get("paths", X)) - len(X)
    if unread:
        notes.append(f"left out {counted(unread, 'image')} of the store that could not be read")
    if not training.all():
        notes.append(f"left out {(~training).sum()} of {len(X)} images that the store keeps for testing")
        X, labels = X[training], labels[training]
    raw = _loaded_pair(X, classes[labels], drop, None)
    return RawTable(raw.X, raw.owned, raw.feature_names, raw.target, (*notes, *raw.notes))


def _loaded_pair(X: Any, y: Any, drop: Sequence[Any], names: Sequence[str] | None) -> RawTable:
    """A pair that was read from disk: nobody else holds its arrays."""
    raw = read_pair(X, y, drop, names)
    return RawTable(raw.X, True, raw.feature_names, raw.target, raw.notes)


def _need_arrays(path: Path, wanted: Sequence[str], found: Sequence[str]) -> None:
    absent = [name for name in wanted if name not in found]
    if absent:
        raise DataError(
            f"{path} has no array {' and '.join(map(repr, absent))}, only {listed(found) or 'none'}; X holds the "
            "features, y the target, or name the target's array by target="
        )
