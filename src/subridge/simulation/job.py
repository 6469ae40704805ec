"""A run cut into tasks: what they share, and how one of them is planned and run on the machine that it reaches."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Generic, Protocol, Self, TypeAlias, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from subridge.arrays.machine import device_problem, free_memory, release
from subridge.arrays.types import FloatArray
from subridge.model.errors import BudgetError, DeviceError
from subridge.results.schemas import TrialSchema

# Results of some trials by name, the trials on the first axis.
TrialArrays: TypeAlias = dict[str, FloatArray]


class Experiment(Protocol):
    """What a run needs to know of an experiment of any kind."""

    @property
    def n_trials(self) -> int: ...

    @property
    def device(self) -> str: ...

    def fingerprint(self) -> str: ...

    def with_trials(self, n_trials: int) -> Self:
        """The same with so many trials, of which common ones are equal."""


ExperimentT = TypeVar("ExperimentT", bound=Experiment)
PlanT = TypeVar("PlanT")


@dataclass(frozen=True)
class Engine(Generic[ExperimentT, PlanT]):
    """How experiments of one kind are computed, by functions of modules, which other processes find by their names.

    `schema` lays out the result, `bytes_needed` is the least memory for a trial, `plan` turns a budget in bytes into
    what is worked on at once, `run_trials` runs trials by such a plan. `threads_on_a_cpu` are the threads of BLAS that
    suit this kind; None leaves the choice to the executor.
    """

    schema: Callable[[ExperimentT], TrialSchema]
    bytes_needed: Callable[[ExperimentT], int]
    plan: Callable[[ExperimentT, int], PlanT]
    run_trials: Callable[[ExperimentT, list[int], PlanT], TrialArrays]
    threads_on_a_cpu: int | None = None


def bytes_of_arrays(value: Any) -> int:
    """Bytes of all arrays of a description, which go to every process that works on it.

    >>> import numpy as np
    >>> bytes_of_arrays((np.zeros(3), [np.zeros((2, 2))]))
    56
    """
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, tuple | list):
        return sum(bytes_of_arrays(item) for item in value)
    if is_dataclass(value):
        return sum(bytes_of_arrays(getattr(value, field.name)) for field in fields(value))
    return 0


@dataclass(frozen=True, eq=False)
class Job(Generic[ExperimentT, PlanT]):
    """What every task of a run shares; called with the number of a task, it runs that one.

    A task has `block` trials. `memory` is in bytes, for all processes of a machine together; None is half of what is
    free where and when a task starts. `threads` are those of BLAS; None leaves them alone.
    """

    engine: Engine[ExperimentT, PlanT]
    experiment: ExperimentT
    block: int
    memory: int | None = None
    n_processes: int = 1
    threads: int | None = None

    @property
    def n_tasks(self) -> int:
        return -(-self.experiment.n_trials // self.block)

    def with_tasks(self, experiment: ExperimentT, block: int) -> Self:
        """The job with as many trials and as large tasks as a store has."""
        return replace(self, experiment=experiment, block=block)

    def trials_of(self, number: int) -> range:
        """Trials of a task."""
        return range(number * self.block, min((number + 1) * self.block, self.experiment.n_trials))

    def judged_here(self) -> Self:
        """The job with the memory of this machine counted once for all tasks, after a look whether it can work here."""
        here = replace(self, memory=self._memory_here())
        here.plan()
        return here

    def plan(self) -> PlanT:
        """What is worked on at once on this machine; raises when the device is not there or a trial does not fit."""
        budget = self._memory_here() // self.n_processes
        needed = self.engine.bytes_needed(self.experiment)
        if self.n_processes > 1:
            needed += bytes_of_arrays(self.experiment)  # each process has its own
        if needed > budget:
            where = f" in each of {self.n_processes} processes" if self.n_processes > 1 else ""
            raise BudgetError(
                f"one trial needs about {needed / 2**20:,.2f} MiB but the run may use {budget / 2**20:,.2f} MiB"
                f"{where}; raise Run(memory=) if there is more, {self._remedies()}"
            )
        return self.engine.plan(self.experiment, budget)

    def __call__(self, number: int) -> TrialArrays:
        plan = self.plan()
        with nullcontext() if self.threads is None else threadpool_limits(self.threads):
            try:
                return self.engine.run_trials(self.experiment, list(self.trials_of(number)), plan)
            except BudgetError:
                raise
            except MemoryError as error:
                raise BudgetError(f"memory ran out during a trial; {self._remedies()}") from error

    def _remedies(self) -> str:
        """What lets a trial take less memory."""
        fewer = "use fewer processes, " if self.n_processes > 1 else "use "
        return f'{fewer}fewer or smaller n_samples, fewer ridges or test samples, no pairs, or dtype="float32"'

    def _memory_here(self) -> int:
        device = self.experiment.device
        if (problem := device_problem(device)) is not None:
            raise DeviceError(problem)
        if self.memory is not None:
            return self.memory
        release(device)
        return free_memory(device) // 2
