"""Tasks in local processes."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any

from subridge.spec.errors import ClusterError

_shared: Any = None
_work: Any = None

# Tasks handed out per process beyond the one it is working on: enough that no process ever waits for the next.
_AHEAD = 2


def run_in_processes(
    n_processes: int, work: Callable[[Any, int], Any], shared: Any, numbers: Sequence[int]
) -> Iterator[tuple[int, Any]]:
    """Yield ``(number, work(shared, number))`` as tasks finish.

    Processes are spawned, never forked: a fork would inherit the threads of BLAS in an unusable state. What the tasks
    share is sent once to each process.

    Raises
    ------
    ClusterError
        When a process dies, e.g. killed for want of memory.
    """
    left = iter(numbers)
    with ProcessPoolExecutor(n_processes, get_context("spawn"), _adopt, (work, shared)) as pool:
        pending: dict[Future[Any], int] = {}
        try:
            while True:
                for number in left:
                    pending[pool.submit(_perform, number)] = number
                    if len(pending) >= (1 + _AHEAD) * n_processes:
                        break
                if not pending:
                    return
                done, _ = wait(pending, return_when=FIRST_COMPLETED)
                for future in done:
                    yield pending.pop(future), future.result()
        except BrokenProcessPool as error:
            raise ClusterError(
                "a worker process died. A script must start its work under `if __name__ == '__main__':`, because new "
                "processes import it. If memory ran out, lower Run(memory=) or use fewer processes, and give a store: "
                "a run with one goes on where it stopped"
            ) from error
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _adopt(work: Any, shared: Any) -> None:
    global _shared, _work
    _work, _shared = work, shared


def _perform(number: int) -> Any:
    return _work(_shared, number)
