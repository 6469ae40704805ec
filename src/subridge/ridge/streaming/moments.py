"""First and second moments of a stream of rows: all that a mean ensemble needs of them."""

from dataclasses import dataclass

import numpy as np

from subridge.arrays.namespace import is_sparse, namespace_of, to_numpy
from subridge.arrays.types import Array, FloatArray, SparseMatrix
from subridge.model.errors import DataError


@dataclass(frozen=True, eq=False)
class RowMoments:
    """Weighted moments of the rows seen so far, centred on their own means: M² + O(M) numbers however many rows.

    `gram` is ``Σ w (x - x̄)(x - x̄)ᵀ``, shape (M, M); `cross` is ``Σ w (y - ȳ)(x - x̄)ᵀ``, shape (C, M); `target_gram`
    is ``Σ w (y - ȳ)(y - ȳ)ᵀ``, shape (C, C).
    """

    n_samples: int
    total_weight: float
    feature_means: Array
    target_means: Array
    gram: Array
    cross: Array
    target_gram: Array

    def __add__(self, other: "RowMoments") -> "RowMoments":
        """Moments of both sets of rows together (Chan's update: no difference of large sums)."""
        if self.feature_means.shape != other.feature_means.shape or self.target_means.shape != other.target_means.shape:
            raise DataError(
                f"a batch of {other.feature_means.shape[0]} features and {other.target_means.shape[0]} targets cannot "
                f"join {self.feature_means.shape[0]} and {self.target_means.shape[0]}"
            )
        total = self.total_weight + other.total_weight
        share = other.total_weight / total
        dx, dy = other.feature_means - self.feature_means, other.target_means - self.target_means
        lever = self.total_weight * share
        return RowMoments(
            self.n_samples + other.n_samples,
            total,
            self.feature_means + share * dx,
            self.target_means + share * dy,
            self.gram + other.gram + lever * dx[:, None] * dx[None, :],
            self.cross + other.cross + lever * dy[:, None] * dx[None, :],
            self.target_gram + other.target_gram + lever * dy[:, None] * dy[None, :],
        )

    def column_squares(self, fit_intercept: bool) -> FloatArray:
        """``Σ w (x - x̄)²/n`` of every feature, centred where there is an intercept; shape (M,)."""
        gram = (self if fit_intercept else self.uncentred()).gram
        squares = np.array([float(gram[i, i]) for i in range(int(gram.shape[0]))]) / self.n_samples
        rounding = (self.n_samples * np.finfo(np.float64).eps * to_numpy(self.feature_means)) ** 2
        return np.where(squares > rounding * self.total_weight / self.n_samples, squares, 0.0)

    def uncentred(self) -> "RowMoments":
        """The same rows' moments about zero: what a fit without intercept uses."""
        x, y, w = self.feature_means, self.target_means, self.total_weight
        return RowMoments(
            self.n_samples,
            w,
            x * 0.0,
            y * 0.0,
            self.gram + w * x[:, None] * x[None, :],
            self.cross + w * y[:, None] * x[None, :],
            self.target_gram + w * y[:, None] * y[None, :],
        )


def moments_of(X: Array | SparseMatrix, targets: Array, sample_weight: Array | None = None) -> RowMoments:
    """Moments of one batch of rows: X, shape (n, M), dense or SciPy sparse; targets (C, n); positive weights (n,)."""
    weights = namespace_of(targets).ones_like(targets[0, :]) if sample_weight is None else sample_weight
    total = float(weights.sum())
    y_mean = targets @ weights / total
    Y = targets - y_mean[:, None]
    if is_sparse(X):
        x_mean = X.T @ weights / total
        weighted = X.multiply(weights[:, None]).tocsr()
        gram = (X.T @ weighted).toarray() - total * np.outer(x_mean, x_mean)
        cross = (X.T @ (Y * weights).T).T
    else:
        x_mean = weights @ X / total
        root = weights**0.5
        centred = X - x_mean
        if sample_weight is not None:
            centred = centred * root[:, None]
        gram, cross = centred.T @ centred, (Y * root) @ centred
    return RowMoments(int(targets.shape[1]), total, x_mean, y_mean, gram, cross, (Y * weights) @ Y.T)
