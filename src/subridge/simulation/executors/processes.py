"""Tasks in local processes."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any

from subridge.arrays.machine import cores
from subridge.simulation.executors.base import Executor, Result
from subridge.spec.errors import ClusterError

# The task of this process, where it is one of those started here.
_task: Callable[[int], Any] | None = None

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

    def perform(self, task: Callable[[int], Result], numbers: Sequence[int]) -> Iterator[tuple[int, Result]]:
        """Yield results as tasks finish; a process that dies, e.g. killed for want of memory, is a `ClusterError`."""
        left = iter(numbers)
        with ProcessPoolExecutor(self.n_processes, get_context("spawn"), _adopt, (task,)) as pool:
            pending: dict[Future[Result], int] = {}
            try:
                while True:
                    for number in left:
                        pending[pool.submit(_perform, number)] = number
                        if len(pending) >= (1 + _AHEAD) * self.n_processes:
                            break
                    if not pending:
                        return
                    done, _ = wait(pending, return_when=FIRST_COMPLETED)
                    for future in done:
                        yield pending.pop(future), future.result()
            except BrokenProcessPool as error:
                raise ClusterError(
                    "a worker process died. A script must start its work under `if __name__ == '__main__':`, because "
                    "new processes import it. If memory ran out, lower Run(memory=) or use fewer processes, and give a "
                    "store: a run with one goes on where it stopped"
                ) from error
            finally:
                pool.shutdown(wait=True, cancel_futures=True)


def _adopt(task: Callable[[int], Any]) -> None:
    global _task
    _task = task


def _perform(number: int) -> Any:
    assert _task is not None
    return _task(number)
