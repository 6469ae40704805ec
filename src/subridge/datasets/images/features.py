"""The store of extracted features: ``features`` (image, feature), ``usable``, ``labels`` and ``is_test`` (image,).

A store is a zarr group that is written once, as a whole. Checksums of chunks alone would not reveal a chunk that was
deleted, which reads as NaN, or a chunk that was copied from another place. Every batch of images therefore has a digest
in ``done``. The attributes hold digests of themselves, of the layouts of the arrays and of the labels. While an
extraction runs, its batches are in a `TaskStore` beside the store.
"""

import hashlib
import json
import os
import shutil
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from subridge import __version__
from subridge.arrays.types import BoolArray, FloatArray, IntArray, Json
from subridge.model.errors import StoreError
from subridge.store.tasks import Arrays, clear_errors, is_store, place_of

SCHEMA = "subridge-features"
_VERSION = 2
_ARRAYS = ("features", "usable", "done", "labels", "is_test")


class StoredFeatures(NamedTuple):
    """The contents of a store without the images that could not be read; labels are positions in `class_names`."""

    features: FloatArray
    labels: IntArray
    is_test: BoolArray
    class_names: tuple[str, ...]
    unreadable: IntArray  # positions of the images that are left out
    attributes: dict[str, Json]


def unfinished(path: Path) -> Path:
    """The directory of the batches while an extraction runs."""
    return path.with_name(f"{path.name}.unfinished")


def read_features(path: str | Path) -> StoredFeatures:
    """Read a store; `StoreError` if it is missing, not a store of features, damaged, or not finished."""
    place = place_of(path)
    zarr = _zarr()
    if not is_store(place) and os.path.exists(unfinished(place)):  # no error for too long a name
        raise StoreError(f"{path} is not finished; run the same extraction again to go on")
    try:
        group = zarr.open_group(place, mode="r", use_consolidated=False)
        attributes = dict(group.attrs)
    except Exception as error:  # another folder or altered text can raise anything
        raise StoreError(f"{path} is not a store of features, or damaged; check the path") from error
    schema = attributes.get("schema")
    version = attributes.get("schema_version")
    if (schema, version) != (SCHEMA, _VERSION):
        raise StoreError(
            f"{path} is a zarr group but not a store of features that this version reads (schema {schema}, version "
            f"{version}; it reads {SCHEMA}, {_VERSION}); check the path, or extract the features again"
        )
    try:
        arrays = {name: group[name][:] for name in _ARRAYS}
        is_sound = attributes == _sealed(attributes, group, arrays)
        is_sound &= arrays["done"].tolist() == _digests_of_batches(arrays, attributes)
    except Exception:  # altered bytes can raise anything
        is_sound = False
    if not is_sound:
        raise StoreError(f"store {path} is damaged or not finished; remove it, and extract the features again")
    del attributes["attributes_digest"]
    usable = arrays["usable"] == 1
    return StoredFeatures(
        features=arrays["features"][usable],
        labels=arrays["labels"][usable].astype(int),
        is_test=arrays["is_test"][usable] == 1,
        class_names=tuple(map(str, attributes.pop("class_names"))),
        unreadable=np.flatnonzero(~usable),
        attributes=attributes,
    )


def write_features(path: Path, arrays: Arrays, attributes: dict[str, Json], block: int) -> None:
    """Write a store under a temporary name and rename it. It has a digest for every `block` images.

    ``attributes["fingerprint"]`` is the identity of the extraction, ``attributes["class_names"]`` names the labels.
    """
    zarr = _zarr()
    from zarr.codecs import Crc32cCodec, ZstdCodec

    scratch = path.with_name(f".{path.name}.{uuid.uuid4().hex}.creating")
    about = {
        "subridge_version": __version__,
        **attributes,
        "schema": SCHEMA,
        "schema_version": _VERSION,
        "block": block,
    }
    digests = np.array(_digests_of_batches(arrays, about), dtype=np.uint64)
    with clear_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            group = zarr.create_group(store=scratch, zarr_format=3)
            for name, values in (arrays | {"done": digests}).items():
                group.create_array(
                    name,
                    data=values,
                    chunks=(min(block, len(values)), *values.shape[1:]),
                    dimension_names=("task",) if name == "done" else ("image", "feature")[: values.ndim],
                    compressors=(ZstdCodec(), Crc32cCodec()),
                )
            group.attrs.update(_sealed(about, group, arrays))
            scratch.rename(path)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


def _zarr() -> Any:
    try:
        import zarr
    except ImportError as error:
        raise StoreError(
            "a store of features needs zarr, which is not installed; pip install 'subridge[images]'"
        ) from error
    return zarr


def _sealed(attributes: Mapping[str, Json], group: Any, arrays: Arrays) -> dict[str, Json]:
    """Attributes with digests of themselves, and of the layouts of all arrays, the labels and the split."""
    layouts = {name: repr(group[name].metadata.to_dict()) for name in group.array_keys()}
    known = _digest(arrays, ("is_test", "labels"), slice(None))
    contents = _digest_of_text({"layouts": layouts, "values": str(known)})
    about = {**attributes, "contents_digest": contents}
    about.pop("attributes_digest", None)
    return {**about, "attributes_digest": _digest_of_text(about)}


def _digests_of_batches(arrays: Arrays, attributes: Mapping[str, Any]) -> list[int]:
    block = attributes["block"]
    return [
        _digest(arrays, ("features", "usable"), slice(start, start + block), str(attributes["fingerprint"]), number)
        for number, start in enumerate(range(0, len(arrays["usable"]), block))
    ]


def _digest(arrays: Arrays, names: Iterable[str], rows: slice, *context: str | int) -> int:
    """Digest of 64 bits of the context, and of names, types, shapes and contents of rows of arrays; never 0."""
    digest = hashlib.blake2b(repr(context).encode(), digest_size=8)
    for name in names:
        part = arrays[name][rows]
        digest.update(f"{name}{part.dtype.str}{part.shape}".encode() + part.tobytes())
    return int.from_bytes(digest.digest(), "big") or 1


def _digest_of_text(values: Mapping[str, Json]) -> str:
    return hashlib.blake2b(json.dumps(values, sort_keys=True).encode(), digest_size=8).hexdigest()
