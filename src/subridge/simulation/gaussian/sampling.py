"""Data of a batch of trials, each drawn from its own streams, so that no batch can change them."""

from dataclasses import dataclass

import numpy as np

from subridge.arrays.devices import empty_on, standard_normals
from subridge.arrays.namespace import like, namespace_of
from subridge.arrays.products import rows_times_transpose
from subridge.arrays.types import Array
from subridge.simulation.gaussian.experiment import (
    FEATURE_NOISE,
    LABEL_NOISE,
    READOUT_NOISE,
    SIGNAL,
    GaussianExperiment,
)
from subridge.spec.plan import SubsetPlan


@dataclass(frozen=True, eq=False)
class Batch:
    """Training data of B trials.

    Attributes
    ----------
    features : array, shape (B, P, M)
        ψ + σ.
    labels : array, shape (B, P)
    readout : array, shape (B, k, P), or None
        Standard normals behind the readout noise of training; None when there is no readout noise.
    teachers : array, shape (B, M)
        w*/√M, the coefficients of the noise-free label.
    plans : list of SubsetPlan, of length B or 1
        One for all trials, or one each.
    """

    features: Array
    labels: Array
    readout: Array | None
    teachers: Array
    plans: list[SubsetPlan]


def draw_batch(experiment: GaussianExperiment, trials: list[int], n_rows: int, training_set: int = 0) -> Batch:
    """Draw data, teachers and subsets of some trials.

    Parameters
    ----------
    experiment : GaussianExperiment
    trials : list of int
        All with subsets of the same sizes.
    n_rows : int
        P, samples per trial.
    training_set : int
        Number of the training set; prefixes of one set share its number.
    """
    problem = experiment.finite_problem

    def normals(purpose: int, *shape: int) -> Array:
        def of(trial: int) -> Array:
            where = experiment.coordinates(purpose, trial, training_set)
            return standard_normals(experiment.seed, where, shape, experiment.device, experiment.dtype)

        if len(trials) == 1:
            return of(trials[0])[None, ...]
        drawn = empty_on((len(trials), *shape), experiment.device, experiment.dtype)
        for place, trial in enumerate(trials):
            drawn[place, ...] = of(trial)
        return drawn

    features = problem.signal_covariance.colour(normals(SIGNAL, n_rows, problem.signal_covariance.white_size))
    xp = namespace_of(features)
    teachers = np.stack([experiment.teacher_of(trial) for trial in trials]) / np.sqrt(experiment.n_features)
    teachers = like(teachers, features)
    labels = rows_times_transpose(teachers[:, None, :], features)[:, 0, :]
    zeta = float(problem.label_noise.reshape(()))
    if zeta:
        labels = labels + zeta * normals(LABEL_NOISE, n_rows)
    if experiment.has_feature_noise:
        white = normals(FEATURE_NOISE, n_rows, problem.noise_covariance.white_size)
        features += problem.noise_covariance.colour(white)
    readout = None
    if experiment.noise_table.any():
        # Samples before members, so that training sets of any length agree on their common samples.
        readout = xp.permute_dims(normals(READOUT_NOISE, n_rows, experiment.n_members), (0, 2, 1))
    redrawn = "subsets" in experiment.redraw
    plans = [experiment.plan_of(trial) for trial in (trials if redrawn else trials[:1])]
    return Batch(features, labels, readout, teachers, plans)
