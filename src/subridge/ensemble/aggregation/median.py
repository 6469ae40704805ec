"""The median of the members."""

from typing import ClassVar

from subridge.arrays.namespace import namespace_of
from subridge.arrays.types import Array, FloatArray
from subridge.model.aggregation import Aggregation, Loss, squared_error


class Median(Aggregation):
    """The median over the members, the mean of the middle two for even k.

    Examples
    --------
    >>> import numpy as np
    >>> Median().combine(np.array([1.0, 2.0, 6.0, 9.0])[:, None, None])
    array([[4.]])
    """

    name: ClassVar[str] = "median"

    def combine(self, outputs: Array, weights: FloatArray | None = None) -> Array:
        k = outputs.shape[0]
        ordered = namespace_of(outputs).sort(outputs, axis=0)
        middle: Array = 0.5 * (ordered[(k - 1) // 2] + ordered[k // 2])
        return middle

    def loss(self, errors: Array, targets: Array, sample_weights: Array) -> Loss:
        return squared_error(self.combine(errors), sample_weights), 0.0
