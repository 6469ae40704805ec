"""Who runs the tasks: this process, several local ones, or a Dask cluster.

To add an executor, subclass `Executor` in a file of its own and list it in `EXECUTORS`.
"""

from subridge.simulation.executors.base import Executor, ExecutorChoice
from subridge.simulation.executors.dask import Cluster
from subridge.simulation.executors.processes import Processes
from subridge.simulation.executors.serial import Serial
from subridge.spec.errors import ParameterError

EXECUTORS: tuple[type[Executor], ...] = (Serial, Processes, Cluster)

__all__ = ["EXECUTORS", "Executor", "ExecutorChoice", "executor_for"]


def executor_for(executor: ExecutorChoice, scheduler: str | None) -> Executor:
    """The executor that ``Run(executor=, scheduler=)`` asks for."""
    if executor is not None and scheduler is not None:
        raise ParameterError("give either executor= or scheduler=, not both: each says where the tasks go")
    if isinstance(executor, Executor):
        return executor
    for kind in EXECUTORS:
        if (found := kind.asked_for(executor, scheduler)) is not None:
            return found
    raise ParameterError(
        f"executor must be None, a number of processes, a dask.distributed.Client or an Executor, got {executor!r}"
    )
