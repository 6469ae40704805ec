"""How members' outputs become one: the aggregates, and the error each makes on left-out samples."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import array_api_compat
import numpy as np

from subridge.arrays.types import FloatArray
from subridge.ridge.risk_matrix import risk_matrix
from subridge.ridge.votes import ranked_votes

Array = Any
# (error to minimise, error that decides among equals)
Loss = tuple[float, float]


def median(outputs: Array) -> Array:
    """Median over the members, the mean of the middle two for even k; shape (k, ...) to (...).

    Examples
    --------
    >>> import numpy as np
    >>> float(median(np.array([1.0, 2.0, 6.0, 9.0])))
    4.0
    """
    k = outputs.shape[0]
    ordered = array_api_compat.array_namespace(outputs).sort(outputs, axis=0)
    return 0.5 * (ordered[(k - 1) // 2] + ordered[k // 2])


@dataclass(frozen=True)
class MeanLoss:
    """Squared error of the plain mean, summed over targets and averaged over samples."""

    def __call__(self, errors: Array, targets: Array, weights: Array) -> Loss:
        return _squared(errors.sum(axis=0) / errors.shape[0], weights), 0.0


@dataclass(frozen=True)
class MedianLoss:
    """Squared error of the median."""

    def __call__(self, errors: Array, targets: Array, weights: Array) -> Loss:
        return _squared(median(errors), weights), 0.0


@dataclass(frozen=True)
class WeightedLoss:
    """Squared error of the best weighted mean, ``min_w wᵀÊw``."""

    weights_of: Callable[[FloatArray], FloatArray]

    def __call__(self, errors: Array, targets: Array, weights: Array) -> Loss:
        pairs = risk_matrix(errors, weights)
        w = self.weights_of(pairs)
        return float(w @ pairs @ w), 0.0


@dataclass(frozen=True)
class VoteLoss:
    """Share of left-out samples that the majority misclassifies; equals are told apart by the mean's squared error."""

    def __call__(self, errors: Array, targets: Array, weights: Array) -> Loss:
        return _misclassified(ranked_votes(targets - errors), targets, weights), MeanLoss()(errors, targets, weights)[0]


@dataclass(frozen=True)
class SummedScoreLoss:
    """Share of left-out samples that the summed scores misclassify; equals as in `VoteLoss`."""

    def __call__(self, errors: Array, targets: Array, weights: Array) -> Loss:
        scores = (targets - errors).sum(axis=0)
        return _misclassified(scores, targets, weights), MeanLoss()(errors, targets, weights)[0]


LossFunction = Callable[[Array, Array, Array], Loss]


def _squared(errors: Array, weights: Array) -> float:
    return float(((errors * errors).sum(axis=0) * weights).sum() / weights.sum())


def _misclassified(decision: Array, targets: Array, weights: Array) -> float:
    xp = array_api_compat.array_namespace(decision)
    wrong = xp.argmax(decision, axis=0) != xp.argmax(targets, axis=0)
    share = float((weights * wrong).sum() / weights.sum())
    return float(np.round(share, 12))  # equal counts must compare equal whatever the order of summation
