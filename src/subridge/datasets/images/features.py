"""The store of extracted features: ``features`` (image, feature), ``usable``, ``labels`` and ``is_test`` (image,).

A store is a zarr group that is written once, whole. Checksums of chunks alone would not tell a chunk that was deleted,
which reads as NaN, or one that was copied from another place. Every batch of images therefore has a digest in ``done``,
and so do the attributes, the layouts of the arrays and the labels. While an extraction runs, its batches are in a
`TaskStore` beside the place of the store.
"""

import hashlib
import json
import shutil
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from subridge import __version__
from subridge.arrays.types import BoolArray, FloatArray, IntArray, Json
from subridge.model.errors import StoreError
from subridge.store.tasks import Arrays, clear_errors, is_store, place_of

SCHEMA, _VERSION = "subridge-features", 2
_KNOWN = ("labels", "is_test")
_ARRAYS = ("features", "usable", "done", *_KNOWN)


class StoredFeatures(NamedTuple):
    """What a store holds, without the images that could not be read; labels are places in class_names."""

    features: FloatArray
    labels: IntArray
    is_test: BoolArray
    class_names: tuple[str, ...]
    unreadable: IntArray  # positions of the images that are left out
    attributes: dict[str, Json]


def unfinished(path: Path) -> Path:
    """Where the batches are while an extraction runs."""
    return path.with_name(f"{path.name}.unfinished")


def read_features(path: str | Path) -> StoredFeatures:
    """Read a store; `StoreError` when it is no such store, damaged, or not finished."""
    place, zarr = place_of(path), _zarr()
    with clear_errors(place):
        if unfinished(place).exists() and not is_store(place):
            raise StoreError(f"{path} is not finished; run the same extraction again to go on")
    try:
        group = zarr.open_group(place, mode="r", use_consolidated=False)
        attributes = dict(group.attrs)
    except Exception as error:  # whatever reading another folder, or altered text, can raise
        raise StoreError(f"{path} is not a store of features, or damaged; check the path") from error
    schema, version = attributes.get("schema"), attributes.get("schema_version")
    if (schema, version) != (SCHEMA, _VERSION):
        raise StoreError(
            f"{path} is a zarr group but not a store of features that this version reads (schema {schema}, version "
            f"{version}; it reads {SCHEMA}, {_VERSION}); check the path, or extract the features again"
        )
    try:
        arrays = {name: group[name][:] for name in _ARRAYS}
        written = attributes.pop("attributes_digest"), attributes["contents_digest"], arrays["done"].tolist()
        digests = _digests_of_batches(arrays, attributes["fingerprint"], attributes["block"])
        is_sound = written == (_digest_of_text(attributes), _digest_of_contents(group, arrays), digests)
    except Exception:  # whatever decoding altered bytes can raise
        is_sound = False
    if not is_sound:
        raise StoreError(f"store {path} is damaged or not finished; remove it, and extract the features again")
    usable, names = arrays["usable"] == 1, tuple(map(str, attributes.pop("class_names")))
    features, labels, is_test = (arrays[name][usable] for name in ("features", *_KNOWN))
    return StoredFeatures(features, labels.astype(np.int64), is_test == 1, names, np.flatnonzero(~usable), attributes)


def write_features(path: Path, arrays: Arrays, attributes: dict[str, Json], block: int) -> None:
    """Write a store beside its place and move it there, with a digest for every `block` images.

    ``attributes["fingerprint"]`` is the identity of the extraction, ``attributes["class_names"]`` names the labels.
    """
    zarr = _zarr()
    from zarr.codecs import Crc32cCodec, ZstdCodec

    scratch, fingerprint = path.with_name(f".{path.name}.{uuid.uuid4().hex}.creating"), attributes["fingerprint"]
    digests = np.array(_digests_of_batches(arrays, str(fingerprint), block), dtype=np.uint64)
    with clear_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            group = zarr.create_group(store=scratch, zarr_format=3)
            for name, values in (arrays | {"done": digests}).items():
                chunks = (min(block, len(values)), *values.shape[1:])
                names = ("image", "feature")[: values.ndim] if name != "done" else ("task",)
                codecs = ZstdCodec(), Crc32cCodec()
                group.create_array(name, data=values, chunks=chunks, dimension_names=names, compressors=codecs)
            about: dict[str, Json] = {"subridge_version": __version__, **attributes, "schema": SCHEMA}
            about |= {"schema_version": _VERSION, "block": block, "contents_digest": _digest_of_contents(group, arrays)}
            group.attrs.update({**about, "attributes_digest": _digest_of_text(about)})
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


def _digests_of_batches(arrays: Arrays, fingerprint: str, block: int) -> list[int]:
    starts = range(0, len(arrays["usable"]), block)
    batches = ({name: arrays[name][start : start + block] for name in ("features", "usable")} for start in starts)
    return [_digest(batch, fingerprint, number) for number, batch in enumerate(batches)]


def _digest(values: Mapping[str, npt.NDArray[Any]], *context: str | int) -> int:
    """64 bits of names, types, shapes and contents of arrays, and of what they belong to; never 0."""
    digest = hashlib.blake2b(repr(context).encode(), digest_size=8)
    for name in sorted(values):
        array = np.ascontiguousarray(values[name])
        digest.update(f"{name}{array.dtype.str}{array.shape}".encode() + array.tobytes())
    return int.from_bytes(digest.digest(), "big") or 1


def _digest_of_contents(group: Any, arrays: Arrays) -> str:
    """Digest of the layout of every array, and of the arrays that are known before any batch."""
    layouts: Json = {name: repr(group[name].metadata.to_dict()) for name in sorted(group.array_keys())}
    known = _digest({name: arrays[name] for name in _KNOWN})
    return _digest_of_text({"layouts": layouts, "values": str(known)})


def _digest_of_text(values: Mapping[str, Json]) -> str:
    return hashlib.blake2b(json.dumps(values, sort_keys=True).encode(), digest_size=8).hexdigest()
