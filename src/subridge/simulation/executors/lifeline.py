"""Processes that end with the one that started them, however that one ends.

A child holds the reading end of a pipe whose writing end only its parent has; when the parent ends, the pipe says so
and the child leaves. A child that is still loading its modules, or deep in a library call, cannot hear that. On POSIX
systems a small process therefore knows the children too, and kills them when the parent is gone.
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, Pipe

# Reads lines of process numbers, each in place of the one before; at the end of the input the last of them are killed.
_GUARD = """
import os, signal, sys
numbers = []
for line in sys.stdin:
    numbers = line.split()
for number in numbers:
    try:
        os.kill(int(number), signal.SIGKILL)
    except OSError:
        pass
"""


class Lifeline:
    """The parent's end."""

    def __init__(self) -> None:
        self.child_end, self._end = Pipe(duplex=False)
        self._told: list[int] = []
        self._guard = _guard() if os.name == "posix" else None

    def guard(self, children: Iterable[int]) -> None:
        """Let these processes be killed when this one ends, and no others."""
        numbers = sorted(children)
        if self._guard is not None and self._guard.stdin is not None and numbers != self._told:
            self._told = numbers
            with suppress(BrokenPipeError):  # someone killed the guard; the pipes are left
                self._guard.stdin.write(" ".join(map(str, numbers)) + "\n")
                self._guard.stdin.flush()

    def cut(self) -> None:
        """Let children that still live leave at once, and forget them."""
        self._end.close()
        self.child_end.close()
        self.guard([])
        if self._guard is not None:
            self._guard.communicate()


def _guard() -> subprocess.Popen[str]:
    # A session of its own: Ctrl-C at a terminal and signals to the group of the parent do not reach it.
    return subprocess.Popen(
        [sys.executable, "-S", "-E", "-c", _GUARD],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )


@contextmanager
def deaf_children() -> Iterator[None]:
    """Let processes that are started within hear of Ctrl-C, which a terminal sends to all, only when they `hold`.

    Until then they load their modules, and would die with words of their own. The parent hears of it afterwards.
    """
    if sys.platform == "win32":
        yield
        return
    from multiprocessing.resource_tracker import ensure_running

    ensure_running()  # where multiprocessing has to start it later, it lets all signals through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def hold(line: Connection) -> None:
    """In a child: live no longer than the parent, and leave Ctrl-C to it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=_leave_at_the_end_of, args=(line,), daemon=True).start()


def _leave_at_the_end_of(line: Connection) -> None:
    with suppress(EOFError, OSError):
        line.recv_bytes()
    os._exit(1)
