"""Training rows, centred and weighted once for all members.

Arrays are kept features first, shape (M, n): a member's features are then contiguous rows, so that taking them costs a
copy and nothing more.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from subridge.arrays.namespace import (
    dtype_name,
    is_numpy,
    is_sparse,
    like,
    namespace_of,
    select_rows,
    take_last,
    to_numpy,
)
from subridge.arrays.types import Array, FloatArray, SparseMatrix
from subridge.model.errors import DataError
from subridge.model.plan import SubsetPlan
from subridge.ridge.rows.design import DenseDesign, Design, SparseDesign
from subridge.ridge.rows.left_out_sets import LeftOutSets


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Training data after weighting and centring; build it by `training_rows`.

    Dense `features`, shape (M, n), are centred and weighted, features first; sparse ones, shape (n, M), are as given,
    in compressed columns. `targets` are uncentred, unweighted labels y, shape (C, n); `feature_means` x̄, shape (M,),
    zero without intercept; `weights` and `root_weights` w and √w, shape (n,). `left_out` names the rows that are left
    out together; None for each row by itself. `given` is X as it was given, shape (n, M), by which rounding is told
    from dependence; None once nothing more is to be trained.
    """

    features: Array | SparseMatrix
    targets: Array
    feature_means: Array
    weights: Array
    root_weights: Array
    fit_intercept: bool
    unweighted: bool
    left_out: LeftOutSets | None = None
    given: Array | SparseMatrix | None = None

    @property
    def n_samples(self) -> int:
        return int(self.weights.shape[0])

    @cached_property
    def total_weight(self) -> float:
        return float(self.weights.sum())

    @cached_property
    def effective_samples(self) -> float:
        """``(Σw)²/Σw²``: so many samples of equal weight would vary as much."""
        return self.total_weight**2 / float((self.weights**2).sum())

    @cached_property
    def intercept_leverage(self) -> Array:
        """``w_i/Σw``, the intercept's share of the hat matrix's diagonal; shape (n,)."""
        return self.weights / self.total_weight if self.fit_intercept else self.weights * 0.0

    @cached_property
    def intercept_direction(self) -> Array | None:
        """``√w/‖√w‖``, what the intercept fits of the weighted samples, shape (n,); None without one."""
        return self.root_weights / self.total_weight**0.5 if self.fit_intercept else None

    @cached_property
    def deviations(self) -> Array:
        """``y_i - ȳ^(-i)``, the labels measured from the mean of the others, or y without intercept; shape (C, n).

        The others are the rows that are not left out together with row i. Labels that are all equal deviate by
        rounding only, which is taken for zero.
        """
        if not self.fit_intercept:
            return self.targets
        means = self.centred_targets[1][:, None]
        rounding = 8 * float(np.finfo(dtype_name(self.targets)).eps)
        centred = self.targets - means
        centred = centred * (abs(centred) > rounding * abs(means))
        if self.left_out is not None:
            return centred - _means_of_others(centred, self.weights, self.left_out)
        apart: Array = centred / (1 - self.intercept_leverage)
        return apart

    @cached_property
    def centred_targets(self) -> tuple[Array, Array]:
        """`centred` of the labels themselves, which all members without readout noise share."""
        return self.centred(self.targets)

    def centred(self, targets: Array) -> tuple[Array, Array]:
        """``√w (y - ȳ)`` and ȳ, shapes (C, n) and (C,)."""
        means = targets @ self.weights / self.total_weight if self.fit_intercept else targets[:, 0] * 0.0
        centred = targets - means[:, None]
        if self.fit_intercept:  # a mean is as good as the labels' offset allows; a second one as their spread
            again = centred @ self.weights / self.total_weight
            centred, means = centred - again[:, None], means + again
        return centred * self.root_weights, means

    def gram(self) -> Array | None:
        """``FᵀF`` of all features, shape (M, M); None for sparse rows, whose members form their own blocks."""
        if is_sparse(self.features):
            return None
        return self.features @ self.features.T

    def column_squares(self) -> FloatArray:
        """``Σ w (x - x̄)²/n`` of every feature, 0 where it is no more than the rounding of a constant; shape (M,)."""
        return self._column_squares

    @cached_property
    def _column_squares(self) -> FloatArray:
        means = to_numpy(self.feature_means)
        if is_sparse(self.features):
            totals = self.features.multiply(self.features).T @ self.weights - means**2 * self.total_weight
        else:
            totals = to_numpy(namespace_of(self.features).linalg.vecdot(self.features, self.features))
        squares = np.maximum(np.asarray(totals), 0.0) / self.n_samples
        rounding = (self.n_samples * np.finfo(np.float64).eps * abs(means)) ** 2 * self.total_weight / self.n_samples
        return np.where((squares > rounding) | ~np.isfinite(squares), squares, 0.0)

    def member(self, plan: SubsetPlan, r: int, gram: Array | None = None) -> Design:
        """Member r's design; `gram` is the shared M × M Gram matrix where there is one."""
        A = plan.measurements[r]
        if is_sparse(self.features):
            if A.ndim == 1:
                return SparseDesign(self.features[:, A], self.feature_means[A], self.root_weights)
            measured = self.features @ A.T - A @ self.feature_means
            return DenseDesign(np.ascontiguousarray((measured * self.root_weights[:, None]).T))
        if A.ndim == 2:
            return DenseDesign(like(A, self.features) @ self.features)
        block = None if gram is None else select_rows(select_rows(gram, A).T, A)
        return DenseDesign(select_rows(self.features, A), block)


def training_rows(
    X: Array | SparseMatrix,
    targets: Array,
    sample_weight: Array | None,
    fit_intercept: bool,
    left_out: LeftOutSets | None = None,
) -> TrainingRows:
    """Weight and centre X, an array or SciPy sparse matrix of shape (n, M), once for all members.

    Targets, shape (C, n), are in the library and on the device of X. Sample weights, shape (n,), are positive: rows of
    weight zero must have been dropped. `left_out` names the rows that are left out together.
    """
    if X.shape[0] != targets.shape[1]:
        raise DataError(f"X has {X.shape[0]} rows but y has {targets.shape[1]}")
    weights = namespace_of(targets).ones_like(targets[0, :]) if sample_weight is None else sample_weight
    if not bool((weights > 0).all()):
        raise DataError("sample_weight must be positive; drop the rows of weight zero")
    root_weights = weights**0.5
    if is_sparse(X):
        matrix = X.tocsc()
        means = (matrix.T @ weights) / weights.sum() * float(fit_intercept)
        unweighted = sample_weight is None
        return TrainingRows(matrix, targets, means, weights, root_weights, fit_intercept, unweighted, left_out, matrix)
    means = weights @ X / weights.sum() if fit_intercept else X[0, :] * 0.0
    features = _features_first(X, means)
    if fit_intercept:  # a mean is as good as a feature's offset allows; a second one as its spread
        again = features @ weights / weights.sum()
        # A pass over all rows is saved where the first mean was as good as the features' own digits.
        with np.errstate(over="ignore"):  # numbers too large to compute with are refused by the checks of rows
            spread = (namespace_of(features).linalg.vecdot(features, features) / features.shape[1]) ** 0.5
        eps = float(np.finfo(dtype_name(features)).eps)
        if bool((abs(again) > 4 * eps * spread).any()):
            features -= again[:, None]
            means = means + again
        _remove_constants(features, X, spread <= X.shape[0] * eps * abs(means))
    if sample_weight is not None:
        features *= root_weights
    unweighted = sample_weight is None
    return TrainingRows(features, targets, means, weights, root_weights, fit_intercept, unweighted, left_out, X)


def _remove_constants(features: Array, X: Array, suspected: Array) -> None:
    """Make features (M, n) zero whose column of X is constant: rounding of its mean is no feature."""
    for j in np.flatnonzero(to_numpy(suspected)):
        if bool((X[:, int(j)] == X[0, int(j)]).all()):
            features[int(j), :] = 0.0


def _features_first(X: Array, means: Array) -> Array:
    """``(X - x̄)ᵀ`` in contiguous memory; NumPy transposes slab by slab, because a strided copy misses the cache."""
    if not is_numpy(X):
        return namespace_of(X).asarray(X.T - means[:, None], copy=True)
    features = np.empty(X.shape[::-1])
    slab = 64
    for start in range(0, X.shape[0], slab):
        rows = slice(start, start + slab)
        np.subtract(X[rows].T, means[:, None], out=features[:, rows])
    return features


def _means_of_others(centred: Array, weights: Array, sets: LeftOutSets) -> Array:
    """For every row the mean of the rows that are not left out with it, from labels with weighted mean zero; (C, n)."""
    xp, parts = namespace_of(centred), []
    for batch in sets.batches:
        (G, m), flat = batch.rows.shape, batch.rows.ravel()
        w = take_last(weights, flat).reshape((G, m))
        inside = (take_last(centred, flat).reshape((-1, G, m)) * w).sum(axis=-1)
        outside = -inside / (weights.sum() - w.sum(axis=-1))
        numbers = np.broadcast_to(np.arange(G)[:, None], (G, m))[batch.answered]
        parts.append(take_last(outside, numbers))
    return take_last(xp.concat(parts, axis=-1), np.argsort(sets.answered))
