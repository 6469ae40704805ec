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
    return like(as_numpy(array), example)


def select_rows(array: Any, index: Any) -> Any:
    """``array[index]`` for an integer index held in NumPy, on the array's device."""
    if isinstance(array, np.ndarray):
        return array[index]
    xp = array_api_compat.array_namespace(array)
    return xp.take(array, xp.asarray(np.ascontiguousarray(index), device=array_api_compat.device(array)), axis=0)
