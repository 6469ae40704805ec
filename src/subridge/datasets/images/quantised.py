"""Features as one byte each: per feature an offset and a step, so that a whole set fits into a wheel."""

from pathlib import Path
from typing import Any

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.datasets.images.feature_set import FeatureSet

_LEVELS = 255


def write_quantised(path: Path, data: FeatureSet) -> dict[str, float]:
    """Write a feature set with one byte per entry.

    Parameters
    ----------
    path : path
        A compressed .npz.
    data : FeatureSet

    Returns
    -------
    dict
        The error made, relative to each feature's standard deviation in training: ``rms`` over all entries, ``worst``
        feature's root mean square.
    """
    both = np.concatenate([data.X, data.X_test])
    offset, top = both.min(axis=0), both.max(axis=0)
    scale = np.maximum(top - offset, np.finfo(np.float32).tiny) / _LEVELS
    offset, scale = offset.astype(np.float32), scale.astype(np.float32)
    train, test = (
        np.round((part - offset) / scale).clip(0, _LEVELS).astype(np.uint8) for part in (data.X, data.X_test)
    )
    np.savez_compressed(
        path,
        train=train,
        test=test,
        offset=offset,
        scale=scale,
        train_labels=data.y.astype(np.uint8),
        test_labels=data.y_test.astype(np.uint8),
        class_names=np.array(data.class_names),
        attributes=np.array([f"{key}={value}" for key, value in data.attributes.items()]),
    )
    relative = (restored(train, offset, scale) - data.X) / data.X.std(axis=0)
    by_feature = np.sqrt((relative**2).mean(axis=0))
    return {"rms": float(np.sqrt((relative**2).mean())), "worst": float(by_feature.max())}


def read_quantised(file: Any, name: str) -> FeatureSet:
    """Read what `write_quantised` wrote, from a path or an open binary file."""
    with np.load(file) as table:
        parts = [restored(table[part], table["offset"], table["scale"]) for part in ("train", "test")]
        labels = [table[part].astype(np.int64) for part in ("train_labels", "test_labels")]
        names = tuple(str(word) for word in table["class_names"])
        attributes = dict(str(line).split("=", 1) for line in table["attributes"])
    return FeatureSet(parts[0], labels[0], parts[1], labels[1], names, name, attributes)


def restored(levels: Any, offset: Any, scale: Any) -> FloatArray:
    """Features from their bytes.

    Examples
    --------
    >>> restored(np.array([[0, 255]], dtype=np.uint8), np.float32(1), np.float32(0.5))
    array([[  1. , 128.5]])
    """
    # Bytes are stored by column, which compresses better; rows are what is gathered and hashed later.
    return levels.astype(np.float64, order="C") * np.float64(scale) + np.float64(offset)
