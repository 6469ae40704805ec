"""Centred, weighted training data, and each member's view of it.

Arrays are kept features first, shape (N_r, n): a member's features are then contiguous rows, so that taking them costs
a copy and nothing more. ``F`` below is the member's centred design √w (x - x̄), shape (n, N_r), in unscaled features;
the paper's features are ``F/√N_r``, so its ridge λ_r is the penalty ``λ_r N_r`` on F.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import array_api_compat
import numpy as np

from subridge.arrays.namespace import like, select_rows
from subridge.spec.errors import DataError
from subridge.spec.plan import SubsetPlan

Array = Any


class Design(Protocol):
    """What a factorisation asks of a member's design F, shape (n, N_r)."""

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


@dataclass(frozen=True, eq=False)
class SparseDesign:
    """A member's design as a sparse matrix whose centring is never carried out, only accounted for.

    ``F = R (S - 1 x̄ᵀ)`` with R = diag(root_weights), S sparse of shape (n, N_r).
    """

    matrix: Any
    means: Array
    root_weights: Array

    @property
    def n_samples(self) -> int:
        return int(self.matrix.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.matrix.shape[1])

    def gram(self) -> Array:
        weighted = self.matrix.multiply(self.root_weights[:, None]).tocsr()
        total = self.root_weights @ self.root_weights
        cross = np.outer(weighted.T @ self.root_weights, self.means)
        return _plain(weighted.T @ weighted) - cross - cross.T + total * np.outer(self.means, self.means)

    def kernel(self) -> Array:
        R = self.root_weights
        projected = self.matrix @ self.means
        inner = _plain(self.matrix @ self.matrix.T) - projected[:, None] - projected + self.means @ self.means
        return R[:, None] * inner * R

    def onto_samples(self, combinations: Array) -> Array:
        return ((self.matrix @ combinations.T).T - (combinations @ self.means)[:, None]) * self.root_weights

    def onto_features(self, combinations: Array) -> Array:
        weighted = combinations * self.root_weights
        return (self.matrix.T @ weighted.T).T - np.outer(weighted.sum(axis=1), self.means)

    def dense(self) -> Array:
        return np.ascontiguousarray(((_plain(self.matrix) - self.means) * self.root_weights[:, None]).T)


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Training data after weighting and centring; build it by `training_rows`.

    Attributes
    ----------
    features : array, shape (M, n), or sparse matrix, shape (n, M)
        Dense: centred, weighted, features first. Sparse: as given, in compressed columns.
    targets : array, shape (C, n)
        Uncentred, unweighted labels y.
    feature_means : array, shape (M,)
        x̄, zero without intercept.
    weights, root_weights : array, shape (n,)
        w and √w.
    fit_intercept, unweighted : bool
    """

    features: Any
    targets: Array
    feature_means: Array
    weights: Array
    root_weights: Array
    fit_intercept: bool
    unweighted: bool

    @property
    def n_samples(self) -> int:
        return int(self.weights.shape[0])

    @property
    def is_sparse(self) -> bool:
        return hasattr(self.features, "tocsc")

    @property
    def total_weight(self) -> float:
        return float(self.weights.sum())

    @property
    def intercept_leverage(self) -> Array:
        """``w_i/Σw``, the intercept's share of the hat matrix's diagonal; shape (n,)."""
        return self.weights / self.total_weight if self.fit_intercept else self.weights * 0.0

    def centred(self, targets: Array) -> tuple[Array, Array]:
        """``√w (y - ȳ)`` and ȳ, shapes (C, n) and (C,)."""
        means = targets @ self.weights / self.total_weight if self.fit_intercept else targets[:, 0] * 0.0
        return (targets - means[:, None]) * self.root_weights, means

    def member(self, plan: SubsetPlan, r: int, gram: Array | None = None) -> Design:
        """Member r's design; `gram` is the shared M × M Gram matrix where there is one."""
        A = plan.measurements[r]
        if self.is_sparse:
            if A.ndim == 1:
                return SparseDesign(self.features[:, A], self.feature_means[A], self.root_weights)
            measured = self.features @ A.T - A @ self.feature_means
            return DenseDesign(np.ascontiguousarray((measured * self.root_weights[:, None]).T))
        if A.ndim == 2:
            return DenseDesign(like(A, self.features) @ self.features)
        block = None if gram is None else select_rows(select_rows(gram, A).T, A)
        return DenseDesign(select_rows(self.features, A), block)


def training_rows(X: Any, targets: Array, sample_weight: Array | None, fit_intercept: bool) -> TrainingRows:
    """Weight and centre the data once for all members.

    Parameters
    ----------
    X : array or SciPy sparse matrix, shape (n, M)
    targets : array, shape (C, n)
        In the library and on the device of X.
    sample_weight : array, shape (n,), optional
        Positive; rows of weight zero must have been dropped.
    fit_intercept : bool

    Returns
    -------
    TrainingRows

    Examples
    --------
    >>> import numpy as np
    >>> rows = training_rows(np.array([[1.0, 2.0], [3.0, 2.0]]), np.array([[1.0, 5.0]]), None, True)
    >>> rows.features
    array([[-1.,  1.],
           [ 0.,  0.]])
    """
    xp = array_api_compat.array_namespace(targets)
    if X.shape[0] != targets.shape[1]:
        raise DataError(f"X has {X.shape[0]} rows but y has {targets.shape[1]}")
    weights = xp.ones_like(targets[0, :]) if sample_weight is None else sample_weight
    if not bool((weights > 0).all()):
        raise DataError("sample_weight must be positive; drop the rows of weight zero")
    root_weights = weights**0.5
    if hasattr(X, "tocsc"):
        matrix = X.tocsc()
        means = (matrix.T @ weights) / weights.sum() * float(fit_intercept)
        return TrainingRows(matrix, targets, means, weights, root_weights, fit_intercept, sample_weight is None)
    means = weights @ X / weights.sum() if fit_intercept else X[0, :] * 0.0
    features = _features_first(X, means)
    if sample_weight is not None:
        features *= root_weights
    return TrainingRows(features, targets, means, weights, root_weights, fit_intercept, sample_weight is None)


def _features_first(X: Array, means: Array) -> Array:
    """``(X - x̄)ᵀ`` in contiguous memory; NumPy transposes slab by slab, because a strided copy misses the cache."""
    xp = array_api_compat.array_namespace(X)
    if not isinstance(X, np.ndarray):
        return xp.asarray(X.T - means[:, None], copy=True)
    features = np.empty(X.shape[::-1])
    slab = 64
    for start in range(0, X.shape[0], slab):
        rows = slice(start, start + slab)
        np.subtract(X[rows].T, means[:, None], out=features[:, rows])
    return features


def _plain(matrix: Any) -> Array:
    return matrix.toarray() if hasattr(matrix, "toarray") else np.asarray(matrix)
