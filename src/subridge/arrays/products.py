"""Large matrix products through the library that also factors, so that one pool of threads does all the work."""

import numpy as np
from scipy.linalg import blas

from subridge.arrays.namespace import is_numpy, like, namespace_of
from subridge.arrays.types import Array, FloatArray


def rows_times_transpose(left: Array, right: Array) -> Array:
    """``left @ rightᵀ`` for batches of matrices, shapes (B, m, n) and (B, p, n) to (B, m, p).

    >>> rows_times_transpose(np.array([[[1.0, 2.0]]]), np.array([[[3.0, 4.0], [1.0, 0.0]]]))
    array([[[11.,  1.]]])
    """
    xp = namespace_of(left)
    if not is_numpy(left):
        return left @ xp.matrix_transpose(right)
    gemm = blas.get_blas_funcs("gemm", (left, right))
    product = np.empty((len(left), left.shape[1], right.shape[1]), dtype=left.dtype)
    for b in range(len(left)):
        # The transposed product of transposes: C-ordered inputs are passed without a copy.
        product[b] = gemm(1.0, right[b].T, left[b].T, trans_a=1).T
    return product


def rows_times(rows: Array, matrix: FloatArray) -> Array:
    """``rows @ matrix`` for a NumPy matrix and rows of any library, shapes (..., n) and (n, m) to (..., m).

    >>> rows_times(np.array([1.0, 2.0]), np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]))
    array([1., 2., 3.])
    """
    if not is_numpy(rows):
        return rows @ like(matrix, rows)
    factor = np.asarray(matrix, dtype=rows.dtype)
    gemm = blas.get_blas_funcs("gemm", (rows, factor))
    flat = np.ascontiguousarray(rows).reshape(-1, rows.shape[-1])
    # Columns first: the transpose of a C-ordered factor, or an F-ordered one marked as transposed; no copy either way.
    left, transposed = (factor.T, 0) if factor.flags.c_contiguous else (factor, 1)
    product: Array = gemm(1.0, left, flat.T, trans_a=transposed).T
    return product.reshape(*rows.shape[:-1], factor.shape[1])
