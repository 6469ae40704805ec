"""Work on many ensembles at once, a core each, which tells how far it is."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias, TypeVar

from threadpoolctl import threadpool_limits

from subridge.arrays.machine import cores

Task = TypeVar("Task")
Result = TypeVar("Result")
Listener: TypeAlias = Callable[[int, int], None]
_MOST_WORKERS = 8  # each holds the factors of one ensemble, as large as the data
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def told_of_progress(listener: Listener) -> Iterator[None]:
    """Within it, `listener` is called with the number of tasks done and of all, after each of them.

    >>> with told_of_progress(lambda done, total: print(done, "of", total)):
    ...     side_by_side(abs, [-1])
    1 of 1
    [1]
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def side_by_side(work: Callable[[Task], Result], tasks: Iterable[Task]) -> list[Result]:
    """Results of `work` on every task, one core for each task at a time.

    Ensembles are independent and their matrices small: a core each beats all cores on one, and does not fight with
    other programs for them.
    """
    tasks, listener = list(tasks), _listener.get()
    workers = min(len(tasks), cores(), _MOST_WORKERS)

    def tell(done: int) -> None:
        if listener is not None:
            listener(done, len(tasks))

    if workers <= 1:
        results = []
        for task in tasks:
            results.append(work(task))
            tell(len(results))
        return results
    with threadpool_limits(1, "blas"), ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(work, task) for task in tasks]
        for done, future in enumerate(as_completed(futures), 1):
            if future.exception() is not None:
                pool.shutdown(wait=False, cancel_futures=True)
                break
            tell(done)
        return [future.result() for future in futures if not future.cancelled()]
