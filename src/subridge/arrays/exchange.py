"""Move arrays between libraries, and pick columns, whatever the library."""

from typing import Any

import array_api_compat
import numpy as np

from subridge.arrays.namespace import like
from subridge.arrays.types import FloatArray


def as_numpy(array: Any) -> FloatArray:
    """Return any array as a NumPy array in host memory.

    Examples
    --------
    >>> as_numpy([1.0, 2.0])
    array([1., 2.])
    """
    if array_api_compat.is_torch_array(array):
        return np.asarray(array.detach().cpu().numpy())
    return np.asarray(array)


def to_library_of(example: Any, array: Any) -> Any:
    """Return an array in the library, dtype and device of the example.

    Examples
    --------
    >>> import numpy as np
    >>> to_library_of(np.zeros(1), np.array([1, 2]))
    array([1., 2.])
    """
    if array_api_compat.is_torch_array(array) and array_api_compat.is_torch_array(example):
        return array.to(dtype=example.dtype, device=example.device)
    # Plans hold read-only arrays, which PyTorch would share and could not protect.
    values = as_numpy(array)
    return like(values if isinstance(example, np.ndarray) else np.array(values), example)


def in_precision_of(example: Any, array: Any) -> Any:
    """Return a tensor in the floating-point type of the example; other arrays, and integer examples, change nothing.

    Examples
    --------
    >>> in_precision_of(np.zeros(1, dtype=np.float32), np.zeros(1)).dtype
    dtype('float64')
    """
    if array_api_compat.is_torch_array(example) and example.is_floating_point():
        return array.to(dtype=example.dtype)
    return array


def select_rows(array: Any, index: Any) -> Any:
    """``array[index]`` for an integer index held in NumPy, on the array's device."""
    if isinstance(array, np.ndarray):
        return array[index]
    xp = array_api_compat.array_namespace(array)
    return xp.take(array, xp.asarray(np.array(index), device=array_api_compat.device(array)), axis=0)
