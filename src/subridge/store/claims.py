"""Claims on tasks, so that runs which fill one store at once do not repeat each other's work.

A claim is a lock on one byte of a file, which the system gives back when its owner ends, however it ends. Where a file
system knows no locks every claim is granted: work is repeated then, and the results stay right.
"""

import errno
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# A byte that no task has: who holds it may change the description of the store.
_DESCRIPTION = 2**30
_UNSUPPORTED = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL}
_PATIENCE = 0.02


class _OpenFile:
    """A file of locks as this process shares it: closing any handle of it would give up every lock of the process."""

    def __init__(self, handle: int) -> None:
        self.handle, self.users = handle, 0
        self.held: set[int] = set()


_open: dict[tuple[int, int], _OpenFile] = {}
_guard = threading.Lock()


class Claims:
    """The claims of one run on the bytes of a file; threads of a process exclude each other as processes do."""

    def __init__(self, path: Path) -> None:
        self._mine: set[int] = set()
        with _guard:
            # A file that is open here already must not be opened again.
            found = _open.get(_identity(os.stat(path))) if path.exists() else None
            if found is None:
                handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
                found = _open.setdefault(_identity(os.fstat(handle)), _OpenFile(handle))
            self._file = found
            self._file.users += 1

    def take(self, number: int) -> bool:
        """Claim a task, or say that another run has it."""
        with _guard:
            if number in self._file.held or not _locked(self._file.handle, number):
                return False
            self._file.held.add(number)
            self._mine.add(number)
            return True

    def release(self, number: int) -> None:
        """Give a claim back."""
        with _guard:
            if number in self._mine:
                self._mine.discard(number)
                self._file.held.discard(number)
                _unlock(self._file.handle, number)

    def close(self) -> None:
        """Give back every claim of this run."""
        for number in list(self._mine):
            self.release(number)
        with _guard:
            self._file.users -= 1
            if not self._file.users:
                del _open[_identity(os.fstat(self._file.handle))]
                os.close(self._file.handle)

    @contextmanager
    def description(self) -> Iterator[None]:
        """Wait for, and hold, the right to change what all tasks share."""
        while not self.take(_DESCRIPTION):
            time.sleep(_PATIENCE)
        try:
            yield
        finally:
            self.release(_DESCRIPTION)


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


if sys.platform == "win32":  # pragma: no cover
    import msvcrt

    def _locked(handle: int, number: int) -> bool:
        os.lseek(handle, number, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            return error.errno not in (errno.EACCES, errno.EDEADLK)
        return True

    def _unlock(handle: int, number: int) -> None:
        os.lseek(handle, number, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _locked(handle: int, number: int) -> bool:
        try:
            fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, number)
        except OSError as error:
            return error.errno in _UNSUPPORTED
        return True

    def _unlock(handle: int, number: int) -> None:
        fcntl.lockf(handle, fcntl.LOCK_UN, 1, number)
