"""Run the tasks of an experiment of any kind that are not in its store yet, and gather what all of them give."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import chain

import numpy as np
import xarray as xr

from subridge import __version__
from subridge.arrays.types import FloatArray
from subridge.model.checks import counted
from subridge.model.errors import ClusterError, ConvergenceError, InterruptedRun, StoreError
from subridge.results.schemas import TrialSchema
from subridge.simulation.executors import Executor, executor_for
from subridge.simulation.executors.serial import Serial
from subridge.simulation.interruption import LARGE, ended_by_interruption
from subridge.simulation.job import Engine, Experiment, ExperimentT, Job, PlanT, TrialArrays
from subridge.simulation.run import Run
from subridge.store.progress import ProgressBar
from subridge.store.resumable import ResumableStore
from subridge.store.tasks import open_task_store

# Tasks of a run when nothing else is said: enough to keep processes busy and to lose little when killed.
_TASKS = 50
# A card trains many trials at once; tasks are large so that batches can be.
_TRIALS_ON_A_CARD = 128
_GO_ON = "the same call goes on with the others (with subridge simulate: add --resume)"
# Times that a store may turn out damaged after it was filled, before its disk is blamed.
_ATTEMPTS = 3


def conduct(engine: Engine[ExperimentT, PlanT], experiment: ExperimentT, run: Run, *, progress: bool) -> xr.Dataset:
    """Run an experiment with the run's executor and store; the result is laid out by the engine's schema."""
    executor, threads = executor_for(run.executor, run.scheduler), run.threads
    if threads is None:
        threads = (engine.threads_on_a_cpu if experiment.device == "cpu" else None) or executor.threads
    job = Job(engine, experiment, _block(experiment, run), run.memory, executor.n_processes, threads)
    if executor.is_here:
        job = job.judged_here()  # before anything large is made or written
    schema = engine.schema(experiment)
    if run.store is None:
        arrays = schema.empty()
        with ProgressBar("trials", job.n_tasks, show=progress) as bar, _said_what_is_kept(None), _ended(executor, job):
            for number, values in _performed(executor, job, range(job.n_tasks), schema):
                trials = job.trials_of(number)
                for name, part in values.items():
                    arrays[name][trials.start : trials.stop] = part
                bar.advance()
        return schema.dataset(arrays)

    def opened() -> tuple[ResumableStore, Job[ExperimentT, PlanT]]:
        store = open_task_store(run.store or "", schema, experiment.with_trials(1).fingerprint(), job.block)
        # A store may have more trials than are asked for, and a task of it is always whole.
        return store, job.with_tasks(experiment.with_trials(store.n_rows), store.block)

    return schema.dataset(_filled(opened, executor, schema, show=progress))


def _filled(
    opened: Callable[[], tuple[ResumableStore, Job[ExperimentT, PlanT]]],
    executor: Executor,
    schema: TrialSchema,
    *,
    show: bool,
) -> dict[str, FloatArray]:
    """The arrays of a store after every task that is missing or damaged was run.

    Other runs may work on the store. Only arrays of one look that found every task sound are returned, and a store that
    grew is opened again, because its last task has other rows then.
    """
    names, n_trials = list(schema.dimensions), schema.sizes["trial"]
    store, job = opened()
    look = store.gather(names, n_trials)
    times_damaged = 0
    if look.damaged:
        store.forget(look.damaged)
    _require_equal_numbers(store, executor, job, schema)
    while not look.is_whole:
        _fill(store, executor, job, schema, show=show)
        if store.has_grown():
            store, job = opened()
        look = store.gather(names, n_trials)
        if look.damaged:
            times_damaged += 1
            if times_damaged == _ATTEMPTS:
                raise StoreError(
                    f"store {store.path} was damaged {_ATTEMPTS} times while it was filled; use another disk"
                )
            store.forget(look.damaged)
    return look.arrays


def _fill(
    store: ResumableStore, executor: Executor, job: Job[ExperimentT, PlanT], schema: TrialSchema, *, show: bool
) -> None:
    """Run what is missing until nothing is, or until the store has grown."""
    n_trials = schema.sizes["trial"]
    missing, total = store.missing(n_trials), -(-n_trials // store.block)
    bar = ProgressBar("trials", total, total - len(missing), show=show)
    with bar, _said_what_is_kept(store), _ended(executor, job, store):
        while missing := store.missing(n_trials):
            claimed = store.claimed(missing)
            first = next(claimed, None)
            if first is None:
                if store.has_grown():
                    return
                bar.describe(f"waiting for {counted(len(missing), 'task')} of another run")
                store.wait(len(missing))
                continue
            for number, values in _performed(executor, job, chain([first], claimed), schema):
                store.write(number, values)
                bar.advance()


def _performed(
    executor: Executor, job: Job[ExperimentT, PlanT], numbers: Iterable[int], schema: TrialSchema
) -> Iterator[tuple[int, TrialArrays]]:
    """What tasks give, in the shape of the schema and finite."""
    for number, values in executor.perform(job, numbers):
        for name, part in values.items():
            if not np.isfinite(part).all():
                raise ConvergenceError(
                    f"{name} of trials {job.trials_of(number)} is not finite: a factorisation broke down. Use "
                    "dtype='float64', or a larger ridge"
                )
        yield number, schema.without_single_axes(values)


def _require_equal_numbers(
    store: ResumableStore, executor: Executor, job: Job[ExperimentT, PlanT], schema: TrialSchema
) -> None:
    """Refuse a store of another version of the package, unless a task of it has the same numbers today."""
    version = store.attributes["subridge_version"]
    if version == __version__ or not (done := store.done()):
        return
    stored = store.gather(list(schema.dimensions)).arrays
    for number, values in _performed(executor, job, done[:1], schema):
        trials = job.trials_of(number)
        if any(not np.array_equal(part, stored[name][trials.start : trials.stop]) for name, part in values.items()):
            raise StoreError(
                f"store {store.path} was written by subridge {version}, and this version ({__version__}) gives other "
                f"numbers; {store.kind.remedy}, or use that version to go on"
            )


def _ended(
    executor: Executor, job: Job[ExperimentT, PlanT], store: ResumableStore | None = None
) -> AbstractContextManager[None]:
    """Ctrl-C ends also a task that is deep in a library call, where tasks run in this process and are large."""
    if not isinstance(executor, Serial) or job.engine.bytes_needed(job.experiment) < LARGE:
        return nullcontext()
    kept = "nothing is kept" if store is None else f"finished tasks are kept in {store.path}; {_GO_ON}"
    return ended_by_interruption(f"interrupted: {kept}")


@contextmanager
def _said_what_is_kept(store: ResumableStore | None) -> Iterator[None]:
    """Let errors that end a run say what it leaves and how to go on."""

    def kept() -> str:
        if store is None:
            return "nothing is kept; with Run(store=), or --store, finished tasks would be"
        n_tasks = -(-store.n_rows // store.block)
        return f"{len(store.done())} of {n_tasks} tasks are kept in {store.path}; {_GO_ON}"

    try:
        yield
    except KeyboardInterrupt as error:
        raise InterruptedRun(f"interrupted: {kept()}") from error
    except ClusterError as error:
        raise ClusterError(f"{error}. {kept().capitalize() if store is None else kept()}") from error
    finally:
        if store is not None:
            store.release()


def _block(experiment: Experiment, run: Run) -> int:
    """Trials per task, of a run that does not go on with a store."""
    usual = -(-experiment.n_trials // _TASKS) if experiment.device == "cpu" else _TRIALS_ON_A_CARD
    return min(run.block or usual, experiment.n_trials)
