"""The array library of the inputs, and the few calls it lacks."""

from typing import Any

import array_api_compat
import numpy as np

from subridge.arrays.types import ArrayLike, FloatArray, IntArray


def like(array: ArrayLike, example: Any) -> Any:
    """Return a NumPy array as an array of the example's library, dtype and device."""
    if isinstance(example, np.ndarray):
        return np.asarray(array, dtype=example.dtype)
    xp = array_api_compat.array_namespace(example)
    # A copy, because other libraries do not know read-only memory.
    return xp.asarray(np.array(array, order="C"), dtype=example.dtype, device=array_api_compat.device(example))


def to_numpy(array: Any) -> FloatArray:
    """Return any array as a NumPy array in the host's memory."""
    if isinstance(array, np.ndarray):
        return array
    return np.asarray(array_api_compat.to_device(array, "cpu"))


def take_last(array: Any, index: IntArray) -> Any:
    """``array[..., index]`` for an integer index array, in any library."""
    if isinstance(array, np.ndarray):
        return array[..., index]
    xp = array_api_compat.array_namespace(array)
    return xp.take(array, xp.asarray(np.array(index), device=array_api_compat.device(array)), axis=-1)


def scatter_last(array: Any, index: IntArray, size: int) -> Any:
    """Zeros of last length `size` with ``array`` at ``[..., index]``; the index has no repeats.

    Written as a gather from the array with one zero appended, which every library can do.
    """
    if isinstance(array, np.ndarray):
        spread = np.zeros((*array.shape[:-1], size), dtype=array.dtype)
        spread[..., index] = array
        return spread
    xp = array_api_compat.array_namespace(array)
    source = np.full(size, len(index))
    source[index] = np.arange(len(index))
    padded = xp.concat([array, xp.zeros_like(array[..., :1])], axis=-1)
    return take_last(padded, source)


def add_at_last(into: Any, index: IntArray, values: Any) -> None:
    """``into[..., index] += values`` in place; the index has no repeats."""
    if isinstance(into, np.ndarray):
        into[..., index] += values
    elif hasattr(into, "index_add_"):
        xp = array_api_compat.array_namespace(into)
        into.index_add_(-1, xp.asarray(np.array(index), device=array_api_compat.device(into)), values)
    else:
        into[...] = into + scatter_last(values, index, into.shape[-1])


def add_at_first(into: Any, index: IntArray, values: Any) -> None:
    """``into[index[i]] += values[i]`` in place; the index may repeat.

    Examples
    --------
    >>> totals = np.zeros((2, 1))
    >>> add_at_first(totals, np.array([1, 1]), np.array([[2.0], [3.0]]))
    >>> totals
    array([[0.],
           [5.]])
    """
    if hasattr(into, "index_add_"):
        xp = array_api_compat.array_namespace(into)
        into.index_add_(0, xp.asarray(np.array(index), device=array_api_compat.device(into)), values)
        return
    for place, target in enumerate(index):
        into[int(target), ...] += values[place, ...]


def gathered(table: Any, rows: IntArray, columns: IntArray) -> Any:
    """Many blocks of one table, ``table[rows[g]][:, columns[g]]``, as an array of shape (G, n_rows, n_columns).

    Parameters
    ----------
    table : array, shape (n, M)
    rows : ndarray of int, shape (G, n_rows) or (1, n_rows)
    columns : ndarray of int, shape (G, n_columns)

    Examples
    --------
    >>> gathered(np.arange(6).reshape(2, 3), np.array([[1]]), np.array([[0, 2], [1, 1]]))
    array([[[3, 5]],
           [[4, 4]]])
    """
    if isinstance(table, np.ndarray):
        return table[rows[:, :, None], columns[:, None, :]]
    xp, place = array_api_compat.array_namespace(table), array_api_compat.device(table)
    flat = xp.asarray(rows, device=place)[:, :, None] * table.shape[1] + xp.asarray(columns, device=place)[:, None, :]
    return xp.reshape(xp.take(xp.reshape(table, (-1,)), xp.reshape(flat, (-1,)), axis=0), flat.shape)
