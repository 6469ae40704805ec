"""Identity of descriptions, as a digest or as JSON, and seeds as users give them."""

import base64
import hashlib
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from subridge.arrays import streams
from subridge.arrays.streams import Seed
from subridge.arrays.types import Json
from subridge.model.errors import ParameterError


def fingerprint(description: Any) -> str:
    """Return a hexadecimal digest of a description's type and contents."""
    digest = hashlib.sha256()
    for part in _parts(description):
        digest.update(part)
    return digest.hexdigest()[:16]


def _parts(value: Any) -> Iterator[bytes]:
    """Yield the contents as bytes, each with its type, so that different structures cannot collide."""
    if is_dataclass(value):
        yield f"<{type(value).__name__}".encode()
        for field in fields(value):
            yield f"{field.name}=".encode()
            yield from _parts(getattr(value, field.name))
        yield b">"
    elif isinstance(value, np.ndarray):
        yield f"array{value.dtype.str}{value.shape}".encode()
        yield np.ascontiguousarray(value).tobytes()
    elif isinstance(value, tuple | list):
        yield f"({len(value)}".encode()
        for item in value:
            yield from _parts(item)
        yield b")"
    elif isinstance(value, np.generic):
        yield from _parts(value.item())
    elif value is None or isinstance(value, str | int | float | bool):
        yield f"{type(value).__name__}:{value!r}".encode()
    elif hasattr(value, "fingerprint"):  # a strategy of the user's own
        yield f"<{type(value).__name__}:{value.fingerprint()}>".encode()
    else:
        raise TypeError(f"cannot fingerprint {type(value).__name__}")


class Fingerprinted:
    """Mix-in giving a frozen dataclass its ``fingerprint()``."""

    def fingerprint(self) -> str:
        """Digest of type and contents, as text; equal descriptions have equal fingerprints.

        Examples
        --------
        >>> import subridge as sr
        >>> sr.subsets.Equal(3).fingerprint() == sr.subsets.Equal(3).fingerprint()
        True
        """
        return fingerprint(self)


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


def checked_seed(name: str, seed: Seed | None) -> Seed:
    """A seed that names one draw for good: an integer of at least 0, or several; None is drawn afresh, here and once.

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
    """A generator at a grid coordinate from a user's seed, or a fresh one for None; a generator is passed through.

    Examples
    --------
    >>> bool(stream(0, 1).random() == stream(0, 1).random())
    True
    """
    if seed is None or isinstance(seed, np.random.Generator):
        return streams.stream(seed)
    return streams.stream(checked_seed("seed", seed), *coordinates)
