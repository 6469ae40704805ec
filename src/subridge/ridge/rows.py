"""Training rows, centred and weighted once for all members, and which of them are left out together.

Dense features are kept features first, shape (M, n): a member's features are then contiguous rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy.sparse import csc_array

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
from subridge.arrays.types import Array, ArrayLike, BoolArray, FloatArray, IntArray, SparseMatrix
from subridge.model.errors import DataError, ParameterError
from subridge.ridge.rounding import EPS

if TYPE_CHECKING:
    from subridge.model.ensemble import SubsetPlan
    from subridge.ridge.member import MemberPath


# -- rows that are left out together ------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SetBatch:
    """Sets of equal size, which are solved together."""

    rows: IntArray  # the rows of every set, shape (G, m)
    answered: BoolArray  # rows whose left-out error is taken from this set, shape (G, m)

    def of(self, values: Array) -> Array:
        """Values, shape (..., n), on the rows of the sets; shape (..., G, m)."""
        return take_last(values, self.rows.ravel()).reshape(*values.shape[:-1], *self.rows.shape)

    def answers(self, values: Array) -> Array:
        """The values of answered rows, in one axis, from values on the rows of the sets, shape (..., G, m)."""
        return take_last(values.reshape(*values.shape[:-2], -1), np.flatnonzero(self.answered))


@dataclass(frozen=True, eq=False)
class LeftOutSets:
    """Sets of rows that are left out together; the left-out error of each row comes from exactly one set.

    Sets are numbered in the order of the batches. `is_partition` is true for groups, which do not overlap, and false
    for windows.
    """

    batches: tuple[SetBatch, ...]
    is_partition: bool

    @property
    def n_sets(self) -> int:
        """The number of groups, or of rows if each is left out with its neighbours."""
        return sum(len(batch.rows) for batch in self.batches)

    @property
    def largest(self) -> int:
        """The number of rows of the largest set."""
        return max(int(batch.rows.shape[1]) for batch in self.batches)

    @cached_property
    def order(self) -> IntArray:
        """Places of the rows 0 to n - 1 among the answered rows of all batches, shape (n,)."""
        return np.concatenate([batch.rows[batch.answered] for batch in self.batches]).argsort()

    @cached_property
    def rows_of_sets(self) -> list[IntArray]:
        """The rows of every set, by its number."""
        return [rows for batch in self.batches for rows in batch.rows]

    @cached_property
    def apart(self) -> IntArray:
        """The numbers of sets that do not overlap; of groups these are all.

        >>> left_out_windows(1, [0, 1, 2, 3, 4]).apart
        array([0, 4])
        """
        if self.is_partition:
            return np.arange(self.n_sets)
        kept = list[int]()
        last = -1
        for number, rows in sorted(enumerate(self.rows_of_sets), key=lambda each: each[1][0]):
            if rows[0] > last:
                kept.append(number)
                last = int(rows[-1])
        return np.array(kept)

    def touching(self, unit: int) -> BoolArray:
        """Whether each set has a row in common with one of them, or leaves no row beside it, shape (S,)."""
        own = self.rows_of_sets[unit]
        return np.concatenate(
            [
                np.isin(batch.rows, own).any(axis=1) | (batch.rows.shape[1] + len(own) >= len(self.order))
                for batch in self.batches
            ]
        )

    @cached_property
    def owners(self) -> IntArray:
        """The number of the set from which the error of each row comes, shape (n,)."""
        return np.arange(self.n_sets).repeat(np.concatenate([batch.answered.sum(axis=1) for batch in self.batches]))[
            self.order
        ]


def left_out_groups(groups: ArrayLike, n_samples: int, kept: IntArray | None = None) -> LeftOutSets:
    """The sets of rows with equal labels; `groups` has shape (n,), and only some rows may be `kept`.

    >>> left_out_groups(["a", "b", "a"], 3).owners
    array([1, 0, 1])
    """
    from pandas import factorize  # takes a while, and few fits have groups

    try:
        if isinstance(groups, np.ma.MaskedArray):
            groups = groups.tolist()
        # Lists become objects, because NumPy turns a missing label among strings into "nan".
        labels = np.asarray(groups, dtype=object) if isinstance(groups, list | tuple) else to_numpy(groups)
        if labels.shape != (n_samples,):
            raise ValueError(f"got shape {labels.shape}")
        # Groups are numbered in the order of their first rows; missing labels have -1.
        numbers = factorize(labels if kept is None else labels[kept])[0]
    except (TypeError, ValueError) as error:
        raise DataError(f"groups must have one label for each of the {n_samples} rows: {error}") from error
    if (numbers < 0).any():
        raise DataError(
            f"groups lacks the label of {(numbers < 0).sum()} of {len(numbers)} rows, so these cannot be left out with "
            "their group; give their labels, or drop those rows"
        )
    sizes = np.bincount(numbers)
    if len(sizes) < 2:
        raise DataError("groups has one group only; leaving it out leaves nothing to train on, so give at least two")
    batches = []
    for size in np.unique(sizes):
        own = np.flatnonzero(sizes[numbers] == size)
        rows = own[numbers[own].argsort(kind="stable")].reshape(-1, size)
        batches.append(SetBatch(rows, rows >= 0))
    return LeftOutSets(tuple(batches), True)


def left_out_windows(gap: int, positions: Sequence[int] | IntArray) -> LeftOutSets:
    """Every row with its neighbours up to `gap` time steps away; `positions`, shape (n,), ascend.

    >>> [batch.rows.tolist() for batch in left_out_windows(1, [0, 1, 2, 3]).batches]
    [[[0, 1], [2, 3]], [[0, 1, 2], [1, 2, 3]]]
    """
    times = np.asarray(positions)
    n = len(times)
    first = times.searchsorted(times - gap, side="left")
    sizes = times.searchsorted(times + gap, side="right") - first
    if (sizes == n).any():
        raise ParameterError(f"gap={gap} leaves out all {n} rows at once; give a gap below {n // 2}")
    batches = []
    for size in np.unique(sizes):
        centres = np.flatnonzero(sizes == size)
        rows = first[centres][:, None] + np.arange(size)
        batches.append(SetBatch(rows, rows == centres[:, None]))
    return LeftOutSets(tuple(batches), False)


# -- rows as a member sees them -----------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Design:
    """A member's centred, weighted rows ``F = √w (x - x̄)``, shape (n, N_r), in unscaled features.

    The paper's features are ``F/√N_r``, so its ridge λ_r is the penalty ``λ_r N_r`` on F. Dense `values` are Fᵀ, shape
    (N_r, n). Sparse ones are the features as they were given, shape (n, N_r), with their `means` x̄ and `roots` √w: the
    products take account of the centring, which is never carried out.
    """

    values: Array | SparseMatrix
    means: FloatArray
    roots: FloatArray

    def gram(self) -> Array:
        """``FᵀF``, shape (N_r, N_r)."""
        if not is_sparse(self.values):
            return self.values @ self.values.T
        weighted = self.values.multiply(self.roots[:, None]).tocsr()
        return (weighted.T @ weighted).toarray() - self.roots @ self.roots * np.outer(self.means, self.means)

    def kernel(self) -> Array:
        """``F Fᵀ``, shape (n, n)."""
        if not is_sparse(self.values):
            return self.values.T @ self.values
        projected = self.values @ self.means
        inner = (self.values @ self.values.T).toarray() - projected[:, None] - projected + self.means @ self.means
        return self.roots[:, None] * inner * self.roots

    def onto_samples(self, combinations: Array) -> Array:
        """``C Fᵀ`` for rows C of shape (m, N_r); shape (m, n)."""
        if not is_sparse(self.values):
            return combinations @ self.values
        return ((self.values @ combinations.T).T - (combinations @ self.means)[:, None]) * self.roots

    def onto_features(self, combinations: Array) -> Array:
        """``C F`` for rows C of shape (m, n); shape (m, N_r)."""
        if not is_sparse(self.values):
            return combinations @ self.values.T
        weighted = combinations * self.roots
        return (self.values.T @ weighted.T).T - np.outer(weighted.sum(axis=1), self.means)

    def dense(self) -> Array:
        """``Fᵀ`` as a plain array, shape (N_r, n)."""
        if not is_sparse(self.values):
            return self.values
        return training_rows(  # type: ignore[return-value]
            self.values.toarray(), self.roots[None], self.roots**2, bool(self.means.any())
        ).features


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Training data after weighting and centring; build it by `training_rows`.

    Dense `features`, shape (M, n), are centred and weighted; sparse ones, shape (n, M), are as given, in compressed
    columns, but those without zeros are measured from their means. `targets` are the labels y, neither centred nor
    weighted, shape (C, n); `feature_means` are x̄, shape (M,), zero without intercept; `weights` are w, shape (n,).
    `left_out` are the sets of rows that are left out together; None for each row by itself. `given` is X as it was
    given, shape (n, M), to distinguish exact dependence from rounding errors; None after training.
    """

    features: Array | SparseMatrix
    targets: Array
    feature_means: Array
    weights: Array
    fit_intercept: bool
    left_out: LeftOutSets | None = None
    given: Array | SparseMatrix | None = None
    knows_leverages: ClassVar[bool] = True  # false for rows made from moments

    @property
    def n_samples(self) -> int:
        """n."""
        return len(self.weights)

    def paths(self, plan: "SubsetPlan", ridges: FloatArray) -> "list[MemberPath] | None":
        """The members of a plan along ridges (L,) or (L, k); None if they are to be factorised from these rows."""
        return None

    def divisors(self, slack: FloatArray, mean: FloatArray) -> FloatArray:
        """Residuals over left-out errors in the trace form: `slack`, a multiple of `mean`, which is tr R/n."""
        return slack

    @property
    def room(self) -> int:
        """Dimensions of the samples that the intercept leaves: n - 1, or n without intercept."""
        return self.n_samples - self.fit_intercept

    @property
    def n_units(self) -> int:
        """The number of units that are left out in turn: rows, or sets of rows."""
        return self.n_samples if self.left_out is None else self.left_out.n_sets

    @property
    def owners(self) -> IntArray:
        """The number of the unit with which each row is left out, shape (n,)."""
        return np.arange(self.n_samples) if self.left_out is None else self.left_out.owners

    def apart_from(self, units: IntArray) -> FloatArray:
        """1 for rows whose unit has no row in common with each of b units, and 0 for the others; shape (b, n)."""
        if self.left_out is None:
            return np.asarray(1.0 - (units[:, None] == self.owners))
        return np.stack([1.0 - self.left_out.touching(unit)[self.owners] for unit in units])

    def unit_sums(self, values: FloatArray) -> FloatArray:
        """Sums over the rows of each unit, shape (..., n) to (..., n_units)."""
        if self.left_out is None:
            return values
        order = self.owners.argsort(kind="stable")
        return np.add.reduceat(values[..., order], np.flatnonzero(np.diff(self.owners[order], prepend=-1)), axis=-1)

    @cached_property
    def root_weights(self) -> Array:
        """√w, shape (n,)."""
        return self.weights**0.5

    @cached_property
    def total_weight(self) -> float:
        """Σw."""
        return float(self.weights.sum())

    @property
    def effective_samples(self) -> float:
        """``(Σw)²/Σw²`` with the weights of rows, or of sets that are left out."""
        return self.total_weight**2 / float((self.unit_sums(to_numpy(self.weights)) ** 2).sum())

    @cached_property
    def effective_targets(self) -> float:
        """``(tr S)²/tr S²`` with the products S of targets: the effective number of equal, uncorrelated targets.

        Copies of a target count as one, and so do the two columns of two classes. Targets in small units add nothing.
        """
        g = self.centred_targets[0]
        largest = float(abs(g).max())
        if len(g) == 1 or largest == 0:
            return 1.0
        g = g / largest
        products = g @ g.T if len(g) < g.shape[1] else g.T @ g
        return float((g * g).sum()) ** 2 / float((products * products).sum())

    @cached_property
    def intercept_direction(self) -> Array:
        """``u = √w/‖√w‖``, the direction of the weighted samples that the intercept fits, zeros without one; (n,)."""
        return self.root_weights * (self.fit_intercept / sqrt(self.total_weight))

    @cached_property
    def deviations(self) -> Array:
        """``y_i - ȳ^(-i)``, the labels less the mean of the others, or y without intercept; shape (C, n).

        The others are the rows that are not left out together with row i. Labels that differ from their mean only by
        rounding errors count as equal to it.
        """
        if not self.fit_intercept:
            return self.targets
        means = self.centred_targets[1][:, None]
        centred = self.targets - means
        centred = centred * (abs(centred) > 8 * float(np.finfo(dtype_name(centred)).eps) * abs(means))
        if self.left_out is None:
            apart: Array = centred / (1 - self.intercept_direction**2)
            return apart
        means_of_others = []
        for batch in self.left_out.batches:
            w = batch.of(self.weights)
            means_of_others.append(-(batch.of(centred) * w).sum(axis=-1) / (self.total_weight - w.sum(axis=-1)))
        return centred - take_last(namespace_of(centred).concat(means_of_others, axis=-1), self.owners)

    @cached_property
    def centred_targets(self) -> tuple[Array, Array]:
        """`centred` of the labels themselves, for all members without readout noise."""
        return self.centred(self.targets)

    def centred(self, targets: Array) -> tuple[Array, Array]:
        """``g = √w (y - ȳ)`` and ȳ, shapes (C, n) and (C,)."""
        means = targets[:, 0] * 0.0
        centred = targets
        for _ in range(2 * self.fit_intercept):  # the second mean removes the rounding error of a large offset
            again = centred @ self.weights / self.total_weight
            centred = centred - again[:, None]
            means = means + again
        return centred * self.root_weights, means

    @cached_property
    def centres(self) -> Array:
        """Means of sparse features as they are kept, or x̄ if they are dense, shape (M,)."""
        return (
            (self.features.T @ self.weights) / self.total_weight * self.fit_intercept
            if is_sparse(self.features)
            else self.feature_means
        )

    @cached_property
    def gram(self) -> Array:
        """``FᵀF`` of all features, shape (M, M)."""
        return self.features @ self.features.T  # type: ignore[operator]

    @cached_property
    def column_squares(self) -> FloatArray:
        """``Σ w (x - x̄)²/n`` of every feature, 0 if it may be the rounding error of a constant; shape (M,)."""
        means = to_numpy(self.feature_means)
        n = self.n_samples
        X = self.features
        with np.errstate(over="ignore"):  # the checks of rows refuse numbers that are too large
            if is_sparse(X):
                totals = X.multiply(X).T @ self.weights - self.centres**2 * self.total_weight
            else:
                totals = to_numpy(namespace_of(X).linalg.vecdot(X, X))
            rounding = (n * EPS * abs(means)) ** 2 * self.total_weight / n
        squares = np.maximum(np.asarray(totals), 0.0) / n
        return np.where((squares > rounding) | ~np.isfinite(squares), squares, 0.0)

    def design(self, measurement: IntArray) -> Design:
        """The rows as a member sees them: some features, by number, or their products with a matrix, shape (N_r, M)."""
        X = self.features
        A = measurement
        means = self.centres
        roots = self.root_weights
        if not is_sparse(X):
            return Design(select_rows(X, A) if A.ndim == 1 else like(A, X) @ X, means, roots)
        if A.ndim == 1:
            return Design(X[:, A], means[A], roots)
        return Design(np.ascontiguousarray(((X @ A.T.astype(float) - A @ means) * roots[:, None]).T), means, roots)


def new_rows(X: Array | SparseMatrix, measurement: IntArray, means: Array) -> Array:
    """New rows X (m, M), less the means (M,), as a member sees them; shape (m, N_r), in the library of the means."""
    A = measurement
    if A.ndim == 1:
        seen = X.tocsc()[:, A].toarray() if is_sparse(X) else select_rows(X.T, A).T
        return like(seen, means) - take_last(means, A)
    own = like(A, means)
    if is_sparse(X):
        return X @ own.T - own @ means
    return (like(X, means) - means) @ own.T


def training_rows(
    X: Array | SparseMatrix,
    targets: Array,
    sample_weight: Array | None = None,
    fit_intercept: bool = True,
    left_out: LeftOutSets | None = None,
) -> TrainingRows:
    """Weight and centre X, an array or SciPy sparse matrix of shape (n, M), once for all members.

    Targets, shape (C, n), are in the library and on the device of X. Sample weights, shape (n,), are positive: drop
    rows of weight zero before. `left_out` are the sets of rows that are left out together.
    """
    weights = namespace_of(targets).ones_like(targets[0]) if sample_weight is None else sample_weight
    if is_sparse(X):
        table = csc_array(X.tocsc())
        table = table if table.has_canonical_format else csc_array(table.tocoo())  # sorted, without duplicate entries
        means = (table.T @ weights) / weights.sum() * fit_intercept
        counts = np.diff(table.indptr)
        offsets = means * (counts == len(weights))  # of columns without zeros, maybe large
        features = (
            csc_array((table.data - offsets.repeat(counts), table.indices, table.indptr), table.shape)
            if offsets.any()
            else table
        )
        return TrainingRows(features, targets, means, weights, fit_intercept, left_out, table)
    means = weights @ X / weights.sum() if fit_intercept else X[0] * 0.0
    if is_numpy(X):
        features = np.empty(X.shape[::-1])
        step = max(32, 2**16 // X.shape[1])  # a strided copy of all rows at once would miss the cache
        for start in range(0, len(X), step):
            features[:, start : start + step] = (X[start : start + step] - means).T
    else:
        features = namespace_of(X).asarray(X.T - means[:, None], copy=True)
    if fit_intercept:  # the error of the first mean is relative to a feature's offset, that of the second to its spread
        again = features @ weights / weights.sum()
        features -= again[:, None]
        means = means + again
        suspected = features[:, 0] == features[:, -1]  # few are, and a test of all rows takes time
        found = features[suspected]
        found[(found == found[:, :1]).all(axis=1)] = 0.0  # constant features, without rounding errors
        features[suspected] = found
    if sample_weight is not None:
        features *= weights**0.5
    return TrainingRows(features, targets, means, weights, fit_intercept, left_out, X)
