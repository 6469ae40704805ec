"""The array library of the inputs, and the few calls it lacks."""

from typing import Any

import array_api_compat
import numpy as np

from subridge.arrays.types import FloatArray


def like(array: FloatArray, example: Any) -> Any:
    """Return a NumPy array as an array of the example's library, dtype and device."""
    if isinstance(example, np.ndarray):
        return np.asarray(array, dtype=example.dtype)
    xp = array_api_compat.array_namespace(example)
    return xp.asarray(np.ascontiguousarray(array), dtype=example.dtype, device=array_api_compat.device(example))


def first_order_recursion(white: Any, decay: float) -> Any:
    """``x_1 = z_1``, ``x_i = decay x_(i-1) + sqrt(1 - decay²) z_i`` along the last axis: unit variance, AR(1)."""
    scale = float(np.sqrt(1 - decay * decay))
    if isinstance(white, np.ndarray):
        from scipy.signal import lfilter

        innovations = scale * white
        innovations[..., 0] = white[..., 0]
        return lfilter([1.0], [1.0, -decay], innovations, axis=-1)
    # Doubling scan: after step j every entry has summed 2**j innovations. log2(M) passes over the array.
    xp = array_api_compat.array_namespace(white)
    x = xp.concat([white[..., :1], scale * white[..., 1:]], axis=-1)
    shift, weight, length = 1, decay, x.shape[-1]
    while shift < length and weight != 0.0:
        x = xp.concat([x[..., :shift], x[..., shift:] + weight * x[..., :-shift]], axis=-1)
        shift, weight = 2 * shift, weight * weight
    return x
