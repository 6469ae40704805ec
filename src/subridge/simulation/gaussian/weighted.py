"""Learning curves of ensembles whose members are weighted: by what theory says, or by what each trial shows.

The risk of any weights follows from the exact second moments of the trained members, so both kinds of weights are
judged without sampling new data.
"""

from dataclasses import replace

import numpy as np

from subridge.arrays.namespace import namespace_of, to_numpy
from subridge.arrays.types import FloatArray
from subridge.model.aggregation import LinearAggregation
from subridge.model.ensemble import Ensemble
from subridge.model.moments import MemberMoments
from subridge.model.plan import SubsetPlan
from subridge.ridge.rows.path import member_paths
from subridge.ridge.rows.training import training_rows
from subridge.ridge.selection import moments_at
from subridge.simulation.gaussian.experiment import GaussianExperiment, WeightedExperiment
from subridge.simulation.gaussian.sampling import Batch
from subridge.simulation.gaussian.training import lifted, member_pairs, train_member
from subridge.theory.predict import risk


def weighted_curves(experiment: WeightedExperiment, batch: Batch, sizes: tuple[int, ...]) -> dict[str, FloatArray]:
    """As `curves_of_batch`, with ``member_weights`` of shape (B, n_ridges, n_noises, n_sizes, k) beside it."""
    xp = namespace_of(batch.features)
    swept = len(experiment.noise_table) > 1 and batch.readout is not None
    trained = [train_member(experiment, batch, sizes, r, swept=swept) for r in range(experiment.n_members)]
    members = xp.stack([lifted(batch, r, weights) for r, weights in enumerate(trained)], axis=-2)
    moments = _moments(experiment, batch, to_numpy(members), member_pairs(experiment, batch, members))
    if experiment.weights_from == "theory":
        weights = np.broadcast_to(_weights_by_theory(experiment, batch.plans[0], sizes), moments.pairs.shape[:-1])
    else:
        weights = np.stack([_weights_of_trial(experiment, batch, b, sizes) for b in range(len(batch.labels))])
    curves = {
        "risk": moments.risk_of(weights),
        "training_error": _training_errors(experiment, batch, to_numpy(members), weights, sizes),
        "member_weights": np.array(weights),
    }
    return curves | ({"pairs": moments.pairs} if experiment.pairs else {})


def _moments(experiment: GaussianExperiment, batch: Batch, members: FloatArray, pairs: FloatArray) -> MemberMoments:
    """Exact second moments of the trained members and the noise-free label."""
    teachers = to_numpy(batch.teachers)
    signal = to_numpy(experiment.finite_problem.signal_covariance.apply_rows(batch.teachers))
    v = (signal * teachers).sum(axis=-1)  # (B,)
    explained = np.einsum("blpqkm,bm->blpqk", members, signal)
    found = [
        explained[..., 0, :] - (eta * explained[..., 1, :] if explained.shape[-2] > 1 else 0.0)
        for eta in experiment.noise_table
    ]
    c = np.stack(found, axis=2)
    power = np.broadcast_to(v[:, None, None, None], c.shape[:-1])
    return MemberMoments(pairs, power[..., None] - c, power)


def _weights_by_theory(experiment: WeightedExperiment, plan: SubsetPlan, sizes: tuple[int, ...]) -> FloatArray:
    """Weights that are best for typical members, shape (n_ridges, n_noises, n_sizes, k)."""
    aggregation, ratios = _linear(experiment), np.array(sizes) / experiment.n_features
    table = [
        [
            aggregation.weights(risk(experiment.finite_problem, Ensemble(plan, ridges, noises), ratios).moments)
            for noises in experiment.noise_table
        ]
        for ridges in experiment.ridge_table
    ]
    return np.array(table)


def _weights_of_trial(experiment: WeightedExperiment, batch: Batch, b: int, sizes: tuple[int, ...]) -> FloatArray:
    """Weights from the leave-one-out errors of one trial, shape (n_ridges, n_noises, n_sizes, k).

    Readout noise, which left-out samples do not show, is added as it will be there when the members predict.
    """
    aggregation, plan = _linear(experiment), batch.plans[b if len(batch.plans) > 1 else 0]
    features, labels = to_numpy(batch.features[b, ...]), to_numpy(batch.labels[b, ...])
    L, E = len(experiment.ridge_table), len(experiment.noise_table)
    weights = np.empty((L, E, len(sizes), plan.n_members))
    for s, P in enumerate(sizes):
        rows = training_rows(features[:P], labels[None, :P], None, False)
        for e, eta in enumerate(experiment.noise_table):
            noise = None
            if batch.readout is not None:
                noise = eta[:, None, None] * to_numpy(batch.readout[b, :, :P])[:, None, :]
            paths = member_paths(rows, plan, experiment.ridge_table, noise)
            for index in range(L):
                found = moments_at(paths, rows, aggregation, np.full(plan.n_members, index))
                noisy = replace(found, pairs=found.pairs + np.diag(eta**2))
                weights[index, e, s] = aggregation.weights(noisy)
    return weights


def _training_errors(
    experiment: GaussianExperiment, batch: Batch, members: FloatArray, weights: FloatArray, sizes: tuple[int, ...]
) -> FloatArray:
    """Mean squared residual of the weighted prediction, with the readout noise of training."""
    errors = np.empty(weights.shape[:-1])
    features, labels = to_numpy(batch.features), to_numpy(batch.labels)
    readout = None if batch.readout is None else to_numpy(batch.readout)
    for b, index, e, s in np.ndindex(*errors.shape):
        eta, w, P = experiment.noise_table[e], weights[b, index, e, s], sizes[s]
        basis = members[b, index, s]
        vectors = basis[0] - eta[:, None] * basis[1] if len(basis) > 1 else basis[0]
        goal = labels[b, :P] if readout is None else labels[b, :P] - (w * eta) @ readout[b, :, :P]
        errors[b, index, e, s] = ((goal - features[b, :P] @ (w @ vectors)) ** 2).mean()
    return errors


def _linear(experiment: GaussianExperiment) -> LinearAggregation:
    aggregation = experiment.ensemble.aggregation
    assert isinstance(aggregation, LinearAggregation)  # the experiment has checked it
    return aggregation
