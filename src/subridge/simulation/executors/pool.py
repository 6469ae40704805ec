"""A pool of processes that end with the one that started them, and leave Ctrl-C to it."""

from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import ParamSpec, TypeVar

from subridge.simulation.executors.lifeline import Lifeline, deaf_children, hold

_P = ParamSpec("_P")
_T = TypeVar("_T")


class ChildPool(ProcessPoolExecutor):
    """Processes that call `adopt`, where it is given, before their first work.

    They are spawned, never forked: a fork would inherit the threads of BLAS in an unusable state. At the end of a
    ``with`` all work is waited for; after an error, or Ctrl-C, nothing is, because it may take minutes.
    """

    def __init__(self, n_processes: int, adopt: Callable[[], None] | None = None) -> None:
        self._lifeline = Lifeline()
        super().__init__(n_processes, get_context("spawn"), _begin, (self._lifeline.child_end, adopt))

    def submit(self, work: Callable[_P, _T], /, *arguments: _P.args, **named: _P.kwargs) -> Future[_T]:
        """Hand out work; a process is started for it unless one is free or all are."""
        with deaf_children():
            future = super().submit(work, *arguments, **named)
        self._lifeline.guard(self._children())
        return future

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            if kind is None:
                self.shutdown()
        finally:
            for process in self._children().values():
                process.kill()  # it may be deep in a library call
            self._lifeline.cut()
            self.shutdown(cancel_futures=True)

    def _children(self) -> dict[int, BaseProcess]:
        """Processes by their numbers; a pool that was shut down has none."""
        return dict(getattr(self, "_processes", None) or {})


def _begin(line: Connection, adopt: Callable[[], None] | None) -> None:
    hold(line)
    if adopt is not None:
        adopt()
