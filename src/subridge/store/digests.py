"""Digests that tell damaged values from those that were written."""

import hashlib
import json
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from subridge.arrays.types import Json


def digest_of_values(values: Mapping[str, npt.NDArray[np.generic]], *context: str | int) -> int:
    """64 bits of names, types, shapes and contents of arrays, and of what they belong to; never 0.

    >>> import numpy as np
    >>> one, other = (digest_of_values({"a": np.array(entries)}, "b", 3) for entries in ([1.0, 2.0], [1.0, 2.5]))
    >>> one != other
    True
    """
    digest = hashlib.blake2b(repr(context).encode(), digest_size=8)
    for name in sorted(values):
        array = np.ascontiguousarray(values[name])
        digest.update(f"{name}{array.dtype.str}{array.shape}".encode())
        digest.update(array.tobytes())
    return int.from_bytes(digest.digest(), "big") or 1


def digest_of_text(values: Mapping[str, Json]) -> str:
    """Digest of plain values, in any order.

    >>> digest_of_text({"a": 1, "b": 2}) == digest_of_text({"b": 2, "a": 1})
    True
    """
    return hashlib.blake2b(json.dumps(values, sort_keys=True).encode(), digest_size=8).hexdigest()
