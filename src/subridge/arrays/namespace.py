"""The array library of the inputs, and the few calls it lacks."""

from typing import Any

import array_api_compat
import numpy as np

from subridge.arrays.types import ArrayLike, FloatArray, IntArray

# A term this much smaller than the first changes no bit of a float64 sum.
_NEGLIGIBLE = 1e-18


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


def geometric_scan(values: Any, decay: float) -> Any:
    """``y_1 = x_1``, ``y_i = x_i + decay · y_(i-1)`` along the last axis.

    Examples
    --------
    >>> geometric_scan(np.array([1.0, 0.0, 4.0]), 0.5)
    array([1.  , 0.5 , 4.25])
    """
    if isinstance(values, np.ndarray):
        from scipy.signal import lfilter

        one = np.ones(1, dtype=values.dtype)  # coefficients of another type would widen the result
        return lfilter(one, np.array([1.0, -decay], dtype=values.dtype), values, axis=-1)
    # Doubling: after step j every entry has summed 2**j terms. It ends early, once the next weight is negligible.
    xp = array_api_compat.array_namespace(values)
    shift, weight, length = 1, decay, values.shape[-1]
    while shift < length and abs(weight) > _NEGLIGIBLE:
        values = xp.concat([values[..., :shift], values[..., shift:] + weight * values[..., :-shift]], axis=-1)
        shift, weight = 2 * shift, weight * weight
    return values


def first_order_recursion(white: Any, decay: float) -> Any:
    """``x_1 = z_1``, ``x_i = decay x_(i-1) + sqrt(1 - decay²) z_i`` along the last axis: unit variance, AR(1)."""
    xp = array_api_compat.array_namespace(white)
    scale = float(np.sqrt(1 - decay * decay))
    return geometric_scan(xp.concat([white[..., :1], scale * white[..., 1:]], axis=-1), decay)
