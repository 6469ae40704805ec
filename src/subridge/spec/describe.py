"""A description as plain JSON values, for the attributes of results and stores."""

import base64
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from subridge.arrays.types import Json
from subridge.model.fingerprint import fingerprint

# Arrays up to the first length are written as numbers, up to the second as their bytes, beyond by fingerprint only.
_READABLE = 64
_EMBEDDED = 65536


def describe(value: Any) -> Json:
    """Return what a description holds as JSON values."""
    if is_dataclass(value) and not isinstance(value, type):
        return {"type": type(value).__name__} | {f.name: describe(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, tuple | list):
        return [describe(item) for item in value]
    if value is None or isinstance(value, str | int | float):
        return value
    return {"type": type(value).__name__, "fingerprint": value.fingerprint()}


def _array(array: npt.NDArray[np.generic]) -> Json:
    if array.size <= _READABLE:
        values: Json = array.tolist()
        return values
    summary: dict[str, Json] = {"shape": list(array.shape), "dtype": array.dtype.str, "fingerprint": fingerprint(array)}
    if array.size <= _EMBEDDED:
        summary["base64"] = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")
    return summary
