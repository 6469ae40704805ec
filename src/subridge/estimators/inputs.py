"""Check what a user passes in: scikit-learn's rules for arrays, tables and sparse matrices, our own for tensors."""

from typing import Any

import array_api_compat
import numpy as np
from scipy import sparse
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from subridge.arrays.namespace import like, to_numpy
from subridge.spec.errors import DataError


def training_input(estimator: Any, X: Any, y: Any, *, reset: bool, numeric: bool) -> tuple[Any, Any]:
    """Return X as float64 (array, tensor or sparse matrix) and y as given, both checked.

    Parameters
    ----------
    estimator : estimator
        Gets ``n_features_in_`` and ``feature_names_in_`` when `reset`.
    X, y : array_like
    reset : bool
        False for later batches of a stream, which must look like the first.
    numeric : bool
        Whether y must be numbers (regression) or may be labels.
    """
    if array_api_compat.is_torch_array(X):
        X = _tensor(estimator, X, reset)
        return X, _tensor_labels(X, y, numeric)
    X, y = validate_data(
        estimator,
        X,
        y,
        reset=reset,
        accept_sparse=("csr", "csc"),
        dtype=np.float64,
        multi_output=numeric,
        y_numeric=numeric,
    )
    return X, np.asarray(y, dtype=np.float64) if numeric else y


def prediction_input(estimator: Any, X: Any) -> Any:
    """Return X as float64 in its own library, checked against what was fitted."""
    check_is_fitted(estimator)
    if array_api_compat.is_torch_array(X):
        return _tensor(estimator, X, reset=False)
    return validate_data(estimator, X, reset=False, accept_sparse=("csr", "csc"), dtype=np.float64)


def row_weights(sample_weight: Any, X: Any) -> Any:
    """Weights of the rows in the library of X, or None; zero is allowed, negative is not."""
    if sample_weight is None:
        return None
    n = X.shape[0]
    weights = _check_sample_weight(
        to_numpy(sample_weight) if not np.isscalar(sample_weight) else sample_weight,
        np.empty((n, 0)),
        dtype=np.float64,
        ensure_non_negative=True,
    )
    if not weights.any():
        raise DataError("sample_weight is zero for every row; at least one must be positive")
    return weights if sparse.issparse(X) else like(weights, X)


def drop_weightless(X: Any, targets: Any, weights: Any) -> tuple[Any, Any, Any]:
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


def _tensor(estimator: Any, X: Any, reset: bool) -> Any:
    xp = array_api_compat.array_namespace(X)
    if X.ndim != 2 or 0 in X.shape:
        raise DataError(f"X must be a tensor of shape (n_samples, n_features) with neither zero, got {tuple(X.shape)}")
    if not xp.isdtype(X.dtype, ("real floating", "integral")):
        raise DataError(f"X must hold real numbers, got {X.dtype}")
    X = xp.astype(X.detach(), xp.float64)
    if not bool(xp.all(xp.isfinite(X))):
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


def _tensor_labels(X: Any, y: Any, numeric: bool) -> Any:
    if y is None:
        raise DataError("y is None; the estimator needs labels")
    labels = to_numpy(y)
    if labels.ndim not in (1, 2) or len(labels) != X.shape[0]:
        raise DataError(f"y must have {X.shape[0]} rows like X, got shape {labels.shape}")
    if not numeric:
        return labels
    labels = labels.astype(np.float64)
    if not np.isfinite(labels).all():
        raise DataError("y contains NaN or infinity; replace or drop those rows")
    return like(labels, X)
