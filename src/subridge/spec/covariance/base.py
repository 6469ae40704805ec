"""The small interface every covariance offers, so that structure is used wherever it exists."""

from abc import ABC, abstractmethod

import numpy as np

from subridge.arrays.types import Array, FloatArray, IntArray
from subridge.spec.fingerprint import Fingerprinted


class Covariance(Fingerprinted, ABC):
    """A symmetric positive semi-definite M×M matrix, known through what can be done with it.

    To add one: subclass as a frozen dataclass, implement the abstract members, and give it a constructor
    function in ``subridge.spec.covariance``.
    """

    @property
    @abstractmethod
    def n_features(self) -> int:
        """M."""

    @abstractmethod
    def block(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Sub-block ``Σ[rows][:, columns]``, shape (len(rows), len(columns))."""

    @abstractmethod
    def apply_rows(self, rows: Array) -> Array:
        """``rows @ Σ`` for rows of shape (..., M).

        Works on any array of a supported array library and stays on its device.
        """

    @abstractmethod
    def scaled(self, factor: float) -> "Covariance":
        """The covariance ``factor · Σ``."""

    @abstractmethod
    def colour(self, white: Array) -> Array:
        """Turn standard normals of shape (..., white_size) into samples of shape (..., M).

        Works on any array of a supported array library and stays on its device.
        """

    def apply(self, vectors: FloatArray) -> FloatArray:
        """``Σ @ vectors`` for vectors of shape (M,) or (M, n)."""
        return np.asarray(self.apply_rows(vectors.T).T)

    @property
    def white_size(self) -> int:
        """Standard normals needed for one sample."""
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
