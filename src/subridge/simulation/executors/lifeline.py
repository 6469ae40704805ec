"""Processes that end with the one that started them, however that one ends.

A child holds the reading end of a pipe whose writing end only its parent has. When the parent ends, or closes its end,
the pipe says so and the child leaves. On Linux the system also kills it, which works inside a library call as well.
"""

import os
import signal
import sys
import threading
from contextlib import suppress
from multiprocessing.connection import Connection, Pipe


class Lifeline:
    """The parent's end."""

    def __init__(self) -> None:
        self.child_end, self._end = Pipe(duplex=False)

    def cut(self) -> None:
        """End the children at once."""
        self._end.close()
        self.child_end.close()


def hold(line: Connection) -> None:
    """In a child: live no longer than the parent. Ctrl-C, which a terminal sends to all, is left to the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        _die_with_parent()
    threading.Thread(target=_leave_at_the_end_of, args=(line,), daemon=True).start()


def _leave_at_the_end_of(line: Connection) -> None:
    with suppress(EOFError, OSError):
        line.recv_bytes()
    os._exit(1)


def _die_with_parent() -> None:
    """Ask Linux for a SIGKILL when the parent ends; a parent that ended before is noticed by the pipe."""
    import ctypes

    ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
