"""How an experiment is run: device, executor, store and memory. What is computed is said elsewhere."""

from dataclasses import dataclass
from pathlib import Path

from subridge.arrays.machine import device_name_problem, device_problem
from subridge.model.checks import positive_integer
from subridge.model.errors import DeviceError, ParameterError
from subridge.simulation.executors import ExecutorChoice, executor_for
from subridge.store.places import place_of

MOST_TRIALS = 10**7  # of an experiment; more are several experiments with different seeds


def checked_run(run: "Run | None") -> "Run":
    """The run that an experiment was given, or the plain one."""
    if run is None:
        return Run()
    if not isinstance(run, Run):
        raise ParameterError(f"run must be a Run, got {type(run).__name__}")
    return run


@dataclass(frozen=True, eq=False)
class Run:
    """Where and how to run an experiment.

    Executor, store, memory, block and threads never change the numbers. The device changes which samples of the same
    law are drawn: those of CPU and GPU differ.

    Parameters
    ----------
    device : str
        "cpu" (NumPy and LAPACK), "cuda" or "cuda:<number>" (PyTorch, batched over trials), or "torch" (PyTorch on the
        CPU). It must be there where the tasks run: a machine without a card can drive a cluster whose workers have
        cards.
    executor : None, int, dask.distributed.Client or Executor
        None works in this process; a number starts that many processes (a script must then start its work under
        ``if __name__ == "__main__":``); a client sends the tasks to its cluster.
    store : path, optional
        A zarr directory of this machine (needs the ``cluster`` extra). Finished tasks are kept there, and a run that
        finds some goes on with the others: more trials may be asked for than a store has, damaged tasks are run again,
        and several runs may fill one store at once.
    memory : int, optional
        Bytes that arrays may take on the device, on every machine that runs tasks; default half of what is free there.
        Batches adapt to it.
    scheduler : str, optional
        Address of a Dask scheduler, such as "tcp://host:8786", in place of `executor`.
    block : int, optional
        Trials per task, the unit of scheduling and of resuming. A store keeps the number it was created with.
    threads : int, optional
        Threads of BLAS per process; default all cores divided among the processes.

    Raises
    ------
    ParameterError
        If a number is no positive integer, or text is expected and something else is given.
    DeviceError
        If this machine is to run the tasks and does not have the device.
    StoreError
        If the store can be no directory.

    See Also
    --------
    simulate, simulate_classification : experiments that take a run.

    Examples
    --------
    >>> import subridge as sr
    >>> sr.Run(executor=2, memory=2**30).device
    'cpu'
    """

    device: str = "cpu"
    executor: ExecutorChoice = None
    store: str | Path | None = None
    memory: int | None = None
    scheduler: str | None = None
    block: int | None = None
    threads: int | None = None

    def __post_init__(self) -> None:
        for name in ("memory", "block", "threads"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, positive_integer(name, value, 10**4 if name == "threads" else None))
        if isinstance(self.executor, int):
            positive_integer("executor", self.executor, 10**4)
        for name in ("device", "scheduler"):
            value = getattr(self, name)
            if not (isinstance(value, str) and value) and not (value is None and name == "scheduler"):
                raise ParameterError(f"{name} must be text, got {value!r}")
        if self.store is not None and not (isinstance(self.store, str | Path) and str(self.store)):
            raise ParameterError(f"store must be a path, got {self.store!r}")
        if self.store is not None:
            place_of(self.store)  # refuses what can be no directory
        is_here = executor_for(self.executor, self.scheduler).is_here
        problem = device_problem(self.device) if is_here else device_name_problem(self.device)
        if problem is not None:
            raise DeviceError(problem)
