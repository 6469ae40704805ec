"""Who runs the tasks: this process, several local ones, or a Dask cluster.

To add an executor, subclass `Executor` in a file of its own; ``Run(executor=)`` takes an instance, and `executor_for`
is the place to choose it by a plainer value.
"""

from subridge.model.errors import ParameterError
from subridge.simulation.executors.base import Executor, ExecutorChoice
from subridge.simulation.executors.dask import Cluster
from subridge.simulation.executors.processes import Processes
from subridge.simulation.executors.serial import Serial

__all__ = ["Executor", "ExecutorChoice", "executor_for"]


def executor_for(executor: ExecutorChoice, scheduler: str | None) -> Executor:
    """The executor that ``Run(executor=, scheduler=)`` asks for."""
    if executor is not None and scheduler is not None:
        raise ParameterError("give either executor= or scheduler=, not both: each says where the tasks go")
    if executor is None:
        return Serial() if scheduler is None else Cluster(scheduler)
    if isinstance(executor, Executor):
        return executor
    if isinstance(executor, int) and executor > 0:
        return Processes(executor)
    if not isinstance(executor, int) and hasattr(executor, "scheduler_info"):
        return Cluster(executor)
    raise ParameterError(
        f"executor must be None, a number of processes, a dask.distributed.Client or an Executor, got {executor!r}"
    )
