"""A stable identity of a description: what stores compare before they resume."""

import hashlib
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np


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
