"""Where a store may be: a directory of this machine, ``~`` understood, addresses refused."""

import re
from pathlib import Path

from subridge.model.errors import StoreError

# "s3://bucket" is "s3:/bucket" once it was a path; a single letter is a drive of Windows.
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")


def place_of(path: str | Path) -> Path:
    """The directory that a path means.

    >>> place_of("run.zarr").name
    'run.zarr'
    """
    if _ADDRESS.match(str(path)):
        raise StoreError(
            f"store {path} is an address, but a store is a directory of this machine; mount it, or give another path"
        )
    if not str(path) or "\0" in str(path):
        raise StoreError(f"store {str(path)!r} is no path of a directory; give another")
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise StoreError(f"store {path}: there is no such home directory; give another path") from error


def is_store(path: str | Path) -> bool:
    """Whether something is at the path already."""
    place = place_of(path)
    return place.exists() and (not place.is_dir() or any(place.iterdir()))
