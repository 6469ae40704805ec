"""What every aggregation offers: how outputs combine, the error it makes on left-out samples, its weights."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np

from subridge.arrays.namespace import like, namespace_of
from subridge.arrays.types import Array, FloatArray
from subridge.ensemble.moments import MemberMoments
from subridge.spec.fingerprint import Fingerprinted

# The error to minimise, and the error that decides among equals.
Loss: TypeAlias = tuple[float, float]


@dataclass(frozen=True, eq=False)
class Aggregation(Fingerprinted, ABC):
    """A way to turn the outputs of k members into one.

    Attributes
    ----------
    name : str
        As it is written in ``Ensemble(aggregation=...)``.
    is_linear : bool
        Whether the aggregate is a weighted sum of the outputs, and thus of linear members one linear map.
    decides_classes : bool
        Whether it turns scores into a class rather than into a number.
    fits_weights : bool
        Whether it weighs the members by their errors.
    """

    name: ClassVar[str]
    is_linear: ClassVar[bool] = False
    decides_classes: ClassVar[bool] = False
    fits_weights: ClassVar[bool] = False

    @abstractmethod
    def loss(self, errors: Array, targets: Array, sample_weights: Array) -> Loss:
        """Error of the aggregate on left-out samples, which the choice of a ridge minimises.

        Parameters
        ----------
        errors : array, shape (k, C, n)
            ``y_i - f_r^(-i)(x_i)`` of every member, target and sample.
        targets : array, shape (C, n)
            y_i. A linear aggregation receives them measured from the mean of the other samples where there is an
            intercept, as it must not scale the mean.
        sample_weights : array, shape (n,)
        """

    @abstractmethod
    def combine(self, outputs: Array, weights: FloatArray | None = None) -> Array:
        """The aggregate of outputs of shape (k, C, n), shape (C, n); `weights` are those of a linear aggregation."""


class LinearAggregation(Aggregation):
    """A weighted sum of the members' outputs; a subclass says which weights."""

    is_linear: ClassVar[bool] = True
    fits_weights: ClassVar[bool] = True

    @abstractmethod
    def weights(self, moments: MemberMoments) -> FloatArray:
        """Weights of the members, shape (..., k), from their second moments."""

    def moments(self, errors: Array, targets: Array, sample_weights: Array) -> MemberMoments:
        """The moments that weights are chosen from; arguments as for `loss`, leading axes broadcast."""
        return MemberMoments.of_errors(errors, targets, sample_weights)

    def n_fitted(self, weights: FloatArray) -> FloatArray:
        """How many numbers were fitted to arrive at these weights, shape (..., k) to (...)."""
        return np.asarray((weights != 0).sum(axis=-1), dtype=np.float64)

    def loss(self, errors: Array, targets: Array, sample_weights: Array) -> Loss:
        moments = self.moments(errors, targets, sample_weights)
        return float(moments.risk_of(self.weights(moments)).sum()), 0.0

    def combine(self, outputs: Array, weights: FloatArray | None = None) -> Array:
        if weights is None:
            raise TypeError("a linear aggregation needs weights, which `weights` gives")
        shares = weights[:, None] if weights.ndim == 1 else weights.T
        return namespace_of(outputs).sum(outputs * like(shares, outputs)[:, :, None], axis=0)


@dataclass(frozen=True, eq=False)
class FittedAggregation(LinearAggregation):
    """A weighted sum whose weights are fitted: to all targets together, or to each by itself.

    With `per_target`, moments have an axis of C targets before the members, and so have the weights.
    """

    per_target: bool = False

    def moments(self, errors: Array, targets: Array, sample_weights: Array) -> MemberMoments:
        if self.per_target:
            return MemberMoments.of_targets(errors, targets, sample_weights)
        return MemberMoments.of_errors(errors, targets, sample_weights)


def squared_error(errors: Array, sample_weights: Array) -> float:
    """Squared error summed over targets and averaged over samples; errors of shape (C, n)."""
    return float(((errors * errors).sum(axis=0) * sample_weights).sum() / sample_weights.sum())
