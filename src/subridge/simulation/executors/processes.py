"""Tasks in local processes."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from subridge.arrays.machine import cores
from subridge.simulation.executors.base import Executor, Result
from subridge.simulation.executors.lifeline import Lifeline, deaf_children, hold
from subridge.spec.errors import ClusterError

# The task of this process, where it is one of those started here.
_task: Callable[[int], Any] | None = None

# Seconds after which a wait looks up, so that an interruption is noticed on every system.
_LOOK = 0.5
# Tasks handed out per process beyond the one it is working on: enough that no process ever waits for the next.
_AHEAD = 2


class Processes(Executor):
    """Several processes of this machine, which share its cores and its memory.

    They are spawned, never forked: a fork would inherit the threads of BLAS in an unusable state. The task is sent
    once to each.
    """

    def __init__(self, n_processes: int) -> None:
        self.n_processes = n_processes
        self.threads = max(1, cores() // n_processes)

    def perform(self, task: Callable[[int], Result], numbers: Iterable[int]) -> Iterator[tuple[int, Result]]:
        """Yield results as tasks finish; a process that dies, e.g. killed for want of memory, is a `ClusterError`."""
        left, lifeline = iter(numbers), Lifeline()
        pool = ProcessPoolExecutor(self.n_processes, get_context("spawn"), _adopt, (task, lifeline.child_end))
        pending: dict[Future[Result], int] = {}
        # Children of a run that ends early are ended too: a task may take minutes.
        try:
            while True:
                for number in islice(left, (1 + _AHEAD) * self.n_processes - len(pending)):
                    with deaf_children():
                        pending[pool.submit(_perform, number)] = number
                lifeline.guard(_children(pool))
                if not pending:
                    pool.shutdown(wait=True)
                    return
                done, _ = wait(pending, _LOOK, return_when=FIRST_COMPLETED)
                for future in done:
                    yield pending.pop(future), future.result()
        except BrokenProcessPool as error:
            raise ClusterError(
                "a worker process died. A script must start its work under `if __name__ == '__main__':`, because new "
                "processes import it. If memory ran out, use fewer processes, fewer or smaller n_samples, or "
                'dtype="float32"'
            ) from error
        finally:
            _end(pool)
            lifeline.cut()
            pool.shutdown(wait=True, cancel_futures=True)


def _end(pool: ProcessPoolExecutor) -> None:
    """Kill what is left of a pool's processes, which may be deep in a library call."""
    for process in _children(pool).values():
        process.kill()


def _children(pool: ProcessPoolExecutor) -> dict[int, BaseProcess]:
    """Processes of a pool by their numbers; a pool that was shut down has none."""
    return dict(getattr(pool, "_processes", None) or {})


def _adopt(task: Callable[[int], Any], line: Connection) -> None:
    global _task
    hold(line)
    _task = task


def _perform(number: int) -> Any:
    assert _task is not None
    return _task(number)
