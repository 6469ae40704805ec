"""Scores by which a ridge can be chosen: those that are defined on left-out rows one by one.

The names are scikit-learn's; here each is turned into a loss, of which less is better.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from subridge.arrays.namespace import like, namespace_of
from subridge.arrays.types import Array, FloatArray
from subridge.model.aggregation import Aggregation, LinearAggregation, Loss, squared_error
from subridge.model.errors import ParameterError
from subridge.ridge.calibration import fit_temperature, softmax
from subridge.ridge.rows.training import TrainingRows

_TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, eq=False)
class Scored(Aggregation):
    """An aggregation that is judged by another score of its left-out rows than its own."""

    aggregation: Aggregation
    scoring: str
    rows: TrainingRows

    name: ClassVar[str] = "scored"

    def combine(self, outputs: Array, weights: FloatArray | None = None) -> Array:
        return self.aggregation.combine(outputs, weights)

    def loss(self, errors: Array, targets: Array, sample_weights: Array) -> Loss:
        if self.aggregation.decides_classes:
            return _CLASS_LOSSES[self.scoring](self, errors), 0.0
        return _NUMBER_LOSSES[self.scoring](self._left_out_errors(errors), self.rows), 0.0

    def _left_out_errors(self, errors: Array) -> Array:
        """Errors of the aggregate, shape (C, n)."""
        if not isinstance(self.aggregation, LinearAggregation):
            return self.aggregation.combine(errors)
        deviations = self.rows.deviations
        w = self.aggregation.weights(self.aggregation.moments(errors, deviations, self.rows.weights))
        return self.aggregation.combine(errors, w) + like(1.0 - w.sum(axis=-1), errors)[..., None] * deviations


def scored(aggregation: Aggregation, scoring: str | None, rows: TrainingRows) -> Aggregation:
    """The aggregation with the loss of a score, or its own for None and where the score says the same.

    >>> from subridge.model.aggregation import Mean
    >>> from subridge.ridge.rows.training import training_rows
    >>> rows = training_rows(np.eye(2), np.array([[1.0, 2.0]]), None, False)
    >>> scored(Mean(), "neg_mean_absolute_error", rows).loss(np.array([[[1.0, -2.0]]]), rows.targets, rows.weights)
    (1.5, 0.0)
    """
    known: tuple[str, ...] = tuple(_CLASS_LOSSES if aggregation.decides_classes else _NUMBER_LOSSES)
    own = "accuracy" if aggregation.decides_classes else "neg_mean_squared_error"
    if scoring is None or (isinstance(scoring, str) and scoring == own):
        return aggregation
    if not isinstance(scoring, str) or scoring not in known:
        raise ParameterError(
            f"scoring must be one of {', '.join((own, *known))}, which are defined row by row, got {scoring!r}"
        )
    return Scored(aggregation, scoring, rows)


def _absolute(errors: Array, rows: TrainingRows) -> float:
    return float((abs(errors).sum(axis=0) * rows.weights).sum() / rows.weights.sum())


def _one_minus_r2(errors: Array, rows: TrainingRows) -> float:
    """1 - R², averaged over targets: every target counts in units of its own variance."""
    spread = rows.centred_targets[0]
    power = ((spread * spread).sum(axis=1) / rows.weights.sum())[:, None] + _TINY
    return squared_error(errors / power**0.5, rows.weights) / int(errors.shape[0])


def _log_loss(judged: Scored, errors: Array) -> float:
    """Cross-entropy of calibrated probabilities."""
    rows = judged.rows
    decision = judged.aggregation.combine(rows.targets - errors) / errors.shape[0]
    probabilities = softmax(decision, fit_temperature(decision, rows.targets, rows.weights))
    own = (probabilities * rows.targets).sum(axis=0)
    return -float((namespace_of(own).log(own + _TINY) * rows.weights).sum() / rows.weights.sum())


_NUMBER_LOSSES: dict[str, Callable[[Array, TrainingRows], float]] = {
    "neg_mean_absolute_error": _absolute,
    "r2": _one_minus_r2,
}
_CLASS_LOSSES: dict[str, Callable[[Scored, Array], float]] = {"neg_log_loss": _log_loss}
