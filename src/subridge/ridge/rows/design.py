"""A member's view of the training rows: its design F, dense or sparse.

``F`` is the member's centred, weighted design √w (x - x̄), shape (n, N_r), in unscaled features. The paper's features
are ``F/√N_r``, so its ridge λ_r is the penalty ``λ_r N_r`` on F. Plain arrays are kept features first, shape (N_r, n).
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from subridge.arrays.namespace import take_last
from subridge.arrays.types import Array, FloatArray, IntArray, SparseMatrix

# Numbers of a copy that stays in the cache until it is used, and the fewest samples worth a product.
_IN_CACHE, _LEAST_SAMPLES = 64_000, 250


class Design(Protocol):
    """What a decomposition asks of a member's design F, shape (n, N_r)."""

    @property
    def n_samples(self) -> int: ...

    @property
    def n_features(self) -> int: ...

    def gram(self) -> Array:
        """``FᵀF``, shape (N_r, N_r)."""

    def kernel(self) -> Array:
        """``F Fᵀ``, shape (n, n)."""

    def onto_samples(self, combinations: Array) -> Array:
        """``C Fᵀ`` for rows C of shape (m, N_r); shape (m, n)."""

    def onto_features(self, combinations: Array) -> Array:
        """``C F`` for rows C of shape (m, n); shape (m, N_r)."""

    def dense(self) -> Array:
        """``Fᵀ`` as a plain array, shape (N_r, n)."""


@dataclass(frozen=True, eq=False)
class DenseDesign:
    """A member's design held as a plain array."""

    transposed: Array
    precomputed_gram: Array | None = None

    @property
    def n_samples(self) -> int:
        return int(self.transposed.shape[1])

    @property
    def n_features(self) -> int:
        return int(self.transposed.shape[0])

    def gram(self) -> Array:
        return self.transposed @ self.transposed.T if self.precomputed_gram is None else self.precomputed_gram

    def kernel(self) -> Array:
        return self.transposed.T @ self.transposed

    def onto_samples(self, combinations: Array) -> Array:
        return combinations @ self.transposed

    def onto_features(self, combinations: Array) -> Array:
        return combinations @ self.transposed.T

    def dense(self) -> Array:
        return self.transposed

    def at(self, samples: IntArray) -> Array:
        """``Fᵀ`` at m samples, shape (N_r, m)."""
        return take_last(self.transposed, samples)


@dataclass(frozen=True, eq=False)
class SelectedDesign:
    """Rows of the features of all members, shape (M, n), which are never copied as a whole.

    For what is asked once, such as the product with a few rows, a copy would cost more than the product.
    """

    features: FloatArray
    selected: IntArray

    def onto_samples(self, combinations: FloatArray) -> FloatArray:
        """``C Fᵀ`` for rows C of shape (m, N_r); shape (m, n)."""
        n = self.features.shape[1]
        found = np.empty((len(combinations), n))
        size = max(_LEAST_SAMPLES, _IN_CACHE // max(len(self.selected), 1))
        for start in range(0, n, size):
            part = slice(start, start + size)
            np.matmul(combinations, self.features[self.selected, part], out=found[:, part])
        return found

    def at(self, samples: IntArray) -> FloatArray:
        """``Fᵀ`` at m samples, shape (N_r, m)."""
        return self.features[self.selected[:, None], samples]


@dataclass(frozen=True, eq=False)
class SparseDesign:
    """A member's design as a sparse matrix whose centring is never carried out, only accounted for.

    ``F = R (S - 1 x̄ᵀ)`` with R = diag(root_weights), S sparse of shape (n, N_r).
    """

    matrix: SparseMatrix
    means: FloatArray
    root_weights: FloatArray

    @property
    def n_samples(self) -> int:
        return int(self.matrix.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.matrix.shape[1])

    def gram(self) -> FloatArray:
        weighted = self.matrix.multiply(self.root_weights[:, None]).tocsr()
        total = float(self.root_weights @ self.root_weights)
        cross = np.outer(weighted.T @ self.root_weights, self.means)
        return (weighted.T @ weighted).toarray() - cross - cross.T + total * np.outer(self.means, self.means)

    def kernel(self) -> FloatArray:
        R = self.root_weights
        projected = self.matrix @ self.means
        inner = (self.matrix @ self.matrix.T).toarray() - projected[:, None] - projected + self.means @ self.means
        return R[:, None] * inner * R

    def onto_samples(self, combinations: FloatArray) -> FloatArray:
        return ((self.matrix @ combinations.T).T - (combinations @ self.means)[:, None]) * self.root_weights

    def onto_features(self, combinations: FloatArray) -> FloatArray:
        weighted = combinations * self.root_weights
        return (self.matrix.T @ weighted.T).T - np.outer(weighted.sum(axis=1), self.means)

    def dense(self) -> FloatArray:
        values = self.matrix.toarray()
        centred = values - self.means
        if self.means.any():  # a mean is as good as a feature's offset allows; a second one as its spread
            weights = self.root_weights**2
            centred -= weights @ centred / weights.sum()
            centred[:, (values == values[0]).all(axis=0)] = 0.0  # rounding of a mean is no feature
        return np.ascontiguousarray((centred * self.root_weights[:, None]).T)
