"""The store of extracted features: ``features`` (image, feature), ``usable``, ``labels`` and ``is_test`` (image,).

A store is a zarr group. A task is a batch of images: it owns one chunk of ``features`` and of ``usable``, and an entry
of ``done``, which is written last and holds a digest of the other two. Checksums of chunks alone would not tell a chunk
that was deleted, which reads as NaN, or one that was copied from another place.
"""

import hashlib
import json
import shutil
import uuid
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from subridge import __version__
from subridge.arrays.types import ArrayLike, BoolArray, FloatArray, IntArray, Json
from subridge.model.errors import DamagedStoreWarning, StoreError
from subridge.model.wording import listed
from subridge.store.tasks import Arrays, clear_errors, is_store, place_of

SCHEMA, _VERSION = "subridge-features", 2
_FILLED, _KNOWN = ("features", "usable"), ("labels", "is_test")


class StoredFeatures(NamedTuple):
    """What a finished store holds, without the images that could not be read; labels are places in class_names."""

    features: FloatArray
    labels: IntArray
    is_test: BoolArray
    class_names: tuple[str, ...]
    n_unreadable: int
    attributes: dict[str, Json]


class FeatureStore:
    """An open store that an extraction fills; `read_features` reads a finished one.

    ``attributes["fingerprint"]`` is the identity of the extraction, ``attributes["class_names"]`` names the labels. A
    new store has `batch` images per task, an existing one keeps its own number.
    """

    def __init__(
        self, path: Path, labels: IntArray, is_test: ArrayLike, n_features: int, attributes: dict[str, Json], batch: int
    ) -> None:
        known: Arrays = {"labels": np.asarray(labels), "is_test": np.asarray(is_test, dtype=np.uint8)}
        self._path = place_of(path)
        if not is_store(self._path):
            with clear_errors(self._path):
                _create(self._path, known, n_features, attributes, batch)
        self._group = _opened(self._path, "r+")
        if self._group.attrs["fingerprint"] != attributes["fingerprint"]:
            raise StoreError(
                f"store {path} belongs to other images, another network or another preprocessing; give another --out, "
                "or remove the old one"
            )
        for name in _KNOWN:
            if not np.array_equal(_readable(self._group, name), known[name]):
                warnings.warn(f"{name} of store {path} are damaged; they are written again", DamagedStoreWarning, 2)
                self._group[name][...] = known[name]
        if damaged := _sound(self._group)[1]:
            words = f"store {path} is damaged in batches {listed(damaged)}; they are computed again"
            warnings.warn(words, DamagedStoreWarning, stacklevel=2)
            self._group["done"][damaged] = np.uint64(0)
        version = self._group.attrs["subridge_version"]
        if version != __version__ and self.missing():
            raise StoreError(
                f"store {path} was begun by subridge {version}, this is {__version__}: their features may differ; give "
                "another --out, or finish it with that version"
            )

    def missing(self) -> list[range]:
        """Images of the batches that are not done."""
        n, block = self._group["usable"].shape[0], self._group.attrs["block"]
        done = enumerate(_readable(self._group, "done"))
        return [range(b * block, min((b + 1) * block, n)) for b, digest in done if not digest]

    def claimed(self) -> Iterator[range]:
        """The same, one after the other; what another extraction has finished meanwhile is left out."""
        while missing := self.missing():
            yield from (images for images in missing if images in self.missing())

    def write(self, images: range, features: npt.NDArray[np.float32], usable: npt.NDArray[np.uint8]) -> None:
        """Write one batch."""
        values: Arrays = {"features": features, "usable": usable}
        number = images.start // self._group.attrs["block"]
        with clear_errors(self._path):
            for name in _FILLED:
                self._group[name][images.start : images.stop] = values[name]
            self._group["done"][number] = np.uint64(_digest(values, self._group.attrs["fingerprint"], number))

    def unusable(self) -> IntArray:
        """Positions of images that could not be read."""
        return np.flatnonzero(_finished(self._path, self._group)["usable"] == 0)


def read_features(path: str | Path) -> StoredFeatures:
    """Read a finished store; `StoreError` when it is no such store, damaged, or not finished."""
    group = _opened(place_of(path), "r")
    arrays, attributes = _finished(place_of(path), group), dict(group.attrs)
    usable = arrays["usable"] == 1
    features, labels, is_test = (arrays[name][usable] for name in ("features", *_KNOWN))
    names = tuple(map(str, attributes.pop("class_names")))
    return StoredFeatures(features, labels.astype(np.int64), is_test == 1, names, int((~usable).sum()), attributes)


def _create(path: Path, known: Arrays, n_features: int, attributes: dict[str, Json], block: int) -> None:
    """Lay out an empty store beside its place and move it there; when another run was faster, its store stays."""
    import zarr
    from zarr.codecs import Crc32cCodec, ZstdCodec

    n, scratch = len(known["labels"]), path.with_name(f".{path.name}.{uuid.uuid4().hex}.creating")
    layouts: list[tuple[str, tuple[str, ...], tuple[int, ...], int, Any, float]] = [
        ("features", ("image", "feature"), (n, n_features), block, "float32", np.nan),
        ("usable", ("image",), (n,), block, "uint8", 0),
        ("done", ("task",), (-(-n // block),), 1, "uint64", 0),
        *((name, ("image",), (n,), n, values.dtype, 0) for name, values in known.items()),
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        group: Any = zarr.create_group(store=str(scratch), zarr_format=3)
        for name, dimensions, shape, chunk, dtype, empty in layouts:
            group.create_array(
                name,
                shape=shape,
                chunks=(chunk, *shape[1:]),
                dtype=dtype,
                fill_value=empty,
                dimension_names=dimensions,
                compressors=(ZstdCodec(), Crc32cCodec()),
            )
        for name, values in known.items():
            group[name][...] = values
        about = {"subridge_version": __version__, **attributes, "schema": SCHEMA, "schema_version": _VERSION}
        about |= {"block": block, "n_rows": n, "known_beforehand": list(_KNOWN)}
        about["contents_digest"] = _digest_of_contents(group, known)
        group.attrs.update({**about, "attributes_digest": _digest_of_text(about)})
        try:
            scratch.rename(path)
        except OSError:
            if not is_store(path):
                raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _opened(path: Path, mode: Any) -> Any:
    """The group of a store that says of itself what it is."""
    try:
        import zarr
    except ImportError as error:
        raise StoreError(
            "a store of features needs zarr, which is not installed; pip install 'subridge[images]'"
        ) from error
    try:
        group = zarr.open_group(str(path), mode=mode, use_consolidated=False)
        found = dict(group.attrs)
    except Exception as error:  # whatever reading another folder, or altered text, can raise
        raise StoreError(f"{path} is not a store of features, or damaged; check the path") from error
    if found.get("schema") != SCHEMA:
        raise StoreError(f"{path} is a zarr group but not a store of features; check the path")
    if found.get("schema_version") != _VERSION:
        raise StoreError(
            f"store {path} has schema version {found.get('schema_version')} (written by subridge "
            f"{found.get('subridge_version')}), this version reads {_VERSION}; extract the features again"
        )
    digest = found.pop("attributes_digest", None)
    if _digest_of_text(found) != digest:
        raise StoreError(f"the description of store {path} is damaged; remove it, and extract the features again")
    return group


def _finished(path: Path, group: Any) -> Arrays:
    """All arrays of a store, or an error when something is missing or damaged."""
    arrays, damaged, n_missing = _sound(group)
    again = "run the same extraction again"
    if n_missing:
        raise StoreError(f"{path} is not finished, {n_missing} batches are missing; {again} to go on")
    if damaged:
        raise StoreError(f"{path} is damaged in {len(damaged)} of its batches; {again} to mend it")
    known = {name: _readable(group, name) for name in _KNOWN}
    if _digest_of_contents(group, known) != group.attrs["contents_digest"]:
        raise StoreError(f"the description of store {path} is damaged; {again} to mend it")
    return arrays | known


def _sound(group: Any) -> tuple[Arrays, list[int], int]:
    """What batches wrote, the numbers of those that are not what was written, and how many are missing."""
    block, done, damaged = group.attrs["block"], _readable(group, "done").tolist(), []
    parts = []
    for number, digest in enumerate(done):
        rows = slice(number * block, (number + 1) * block)
        parts.append({name: _readable(group, name, rows) for name in _FILLED})
        if digest and _digest(parts[-1], group.attrs["fingerprint"], number) != digest:
            damaged.append(number)
    return {name: np.concatenate([part[name] for part in parts]) for name in _FILLED}, damaged, done.count(0)


def _readable(group: Any, name: str, rows: slice = slice(None)) -> npt.NDArray[Any]:
    """Rows of an array, zeros where a chunk cannot be decoded: no digest is of that, and such a batch is not done."""
    try:
        return np.asarray(group[name][rows])
    except OSError:
        raise
    except Exception:  # whatever decoding altered bytes can raise
        return np.zeros(group[name].shape, group[name].dtype)[rows]


def _digest(values: Mapping[str, npt.NDArray[Any]], *context: str | int) -> int:
    """64 bits of names, types, shapes and contents of arrays, and of what they belong to; never 0."""
    digest = hashlib.blake2b(repr(context).encode(), digest_size=8)
    for name in sorted(values):
        array = np.ascontiguousarray(values[name])
        digest.update(f"{name}{array.dtype.str}{array.shape}".encode() + array.tobytes())
    return int.from_bytes(digest.digest(), "big") or 1


def _digest_of_contents(group: Any, known: Arrays) -> str:
    """Digest of the layout of every array, and of the arrays that are known before any batch."""
    layouts: Json = {name: repr(group[name].metadata.to_dict()) for name in sorted(group.array_keys())}
    return _digest_of_text({"layouts": layouts, "values": str(_digest(known))})


def _digest_of_text(values: Mapping[str, Json]) -> str:
    return hashlib.blake2b(json.dumps(values, sort_keys=True).encode(), digest_size=8).hexdigest()
