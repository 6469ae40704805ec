"""Labels of classes as one-hot targets with weights, and numbers of classes as labels."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

import numpy as np
from sklearn.utils.class_weight import compute_sample_weight

from subridge.arrays.namespace import device_of, is_numpy, like, namespace_of, to_numpy
from subridge.arrays.types import Array, ArrayLike, FloatArray
from subridge.estimators.inputs import Features, Labels, row_weights
from subridge.estimators.members import example_of

ClassWeight: TypeAlias = Mapping[int, float] | Mapping[str, float] | Literal["balanced"] | None


def one_hot(features: Features, labels: Labels, classes: Labels) -> Array:
    """One-hot targets beside the features, shape (C, n)."""
    return like((classes[:, None] == labels[None, :]).astype(np.float64), example_of(features))


def class_row_weights(
    features: Features, labels: Labels, sample_weight: ArrayLike | None, class_weight: ClassWeight
) -> Array | None:
    """Weights of the rows with those of their classes, shape (n,)."""
    weights = sample_weight
    if class_weight is not None:
        by_class: FloatArray = compute_sample_weight(class_weight, labels)
        weights = by_class if sample_weight is None else by_class * to_numpy(sample_weight)
    return row_weights(weights, features)


def classes_at(numbers: Array, classes: Labels) -> Labels:
    """The classes of given numbers; a tensor where these are one and the classes are numbers."""
    if is_numpy(numbers) or classes.dtype.kind not in "iufb":
        return classes[to_numpy(numbers).astype(np.intp)]
    xp = namespace_of(numbers)
    return xp.take(xp.asarray(classes, device=device_of(numbers)), numbers, axis=0)
