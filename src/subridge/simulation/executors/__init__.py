"""Who runs the tasks: this process, several local ones, or a Dask cluster.

An executor is a function ``(work, shared, numbers)`` that yields ``(number, work(shared, number))`` in any order.
To add one, write such a function in a file of its own and choose it in `executor_for`.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, TypeAlias

from subridge.simulation.executors.serial import run_here
from subridge.simulation.run import Run

Work: TypeAlias = Callable[[Any, int], Any]
Executor: TypeAlias = Callable[[Work, Any, Sequence[int]], Iterator[tuple[int, Any]]]


def executor_for(run: Run) -> Executor:
    """The executor a run asks for."""
    if run.scheduler is not None or hasattr(run.executor, "scheduler_info"):
        from subridge.simulation.executors.dask import run_on_cluster

        return partial(run_on_cluster, run.scheduler if run.executor is None else run.executor)
    if run.executor is not None:
        from subridge.simulation.executors.processes import run_in_processes

        return partial(run_in_processes, run.executor)
    return run_here
