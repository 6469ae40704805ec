"""How an experiment is run: device, executor, store and memory."""

import os
import random
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from subridge import __version__
from subridge.arrays.machine import blas_threads, device_problem, free_memory
from subridge.model.checks import of_kind, positive_integer, refuse_beyond_memory, truth
from subridge.model.errors import (
    BudgetError,
    ClusterError,
    ConvergenceError,
    DeviceError,
    InterruptedRun,
    ParameterError,
    StoreError,
)
from subridge.simulation.executors import ExecutorChoice, TrialArrays, ended_by_interruption, perform
from subridge.simulation.memory import bytes_of_arrays
from subridge.store.progress import ProgressBar
from subridge.store.tasks import TaskStore, place_of

# Default number of tasks of a run: enough to keep processes busy, and to lose little if the run is killed.
_TASKS = 50
# Trials of a task on a GPU, which trains many of them in a batch.
_TRIALS_ON_A_CARD = 128
# Bytes of a trial below which all library calls are short.
_LARGE = 2**27
_REMEDIES = (
    "use fewer processes where there are several, fewer or smaller n_samples, fewer ridges or test samples, no pairs, "
    'or dtype="float32"'
)


@dataclass(frozen=True, eq=False)
class Run:
    """Where and how to run an experiment.

    Executor, store, memory, block and threads never change the results. The device does: CPU and GPU draw different
    samples of the same distribution.

    Parameters
    ----------
    device : str
        "cpu" (NumPy and LAPACK), "cuda" or "cuda:<number>" (PyTorch, batched over trials), or "torch" (PyTorch on the
        CPU). The machines that run the tasks must have it: a machine without a GPU can use a cluster whose workers have
        GPUs.
    executor : None, int, concurrent.futures.Executor or dask.distributed.Client
        None works in this process. A number starts that many processes; a script must then start its work under
        ``if __name__ == "__main__":``. Any other executor (threads, processes, loky, MPI) runs the tasks on
        its workers, and stays open afterwards. A Dask client sends the tasks to its cluster; its own executor
        ``client.get_executor()`` works too, but fails if a worker dies while its result is fetched.
    store : path, optional
        A directory of this machine. Every finished task is a file there, and a run computes only the tasks that are
        missing. A later run may ask for more trials, damaged tasks are computed again, and several runs may fill one
        store at once.
    memory : int, optional
        Bytes that arrays may take on the device, for all processes of this machine together, or for each task in an
        executor of your own and on a cluster. The default is half of what is free where and when a task starts. Batches
        adapt to it.
    scheduler : str, optional
        Address of a Dask scheduler, such as "tcp://host:8786", in place of `executor`.
    block : int, optional
        Trials per task, the unit of scheduling and of resuming. A store keeps the number it was created with.
    threads : int, optional
        Threads of BLAS per task. The default divides all cores among the processes of this run, and is one in an
        executor of your own and on a cluster.

    Raises
    ------
    ParameterError
        If an argument has the wrong type or is not positive.
    DeviceError
        If this machine runs the tasks and does not have the device.
    StoreError
        If `store` cannot be a directory of this machine.

    See Also
    --------
    simulate, simulate_classification : experiments with an argument ``run``.

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
        for name, most in {"memory": None, "block": None, "threads": 10**4}.items():
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, positive_integer(name, value, most))
        of_kind("device", self.device, str)
        if self.scheduler is not None and not (isinstance(self.scheduler, str) and self.scheduler):
            raise ParameterError(f"scheduler must be an address, got {self.scheduler!r}")
        if self.executor is not None and self.scheduler is not None:
            raise ParameterError("give either executor= or scheduler=, not both: each says where the tasks run")
        if isinstance(self.executor, int):
            positive_integer("executor", self.executor, 10**4)
        elif not (
            self.executor is None or isinstance(self.executor, Executor) or hasattr(self.executor, "get_executor")
        ):
            raise ParameterError(
                "executor must be None, a number of processes, a concurrent.futures.Executor or a "
                f"dask.distributed.Client, got {self.executor!r}"
            )
        if self.store is not None:
            place_of(self.store)  # refuses addresses
        if (problem := device_problem(self.device, here=self._is_here)) is not None:
            raise DeviceError(problem)

    @property
    def _is_serial(self) -> bool:
        """Whether tasks run in this process, one after the other."""
        return self.executor is None and self.scheduler is None

    @property
    def _is_here(self) -> bool:
        """Whether tasks run in processes of this machine; device and memory are then checked before the first one."""
        return self._is_serial or isinstance(self.executor, int)


def checked_run(run: Run | None) -> Run:
    """The run that was given, or the default one."""
    run = Run() if run is None else run
    of_kind("run", run, Run)
    return run


class Engine(NamedTuple):
    """How experiments of one kind are computed. The functions belong to modules, so that other processes find them.

    `layout` lays out the result, `bytes_needed` gives the least memory for a trial, `plan` turns a budget in bytes into
    batch sizes, and `run_trials` runs trials with such a plan. `threads_on_a_cpu` is the best number of threads of BLAS
    for this kind; None leaves the choice to the run.
    """

    layout: Callable[[Any], xr.Dataset]
    bytes_needed: Callable[[Any], int]
    plan: Callable[[Any, int], Any]
    run_trials: Callable[[Any, list[int], Any], TrialArrays]
    threads_on_a_cpu: int | None = None


@dataclass(frozen=True, eq=False)
class Job:
    """The work that all tasks of a run share; a call runs the trials of one task.

    `memory` is in bytes, for all processes of a machine together; None is half of what is free where and when a task
    starts. `threads` is the number of threads of BLAS; None does not change it.
    """

    engine: Engine
    experiment: Any
    memory: int | None = None
    n_processes: int = 1
    threads: int | None = None

    def plan(self) -> Any:
        """Batch sizes on this machine; raises if the device does not exist or a trial does not fit into memory."""
        budget = self.memory_here() // self.n_processes
        needed = self.engine.bytes_needed(self.experiment)
        if self.n_processes > 1:
            needed += bytes_of_arrays(self.experiment)  # each process has a copy
        if needed > budget:
            raise BudgetError(
                f"one trial needs about {needed / 2**20:,.2f} MiB but a process may use {budget / 2**20:,.2f} MiB "
                f"({self.n_processes} in all); raise Run(memory=) if there is more, {_REMEDIES}"
            )
        return self.engine.plan(self.experiment, budget)

    def __call__(self, trials: range) -> TrialArrays:
        plan = self.plan()
        try:
            with blas_threads(self.threads):
                return self.engine.run_trials(self.experiment, list(trials), plan)
        except MemoryError as error:
            raise BudgetError(f"memory ran out during a trial; {_REMEDIES}") from error

    def memory_here(self) -> int:
        """Bytes that all tasks of this machine may take; raises if the device does not exist."""
        device = self.experiment.device
        if (problem := device_problem(device)) is not None:
            raise DeviceError(problem)
        return free_memory(device) // 2 if self.memory is None else self.memory


def conduct(engine: Engine, experiment: Any, run: Run, *, progress: bool) -> xr.Dataset:
    """Run the tasks that are not in the store yet, and put the results of all of them into a dataset."""
    n_processes = run.executor if isinstance(run.executor, int) else 1
    threads = run.threads or (engine.threads_on_a_cpu if experiment.device == "cpu" else None)
    if threads is None and not run._is_serial:
        from joblib import cpu_count  # slow to import

        threads = max(1, cpu_count() // n_processes) if run._is_here else 1
    job = Job(engine, experiment, run.memory, n_processes, threads)
    if run._is_here:  # measured once for all tasks, and checked before anything large is created or written
        job = replace(job, memory=job.memory_here())
        job.plan()
    layout = engine.layout(experiment)
    n_trials = experiment.n_trials
    refuse_beyond_memory(
        f"the result of {n_trials:,} trials, and as much again to work with it,",
        2 * layout.nbytes,
        "ask for fewer trials, n_samples or ridges, or for no pairs",
    )
    usual = -(-n_trials // _TASKS) if experiment.device == "cpu" else _TRIALS_ON_A_CARD
    block = min(run.block or usual, n_trials)
    store = None
    kept = "nothing is kept; with Run(store=) finished tasks would be"
    if run.store is not None:
        # The fingerprint does not depend on the number of trials, so that a store may have fewer or more of them.
        store = TaskStore(
            run.store,
            replace(experiment, n_trials=1).fingerprint(),
            block,
            "another grid: problem, ensemble, n_samples, ridges, seed, device, dtype and the other options must be the "
            "same to resume",
        )
        block = store.block
        kept = (
            f"finished tasks are kept in {store.path}; the same call goes on with the others (with subridge simulate: "
            "add --resume)"
        )
    left = dict.fromkeys(range(n_trials)[start : start + block] for start in range(0, n_trials, block))
    n_tasks = len(left)
    arrays = {str(name): np.full(each.shape, np.nan) for name, each in layout.items()}

    def put(trials: range, values: TrialArrays) -> None:
        for name, part in values.items():
            arrays[name][trials.start : trials.stop] = part
        del left[trials]

    def read(store: TaskStore) -> None:
        for trials, values in store.sound(list(left), arrays):
            if store.version != __version__ and len(left) == n_tasks:
                # The first task is computed again: another version of the package may give other results.
                again = dict(_performed(job, iter([trials]), layout, run))[trials]
                if any(not np.array_equal(again[name], part) for name, part in values.items()):
                    raise StoreError(
                        f"store {store.path} was written by subridge {store.version}, and this version ({__version__}) "
                        "gives other numbers; give another Run(store=), or use that version to go on"
                    )
            put(trials, values)
        if left and not os.access(store.path, os.W_OK):
            raise StoreError(f"store {store.path} is read-only; make it writable, or give another Run(store=)")

    if store is not None:
        read(store)
    bar = ProgressBar("trials", n_tasks, truth("progress", progress) and bool(left), n_tasks - len(left))
    lasts = run._is_serial and engine.bytes_needed(experiment) >= _LARGE
    watch = ended_by_interruption(f"interrupted: {kept}") if lasts else nullcontext()
    try:
        with bar, watch:
            while left:
                # In random order, so that runs which share a store do not repeat each other's tasks.
                tasks = random.sample(list(left), len(left))
                missing = (trials for trials in tasks if store is None or not store.files(trials))
                for trials, values in _performed(job, missing, layout, run):
                    if store is not None:
                        store.write(trials, values)
                    put(trials, values)
                    bar.move(1)
                if store is not None and left:  # what other runs have finished
                    n_before = len(left)
                    read(store)
                    bar.move(n_before - len(left))
    except (KeyboardInterrupt, ClusterError) as error:
        done = f"{n_tasks - len(left)} of {n_tasks} tasks are finished; {kept}"
        if isinstance(error, ClusterError):
            raise ClusterError(f"{error}. {done}") from error
        raise InterruptedRun(f"interrupted: {done}") from error
    return layout.copy(data=arrays)


def _performed(job: Job, tasks: Iterator[range], layout: xr.Dataset, run: Run) -> Iterator[tuple[range, TrialArrays]]:
    """Results of tasks, checked to be finite, without the axes of length one that are not swept."""
    here = ((trials, job(trials)) for trials in tasks)
    for trials, values in here if run._is_serial else perform(job, tasks, run.executor, run.scheduler):
        for name, part in values.items():
            if not np.isfinite(part).all():
                raise ConvergenceError(
                    f"{name} of trials {trials.start} to {trials.stop - 1} is not finite: a factorisation broke down. "
                    "Use dtype='float64', or a larger ridge"
                )
        yield trials, {name: part.reshape(-1, *layout[name].shape[1:]) for name, part in values.items()}
