"""What makes results repeatable: the identity of descriptions, as a digest or as JSON, and random streams.

Streams are addressed by coordinates, so that the order of work cannot change what is drawn.
"""

import base64
import hashlib
import json
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from subridge.arrays.types import Json, Seed
from subridge.model.errors import ParameterError

# Arrays up to the first length are described by numbers, up to the second by bytes, and beyond by fingerprint only.
_READABLE = 64
_EMBEDDED = 65536


class Fingerprinted:
    """Base of frozen dataclasses that describe something."""

    def fingerprint(self) -> str:
        """Digest of type and contents, as text; equal descriptions have equal fingerprints.

        Examples
        --------
        >>> import subridge as sr
        >>> sr.subsets.Equal(3).fingerprint() == sr.subsets.Equal(3).fingerprint()
        True
        """
        return fingerprint(self)

    def _set(self, **checked: Any) -> None:
        """Set checked values, while a frozen dataclass is built."""
        for name, value in checked.items():
            object.__setattr__(self, name, value)


def fingerprint(description: Any) -> str:
    """Return a hexadecimal digest of a description's type and contents; stores compare it before they resume."""
    if isinstance(description, np.ndarray):
        digest = hashlib.sha256(f"{description.dtype.str}{description.shape}".encode())
        digest.update(np.ascontiguousarray(description).tobytes())
    else:
        digest = hashlib.sha256(json.dumps(describe(description)).encode())
    return digest.hexdigest()[:16]


def describe(value: Any) -> Json:
    """Return a description as plain JSON values, for the attributes of results and stores."""
    if is_dataclass(value) and not isinstance(value, type):
        return {"type": type(value).__name__} | {f.name: describe(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.size <= _READABLE):
        value = value.tolist()
    if isinstance(value, np.ndarray):
        summary = {"shape": list(value.shape), "dtype": value.dtype.str, "fingerprint": fingerprint(value)}
        if value.size <= _EMBEDDED:
            summary["base64"] = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode("ascii")
        return summary
    if isinstance(value, tuple | list):
        return [describe(item) for item in value]
    if value is None or isinstance(value, str | int | float):
        return value
    if not hasattr(value, "fingerprint"):
        raise TypeError(f"cannot fingerprint {type(value).__name__}")
    return {"type": type(value).__name__, "fingerprint": value.fingerprint()}  # a strategy of the user's own


def checked_seed(name: str, seed: Seed | None) -> Seed:
    """A seed that can be repeated: an integer of at least 0, or several; None is replaced by a random one.

    Examples
    --------
    >>> checked_seed("seed", (1, 2)), isinstance(checked_seed("seed", None), int)
    ((1, 2), True)
    """
    if seed is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    parts = seed if isinstance(seed, tuple | list) else (seed,)
    if not parts or not all(isinstance(part, int | np.integer) and part >= 0 for part in parts):
        raise ParameterError(f"{name} must be an integer of at least 0, or a tuple of them, got {seed!r}")
    whole = tuple(int(part) for part in parts)
    return whole if isinstance(seed, tuple | list) else whole[0]


def stream(seed: Seed | np.random.Generator | None, *coordinates: int) -> np.random.Generator:
    """A generator at a grid coordinate such as ``(trial, purpose)``; distinct coordinates give independent streams.

    A generator is returned as it is, and None gives a new one every time.

    Examples
    --------
    >>> bool(stream(0, 1).random() == stream(0, 1).random())
    True
    """
    if seed is None or isinstance(seed, np.random.Generator):
        return np.random.default_rng(seed)
    return np.random.default_rng(np.random.SeedSequence(checked_seed("seed", seed), spawn_key=coordinates))
