"""Check what a user passes in: scikit-learn's rules for arrays, tables and sparse matrices, our own for tensors."""

from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, column_or_1d, validate_data

from subridge.arrays.namespace import is_tensor, like, namespace_of, to_numpy
from subridge.arrays.types import Array, ArrayLike, FloatArray, MatrixLike, SparseMatrix
from subridge.datasets.tables.odd_values import refuse_odd_table
from subridge.estimators.members import example_of
from subridge.model.checks import refuse_odd_values
from subridge.model.errors import DataError

# Checked features: float64, in the library they came in.
Features: TypeAlias = Array | SparseMatrix
# Labels of classes: numbers, text or truth values.
Labels: TypeAlias = npt.NDArray[np.generic]
_SPARSE = ("csr", "csc")


class Fitted(Protocol):
    """What a check reads and sets of an estimator."""

    n_features_in_: int
    feature_names_in_: npt.NDArray[np.str_]


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
    refuse_odd_labels(y)
    checked: tuple[Features, Array] = validate_data(
        estimator, X, y, reset=reset, accept_sparse=_SPARSE, dtype=np.float64, multi_output=True, y_numeric=True
    )
    return checked[0], np.asarray(checked[1], dtype=np.float64)


def refuse_odd_labels(y: ArrayLike) -> None:
    """Refuse labels of a regression that are hidden, text or dates."""
    if isinstance(y, np.ndarray) and y.dtype.kind not in "c":
        refuse_odd_values("y", y)


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


def classes_of(labels: Labels) -> Labels:
    """The classes, each once and in order; a classifier needs two."""
    classes: Labels = np.unique(labels)
    if len(classes) < 2:
        raise DataError(f"y holds one class only ({classes[0]!r}); a classifier needs at least two classes")
    return classes


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


def row_weights(sample_weight: ArrayLike | None, X: Features) -> Array | None:
    """Weights of the rows in the library of X, or None; zero is allowed, negative is not."""
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
    """Leave out rows of weight zero: they teach nothing and must not be counted as samples."""
    if weights is None or bool((weights > 0).all()):
        return X, targets, weights
    kept = weights > 0
    return X[kept], targets[:, kept], weights[kept]


def require_rows(n_samples: int, fit_intercept: bool) -> None:
    if n_samples < 1 + int(fit_intercept):
        raise DataError(
            f"n_samples={n_samples} sample leaves nothing to fit beside the intercept; give at least two, "
            "or set fit_intercept=False"
        )


def _tensor(estimator: Fitted, X: Array, reset: bool, allow_nan: bool = False) -> Array:
    xp = namespace_of(X)
    if X.ndim != 2 or 0 in X.shape:
        raise DataError(f"X must be a tensor of shape (n_samples, n_features) with neither zero, got {tuple(X.shape)}")
    if not xp.isdtype(X.dtype, ("real floating", "integral")):
        raise DataError(f"X must hold real numbers, got {X.dtype}")
    if is_tensor(X):
        X = X.detach()
    X = xp.astype(X, xp.float64)
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
