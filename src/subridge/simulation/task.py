"""One task: a block of trials over all sizes, ridges and noises."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.simulation.experiment import Experiment, blocks_of
from subridge.simulation.sampling import draw_batch
from subridge.simulation.training import curves_of_batch
from subridge.spec.errors import ConvergenceError


@dataclass(frozen=True, eq=False)
class Job:
    """What every task of a run shares.

    Attributes
    ----------
    experiment : Experiment
    block : int
        Trials per task.
    batch : int
        Trials trained at once.
    threads : int or None
        Threads of BLAS; None leaves them alone.
    """

    experiment: Experiment
    block: int
    batch: int
    threads: int | None = None

    @property
    def n_tasks(self) -> int:
        return len(blocks_of(self.experiment.n_trials, self.block))


def run_task(job: Job, number: int) -> dict[str, FloatArray]:
    """Run the trials of one task.

    Returns
    -------
    dict
        ``risk``, ``training_error`` and perhaps ``pairs``, with the trials of the task on the first axis; see
        `curves_of_batch`.
    """
    trials = list(blocks_of(job.experiment.n_trials, job.block)[number])
    with limited_threads(job.threads):
        parts = [_run_batch(job.experiment, batch) for batch in _batches(job, trials)]
    curves = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    if not np.isfinite(curves["risk"]).all():
        trial = trials[int(np.argwhere(~np.isfinite(curves["risk"]))[0, 0])]
        raise ConvergenceError(
            f"trial {trial} has a risk that is not finite: a factorisation broke down. Use dtype='float64', or a "
            "larger ridge"
        )
    return curves


@contextmanager
def limited_threads(threads: int | None) -> Iterator[None]:
    if threads is None:
        yield
        return
    from threadpoolctl import threadpool_limits

    with threadpool_limits(threads):
        yield


def _batches(job: Job, trials: list[int]) -> list[list[int]]:
    """Split trials into batches of nearly equal length, each with subsets of the same sizes."""
    experiment = job.experiment
    runs = [trials]
    if job.batch > 1 and "subsets" in experiment.redraw:
        grouped = groupby(trials, key=lambda trial: tuple(experiment.plan_of(trial).subset_sizes))
        runs = [list(group) for _, group in grouped]
    return [[int(t) for t in part] for run in runs for part in np.array_split(run, -(-len(run) // job.batch))]


def _run_batch(experiment: Experiment, trials: list[int]) -> dict[str, FloatArray]:
    sizes = experiment.n_samples
    if experiment.nested:
        return curves_of_batch(experiment, draw_batch(experiment, trials, sizes[-1]), sizes)
    # Independent training sets: every size has its own streams and is a curve of one point.
    points = [
        curves_of_batch(experiment, draw_batch(experiment, trials, size, number), (size,))
        for number, size in enumerate(sizes)
    ]
    return {name: np.concatenate([point[name] for point in points], axis=3) for name in points[0]}
