"""Gaussian trials: draw data, train every member along its learning curve, and form exact risks.

Readout noise is linear: weights for the labels y - η ξ are those for y minus η times those for ξ. When η is swept,
members are trained on both and every η costs a few inner products. The vectors are kept as a *basis*: element 0 comes
from the labels, element q from noise pattern q, and row e of ``mix`` combines them into the vector at noise e.
"""

from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np

from subridge.arrays.namespace import device_of, like, namespace_of, rows_times_transpose, to_numpy
from subridge.arrays.streams import stacked_normals
from subridge.arrays.types import Array, FloatArray
from subridge.model.aggregation import LinearAggregation
from subridge.model.ensemble import Ensemble
from subridge.model.moments import MemberMoments
from subridge.model.plan import SubsetPlan
from subridge.ridge.curves.solve import weights_along_curve
from subridge.ridge.rows.path import member_paths
from subridge.ridge.rows.training import training_rows
from subridge.ridge.selection import moments_at
from subridge.simulation.gaussian import FEATURE_NOISE, LABEL_NOISE, READOUT_NOISE, SIGNAL, GaussianExperiment
from subridge.theory.predict import risk

# Training errors are computed for groups of sizes, over the samples of each group's largest: few calls, little in vain.
GROUPS = 8


def run_trials(experiment: GaussianExperiment, trials: list[int], batch_size: int) -> dict[str, FloatArray]:
    """Run trials, at most `batch_size` at once; the arrays are those of `curves_of_batch` or `weighted_curves`."""
    curves_of = weighted_curves if experiment.is_weighted else curves_of_batch
    runs = [trials]
    if batch_size > 1 and "subsets" in experiment.redraw:  # a batch needs subsets of the same sizes
        grouped = groupby(trials, key=lambda trial: tuple(experiment.plan_of(trial).subset_sizes))
        runs = [list(group) for _, group in grouped]
    parts = []
    for batch in (part.tolist() for run in runs for part in np.array_split(run, -(-len(run) // batch_size))):
        sizes = experiment.n_samples
        if experiment.nested:
            parts.append(curves_of(experiment, draw_batch(experiment, batch, sizes[-1]), sizes))
        else:  # every size has its own streams, whatever the others are, and is a curve of one point
            points = [curves_of(experiment, draw_batch(experiment, batch, P, training_set=P), (P,)) for P in sizes]
            parts.append({name: np.concatenate([point[name] for point in points], axis=3) for name in points[0]})
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


@dataclass(frozen=True, eq=False)
class Batch:
    """Training data of B trials; all subsets of a member have the same size."""

    features: Array  # ψ + σ, shape (B, P, M)
    labels: Array  # shape (B, P)
    readout: Array | None  # standard normals behind the readout noise, shape (B, k, P); None when there is none
    teachers: Array  # w*/√M, the coefficients of the noise-free label, shape (B, M)
    plans: list[SubsetPlan]  # one for all trials, or one each


def draw_batch(experiment: GaussianExperiment, trials: list[int], n_rows: int, training_set: int = 0) -> Batch:
    """Draw data, teachers and subsets of some trials, P = `n_rows` samples each, from the streams of each trial.

    Training sets that are prefixes of one another share the number `training_set`.
    """
    e, problem = experiment, experiment.finite_problem

    def normals(purpose: int, *shape: int) -> Array:
        where = [e.coordinates(purpose, trial, training_set) for trial in trials]
        return stacked_normals(e.seed, where, shape, e.device, e.dtype)

    features = problem.signal_covariance.colour(normals(SIGNAL, n_rows, problem.signal_covariance.white_size))
    teachers = like(np.stack([e.teacher_of(trial) for trial in trials]) / np.sqrt(e.n_features), features)
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
        drawn = normals(READOUT_NOISE, n_rows, e.n_members)
        readout = namespace_of(features).permute_dims(drawn, (0, 2, 1))
    plans = [e.plan_of(trial) for trial in (trials if "subsets" in e.redraw else trials[:1])]
    return Batch(features, labels, readout, teachers, plans)


def noise_basis(noise_table: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Patterns of readout noise over the members, and the mix of basis vectors at every noise.

    There is no pattern where a single η is part of the labels, one where all rows of the table are proportional, and
    otherwise one for each member.
    """
    n_noises, k = noise_table.shape
    largest = noise_table[np.abs(noise_table).sum(axis=1).argmax()]
    if n_noises == 1 or not largest.any():
        return np.zeros((0, k)), np.ones((n_noises, 1))
    shares = noise_table @ largest / (largest @ largest)
    product = np.outer(shares, largest)
    if np.array_equal(noise_table == 0, product == 0) and np.allclose(noise_table, product, rtol=1e-14, atol=0):
        return largest[None, :], np.column_stack([np.ones(n_noises), -shares])
    return np.eye(k), np.column_stack([np.ones(n_noises), -noise_table])


def train_member(experiment: GaussianExperiment, batch: Batch, sizes: tuple[int, ...], r: int, *, swept: bool) -> Array:
    """ŵ_r/√N_r, the coefficients of a member on its own features, shape (B, n_ridges, n_sizes, 1 or 2, N_r)."""
    xp, root = namespace_of(batch.features), float(np.sqrt(batch.plans[0].subset_sizes[r]))
    if len(batch.plans) == 1:
        F = batch.plans[0].measure(r, batch.features)
    else:
        F = xp.stack([plan.measure(r, batch.features[b, ...]) for b, plan in enumerate(batch.plans)], axis=0)
    targets = batch.labels[:, None, :]
    if batch.readout is not None:
        noise, eta = batch.readout[:, r : r + 1, :], float(experiment.noise_table[0, r])
        targets = xp.concat([targets, noise], axis=1) if swept else targets - eta * noise
    ridges = experiment.ridge_table[:, r].tolist()
    return weights_along_curve(F / root, targets, sizes, ridges, scale=experiment.feature_variance) / root


def lifted(batch: Batch, r: int, weights: Array) -> Array:
    """A_rᵀ ŵ_r/√N_r, shape (B, n_ridges, n_sizes, 1 or 2, M)."""
    if len(batch.plans) == 1:
        return batch.plans[0].lift_rows(r, weights)
    rows = [plan.lift_rows(r, weights[b, ...]) for b, plan in enumerate(batch.plans)]
    return namespace_of(weights).stack(rows, axis=0)


def curves_of_batch(experiment: GaussianExperiment, batch: Batch, sizes: tuple[int, ...]) -> dict[str, FloatArray]:
    """Curves of the mean of members, trained at every size (a prefix of the batch) and at every ridge.

    ``risk`` and ``training_error`` have shape (B, n_ridges, n_noises, n_sizes), ``pairs`` two more axes of length k.
    """
    patterns, mix = noise_basis(experiment.noise_table)
    xp, k, B = namespace_of(batch.features), experiment.n_members, batch.features.shape[0]
    shape = (B, len(experiment.ridge_table), len(sizes), 1 + len(patterns), experiment.n_features)
    mean = xp.zeros(shape, dtype=batch.features.dtype, device=device_of(batch.features))
    members = []
    for r in range(k):
        weights = train_member(experiment, batch, sizes, r, swept=len(patterns) > 0)
        if experiment.pairs:
            members.append(lifted(batch, r, weights))
        parts = [weights[..., :1, :], *(float(pattern[r]) * weights[..., 1:2, :] for pattern in patterns)]
        share = (xp.concat(parts, axis=-2) if len(parts) > 1 else parts[0]) / k
        if len(batch.plans) == 1:
            batch.plans[0].add_lifted(r, share, mean)
        else:
            for b, plan in enumerate(batch.plans):
                plan.add_lifted(r, share[b, ...], mean[b, ...])
    constant = (experiment.noise_table**2).sum(axis=1) / k**2
    forms = _quadratic_forms(experiment, batch, mean), _mean_squared_residuals(experiment, batch, mean, sizes, patterns)
    # Evaluated at every noise: (B, n_ridges, n_sizes, basis, basis) to (B, n_ridges, n_noises, n_sizes).
    risks, residuals = (np.asarray(np.einsum("ei,blpij,ej->blep", mix, form, mix)) for form in forms)
    curves = {"risk": risks + constant[:, None], "training_error": residuals}
    if experiment.pairs:
        curves["pairs"] = member_pairs(experiment, batch, xp.stack(members, axis=-2))
    return curves


def _quadratic_forms(experiment: GaussianExperiment, batch: Batch, mean: Array) -> FloatArray:
    """Σ_s-form of the error and Σ_0-form of the mean predictor, shape (B, n_ridges, n_sizes, basis, basis)."""
    problem, xp = experiment.finite_problem, namespace_of(mean)
    noise = to_numpy(_gram(mean, problem.noise_covariance.apply_rows(mean))) if experiment.has_feature_noise else 0.0
    teacher = batch.teachers[:, None, None, None, :]
    error = xp.concat([mean[..., :1, :] - teacher, mean[..., 1:, :]], axis=-2)
    return to_numpy(_gram(error, problem.signal_covariance.apply_rows(error))) + noise


def _gram(left: Array, right: Array) -> Array:
    """Inner products of all basis vectors, shape (..., basis, basis)."""
    xp = namespace_of(left)
    rows = [xp.sum(left[..., i : i + 1, :] * right, axis=-1) for i in range(left.shape[-2])]
    return xp.stack(rows, axis=-2)


def _mean_squared_residuals(
    experiment: GaussianExperiment, batch: Batch, mean: Array, sizes: tuple[int, ...], patterns: FloatArray
) -> FloatArray:
    """Products of training residuals averaged over samples, shape (B, n_ridges, n_sizes, basis, basis)."""
    xp = namespace_of(mean)
    B, L, _, q, M = mean.shape
    goals = batch.labels[:, None, :]
    if batch.readout is not None:
        eta = like(patterns if q > 1 else experiment.noise_table[:1], mean)
        noise = eta @ batch.readout / experiment.n_members
        goals = xp.concat([goals, noise], axis=1) if q > 1 else goals - noise
    products = []
    for group in np.array_split(np.arange(len(sizes)), min(len(sizes), GROUPS)):
        first, after, P = int(group[0]), int(group[-1]) + 1, sizes[group[-1]]
        rows = xp.reshape(mean[:, :, first:after, :, :], (B, L * len(group) * q, M))
        predictions = rows_times_transpose(rows, batch.features[:, :P, :])
        residuals = goals[:, None, None, :, :P] - xp.reshape(predictions, (B, L, len(group), q, P))
        inside = np.arange(P) < np.asarray(sizes)[group][:, None]
        residuals = residuals * like(inside, mean)[:, None, :]
        products.append(_gram(residuals, residuals))
    return to_numpy(xp.concat(products, axis=2)) / np.asarray(sizes, dtype=np.float64)[:, None, None]


def member_pairs(experiment: GaussianExperiment, batch: Batch, members: Array) -> FloatArray:
    """E_rr′ of eq. 5 (SingleErrorTerm), shape (B, n_ridges, n_noises, n_sizes, k, k)."""
    problem, xp = experiment.finite_problem, namespace_of(members)
    teacher = batch.teachers[:, None, None, None, :]
    tables = []
    for eta in experiment.noise_table:
        vectors = _at_noise(members, like(eta, members)[:, None])
        error = vectors - teacher
        table = error @ xp.matrix_transpose(problem.signal_covariance.apply_rows(error))
        if experiment.has_feature_noise:
            table = table + vectors @ xp.matrix_transpose(problem.noise_covariance.apply_rows(vectors))
        tables.append(to_numpy(table) + np.diag(eta**2))
    return np.stack(tables, axis=2)


def _at_noise(members: Array, eta: Array) -> Array:
    """Members at a readout noise, from their basis on the axis before the last two."""
    quiet: Array = members[..., 0, :, :]
    return quiet - eta * members[..., 1, :, :] if members.shape[-3] > 1 else quiet


def weighted_curves(experiment: GaussianExperiment, batch: Batch, sizes: tuple[int, ...]) -> dict[str, FloatArray]:
    """As `curves_of_batch`, with ``member_weights`` of shape (B, n_ridges, n_noises, n_sizes, k) beside it.

    The risk of any weights follows from the exact second moments of the trained members, so that weights from theory
    and weights that each trial chooses are judged without sampling new data.
    """
    xp = namespace_of(batch.features)
    swept = len(experiment.noise_table) > 1 and batch.readout is not None
    trained = [train_member(experiment, batch, sizes, r, swept=swept) for r in range(experiment.n_members)]
    stacked = xp.stack([lifted(batch, r, weights) for r, weights in enumerate(trained)], axis=-2)
    members, pairs = to_numpy(stacked), member_pairs(experiment, batch, stacked)
    # The power of the noise-free label, and what members explain of it.
    teachers = to_numpy(batch.teachers)
    signal = to_numpy(experiment.finite_problem.signal_covariance.apply_rows(batch.teachers))
    explained = np.einsum("blpqkm,bm->blpqk", members, signal)[..., None]
    found = np.stack([_at_noise(explained, eta[:, None])[..., 0] for eta in experiment.noise_table], axis=2)
    power = np.broadcast_to((signal * teachers).sum(axis=-1)[:, None, None, None], found.shape[:-1])
    moments = MemberMoments(pairs, power[..., None] - found, power)
    if experiment.weights_from == "theory":
        weights = np.broadcast_to(_weights_by_theory(experiment, batch.plans[0], sizes), pairs.shape[:-1])
    else:
        weights = np.stack([_weights_of_trial(experiment, batch, b, sizes) for b in range(len(batch.labels))])
    curves = {
        "risk": moments.risk_of(weights),
        "training_error": _training_errors(experiment, batch, members, weights, sizes),
        "member_weights": np.array(weights),
    }
    return curves | ({"pairs": pairs} if experiment.pairs else {})


def _weights_by_theory(experiment: GaussianExperiment, plan: SubsetPlan, sizes: tuple[int, ...]) -> FloatArray:
    """Weights that are best for typical members, shape (n_ridges, n_noises, n_sizes, k)."""
    ratios, aggregation = np.array(sizes) / experiment.n_features, experiment.ensemble.aggregation
    assert isinstance(aggregation, LinearAggregation)  # the experiment has checked it
    table = [
        [
            aggregation.weights(risk(experiment.finite_problem, Ensemble(plan, ridges, noises), ratios).moments)
            for noises in experiment.noise_table
        ]
        for ridges in experiment.ridge_table
    ]
    return np.array(table)


def _weights_of_trial(experiment: GaussianExperiment, batch: Batch, b: int, sizes: tuple[int, ...]) -> FloatArray:
    """Weights from the leave-one-out errors of one trial, shape (n_ridges, n_noises, n_sizes, k).

    Left-out samples do not show the readout noise that members have when they predict, so it is added.
    """
    aggregation, plan = experiment.ensemble.aggregation, batch.plans[b if len(batch.plans) > 1 else 0]
    assert isinstance(aggregation, LinearAggregation)
    features, labels = to_numpy(batch.features[b, ...]), to_numpy(batch.labels[b, ...])
    weights = np.empty((len(experiment.ridge_table), len(experiment.noise_table), len(sizes), plan.n_members))
    for s, P in enumerate(sizes):
        rows = training_rows(features[:P], labels[None, :P], None, False)
        for e, eta in enumerate(experiment.noise_table):
            noise = None
            if batch.readout is not None:
                noise = eta[:, None, None] * to_numpy(batch.readout[b, :, :P])[:, None, :]
            paths = member_paths(rows, plan, experiment.ridge_table, noise)
            for index in range(len(experiment.ridge_table)):
                found = moments_at(paths, rows, aggregation, np.full(plan.n_members, index))
                weights[index, e, s] = aggregation.weights(replace(found, pairs=found.pairs + np.diag(eta**2)))
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
        vectors = _at_noise(members[b, index, s], eta[:, None])
        goal = labels[b, :P] if readout is None else labels[b, :P] - (w * eta) @ readout[b, :, :P]
        errors[b, index, e, s] = ((goal - features[b, :P] @ (w @ vectors)) ** 2).mean()
    return errors
