"""Work on many ensembles at once, a core each."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from threadpoolctl import threadpool_limits

from subridge.arrays.machine import cores

Task = TypeVar("Task")
Result = TypeVar("Result")
_MOST_WORKERS = 8  # each holds the factors of one ensemble, as large as the data


def side_by_side(work: Callable[[Task], Result], tasks: Iterable[Task]) -> list[Result]:
    """Results of `work` on every task, one core for each task at a time.

    Ensembles are independent and their matrices small: a core each beats all cores on one, and does not fight with
    other programs for them.
    """
    tasks = list(tasks)
    workers = min(len(tasks), cores(), _MOST_WORKERS)
    if workers <= 1:
        return [work(task) for task in tasks]
    with threadpool_limits(1, "blas"), ThreadPoolExecutor(workers) as pool:
        return list(pool.map(work, tasks))
