"""Tables on disk: text, parquet, NumPy archives, zarr groups and features stores."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from zipfile import BadZipFile

import narwhals as nw
import numpy as np
import numpy.typing as npt
from narwhals.typing import IntoDataFrame

from subridge.datasets.tables.reading_form import ReadingForm
from subridge.datasets.tables.sources import ColumnName, RawTable, TargetName, group_numbers, read_frame, read_pair
from subridge.datasets.tables.text_files import read_parquet, read_text
from subridge.model.checks import counted, listed
from subridge.model.errors import DataError
from subridge.store.features import KIND, read_features

_TEXT = (".csv", ".tsv", ".txt")
_SUFFIXES = (*_TEXT, ".parquet", ".npz", ".zarr")


def read_path(
    path: Path,
    target: TargetName | None,
    drop: Sequence[ColumnName],
    form: ReadingForm,
    groups: ColumnName | None = None,
) -> RawTable:
    """A file or a zarr directory, by the ending of its name; text may be compressed, as in data.csv.gz."""
    path = path.expanduser()
    packed = path.suffix.lower() == ".gz"
    suffix = (path.with_suffix("") if packed else path).suffix.lower()
    if suffix not in _SUFFIXES or (packed and suffix not in _TEXT):
        raise DataError(f"source must end in {', '.join(_SUFFIXES)} or .csv.gz, got {str(path)!r}; convert it first")
    if "://" in str(path) or not path.exists():
        raise DataError(f"source {str(path)!r} does not exist on this machine; check the path")
    if suffix in _TEXT:
        frame, notes = read_text(path, suffix, form.text)
        raw = _from_frame(frame, suffix, target, drop, form, groups)
        return replace(raw, notes=(*notes, *raw.notes))
    if suffix == ".parquet":
        return _from_frame(read_parquet(path), suffix, target, drop, form, groups)
    key = "y" if target is None else target
    if not isinstance(key, str):
        raise DataError(f"target of a {suffix} source is the name of one array, got {target!r}")
    raw = (_from_npz if suffix == ".npz" else _from_zarr)(path, key, drop, groups)
    return replace(raw, owned=True)  # nobody else holds what was read from disk


def _from_frame(
    native: IntoDataFrame,
    suffix: str,
    target: TargetName | None,
    drop: Sequence[ColumnName],
    form: ReadingForm,
    groups: ColumnName | None,
) -> RawTable:
    """Without the row numbers that pandas writes beside the data by default, which would pass for a feature."""
    frame = nw.from_native(native, eager_only=True)
    if suffix == ".parquet":
        numbering = [name for name in frame.columns if name.startswith("__index_level_")]
    else:
        numbering = [name for name in frame.columns[:1] if name in ("", "Unnamed: 0")]
    if not numbering:
        return read_frame(native, target, drop, form.encoding, groups)
    raw = read_frame(frame.drop(numbering).to_native(), target, drop, form.encoding, groups)
    note = f"dropped a column of row numbers without a name: {listed(map(repr, numbering))}"
    return replace(raw, notes=(note, *raw.notes))


def _from_npz(path: Path, key: str, drop: Sequence[ColumnName], groups: ColumnName | None) -> RawTable:
    try:
        # NumPy leaves the file of a broken archive open, so it is opened here.
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            arrays = {name: file[name] for name in {"X", key, "feature_names", str(groups)} & set(file.files)}
            found = list(file.files)
    except (OSError, ValueError, TypeError, EOFError, BadZipFile) as error:
        raise DataError(
            f"{path} cannot be read ({error}); save plain arrays, with labels as strings: np.savez(path, X=X, y=y)"
        ) from error
    _need_arrays(path, key, found)
    names = [str(name) for name in arrays["feature_names"]] if "feature_names" in arrays else None
    return _grouped(read_pair(arrays["X"], arrays[key], drop, names), arrays, groups)


def _from_zarr(path: Path, key: str, drop: Sequence[ColumnName], groups: ColumnName | None) -> RawTable:
    try:
        import zarr
    except ImportError as error:
        raise DataError(f"{path} needs zarr to be read; pip install 'subridge[cluster]'") from error
    try:
        group = zarr.open_group(str(path), mode="r", use_consolidated=False)
    except (OSError, ValueError, KeyError) as error:
        raise DataError(f"{path} is not a zarr group ({error}); check the path") from error
    if group.attrs.get("schema") == KIND.schema:
        if groups is not None:
            raise DataError(f"groups {str(groups)!r} cannot be had from {path}: a store of features has no groups")
        return _from_store(path, drop)
    arrays = dict(group.arrays())
    _need_arrays(path, key, sorted(arrays))
    given = group.attrs.get("feature_names")
    names = [str(name) for name in given] if isinstance(given, list) else None
    held = {name: np.asarray(arrays[name][:]) for name in {"X", key, str(groups)} & set(arrays)}
    return _grouped(read_pair(held["X"], held[key], drop, names), held, groups)


def _grouped(raw: RawTable, arrays: Mapping[str, npt.NDArray[np.generic]], groups: ColumnName | None) -> RawTable:
    """With the groups of an array of labels, one for each row."""
    if groups is None:
        return raw
    labels = arrays.get(str(groups))
    if labels is None or labels.shape != (len(raw.X),):
        found = "no such array" if labels is None else f"shape {labels.shape}"
        raise DataError(f"groups {str(groups)!r} must be an array of {len(raw.X)} labels beside X, got {found}")
    return replace(raw, groups=group_numbers(labels.tolist()))


def _from_store(path: Path, drop: Sequence[ColumnName]) -> RawTable:
    """The training images of a features store; the names of its classes are the labels."""
    found = read_features(path)
    training, classes = ~found.is_test, np.array(found.class_names, dtype=object)
    X, labels, notes = found.features, found.labels, []
    if found.n_unreadable:
        notes.append(f"left out {counted(found.n_unreadable, 'image')} of the store that could not be read")
    if not training.all():
        notes.append(f"left out {(~training).sum():,} of {counted(len(X), 'image')} that the store keeps for testing")
        X, labels = X[training], labels[training]
    raw = read_pair(X, classes[labels], drop)
    return replace(raw, notes=(*notes, *raw.notes))


def _need_arrays(path: Path, key: str, found: Sequence[str]) -> None:
    absent = [name for name in ("X", key) if name not in found]
    if absent:
        raise DataError(
            f"{path} has no array {' and '.join(map(repr, absent))}, only {listed(found) or 'none'}; X holds the "
            "features, y the target, or name the target's array by target="
        )
