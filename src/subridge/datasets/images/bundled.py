"""The set that comes with the package: a byte per entry, with an offset and a step per feature, to fit into a wheel."""

from importlib.resources import files
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt

from subridge.arrays.types import FloatArray
from subridge.datasets.images.feature_set import FeatureSet


def load_fashion_features() -> FeatureSet:
    """Fashion-MNIST seen by EfficientNet-lite0: 4,000 training and 2,000 test images, 10 classes.

    The first 4,000 training and the first 2,000 test images of Fashion-MNIST (Xiao et al. 2017, MIT licence), enlarged
    to 128 pixels, as pooled activations of EfficientNet-lite0 (Tan & Le 2019, weights under Apache-2.0). Of its 1,280
    features those that hardly vary are left out. Entries are stored in one byte each;
    ``tools/make_fashion_features.py`` made the file and states the error of that.

    Returns
    -------
    FeatureSet
        With about a thousand features.

    See Also
    --------
    load_set : Larger sets by name.

    Examples
    --------
    >>> import subridge as sr
    >>> data = sr.datasets.load_fashion_features()
    >>> len(data.X), len(data.X_test), len(data.class_names)
    (4000, 2000, 10)
    """
    with files("subridge.datasets").joinpath("data/fashion_lite0.npz").open("rb") as file:
        return read_quantised(file, "fashion-mnist x efficientnet-lite0")


def read_quantised(file: Path | IO[bytes], name: str) -> FeatureSet:
    """Read a set of which every entry is a byte, as ``tools/make_fashion_features.py`` writes it."""
    with np.load(file) as table:
        X, X_test = (restored(table[part], table["offset"], table["scale"]) for part in ("train", "test"))
        y, y_test = (table[part].astype(np.int64) for part in ("train_labels", "test_labels"))
        names = tuple(str(word) for word in table["class_names"])
        attributes = dict(str(line).split("=", 1) for line in table["attributes"])
    return FeatureSet(X, y, X_test, y_test, names, name, attributes)


def restored(
    levels: npt.NDArray[np.uint8], offset: npt.NDArray[np.float32], scale: npt.NDArray[np.float32]
) -> FloatArray:
    """Features from their bytes.

    >>> restored(np.array([[0, 255]], dtype=np.uint8), np.float32([1]), np.float32([0.5]))
    array([[  1. , 128.5]])
    """
    # Bytes are stored by column, which compresses better; rows are what is gathered and hashed later.
    return levels.astype(np.float64, order="C") * scale.astype(np.float64) + offset.astype(np.float64)
