"""Run the tasks of an experiment of any kind that are not in its store yet, and gather what all of them give."""

from dataclasses import replace

import xarray as xr

from subridge.simulation.executors import executor_for
from subridge.simulation.job import Engine, Experiment, ExperimentT, Job, PlanT
from subridge.simulation.run import Run
from subridge.store.progress import ProgressBar

# Tasks of a run when nothing else is said: enough to keep processes busy and to lose little when killed.
_TASKS = 50
# A card trains many trials at once; tasks are large so that batches can be.
_TRIALS_ON_A_CARD = 128


def conduct(engine: Engine[ExperimentT, PlanT], experiment: ExperimentT, run: Run, *, progress: bool) -> xr.Dataset:
    """Run an experiment with the run's executor and store; the result is laid out by the engine's schema."""
    executor, threads = executor_for(run.executor, run.scheduler), run.threads
    if threads is None:
        threads = (engine.threads_on_a_cpu if experiment.device == "cpu" else None) or executor.threads
    job = Job(engine, experiment, _block(experiment, run), run.memory, executor.n_processes, threads)
    if executor.is_here:
        job = job.judged_here()  # before anything large is made or written
    schema, store = engine.schema(experiment), None
    if run.store is not None:
        from subridge.store.tasks import open_task_store

        store = open_task_store(run.store, schema, experiment.fingerprint(), job.block)
        job = replace(job, block=store.block_of(next(iter(schema.dimensions))))
    arrays = schema.empty() if store is None else {}
    missing = list(range(job.n_tasks)) if store is None else store.missing()
    with ProgressBar("trials", job.n_tasks, job.n_tasks - len(missing), show=progress) as bar:
        for number, values in executor.perform(job, missing):
            values = schema.without_single_axes(values)
            if store is None:
                trials = job.trials_of(number)
                for name, part in values.items():
                    arrays[name][trials.start : trials.stop] = part
            else:
                store.write(number, values)
            bar.advance()
    return schema.dataset(arrays if store is None else store.read(list(schema.dimensions)))


def _block(experiment: Experiment, run: Run) -> int:
    """Trials per task, of a run that does not go on with a store."""
    usual = -(-experiment.n_trials // _TASKS) if experiment.device == "cpu" else _TRIALS_ON_A_CARD
    return min(run.block or usual, experiment.n_trials)
