"""Fashion-MNIST from the four published IDX files, as in Debian's package dataset-fashion-mnist."""

import gzip
from pathlib import Path

import numpy as np

from subridge.arrays.types import IntArray
from subridge.datasets.images.extraction import Extraction
from subridge.datasets.images.published.collection import Collection, Part, Pixels, find_file

_STEMS = {"train": "train", "test": "t10k"}


def read_fashion_mnist(folder: Path, part: Part) -> tuple[Pixels, IntArray]:
    """Grey images (n, 28, 28) and labels."""
    images, labels = (_unpacked(find_file(folder, f"{_STEMS[part]}-{kind}*ubyte*")) for kind in ("images", "labels"))
    # IDX: a head of 16 bytes before images, 8 before labels.
    pixels = np.frombuffer(images, np.uint8, offset=16).reshape(-1, 28, 28)
    return pixels, np.frombuffer(labels, np.uint8, offset=8).astype(np.int64)


def _unpacked(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


FASHION = Collection(
    "Fashion-MNIST (Zalando SE, MIT licence; Debian package dataset-fashion-mnist)",
    read_fashion_mnist,
    ("T-shirt/top", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot"),
    Extraction("augnet-resnet50", size=96),
    (60_000, 10_000),
    (
        "2e487a6c89124f78f2d7521542223cafe96f7123c3ca13d447772ac6ecbb3012",
        "c867c93ff95360594e8ec3287995350b824dd110b11595c0e13d5423f621867a",
    ),
)
