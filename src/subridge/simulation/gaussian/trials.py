"""Trials of an experiment over all sizes, ridges and noises, in batches that are trained together."""

from itertools import groupby

import numpy as np

from subridge.model.errors import ConvergenceError
from subridge.simulation.gaussian.experiment import GaussianExperiment, WeightedExperiment
from subridge.simulation.gaussian.sampling import Batch, draw_batch
from subridge.simulation.gaussian.training import curves_of_batch
from subridge.simulation.gaussian.weighted import weighted_curves
from subridge.simulation.job import TrialArrays


def run_trials(experiment: GaussianExperiment, trials: list[int], batch_size: int) -> TrialArrays:
    """Run trials, at most `batch_size` at once; the arrays are those of `curves_of_batch`."""
    parts = [_run_batch(experiment, batch) for batch in _batches(experiment, trials, batch_size)]
    curves = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    if not np.isfinite(curves["risk"]).all():
        trial = trials[int(np.argwhere(~np.isfinite(curves["risk"]))[0, 0])]
        raise ConvergenceError(
            f"trial {trial} has a risk that is not finite: a factorisation broke down. Use dtype='float64', or a "
            "larger ridge"
        )
    return curves


def _batches(experiment: GaussianExperiment, trials: list[int], batch_size: int) -> list[list[int]]:
    """Split trials into batches of nearly equal length, each with subsets of the same sizes."""
    runs = [trials]
    if batch_size > 1 and "subsets" in experiment.redraw:
        grouped = groupby(trials, key=lambda trial: tuple(experiment.plan_of(trial).subset_sizes))
        runs = [list(group) for _, group in grouped]
    return [[int(t) for t in part] for run in runs for part in np.array_split(run, -(-len(run) // batch_size))]


def _run_batch(experiment: GaussianExperiment, trials: list[int]) -> TrialArrays:
    sizes = experiment.n_samples
    if experiment.nested:
        return _curves(experiment, draw_batch(experiment, trials, sizes[-1]), sizes)
    # Independent training sets: every size has its own streams, whatever the others are, and is a curve of one point.
    points = [_curves(experiment, draw_batch(experiment, trials, size, training_set=size), (size,)) for size in sizes]
    return {name: np.concatenate([point[name] for point in points], axis=3) for name in points[0]}


def _curves(experiment: GaussianExperiment, batch: Batch, sizes: tuple[int, ...]) -> TrialArrays:
    if isinstance(experiment, WeightedExperiment):
        return weighted_curves(experiment, batch, sizes)
    return curves_of_batch(experiment, batch, sizes)
