"""Finished work on disk: a task is a file, so that a run that was killed goes on where it stopped.

A store is a directory. A task is a range of rows, such as the trials of an experiment. Its file is written under a
temporary name and then renamed, so that it is either complete or missing. Every file also holds its rows and the
fingerprint of its work, which reveal a file that was copied from another task or experiment. The checksums of the zip
archive reveal altered bits. They are compared only if a member is read in full; ``numpy.load`` alone stops at the end
of an array, and may not reach the checksum.

Several runs may fill one store. They do not wait for each other: each skips the files that have appeared, and two runs
that repeat a task write the same numbers.
"""

import errno
import os
import re
import uuid
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import numpy.typing as npt

from subridge import __version__
from subridge.model.checks import of_kind
from subridge.model.errors import DamagedStoreWarning, StoreError, listed

Arrays = dict[str, npt.NDArray[Any]]

# "s3://bucket" is "s3:/bucket" once it was a path; a single letter is a drive of Windows.
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
_HEAD = "store.npz"
# Entries of every file that describe the store.
_ABOUT = {"fingerprint", "version", "block"}


def place_of(path: str | Path) -> Path:
    """The directory that a path means.

    >>> place_of("run").name
    'run'
    """
    of_kind("store", path, str, Path)
    if _ADDRESS.match(str(path)):
        raise StoreError(
            f"store {path} is an address, but a store is a directory of this machine; mount it, or give another path"
        )
    if not str(path) or "\0" in str(path):
        raise StoreError(f"store {str(path)!r} is not a path; give another")
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise StoreError(f"store {path}: there is no such home directory; give another path") from error


def is_store(path: str | Path) -> bool:
    """Whether the path is a file or a directory with contents."""
    place = place_of(path)
    with clear_errors(place):
        return place.exists() and (not place.is_dir() or any(place.iterdir()))


@contextmanager
def clear_errors(path: Path) -> Iterator[None]:
    """Turn errors of the operating system into errors that say what to do."""
    try:
        yield
    except StoreError:
        raise
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENAMETOOLONG) or (path.is_symlink() and not path.exists()):
            raise StoreError(
                f"store {path} is too long a name, or a link that leads nowhere; give another path"
            ) from error
        if isinstance(error, FileExistsError | NotADirectoryError):
            raise StoreError(f"{path} is not a store but a file, or lies in one; give another path") from error
        raise StoreError(
            f"store {path} cannot be read or written ({error.strerror or error}); check the path, its permissions and "
            "the free space, then run again: finished tasks are kept"
        ) from error


class TaskStore:
    """The files of the work with a fingerprint.

    A new store has `block` rows per task; an existing one keeps its own number. `another` are the words of a message
    for a store with another fingerprint.
    """

    def __init__(self, path: str | Path, fingerprint: str, block: int, another: str) -> None:
        self.path = place_of(path)
        self._fingerprint = fingerprint
        self.block = block
        self.version = __version__
        with clear_errors(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
            if (self.path / "zarr.json").exists():
                raise StoreError(
                    f"store {self.path} was written by subridge 0.2 or an earlier version, whose stores this version "
                    "does not read; give another path, or use that version to go on"
                )
            if all(file.name.startswith(".") for file in self.path.iterdir()):
                self._write(_HEAD, {})
            # Every file describes the store, so that any intact file replaces a head that is damaged or missing.
            files = sorted(self.path.glob("*.npz"), key=lambda file: file.name != _HEAD)
            head = next((found for file in files if set(found := _read(file)) >= _ABOUT), None)
            if head is None:
                raise StoreError(f"{self.path} is not a store, or all of its files are damaged; give another path")
            if str(head["fingerprint"]) != fingerprint:
                raise StoreError(f"store {self.path} belongs to {another}; give another path, or remove the old one")
            self.block = int(head["block"])
            self.version = str(head["version"])
            if "rows" in head:
                warnings.warn(f"{_HEAD} of store {self.path} is damaged; it is written again", DamagedStoreWarning, 4)
                if os.access(self.path, os.W_OK):
                    self._write(_HEAD, {})

    def sound(self, tasks: Iterable[range], names: Iterable[str]) -> Iterator[tuple[range, Arrays]]:
        """Intact tasks, with the named arrays. Damaged files are removed with a warning."""
        damaged = []
        with clear_errors(self.path):
            for rows in tasks:
                for file in self.files(rows):
                    found = _read(file)
                    about = [str(found.get("fingerprint")), *found.get("rows", np.zeros(0)).tolist()]
                    if about == [self._fingerprint, *map(int, file.stem.split("-"))] and set(names) <= set(found):
                        yield rows, {name: found[name][: len(rows)] for name in names}
                        break
                    damaged.append(file)
            if damaged:
                words = f"store {self.path} is damaged in {listed(file.name for file in damaged)}"
                if not os.access(self.path, os.W_OK):
                    raise StoreError(f"{words} and read-only; copy it to repair it")
                for file in damaged:
                    file.unlink(missing_ok=True)
                warnings.warn(f"{words}; these tasks are computed again", DamagedStoreWarning, stacklevel=3)

    def write(self, rows: range, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Write the file of a task."""
        self._write(f"{rows.start}-{rows.stop}.npz", {**arrays, "rows": np.array([rows.start, rows.stop])})

    def _write(self, name: str, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        scratch = self.path / f".{uuid.uuid4().hex}.tmp"
        about: dict[str, Any] = {"fingerprint": self._fingerprint, "version": self.version, "block": self.block}
        with clear_errors(self.path):
            if not self.path.exists():
                raise StoreError(f"store {self.path} was removed while it was in use; run again to start over")
            try:
                with scratch.open("wb") as file:
                    np.savez(file, **(about | dict(arrays)))
                os.replace(scratch, self.path / name)
            finally:
                scratch.unlink(missing_ok=True)

    def files(self, rows: range) -> list[Path]:
        """Files that may hold the rows: the file of a whole block, and that of a shorter last block."""
        stops = dict.fromkeys((rows.start + self.block, rows.stop))
        files = (self.path / f"{rows.start}-{stop}.npz" for stop in stops)
        return [file for file in files if file.exists()]


def arrays_of(archive: ZipFile) -> Arrays:
    """All arrays of a NumPy archive. Each is read in full, so that its checksum is compared."""
    return {
        name.removesuffix(".npy"): np.load(BytesIO(archive.read(name)), allow_pickle=False)
        for name in archive.namelist()
    }


def _read(file: Path) -> Arrays:
    """All arrays of a file, whose checksums are compared; empty if it is damaged."""
    try:
        contents = file.read_bytes()
    except FileNotFoundError:  # another run has removed a damaged file
        return {}
    try:
        with ZipFile(BytesIO(contents)) as archive:
            return arrays_of(archive)
    except MemoryError:
        raise
    except Exception:  # altered bytes can raise anything
        return {}
