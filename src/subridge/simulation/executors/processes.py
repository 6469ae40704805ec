"""Tasks in local processes."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from itertools import islice
from typing import Any

from subridge.arrays.machine import cores
from subridge.model.errors import ClusterError
from subridge.simulation.executors.base import Executor, Result
from subridge.simulation.executors.pool import ChildPool

# The task of this process, where it is one of those started here.
_task: Callable[[int], Any] | None = None

# Seconds after which a wait looks up, so that an interruption is noticed on every system.
_LOOK = 0.5
# Tasks handed out per process beyond the one it is working on: enough that no process ever waits for the next.
_AHEAD = 2


class Processes(Executor):
    """Several processes of this machine, which share its cores and its memory; the task is sent once to each."""

    def __init__(self, n_processes: int) -> None:
        self.n_processes = n_processes
        self.threads = max(1, cores() // n_processes)

    def perform(self, task: Callable[[int], Result], numbers: Iterable[int]) -> Iterator[tuple[int, Result]]:
        """Yield results as tasks finish; a process that dies, e.g. killed for want of memory, is a `ClusterError`."""
        left = iter(numbers)
        pending: dict[Future[Result], int] = {}
        try:
            with ChildPool(self.n_processes, partial(_adopt, task)) as pool:
                while True:
                    for number in islice(left, (1 + _AHEAD) * self.n_processes - len(pending)):
                        pending[pool.submit(_perform, number)] = number
                    if not pending:
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


def _adopt(task: Callable[[int], Any]) -> None:
    global _task
    _task = task


def _perform(number: int) -> Any:
    assert _task is not None
    return _task(number)
