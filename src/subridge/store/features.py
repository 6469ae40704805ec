"""The store of extracted features: ``features`` (image, feature), ``usable``, ``labels`` and ``is_test`` (image,).

A task is a batch of images, of which it writes ``features`` and ``usable``; the others are known beforehand.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from subridge.arrays.types import ArrayLike, BoolArray, FloatArray, IntArray, Json
from subridge.spec.errors import StoreError
from subridge.store.resumable import Contents, Kind, ResumableStore, Variable

KIND = Kind(
    schema="subridge-features",
    version=1,
    holds="features",
    another="other images, another network or another preprocessing",
    remedy="give another --out",
    extra="images",
)


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
        n = len(labels)
        contents = Contents(
            {
                "features": Variable(("image", "feature"), (n, n_features), "float32"),
                "usable": Variable(("image",), (n,), "uint8", 0),
            },
            {"labels": (("image",), np.asarray(labels)), "is_test": (("image",), np.asarray(is_test, dtype=np.uint8))},
            attributes,
        )
        self._n_images = n
        self._store = ResumableStore.open_or_create(path, KIND, contents, str(attributes["fingerprint"]), batch)
        self._batch = self._store.block_of("features")

    def missing(self) -> list[range]:
        """Images of the batches that are not done."""
        starts = [number * self._batch for number in self._store.missing()]
        return [range(start, min(start + self._batch, self._n_images)) for start in starts]

    def write(self, images: range, features: npt.NDArray[np.float32], usable: npt.NDArray[np.uint8]) -> None:
        """Write one batch."""
        self._store.write(images.start // self._batch, {"features": features, "usable": usable})

    def unusable(self) -> IntArray:
        """Positions of images that could not be read."""
        return np.flatnonzero(self._store.read(["usable"])["usable"] == 0)


def read_features(path: str | Path) -> StoredFeatures:
    """Read a finished store; `StoreError` when it is no such store, or not finished."""
    store = ResumableStore.open(path, KIND)
    if left := len(store.missing()):
        raise StoreError(f"{path} is not finished, {left} batches are missing; run the same extraction again to go on")
    arrays = store.read(["features", "labels", "is_test", "usable"])
    usable = arrays["usable"] == 1
    features, labels, is_test = (arrays[name][usable] for name in ("features", "labels", "is_test"))
    names = store.attributes.pop("class_names")
    assert isinstance(names, list)
    rest = (tuple(map(str, names)), int((~usable).sum()), store.attributes)
    return StoredFeatures(features, labels.astype(np.int64), is_test == 1, *rest)
