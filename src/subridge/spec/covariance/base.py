"""The small interface every covariance offers, so that structure is used wherever it exists."""

from abc import ABC, abstractmethod

import numpy as np

from subridge.arrays.types import Array, FloatArray, IntArray
from subridge.model.fingerprint import Fingerprinted


class Covariance(Fingerprinted, ABC):
    """A symmetric positive semi-definite M×M matrix, known through what can be done with it.

    To add one: subclass as a frozen dataclass, implement the abstract members, and give it a constructor
    function in ``subridge.model.covariance``.

    Examples
    --------
    >>> import numpy as np, subridge as sr
    >>> Sigma = sr.covariance.equicorrelated(3, 2.0, 0.5)
    >>> Sigma.n_features, Sigma.variances_of_features()
    (3, array([2., 2., 2.]))
    >>> Sigma.block(np.array([0]), np.array([0, 1]))
    array([[2., 1.]])
    >>> Sigma.apply(np.ones(3)), Sigma.apply_rows(np.ones((1, 3)))
    (array([4., 4., 4.]), array([[4., 4., 4.]]))
    >>> Sigma.scaled(0.5).dense()
    array([[1. , 0.5, 0.5],
           [0.5, 1. , 0.5],
           [0.5, 0.5, 1. ]])

    It is one diagonal plus one factor, so that a sample takes 3 + 1 standard normals:

    >>> d, F = Sigma.diagonal_plus_low_rank()
    >>> d, F.shape, Sigma.white_size
    (array([1., 1., 1.]), (3, 1), 4)
    >>> Sigma.colour(np.ones((10, 4))).shape
    (10, 3)
    """

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Number of features, M."""

    @abstractmethod
    def block(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Sub-block ``Σ[rows][:, columns]``.

        Parameters
        ----------
        rows : ndarray of int, shape (n,)
            Features, counted from 0.
        columns : ndarray of int, shape (m,)
            Features, counted from 0.

        Returns
        -------
        ndarray, shape (n, m)
            Covariances of the ones with the others.
        """

    @abstractmethod
    def apply_rows(self, rows: Array) -> Array:
        """Multiply rows by the covariance, ``rows @ Σ``.

        Parameters
        ----------
        rows : array, shape (..., M)
            In any supported array library.

        Returns
        -------
        array, shape (..., M)
            In the library and on the device of the rows.
        """

    @abstractmethod
    def scaled(self, factor: float) -> "Covariance":
        """The covariance ``factor · Σ``.

        Parameters
        ----------
        factor : float
            Not negative.

        Returns
        -------
        Covariance
            Of the same kind.
        """

    @abstractmethod
    def colour(self, white: Array) -> Array:
        """Turn standard normals into samples with this covariance.

        Parameters
        ----------
        white : array, shape (..., white_size)
            Independent standard normals, in any supported array library.

        Returns
        -------
        array, shape (..., M)
            In the library and on the device of the normals.
        """

    def apply(self, vectors: FloatArray) -> FloatArray:
        """Multiply columns by the covariance, ``Σ @ vectors``.

        Parameters
        ----------
        vectors : ndarray, shape (M,) or (M, n)
            One column, or n of them.

        Returns
        -------
        ndarray, shape (M,) or (M, n)
            One column for each.
        """
        return np.asarray(self.apply_rows(vectors.T).T)

    @property
    def white_size(self) -> int:
        """Number of standard normals that one sample needs."""
        return self.n_features

    def dense(self) -> FloatArray:
        """The full matrix, shape (M, M)."""
        everything = np.arange(self.n_features)
        return self.block(everything, everything)

    def variances_of_features(self) -> FloatArray:
        """The diagonal of Σ, shape (M,), gathered from small blocks."""
        pieces = np.array_split(np.arange(self.n_features), -(-self.n_features // 64))
        return np.concatenate([self.block(piece, piece).diagonal() for piece in pieces])

    def diagonal_plus_low_rank(self) -> tuple[FloatArray, FloatArray] | None:
        """``(d, F)`` with ``Σ = diag(d) + F Fᵀ`` and F of shape (M, few), or None where no such form is cheap."""
        return None
