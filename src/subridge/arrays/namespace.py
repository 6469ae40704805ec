"""The array library of the inputs, and the few calls it lacks."""

from typing import TYPE_CHECKING, TypeGuard

import array_api_compat
import numpy as np

from subridge.arrays.types import Array, ArrayLike, FloatArray, IntArray, MatrixLike, Namespace, SparseMatrix

if TYPE_CHECKING:
    import torch
    from typing_extensions import TypeIs  # known to every type checker, so it need not be installed


def namespace_of(*arrays: Array) -> Namespace:
    """The library that the arrays belong to, in its array API form."""
    found: Namespace = array_api_compat.array_namespace(*arrays)
    return found


def device_of(array: Array) -> str:
    """Where an array lives, as its library names it."""
    place: str = array_api_compat.device(array)
    return place


def like(array: ArrayLike, example: Array) -> Array:
    """Return any array in the library, dtype and device of the example."""
    if is_numpy(example):
        return np.asarray(to_numpy(array), dtype=example.dtype)
    if is_tensor(array) and is_tensor(example):
        moved: Array = array.to(dtype=example.dtype, device=example.device)
        return moved
    # A copy, because other libraries do not know read-only memory.
    values = np.array(to_numpy(array), order="C")
    return namespace_of(example).asarray(values, dtype=example.dtype, device=device_of(example))


def to_numpy(array: ArrayLike) -> FloatArray:
    """Return any array as a NumPy array in the host's memory."""
    if isinstance(array, np.ndarray):
        return array
    if is_tensor(array):
        return np.asarray(array.detach().cpu().numpy())
    return np.asarray(array_api_compat.to_device(array, "cpu") if array_api_compat.is_array_api_obj(array) else array)


def dtype_name(array: Array) -> str:
    """The name of an array's dtype, such as "float32", the same in every library."""
    return str(array.dtype).rpartition(".")[2]


def is_numpy(array: ArrayLike) -> bool:
    """Whether an array is NumPy's."""
    return isinstance(array, np.ndarray)


def is_tensor(array: MatrixLike) -> TypeGuard["torch.Tensor"]:
    """Whether an array is PyTorch's."""
    found: bool = array_api_compat.is_torch_array(array)
    return found


def is_sparse(array: MatrixLike) -> "TypeIs[SparseMatrix]":
    """Whether a matrix is one of SciPy's sparse ones."""
    return hasattr(array, "tocsc")


def in_precision_of(example: MatrixLike, array: Array) -> Array:
    """Return a tensor in the floating-point type of the example; other arrays, and integer examples, change nothing.

    >>> in_precision_of(np.zeros(1, dtype=np.float32), np.zeros(1)).dtype
    dtype('float64')
    """
    if is_tensor(example) and is_tensor(array) and example.is_floating_point():
        converted: Array = array.to(dtype=example.dtype)
        return converted
    return array


def select_rows(array: Array, index: IntArray) -> Array:
    """``array[index]`` for an integer index held in NumPy, on the array's device."""
    if is_numpy(array):
        return array[index]
    return namespace_of(array).take(array, index_on(array, index), axis=0)


def index_on(array: Array, index: IntArray) -> Array:
    """An integer index on the device of an array; copied, because plans hold read-only memory."""
    return namespace_of(array).asarray(np.array(index), device=device_of(array))


def take_last(array: Array, index: IntArray) -> Array:
    """``array[..., index]`` for an integer index array, in any library."""
    if is_numpy(array):
        return array[..., index]
    return namespace_of(array).take(array, index_on(array, index), axis=-1)


def scatter_last(array: Array, index: IntArray, size: int) -> Array:
    """Zeros of last length `size` with ``array`` at ``[..., index]``; the index has no repeats.

    Written as a gather from the array with one zero appended, which every library can do.
    """
    if is_numpy(array):
        spread = np.zeros((*array.shape[:-1], size), dtype=array.dtype)
        spread[..., index] = array
        return spread
    xp = namespace_of(array)
    source = np.full(size, len(index))
    source[index] = np.arange(len(index))
    padded = xp.concat([array, xp.zeros_like(array[..., :1])], axis=-1)
    return take_last(padded, source)


def add_at_last(into: Array, index: IntArray, values: Array) -> None:
    """``into[..., index] += values`` in place; the index has no repeats."""
    if is_numpy(into):
        into[..., index] += values
    elif hasattr(into, "index_add_"):
        into.index_add_(-1, index_on(into, index), values)
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


def gathered(table: Array, rows: IntArray, columns: IntArray) -> Array:
    """Many blocks of one table, ``table[rows[g]][:, columns[g]]``, as an array of shape (G, n_rows, n_columns).

    The table has shape (n, M), `rows` (G, n_rows), or (1, n_rows) for the same rows in every block, `columns` (G,
    n_columns).

    >>> gathered(np.arange(6).reshape(2, 3), np.array([[1]]), np.array([[0, 2], [1, 1]]))
    array([[[3, 5]],
           [[4, 4]]])
    """
    if is_numpy(table):
        return table[rows[:, :, None], columns[:, None, :]]
    xp, place = namespace_of(table), device_of(table)
    flat = xp.asarray(rows, device=place)[:, :, None] * table.shape[1] + xp.asarray(columns, device=place)[:, None, :]
    return xp.reshape(xp.take(xp.reshape(table, (-1,)), xp.reshape(flat, (-1,)), axis=0), flat.shape)
