"""The k×k risk matrix from training data alone."""

from typing import Any

from subridge.arrays.namespace import to_numpy
from subridge.arrays.types import FloatArray

Array = Any


def risk_matrix(errors: Array, weights: Array) -> FloatArray:
    """``Ê_rr′ + ζ² = Σ_i w_i e_ri e_r′i / Σ_i w_i`` from leave-one-out errors, summed over targets.

    Parameters
    ----------
    errors : array, shape (k, C, n)
        ``y_i - f_r^(-i)(x_i)``.
    weights : array, shape (n,)

    Returns
    -------
    ndarray, shape (k, k)
        In host memory. It includes the label noise ζ², which no training data can take apart from the risk.

    Examples
    --------
    >>> import numpy as np
    >>> risk_matrix(np.array([[[1.0, -1.0]], [[2.0, 0.0]]]), np.ones(2))
    array([[1., 1.],
           [1., 2.]])
    """
    flat = (errors * weights**0.5).reshape((errors.shape[0], -1))
    pairs = to_numpy(flat @ flat.T) / float(weights.sum())
    return 0.5 * (pairs + pairs.T)
