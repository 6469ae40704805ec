"""The store of extracted features: ``features`` (image, feature), ``usable``, ``labels`` and ``is_test`` (image,).

A task is a batch of images, of which it writes ``features`` and ``usable``; the others are known beforehand.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from subridge import __version__
from subridge.arrays.types import Array, ArrayLike, BoolArray, FloatArray, IntArray, Json
from subridge.model.errors import StoreError
from subridge.store.resumable import Contents, Kind, ResumableStore, Variable

_FILLED = ("features", "usable")

KIND = Kind(
    schema="subridge-features",
    version=2,
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
        self._batch = self._store.block
        if damaged := self._store.gather(_FILLED).damaged:
            self._store.forget(damaged)
        version = self._store.attributes["subridge_version"]
        if version != __version__ and self._store.missing():
            raise StoreError(
                f"store {path} was begun by subridge {version}, this is {__version__}: their features may differ; "
                f"{KIND.remedy}, or finish it with that version"
            )

    def missing(self) -> list[range]:
        """Images of the batches that are not done."""
        return [self._images(number) for number in self._store.missing()]

    def claimed(self) -> Iterator[range]:
        """The same, one after the other, until all are done; what another extraction works on is left to it."""
        try:
            yield from (self._images(number) for number in self._store.until_done())
        finally:
            self._store.release()

    def _images(self, number: int) -> range:
        return range(number * self._batch, min((number + 1) * self._batch, self._n_images))

    def write(self, images: range, features: npt.NDArray[np.float32], usable: npt.NDArray[np.uint8]) -> None:
        """Write one batch."""
        self._store.write(images.start // self._batch, {"features": features, "usable": usable})

    def unusable(self) -> IntArray:
        """Positions of images that could not be read."""
        return np.flatnonzero(_sound(self._store)["usable"] == 0)


def _sound(store: ResumableStore) -> dict[str, Array]:
    """What tasks wrote, or an error when something is missing or damaged."""
    look = store.gather(_FILLED)
    if look.missing:
        raise StoreError(
            f"{store.path} is not finished, {len(look.missing)} batches are missing; run the same extraction again to "
            "go on"
        )
    if look.damaged:
        raise StoreError(
            f"{store.path} is damaged in {len(look.damaged)} of its batches; run the same extraction again to mend it"
        )
    return look.arrays


def read_features(path: str | Path) -> StoredFeatures:
    """Read a finished store; `StoreError` when it is no such store, or not finished."""
    store = ResumableStore.open(path, KIND)
    arrays = _sound(store) | store.read(["labels", "is_test"])
    usable = arrays["usable"] == 1
    features, labels, is_test = (arrays[name][usable] for name in ("features", "labels", "is_test"))
    names = store.attributes.pop("class_names")
    assert isinstance(names, list)
    rest = (tuple(map(str, names)), int((~usable).sum()), store.attributes)
    return StoredFeatures(features, labels.astype(np.int64), is_test == 1, *rest)
