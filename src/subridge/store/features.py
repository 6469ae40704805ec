"""A zarr directory of features that is filled batch by batch; an interrupted extraction goes on.

Layout, version 1: ``features`` (image, feature), ``labels``, ``is_test`` and ``usable`` (image,), ``done`` (batch,). A
batch owns one chunk of features and of ``usable``, and its flag in ``done``, which is written last.
"""

import shutil
import uuid
from pathlib import Path
from typing import Any

import numpy as np

from subridge.arrays.types import FloatArray, IntArray
from subridge.spec.errors import StoreError

SCHEMA = "subridge-features"
SCHEMA_VERSION = 1


class FeatureStore:
    """An open store; build one by `open_or_create`, read one by `read_features`."""

    def __init__(self, group: Any) -> None:
        self._group = group
        self.batch = int(group.attrs["batch"])

    @classmethod
    def open_or_create(
        cls, path: Path, labels: IntArray, is_test: Any, n_features: int, attributes: dict[str, Any], batch: int
    ) -> "FeatureStore":
        """Open the store of this extraction, or create it.

        Parameters
        ----------
        path : path
        labels, is_test : ndarray, shape (n_images,)
        n_features : int
        attributes : dict
            JSON values; ``fingerprint`` is the identity of the extraction.
        batch : int
            Images per batch, of a new store.
        """
        zarr = _zarr()
        if not path.exists():
            _create(zarr, path, labels, is_test, n_features, attributes, batch)
        group = _open(zarr, path)
        if group.attrs.get("fingerprint") != attributes["fingerprint"]:
            raise StoreError(
                f"{path} holds features of other images, another network or another preprocessing; give another --out, "
                "or remove it"
            )
        return cls(group)

    def missing(self) -> list[range]:
        """Images of the batches that are not done."""
        n = self._group["features"].shape[0]
        open_batches = np.flatnonzero(self._group["done"][:] == 0)
        return [range(int(b) * self.batch, min((int(b) + 1) * self.batch, n)) for b in open_batches]

    def write(self, images: range, features: FloatArray, usable: Any) -> None:
        """Write one batch, then its flag."""
        self._group["features"][images.start : images.stop] = features
        self._group["usable"][images.start : images.stop] = usable
        self._group["done"][images.start // self.batch] = 1

    def unusable(self) -> IntArray:
        """Positions of images that could not be read."""
        return np.flatnonzero(self._group["usable"][:] == 0)


def read_features(path: str | Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Arrays and attributes of a finished store; unreadable images are left out.

    Raises
    ------
    StoreError
        When it is no such store, or not finished.
    """
    group = _open(_zarr(), Path(path))
    left = int((group["done"][:] == 0).sum())
    if left:
        raise StoreError(f"{path} is not finished, {left} batches are missing; run the same extraction again to go on")
    usable = group["usable"][:] == 1
    arrays = {name: np.asarray(group[name][:])[usable] for name in ("features", "labels", "is_test")}
    return arrays, dict(group.attrs)


def _create(
    zarr: Any, path: Path, labels: IntArray, is_test: Any, n_features: int, attributes: dict[str, Any], batch: int
) -> None:
    """Build the empty store beside its place and move it there: a run killed meanwhile leaves no half store."""
    from subridge import __version__

    path.parent.mkdir(parents=True, exist_ok=True)
    scratch, n = path.with_name(f".{path.name}.{uuid.uuid4().hex}"), len(labels)
    try:
        group = zarr.create_group(store=str(scratch), zarr_format=3)
        head = {"schema": SCHEMA, "schema_version": SCHEMA_VERSION, "batch": batch, "subridge_version": __version__}
        group.attrs.update(attributes | head)
        features = {"shape": (n, n_features), "chunks": (batch, n_features), "dtype": "float32"}
        group.create_array("features", **features, fill_value=np.nan, dimension_names=("image", "feature"))
        group.create_array(
            "usable", shape=(n,), chunks=(batch,), dtype="uint8", fill_value=0, dimension_names=("image",)
        )
        group.create_array("labels", data=np.asarray(labels), dimension_names=("image",))
        group.create_array("is_test", data=np.asarray(is_test, dtype=np.uint8), dimension_names=("image",))
        group.create_array(
            "done", shape=(-(-n // batch),), chunks=(1,), dtype="uint8", fill_value=0, dimension_names=("batch",)
        )
        scratch.rename(path)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _open(zarr: Any, path: Path) -> Any:
    try:
        group = zarr.open_group(str(path), mode="r+", use_consolidated=False)
    except (FileNotFoundError, FileExistsError, NotADirectoryError, ValueError, KeyError) as error:
        raise StoreError(f"{path} is not a store of features; make one with `subridge features`") from error
    if group.attrs.get("schema") != SCHEMA or group.attrs.get("schema_version") != SCHEMA_VERSION:
        raise StoreError(f"{path} is not a store of features of version {SCHEMA_VERSION}")
    return group


def _zarr() -> Any:
    try:
        import zarr
    except ImportError as error:
        raise StoreError("a store of features needs zarr; pip install 'subridge[images]'") from error
    return zarr
