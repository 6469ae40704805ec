"""Gaussian trials: draw data, train every member along its learning curve, and form exact risks.

Readout noise is linear: weights for the labels y - η ξ are those for y minus η times those for ξ. When η is swept,
members are trained on both and every η costs a few inner products. The vectors are kept as a *basis*: element 0 comes
from the labels, element q from noise pattern q, and row e of ``mix`` combines them into the vector at noise e.
"""

from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import cast

import numpy as np

from subridge.arrays.namespace import device_of, like, namespace_of, rows_times_transpose, to_numpy
from subridge.arrays.streams import stacked_normals
from subridge.arrays.types import Array, FloatArray
from subridge.model.aggregation import LinearAggregation
from subridge.model.ensemble import Ensemble
from subridge.model.moments import MemberMoments
from subridge.model.plan import SubsetPlan
from subridge.ridge.choose import Losses
from subridge.ridge.curves import weights_along_curve
from subridge.ridge.member import member_paths
from subridge.ridge.rows import training_rows
from subridge.simulation.gaussian import FEATURE_NOISE, LABEL_NOISE, READOUT_NOISE, SIGNAL, GaussianExperiment
from subridge.theory.predict import risk

# Training errors are computed for groups of sizes, over the samples of each group's largest: few calls, little in vain.
GROUPS = 8


def run_trials(experiment: GaussianExperiment, trials: list[int], batch_size: int) -> dict[str, FloatArray]:
    """Run trials, at most `batch_size` at once; the arrays are those of `curves_of_batch`."""
    runs = [trials]
    if batch_size > 1 and "subsets" in experiment.redraw:  # a batch needs subsets of the same sizes
        grouped = groupby(trials, key=lambda trial: tuple(experiment.plan_of(trial).subset_sizes))
        runs = [list(group) for _, group in grouped]
    parts = []
    for batch in (part.tolist() for run in runs for part in np.array_split(run, -(-len(run) // batch_size))):
        sizes = experiment.n_samples
        if experiment.nested:
            parts.append(curves_of_batch(experiment, draw_batch(experiment, batch, sizes[-1]), sizes))
        else:  # every size has its own streams, whatever the others are, and is a curve of one point
            points = [
                curves_of_batch(experiment, draw_batch(experiment, batch, P, training_set=P), (P,)) for P in sizes
            ]
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

    def measure(self, r: int) -> Array:
        """What a member sees of the features, shape (B, P, N_r)."""
        if len(self.plans) == 1:
            return self.plans[0].measure(r, self.features)
        seen = [plan.measure(r, self.features[b, ...]) for b, plan in enumerate(self.plans)]
        return namespace_of(self.features).stack(seen, axis=0)

    def add_lifted(self, r: int, weights: Array, into: Array) -> None:
        """Add A_rᵀ times weights of a member, shape (B, ..., N_r), to an array of shape (B, ..., M), in place."""
        for b, plan in enumerate(self.plans):
            trials = ... if len(self.plans) == 1 else b
            plan.add_lifted(r, weights[trials], into[trials])


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
    targets = batch.labels[:, None, :]
    if batch.readout is not None:
        noise, eta = batch.readout[:, r : r + 1, :], float(experiment.noise_table[0, r])
        targets = xp.concat([targets, noise], axis=1) if swept else targets - eta * noise
    ridges = experiment.ridge_table[:, r].tolist()
    return (
        weights_along_curve(batch.measure(r) / root, targets, sizes, ridges, scale=experiment.feature_variance) / root
    )


def curves_of_batch(experiment: GaussianExperiment, batch: Batch, sizes: tuple[int, ...]) -> dict[str, FloatArray]:
    """Curves of an ensemble whose members are trained at every size (a prefix of the batch) and at every ridge.

    ``risk`` and ``training_error`` have shape (B, n_ridges, n_noises, n_sizes), ``member_weights`` one more axis of
    length k, and ``pairs`` two. A mean is summed member by member; other ensembles need all members at once.
    """
    e, xp, k = experiment, namespace_of(batch.features), experiment.n_members
    patterns, mix = noise_basis(e.noise_table)
    curve, place = (len(batch.labels), len(e.ridge_table), len(sizes)), device_of(batch.features)
    zeros = partial(xp.zeros, dtype=batch.features.dtype, device=place)
    mean = zeros((*curve, 1 + len(patterns), e.n_features))
    # Beside members with weights stands one that always predicts 0, whose errors are the noise-free labels.
    n_kept, n_rhs = k + e.is_weighted, 2 if len(patterns) else 1
    members = zeros((*curve, n_rhs, n_kept, e.n_features) if e.keeps_members else (0,))
    for r in range(k):
        weights = train_member(e, batch, sizes, r, swept=len(patterns) > 0)
        if e.keeps_members:
            batch.add_lifted(r, weights, members[..., r, :])
        if not e.is_weighted:
            parts = [weights[..., :1, :], *(float(pattern[r]) * weights[..., 1:, :] for pattern in patterns)]
            batch.add_lifted(r, xp.concat(parts, axis=-2) / k, mean)
    curves = {}
    if e.keeps_members:
        moments = _moments(e, batch, members)
        curves["pairs"] = moments[..., :k, :k]
    if e.is_weighted:
        aggregation = cast(LinearAggregation, e.ensemble.aggregation)  # the experiment has checked it
        if e.weights_from == "theory":  # best for typical members, the same in every trial
            table = [
                [
                    aggregation.weights(risk(e.finite_problem, ensemble, np.array(sizes) / e.n_features).moments)
                    for ensemble in (Ensemble(batch.plans[0], ridges, noises) for noises in e.noise_table)
                ]
                for ridges in e.ridge_table
            ]
            weights = np.broadcast_to(table, (*moments.shape[:-2], k))
        else:
            weights = np.stack([_weights_of_trial(e, aggregation, batch, b, sizes) for b in range(len(batch.labels))])
        risks = MemberMoments(curves["pairs"], moments[..., :k, k], moments[..., k, k]).risk_of(weights)
        curves |= {"risk": risks, "member_weights": np.array(weights)}
        curves["training_error"] = _errors_of_weights(e, batch, members, weights, sizes)
    else:
        goals = batch.labels[:, None, :]
        if batch.readout is not None:
            noise = like(patterns if len(patterns) else e.noise_table[:1], mean) @ batch.readout / k
            goals = xp.concat([goals, noise], axis=1) if len(patterns) else goals - noise
        # Σ_s-form of the error and Σ_0-form of the mean predictor.
        problem, teacher = e.finite_problem, batch.teachers[:, None, None, None, :]
        error = xp.concat([mean[..., :1, :] - teacher, mean[..., 1:, :]], axis=-2)
        form = to_numpy(_gram(error, problem.signal_covariance.apply_rows(error)))
        if e.has_feature_noise:
            form = form + to_numpy(_gram(mean, problem.noise_covariance.apply_rows(mean)))
        forms = form, _mean_products(batch, mean, goals[:, None, None, :, :], sizes)
        # Evaluated at every noise: (B, n_ridges, n_sizes, basis, basis) to (B, n_ridges, n_noises, n_sizes).
        risks, residuals = (np.asarray(np.einsum("ei,blpij,ej->blep", mix, form, mix)) for form in forms)
        curves |= {"risk": risks + (e.noise_table**2).sum(axis=1)[:, None] / k**2, "training_error": residuals}
    return {name: values for name, values in curves.items() if name != "pairs" or e.pairs}


def _gram(left: Array, right: Array) -> Array:
    """Inner products of all basis vectors, shape (..., basis, basis)."""
    xp = namespace_of(left)
    rows = [xp.sum(left[..., i : i + 1, :] * right, axis=-1) for i in range(left.shape[-2])]
    return xp.stack(rows, axis=-2)


def _mean_products(batch: Batch, vectors: Array, goals: Array, sizes: tuple[int, ...]) -> FloatArray:
    """Products of training residuals averaged over samples, shape (B, n_ridges, n_sizes, q, q).

    `vectors` has shape (B, n_ridges, n_sizes, q, M), `goals` (B, n_ridges or 1, n_sizes or 1, q, P).
    """
    xp, (B, L, n_sizes, q, M), products = namespace_of(vectors), vectors.shape, []
    goals = xp.broadcast_to(goals, (B, L, n_sizes, q, goals.shape[-1]))
    for group in np.array_split(np.arange(n_sizes), min(n_sizes, GROUPS)):
        first, after, P = int(group[0]), int(group[-1]) + 1, sizes[group[-1]]
        rows = xp.reshape(vectors[:, :, first:after, :, :], (B, L * len(group) * q, M))
        predictions = rows_times_transpose(rows, batch.features[:, :P, :])
        residuals = goals[:, :, first:after, :, :P] - xp.reshape(predictions, (B, L, len(group), q, P))
        inside = np.arange(P) < np.asarray(sizes)[group][:, None]
        residuals = residuals * like(inside, vectors)[:, None, :]
        products.append(_gram(residuals, residuals))
    return to_numpy(xp.concat(products, axis=2)) / np.asarray(sizes, dtype=np.float64)[:, None, None]


def _moments(experiment: GaussianExperiment, batch: Batch, members: Array) -> FloatArray:
    """E_rr′ of eq. 5 (SingleErrorTerm), shape (B, n_ridges, n_noises, n_sizes, k or k + 1, the same)."""
    problem, xp = experiment.finite_problem, namespace_of(members)
    tables = []
    for eta in experiment.noise_table:
        vectors, silent = _at_noise(members, eta), [0.0] * experiment.is_weighted
        error = vectors - batch.teachers[:, None, None, None, :]
        table = error @ xp.matrix_transpose(problem.signal_covariance.apply_rows(error))
        if experiment.has_feature_noise:
            table = table + vectors @ xp.matrix_transpose(problem.noise_covariance.apply_rows(vectors))
        tables.append(to_numpy(table) + np.diag([*eta**2, *silent]))
    return np.stack(tables, axis=2)


def _at_noise(members: Array, eta: FloatArray) -> Array:
    """Members at a readout noise, shape (B, n_ridges, n_sizes, k or k + 1, M); of one that predicts 0 all η give 0."""
    at_noise: Array = members[..., 0, :, :]
    if members.shape[-3] > 1:
        at_noise = at_noise - like(np.resize(eta, members.shape[-2]), members)[:, None] * members[..., 1, :, :]
    return at_noise


def _weights_of_trial(
    experiment: GaussianExperiment, aggregation: LinearAggregation, batch: Batch, b: int, sizes: tuple[int, ...]
) -> FloatArray:
    """Weights from the leave-one-out errors of one trial, shape (n_ridges, n_noises, n_sizes, k).

    Left-out samples do not show the readout noise that members have when they predict, so it is added.
    """
    plan = batch.plans[b if len(batch.plans) > 1 else 0]
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
                found = Losses(paths, rows, aggregation).moments(np.full(plan.n_members, index))
                weights[index, e, s] = aggregation.weights(replace(found, pairs=found.pairs + np.diag(eta**2)))
    return weights


def _errors_of_weights(
    experiment: GaussianExperiment, batch: Batch, members: Array, weights: FloatArray, sizes: tuple[int, ...]
) -> FloatArray:
    """Mean squared residual of the weighted prediction, with the readout noise of training."""
    xp, w = namespace_of(members), like(weights, members)
    vectors, goals = [], []
    for place, eta in enumerate(experiment.noise_table):
        own = w[:, :, place, :, None, :]
        vectors.append(own @ _at_noise(members, eta)[..., :-1, :])
        noise = 0.0 if batch.readout is None else (own * like(eta, w)) @ batch.readout[:, None, None, :, :]
        goals.append(batch.labels[:, None, None, None, :] - noise)
    products = _mean_products(batch, xp.concat(vectors, axis=3), xp.concat(goals, axis=3), sizes)
    return np.moveaxis(np.diagonal(products, axis1=3, axis2=4), 3, 2)
