"""The array library of the inputs, and functions that it may lack: indexing, large products and recursions."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeGuard

import array_api_compat
import numpy as np
from scipy.linalg import blas, lapack

from subridge.arrays.machine import available_memory
from subridge.arrays.types import Array, ArrayLike, FloatArray, IntArray, MatrixLike, Namespace, SparseMatrix

if TYPE_CHECKING:
    import torch
    from typing_extensions import TypeIs  # known to every type checker, so it need not be installed

_WIDE = 2**30  # bytes above which a wide memory map is read in blocks, which only costs time


def namespace_of(*arrays: Array) -> Namespace:
    """The library that the arrays belong to, in its array API form."""
    return array_api_compat.array_namespace(*arrays)


def device_of(array: Array) -> str:
    """Where an array lives, as its library names it."""
    return array_api_compat.device(array)


def like(array: ArrayLike, example: Array | SparseMatrix) -> Array:
    """Any array in the library, dtype and device of the example; NumPy's for a sparse matrix."""
    if is_sparse(example) or is_numpy(example):
        return np.asarray(to_numpy(array), dtype=example.dtype)
    if is_tensor(array) and is_tensor(example):
        return array.to(dtype=example.dtype, device=example.device)
    # A copy, because other libraries do not support read-only memory.
    values = np.array(to_numpy(array), order="C")
    return namespace_of(example).asarray(values, dtype=example.dtype, device=device_of(example))


def eye_like(example: Array, size: int) -> Array:
    """The identity of shape (size, size) in the library, dtype and device of the example."""
    return namespace_of(example).eye(size, dtype=example.dtype, device=device_of(example))


def to_numpy(array: ArrayLike) -> FloatArray:
    """Any array as a NumPy array in host memory."""
    if isinstance(array, np.ndarray):
        return array
    if is_tensor(array):
        return array.detach().cpu().numpy()
    return np.asarray(array_api_compat.to_device(array, "cpu") if array_api_compat.is_array_api_obj(array) else array)


def dtype_name(array: Array) -> str:
    """The name of an array's dtype, such as "float32", the same in every library."""
    return str(array.dtype).rpartition(".")[2]


def is_numpy(array: ArrayLike) -> bool:
    """Whether an array is NumPy's."""
    return isinstance(array, np.ndarray)


def is_tensor(array: MatrixLike) -> TypeGuard["torch.Tensor"]:
    """Whether an array is PyTorch's."""
    return array_api_compat.is_torch_array(array)


def is_sparse(array: MatrixLike) -> "TypeIs[SparseMatrix]":
    """Whether a matrix is one of SciPy's sparse ones."""
    return hasattr(array, "tocsc")


def in_precision_of(example: MatrixLike, array: Array) -> Array:
    """A tensor in the floating-point type of the example; other arrays are returned as they are.

    >>> in_precision_of(np.zeros(1, dtype=np.float32), np.zeros(1)).dtype
    dtype('float64')
    """
    if is_tensor(example) and is_tensor(array) and example.is_floating_point():
        return array.to(dtype=example.dtype)
    return array


# -- tables that are not arrays in memory -----------------------------------------------------------


def is_of(value: object, module: str, *names: str) -> bool:
    """Whether a value belongs to one of these classes of a library, which need not be installed."""
    return any(each.__name__ in names and each.__module__.startswith(module) for each in type(value).__mro__)


def is_dask(X: object) -> bool:
    """Whether X is an array or a frame of Dask."""
    return is_of(X, "dask", "Array", "DataFrame", "FrameBase")


def is_lazy(X: object) -> bool:
    """Whether X is a table of Dask or polars that is not computed yet."""
    return is_dask(X) or is_of(X, "polars", "LazyFrame")


def is_wide(X: Any) -> TypeGuard["np.memmap[Any, np.dtype[np.float64]]"]:
    """Whether X lies on disk and has more columns than rows, and is read in blocks of columns."""
    is_disk = is_of(X, "zarr", "Array") or (isinstance(X, np.memmap) and 16 * X.size > _WIDE)
    return is_disk and len(X.shape) == 2 and X.shape[1] > X.shape[0]


def is_long(X: Any, y: object = None) -> bool:
    """Whether X is a table that is read block by block.

    >>> is_long(np.zeros((2, 2))), is_long(iter([]))
    (False, True)
    """
    if isinstance(X, np.memmap):
        return 16 * X.size > available_memory()  # as float64, beside its centred copy
    if isinstance(X, Iterator) or is_lazy(X) or is_of(X, "zarr", "Array"):
        return True
    return y is None and isinstance(X, Iterable) and not hasattr(X, "shape") and not isinstance(X, list | tuple)


# -- indexing, large products and recursions -----------------------------------------------------------


def select_rows(array: Array, index: IntArray) -> Array:
    """``array[index]`` for an integer index held in NumPy, on the array's device."""
    return array[index] if is_numpy(array) else namespace_of(array).take(array, index_on(array, index), axis=0)


def index_on(array: Array, index: IntArray) -> Array:
    """An integer index on the device of an array; copied, because plans hold read-only memory."""
    return namespace_of(array).asarray(np.array(index), device=device_of(array))


def take_last(array: Array, index: IntArray) -> Array:
    """``array[..., index]`` for an integer index array, in any library."""
    return array[..., index] if is_numpy(array) else namespace_of(array).take(array, index_on(array, index), axis=-1)


def scatter_last(array: Array, index: IntArray, size: int) -> Array:
    """Zeros of last length `size` with ``array`` at ``[..., index]``; the index has no repeats.

    It gathers from the array with a zero appended, which every library can do.
    """
    if is_numpy(array):
        spread = np.zeros((*array.shape[:-1], size), dtype=array.dtype)
        spread[..., index] = array
        return spread
    xp = namespace_of(array)
    source = np.full(size, len(index))
    source[index] = np.arange(len(index))
    return take_last(xp.concat([array, xp.zeros_like(array[..., :1])], axis=-1), source)


def add_at_last(into: Array, index: IntArray, values: Array) -> None:
    """``into[..., index] += values`` in place; the index has no repeats."""
    if is_numpy(into) or is_tensor(into):
        into[..., index_on(into, index)] += values
    else:
        into[...] = into + scatter_last(values, index, into.shape[-1])


def add_at_first(into: Array, index: IntArray, values: Array) -> None:
    """``into[index[i]] += values[i]`` in place; the index may repeat.

    >>> totals = np.zeros((2, 1))
    >>> add_at_first(totals, np.array([1, 1]), np.array([[2.0], [3.0]]))
    >>> totals
    array([[0.],
           [5.]])
    """
    if hasattr(into, "index_add_"):
        into.index_add_(0, index_on(into, index), values)
        return
    for place, target in enumerate(index):
        into[int(target), ...] += values[place, ...]


def count_at(counts: Array, index: IntArray, classes: Array) -> None:
    """``counts[index[g], i, classes[g, i, t], t] += 1`` in place, for every g, i and t; the index may repeat.

    >>> votes = np.zeros((1, 1, 2, 3), dtype=np.int32)
    >>> count_at(votes, np.array([0, 0]), np.array([[[0, 1, 1]], [[0, 0, 1]]]))
    >>> votes[0, 0]
    array([[2, 1, 0],
           [0, 1, 2]], dtype=int32)
    """
    xp = namespace_of(counts)
    _, n_rows, n_classes, n = counts.shape
    if is_tensor(counts):  # one pass instead of one per class
        starts = (index[:, None] * n_rows + np.arange(n_rows)) * n_classes * n
        flat = classes * n
        flat += index_on(counts, starts)[:, :, None]
        flat += xp.arange(n, device=device_of(counts))
        counts.view(-1).scatter_add_(0, flat.view(-1), counts.new_ones(1).expand(flat.numel()))
        return
    for c in range(n_classes):
        add_at_first(counts[:, :, c, :], index, xp.astype(classes == c, counts.dtype))


def gathered(table: Array, rows: IntArray, columns: IntArray) -> Array:
    """Many blocks of one table, ``table[rows[g]][:, columns[g]]``, as an array of shape (G, n_rows, n_columns).

    The table has shape (n, M), `rows` (G, n_rows), or (1, n_rows) for the same rows in every block, `columns` (G,
    n_columns).

    >>> gathered(np.arange(6).reshape(2, 3), np.array([[1]]), np.array([[0, 2], [1, 1]]))
    array([[[3, 5]],
           [[4, 4]]])
    """
    xp = namespace_of(table)
    flat = index_on(table, rows)[:, :, None] * table.shape[1] + index_on(table, columns)[:, None, :]
    return xp.reshape(xp.take(xp.reshape(table, (-1,)), xp.reshape(flat, (-1,)), axis=0), flat.shape)


def cholesky_or_nan(matrices: Array) -> Array:
    """Cholesky factors, shape (..., n, n); NaN for one that is not positive definite, if the library reports it."""
    xp = namespace_of(matrices)
    if not hasattr(xp.linalg, "cholesky_ex"):
        return xp.linalg.cholesky(matrices)
    lower, info = xp.linalg.cholesky_ex(matrices)  # without a check the host does not wait for the GPU
    return xp.where((info > 0)[..., None, None], xp.nan, lower)


def positive_inverse(matrices: Array) -> Array:
    """Inverses of symmetric positive definite matrices, shape (..., n, n), which may be overwritten; NaN if it fails.

    >>> positive_inverse(np.array([[2.0, 1.0], [1.0, 1.0]])).round(12)
    array([[ 1., -1.],
           [-1.,  2.]])
    """
    if not is_numpy(matrices):
        return namespace_of(matrices).cholesky_inverse(cholesky_or_nan(matrices))
    if matrices.ndim > 2:
        try:
            return np.asarray(np.linalg.inv(matrices))
        except np.linalg.LinAlgError:  # one of them is singular
            return np.stack([positive_inverse(each) for each in matrices])
    root, _ = lapack.dpotrf(matrices.T, lower=1, overwrite_a=1)
    half, failed = lapack.dpotri(root, lower=1, overwrite_c=1)
    return half + np.tril(half, -1).T if not failed else np.full_like(matrices, np.nan)


def batched_product(left: Array, right: Array) -> Array:
    """``left @ right`` for batches of matrices, shapes (B, m, n) and (B, n, p) to (B, m, p).

    This uses SciPy's BLAS, like the factorisations, so that there is only one pool of threads.

    >>> batched_product(np.array([[[1.0, 2.0]]]), np.array([[[3.0, 1.0], [4.0, 0.0]]]))
    array([[[11.,  1.]]])
    """
    if not is_numpy(left):
        return left @ right
    gemm = blas.get_blas_funcs("gemm", (left, right))
    found = np.empty((len(left), left.shape[1], right.shape[2]), dtype=left.dtype)
    for each, other, into in zip(left, right, found, strict=True):
        # BLAS needs column order: the transposed product of transposes takes matrices in either order without a copy.
        flipped = not other.flags.c_contiguous
        into[...] = gemm(1.0, other if flipped else other.T, each.T, trans_a=flipped).T
    return found


def rows_times(rows: Array, matrix: FloatArray) -> Array:
    """``rows @ matrix`` for a NumPy matrix and rows of any library, shapes (..., n) and (n, m) to (..., m).

    >>> rows_times(np.array([1.0, 2.0]), np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]))
    array([1., 2., 3.])
    """
    factor = like(matrix, rows)
    if not is_numpy(rows):
        return rows @ factor
    flat = rows.reshape(1, -1, rows.shape[-1])
    return batched_product(flat, factor[None])[0].reshape(*rows.shape[:-1], matrix.shape[1])


# A term this much smaller than the first changes no bit of a float64 sum.
_NEGLIGIBLE = 1e-18


def geometric_scan(values: Array, decay: float) -> Array:
    """``y_1 = x_1``, ``y_i = x_i + decay · y_(i-1)`` along the last axis."""
    length = values.shape[-1]
    if is_numpy(values):
        # The rows solve L y = x, where L has ones on the diagonal and -decay below it.
        band = np.full((2, length), -decay, dtype=values.dtype)
        rows = np.ascontiguousarray(values).reshape(-1, length)
        return lapack.get_lapack_funcs("tbtrs", (rows,))(band, rows.T, uplo="L", diag="U")[0].T.reshape(values.shape)
    # Doubling: after step j every entry is a sum of 2**j terms. It ends once the next weight is negligible.
    shift = 1
    while shift < length and abs(decay) > _NEGLIGIBLE:
        later = values[..., shift:] + decay * values[..., :-shift]
        values = namespace_of(values).concat([values[..., :shift], later], axis=-1)
        shift *= 2
        decay *= decay
    return values
