"""Data of a batch of trials, each drawn from its own streams, so that no batch can change them."""

from dataclasses import dataclass

import numpy as np

from subridge.arrays.namespace import like, namespace_of, rows_times_transpose
from subridge.arrays.streams import stacked_normals
from subridge.arrays.types import Array
from subridge.model.plan import SubsetPlan
from subridge.simulation.gaussian.experiment import (
    FEATURE_NOISE,
    LABEL_NOISE,
    READOUT_NOISE,
    SIGNAL,
    GaussianExperiment,
)


@dataclass(frozen=True, eq=False)
class Batch:
    """Training data of B trials; all subsets of a member have the same size."""

    features: Array  # ψ + σ, shape (B, P, M)
    labels: Array  # shape (B, P)
    readout: Array | None  # standard normals behind the readout noise, shape (B, k, P); None when there is none
    teachers: Array  # w*/√M, the coefficients of the noise-free label, shape (B, M)
    plans: list[SubsetPlan]  # one for all trials, or one each


def draw_batch(experiment: GaussianExperiment, trials: list[int], n_rows: int, training_set: int = 0) -> Batch:
    """Draw data, teachers and subsets of some trials, P = `n_rows` samples each.

    Training sets that are prefixes of one another share the number `training_set`.
    """
    e, problem = experiment, experiment.finite_problem

    def normals(purpose: int, *shape: int) -> Array:
        where = [e.coordinates(purpose, trial, training_set) for trial in trials]
        return stacked_normals(e.seed, where, shape, e.device, e.dtype)

    features = problem.signal_covariance.colour(normals(SIGNAL, n_rows, problem.signal_covariance.white_size))
    xp = namespace_of(features)
    teachers = np.stack([e.teacher_of(trial) for trial in trials]) / np.sqrt(e.n_features)
    teachers = like(teachers, features)
    labels = rows_times_transpose(teachers[:, None, :], features)[:, 0, :]
    zeta = float(problem.label_noise.reshape(()))
    if zeta:
        labels = labels + zeta * normals(LABEL_NOISE, n_rows)
    if e.has_feature_noise:
        white = normals(FEATURE_NOISE, n_rows, problem.noise_covariance.white_size)
        features += problem.noise_covariance.colour(white)
    readout = None
    if e.noise_table.any():
        # Samples before members, so that training sets of any length agree on their common samples.
        readout = xp.permute_dims(normals(READOUT_NOISE, n_rows, e.n_members), (0, 2, 1))
    redrawn = "subsets" in e.redraw
    plans = [e.plan_of(trial) for trial in (trials if redrawn else trials[:1])]
    return Batch(features, labels, readout, teachers, plans)
