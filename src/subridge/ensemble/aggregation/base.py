"""What every aggregation offers: how outputs combine, the error it makes on left-out samples, its weights."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, TypeAlias

import numpy as np

from subridge.arrays.namespace import like, namespace_of
from subridge.arrays.types import Array, FloatArray
from subridge.model.fingerprint import Fingerprinted
from subridge.model.moments import MemberMoments

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

    Examples
    --------
    One of your own says how outputs combine, and which error the choice of a ridge minimises:

    >>> import numpy as np
    >>> class Largest(Aggregation):
    ...     name = "largest"
    ...
    ...     def combine(self, outputs, weights=None):
    ...         return outputs.max(axis=0)
    ...
    ...     def loss(self, errors, targets, sample_weights):
    ...         left_out = targets - self.combine(targets - errors)
    ...         return float((left_out**2 * sample_weights).sum() / sample_weights.sum()), 0.0
    >>> Largest().combine(np.array([[[1.0, 2.0]], [[3.0, 0.0]]]))
    array([[3., 2.]])
    >>> Largest().loss(np.array([[[1.0, 0.0]], [[2.0, 2.0]]]), np.zeros((1, 2)), np.ones(2))
    (0.5, 0.0)
    """

    name: ClassVar[str]
    is_linear: ClassVar[bool] = False
    decides_classes: ClassVar[bool] = False
    fits_weights: ClassVar[bool] = False
    sums_to_one: ClassVar[bool] = False
    is_mean: ClassVar[bool] = False

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
            How much each sample counts.

        Returns
        -------
        tuple of float
            The error to minimise, and the error that decides among equals.
        """

    @abstractmethod
    def combine(self, outputs: Array, weights: FloatArray | None = None) -> Array:
        """The aggregate of the members' outputs.

        Parameters
        ----------
        outputs : array, shape (k, C, n)
            Of every member for C targets and n samples, in any supported array library.
        weights : ndarray, shape (k,) or (C, k), optional
            Of a linear aggregation, which needs them; others leave them alone.

        Returns
        -------
        array, shape (C, n)
            In the library of the outputs.
        """


@dataclass(frozen=True, eq=False)
class Settled:
    """What an aggregation makes of moments, each for their leading axes (...).

    Attributes
    ----------
    weights : ndarray, shape (..., k)
        Of the members.
    least : ndarray, shape (...)
        The least error of such weights on the samples at hand.
    expected : ndarray, shape (...)
        The error that the weights would show on new samples.
    n_fitted : ndarray, shape (...)
        Numbers that were fitted.

    Examples
    --------
    The scaled mean of two members that each output half of the target, from exact moments:

    >>> import numpy as np, subridge as sr
    >>> moments = MemberMoments(np.full((2, 2), 0.25), np.full(2, 0.5), np.ones(()))
    >>> settled = sr.aggregation.Scaled().settle(moments)
    >>> isinstance(settled, Settled), settled.weights, float(settled.expected)
    (True, array([1., 1.]), 0.0)
    """

    weights: FloatArray
    least: FloatArray
    expected: FloatArray
    n_fitted: FloatArray


class LinearAggregation(Aggregation):
    """A weighted sum of the members' outputs; a subclass says which weights.

    Examples
    --------
    Weights are chosen from the moments of left-out errors, here of two members, one target and two samples:

    >>> import numpy as np, subridge as sr
    >>> simplex = sr.aggregation.Simplex()
    >>> errors = np.array([[[1.0, 1.0]], [[1.0, -1.0]]])
    >>> moments = simplex.moments(errors, np.zeros((1, 2)), np.ones(2))
    >>> moments.pairs
    array([[1., 0.],
           [0., 1.]])
    >>> weights = simplex.weights(moments)
    >>> weights, float(simplex.n_fitted(weights))
    (array([0.5, 0.5]), 1.0)
    >>> simplex.combine(np.array([[[4.0]], [[2.0]]]), weights)
    array([[3.]])
    """

    is_linear: ClassVar[bool] = True
    fits_weights: ClassVar[bool] = True

    @abstractmethod
    def weights(self, moments: MemberMoments) -> FloatArray:
        """The weights of the members that these moments ask for.

        Parameters
        ----------
        moments : MemberMoments
            Second moments of the members and the target, with pairs of shape (..., k, k).

        Returns
        -------
        ndarray, shape (..., k)
            Not negative.
        """

    def moments(
        self, errors: Array, targets: Array, sample_weights: Array, independent: FloatArray | None = None
    ) -> MemberMoments:
        """The moments that weights are chosen from.

        Parameters
        ----------
        errors : array, shape (..., k, C, n)
            Left-out errors of every member, target and sample, as for `loss`.
        targets : array, shape (..., C, n)
            As for `loss`.
        sample_weights : array, shape (..., n)
            How much each sample counts.
        independent : ndarray, shape (k,), optional
            How many independent samples the errors of each member are worth; without it moments are taken for exact.

        Returns
        -------
        MemberMoments
            With pairs of shape (..., k, k).
        """
        found = MemberMoments.of_errors(errors, targets, sample_weights)
        return found if independent is None else replace(found, behind=independent * int(errors.shape[-2]))

    def n_fitted(self, weights: FloatArray) -> FloatArray:
        """How many numbers were fitted to arrive at these weights.

        Parameters
        ----------
        weights : ndarray, shape (..., k)
            From `weights`.

        Returns
        -------
        ndarray, shape (...)
            The weights that are not zero, less what the aggregation fixes.
        """
        return np.asarray((weights != 0).sum(axis=-1), dtype=np.float64)

    def settle(self, moments: MemberMoments) -> Settled:
        """Weights, and the error to expect of them on new samples, by which a ridge is chosen.

        Parameters
        ----------
        moments : MemberMoments
            As for `weights`.

        Returns
        -------
        Settled
            For every leading axis of the moments.
        """
        weights = self.weights(moments)
        least = moments.risk_of(weights)
        return Settled(weights, least, least, self.n_fitted(weights))

    def loss(self, errors: Array, targets: Array, sample_weights: Array) -> Loss:
        moments = self.moments(errors, targets, sample_weights)
        return float(moments.risk_of(self.weights(moments)).sum()), 0.0

    def combine(self, outputs: Array, weights: FloatArray | None = None) -> Array:
        if weights is None:
            raise TypeError("a linear aggregation needs weights, which `weights` gives")
        shares = weights[:, None] if weights.ndim == 1 else weights.T
        return namespace_of(outputs).sum(outputs * like(shares, outputs)[:, :, None], axis=0)


def squared_error(errors: Array, sample_weights: Array) -> float:
    """Squared error summed over targets and averaged over samples; errors of shape (C, n)."""
    return float(((errors * errors).sum(axis=0) * sample_weights).sum() / sample_weights.sum())
