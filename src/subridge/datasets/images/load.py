"""Features of images as sets for training and test, by the name or the path of where they are kept."""

from pathlib import Path

import numpy as np

from subridge.datasets.images.bundled import load_fashion_features
from subridge.datasets.images.cache import read_cached
from subridge.datasets.images.feature_set import FeatureSet
from subridge.datasets.images.published import COLLECTIONS
from subridge.model.errors import DataError
from subridge.model.fingerprint import stream
from subridge.store.features import StoredFeatures, read_features

# Share of the images that is held out where the folder has no split of its own.
_TEST_SHARE = 0.3


def load_set(name: str | Path) -> FeatureSet:
    """Load a set by name or path.

    Parameters
    ----------
    name : {"bundled", "cifar10", "fashion"} or path
        "cifar10" is CIFAR-10 × EfficientNet-lite0, "fashion" is Fashion-MNIST × AugNet ResNet-50; both are made by
        ``make data``. A path leads to a store of `subridge features`.

    Returns
    -------
    FeatureSet
        Without features that hardly vary.

    Raises
    ------
    DataError
        If there is no such set, or it has not been made yet.

    See Also
    --------
    load_store : All features of a store.
    load_fashion_features : The set "bundled".

    Examples
    --------
    >>> load_set("bundled").class_names[9]
    'ankle boot'
    """
    if name == "bundled":
        return load_fashion_features()
    if name in COLLECTIONS:
        title = f"{name} x {COLLECTIONS[str(name)].extraction.network}"
        return _feature_set(read_cached(str(name)), title, seed=0).without_constant_features()
    if Path(name).is_dir():
        return load_store(name).without_constant_features()
    known = ", ".join(COLLECTIONS)
    raise DataError(f"data must be bundled, {known} or the path of a features store, got {str(name)!r}")


def load_store(path: str | Path, *, seed: int = 0) -> FeatureSet:
    """Load the features that `extract_folder` put into a store.

    Parameters
    ----------
    path : path
        The store, a zarr directory.
    seed : int
        Holds out three of ten images at random where the folder had no test images.

    Returns
    -------
    FeatureSet
        With all features, also those that hardly vary.

    Raises
    ------
    StoreError
        If there is no such store, or it is not finished.

    See Also
    --------
    extract_folder : Make a store.

    Examples
    --------
    >>> X, y, X_test, y_test = load_store("photos.zarr")  # doctest: +SKIP
    >>> load_store("no such store.zarr")
    Traceback (most recent call last):
    subridge.model.errors.StoreError: ...
    """
    return _feature_set(read_features(path), Path(path).stem, seed)


def _feature_set(stored: StoredFeatures, name: str, seed: int) -> FeatureSet:
    is_test = stored.is_test
    if not is_test.any():
        is_test = stream(seed).permutation(len(is_test)) < _TEST_SHARE * len(is_test)
    X, X_test = (stored.features[part].astype(np.float64) for part in (~is_test, is_test))
    y, y_test = stored.labels[~is_test], stored.labels[is_test]
    return FeatureSet(X, y, X_test, y_test, stored.class_names, name, stored.attributes)
