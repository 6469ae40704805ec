"""Run the tasks of any experiment that are not in its store yet, and gather what all of them give."""

from collections.abc import Callable
from typing import Any

from subridge.arrays.machine import cores
from subridge.arrays.types import FloatArray
from subridge.simulation.executors import executor_for
from subridge.simulation.experiment import blocks_of
from subridge.simulation.run import Run
from subridge.store.progress import ProgressBar

# Tasks of a run when nothing else is said: enough to keep processes busy and to lose little when killed.
_TASKS = 50
# A card trains many trials at once; tasks are large so that batches can be.
_TRIALS_ON_A_CARD = 128


def gather(
    experiment: Any,
    schema: Any,
    run: Run,
    make_job: Callable[[int], Any],
    work: Callable[[Any, int], Any],
    *,
    show: bool,
) -> dict[str, FloatArray]:
    """Run missing tasks with the run's executor and store.

    Parameters
    ----------
    experiment : Experiment or ClassificationExperiment
        With ``n_trials``, ``device`` and ``fingerprint()``.
    schema : TrialSchema
        Of the result.
    run : Run
    make_job : callable
        From trials per task to what the tasks share.
    work : callable
        From (job, number) to the arrays of a task, with its trials on the first axis.
    show : bool
        Whether to show a progress bar.

    Returns
    -------
    dict
        Arrays of all trials by name.
    """
    block = run.block or default_block(experiment)
    store = None
    if run.store is not None:
        from subridge.store.tasks import open_task_store

        store = open_task_store(run.store, schema, experiment.fingerprint(), min(block, experiment.n_trials))
        block = store.block_of(next(iter(schema.dimensions)))
    blocks = blocks_of(experiment.n_trials, block)
    arrays = schema.empty() if store is None else {}
    missing = list(range(len(blocks))) if store is None else store.missing()
    with ProgressBar("trials", len(blocks), len(blocks) - len(missing), show=show) as bar:
        for number, values in executor_for(run)(work, make_job(block), missing):
            values = schema.without_single_axes(values)
            if store is None:
                for name, part in values.items():
                    arrays[name][blocks[number].start : blocks[number].stop] = part
            else:
                store.write(number, values)
            bar.advance()
    return arrays if store is None else store.read(list(schema.dimensions))


def default_block(experiment: Any) -> int:
    """Trials per task."""
    if experiment.device == "cpu":
        return -(-experiment.n_trials // _TASKS)
    return min(experiment.n_trials, _TRIALS_ON_A_CARD)


def processes_of(run: Run) -> int:
    """Processes that share the memory of this machine."""
    return run.executor if isinstance(run.executor, int) else 1


def threads_of(run: Run) -> int | None:
    """Threads of BLAS in each process: as many as the caller has here, a share of the cores elsewhere."""
    if run.threads is not None or (run.executor is None and run.scheduler is None):
        return run.threads
    if isinstance(run.executor, int):
        return max(1, cores() // run.executor)
    return 1  # a Dask worker runs one task per thread of its own
