"""The sum of the members' scores."""

from typing import ClassVar

from subridge.arrays.namespace import namespace_of
from subridge.arrays.types import Array, FloatArray
from subridge.model.aggregation import Aggregation, Loss, Mean, first_largest, misclassified_share


class Summed(Aggregation):
    """The class with the largest summed score, the lowest among equals.

    Its loss is the share of left-out samples that the summed scores misclassify; the squared error of the mean decides
    among equals.

    Examples
    --------
    Two members judge one sample of two classes:

    >>> import numpy as np
    >>> Summed().combine(np.array([[[0.5], [0.25]], [[0.0], [0.5]]]))
    array([[0.5 ],
           [0.75]])
    """

    name: ClassVar[str] = "sum"
    decides_classes: ClassVar[bool] = True

    def combine(self, outputs: Array, weights: FloatArray | None = None) -> Array:
        return namespace_of(outputs).sum(outputs, axis=0)

    def loss(self, errors: Array, targets: Array, sample_weights: Array) -> Loss:
        wrong = misclassified_share(first_largest((targets - errors).sum(axis=0)), targets, sample_weights)
        return wrong, Mean().loss(errors, targets, sample_weights)[0]
