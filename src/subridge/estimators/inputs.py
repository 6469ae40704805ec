"""Check what a user passes in: scikit-learn's rules for arrays, tables and sparse matrices, our own for tensors."""

from collections.abc import Mapping
from typing import Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, column_or_1d, validate_data

from subridge.arrays.namespace import is_sparse, is_tensor, like, namespace_of, to_numpy
from subridge.arrays.types import Array, ArrayLike, FloatArray, MatrixLike, SparseMatrix
from subridge.datasets.tables.odd_values import refuse_odd_table
from subridge.model.checks import positive_integer, refuse_odd_values
from subridge.model.errors import DataError, ParameterError
from subridge.ridge.rows import LeftOutSets, group_labels, left_out_groups, left_out_windows

# Checked features: float64, in the library they came in.
Features: TypeAlias = Array | SparseMatrix
# Labels of classes: numbers, text or truth values.
Labels: TypeAlias = npt.NDArray[np.generic]
ClassWeight: TypeAlias = Mapping[int, float] | Mapping[str, float] | Literal["balanced"] | None
_SPARSE = ("csr", "csc")


class Fitted(Protocol):
    """What a check reads and sets of an estimator."""

    n_features_in_: int
    feature_names_in_: npt.NDArray[np.str_]


def example_of(X: Features) -> Array:
    """An array of the library and device that predictions for X are made in."""
    return np.empty(0) if is_sparse(X) else X


def lacks_columns(X: Features) -> bool:
    """Whether any entry of X is NaN."""
    if is_sparse(X):
        return bool(np.isnan(X @ np.ones(X.shape[1])).any())
    return bool(namespace_of(X).any(namespace_of(X).isnan(X)))


def regression_input(estimator: Fitted, X: MatrixLike, y: ArrayLike, *, reset: bool) -> tuple[Features, Array]:
    """Return X and y as float64, checked, both in the library of X.

    With `reset` the estimator gets ``n_features_in_`` and ``feature_names_in_``; later batches of a stream must look
    like the first.
    """
    if is_tensor(X):
        features = _tensor(estimator, X, reset)
        labels = _labels_beside(features, y).astype(np.float64)
        if not np.isfinite(labels).all():
            raise DataError("y contains NaN or infinity; replace or drop those rows")
        return features, like(labels, features)
    refuse_odd_table("X", X)
    if isinstance(y, np.ndarray) and y.dtype.kind not in "c":  # hidden values, text and dates
        refuse_odd_values("y", y)
    checked: tuple[Features, Array] = validate_data(
        estimator, X, y, reset=reset, accept_sparse=_SPARSE, dtype=np.float64, multi_output=True, y_numeric=True
    )
    return checked[0], np.asarray(checked[1], dtype=np.float64)


def classification_input(estimator: Fitted, X: MatrixLike, y: ArrayLike, *, reset: bool) -> tuple[Features, Labels]:
    """Return X as float64 in its own library and the labels y, shape (n,), in host memory; as `regression_input`."""
    if is_tensor(X):
        features: Features = _tensor(estimator, X, reset)
        given = _labels_beside(features, y)
    else:
        refuse_odd_table("X", X)
        features, given = validate_data(estimator, X, y, reset=reset, accept_sparse=_SPARSE, dtype=np.float64)
    check_classification_targets(given)
    labels: Labels = column_or_1d(given, warn=True)
    return features, labels


def prediction_input(estimator: Fitted, X: MatrixLike, *, allow_nan: bool = False) -> Features:
    """Return X as float64 in its own library, checked against what was fitted."""
    check_is_fitted(estimator)
    if is_tensor(X):
        return _tensor(estimator, X, reset=False, allow_nan=allow_nan)
    refuse_odd_table("X", X)
    finite = "allow-nan" if allow_nan else True
    features: Features = validate_data(
        estimator, X, reset=False, accept_sparse=_SPARSE, dtype=np.float64, ensure_all_finite=finite
    )
    return features


def _tensor(estimator: Fitted, X: Array, reset: bool, allow_nan: bool = False) -> Array:
    xp = namespace_of(X)
    if X.ndim != 2 or 0 in X.shape:
        raise DataError(f"X must be a tensor of shape (n_samples, n_features) with neither zero, got {tuple(X.shape)}")
    if not xp.isdtype(X.dtype, ("real floating", "integral")):
        raise DataError(f"X must hold real numbers, got {X.dtype}")
    X = xp.astype(X.detach() if is_tensor(X) else X, xp.float64)
    if not bool(xp.all(xp.isfinite(X))) and not (allow_nan and not bool(xp.any(xp.isinf(X)))):
        raise DataError("X contains NaN or infinity; replace or drop those rows")
    if reset:
        estimator.n_features_in_ = int(X.shape[1])
        if hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_
    elif X.shape[1] != estimator.n_features_in_:
        raise DataError(
            f"X has {X.shape[1]} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input"
        )
    return X


def _labels_beside(X: Features, y: ArrayLike | None) -> Labels:
    """Labels that come with a tensor, in host memory."""
    if y is None:
        raise DataError("y is None; the estimator needs labels")
    labels = to_numpy(y)
    if labels.ndim not in (1, 2) or len(labels) != X.shape[0]:
        raise DataError(f"y must have {X.shape[0]} rows like X, got shape {labels.shape}")
    return labels


def classes_of(labels: Labels) -> Labels:
    """The classes, each once and in order; a classifier needs two."""
    classes: Labels = np.unique(labels)
    if len(classes) < 2:
        raise DataError(f"y holds one class only ({classes[0]!r}); a classifier needs at least two classes")
    return classes


def row_weights(
    sample_weight: ArrayLike | None, X: Features, labels: Labels | None = None, class_weight: ClassWeight = None
) -> Array | None:
    """Weights of the rows times those of their classes, in the library of X, or None; negative ones are refused."""
    if class_weight is not None:
        by_class: FloatArray = compute_sample_weight(class_weight, labels)
        sample_weight = by_class if sample_weight is None else by_class * to_numpy(sample_weight)
    if sample_weight is None:
        return None
    if isinstance(sample_weight, complex):
        raise DataError("sample_weight must be real numbers, one for each row")
    refuse_odd_values("sample_weight", sample_weight)
    try:
        given = sample_weight if np.isscalar(sample_weight) else to_numpy(sample_weight)
    except ValueError as error:
        raise DataError(f"sample_weight must be numbers, one for each row: {error}") from error
    if np.asarray(given).dtype.kind == "f" and not np.isfinite(given).all():
        raise DataError("sample_weight contains NaN or infinity; give finite weights, 0 for rows to leave out")
    weights: FloatArray = _check_sample_weight(
        given, np.empty((X.shape[0], 0)), dtype=np.float64, ensure_non_negative=True
    )
    if not weights.any():
        raise DataError("sample_weight is zero for every row; at least one must be positive")
    return like(weights, example_of(X))


def drop_weightless(X: Features, targets: Array, weights: Array | None) -> tuple[Features, Array, Array | None]:
    """Leave out rows of weight zero: nothing is learnt from them, and they must not be counted as samples."""
    if weights is None or bool((weights > 0).all()):
        return X, targets, weights
    kept = weights > 0
    return X[kept], targets[:, kept], weights[kept]


def left_out_sets(groups: ArrayLike | None, gap: int, weights: Array | None, n_samples: int) -> LeftOutSets | None:
    """The sets that `groups`, shape (n,), or `gap` name among the rows of positive weight; None for single rows."""
    steps = 0 if isinstance(gap, int) and gap == 0 else positive_integer("gap", gap, 10**9)
    if groups is not None and steps:
        raise ParameterError(
            f"groups were given and gap={gap}: groups leave out whole groups, a gap leaves out neighbours in time; "
            "use one of them"
        )
    kept = np.arange(n_samples) if weights is None else np.flatnonzero(to_numpy(weights) > 0)
    if groups is not None:
        sets = left_out_groups(group_labels(groups, n_samples)[kept], len(kept))
        return None if sets.largest == 1 else sets
    return left_out_windows(steps, kept) if steps else None
