"""Gaussian trials: draw data, train every member along its learning curve, and form exact risks."""

from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import cast

import numpy as np

from subridge.arrays.machine import stacked_normals
from subridge.arrays.namespace import batched_product, device_of, like, namespace_of, select_rows, take_last, to_numpy
from subridge.arrays.types import Array, FloatArray
from subridge.model.aggregation import LinearAggregation
from subridge.model.ensemble import Ensemble, SubsetPlan
from subridge.ridge.choose import Losses
from subridge.ridge.curves import weights_along_curve
from subridge.ridge.member import member_paths
from subridge.ridge.rows import training_rows
from subridge.simulation.gaussian import FEATURE_NOISE, LABEL_NOISE, READOUT_NOISE, SIGNAL, GaussianExperiment
from subridge.theory.predict import risk


def run_trials(e: GaussianExperiment, trials: list[int], batch_size: int) -> dict[str, FloatArray]:
    """Run trials, at most `batch_size` at once; the arrays are those of `curves_of_batch`."""
    runs = [trials]
    if batch_size > 1 and "subsets" in e.redraw:  # a batch needs subsets of the same sizes
        runs = [list(group) for _, group in groupby(trials, lambda trial: tuple(e.plan_of(trial).subset_sizes))]
    # Nested sizes share one training set; other sizes have streams of their own, and each is a curve of one point.
    training_sets = {0: e.n_samples} if e.nested else {P: (P,) for P in e.n_samples}
    parts = []
    for batch in (part.tolist() for run in runs for part in np.array_split(run, -(-len(run) // batch_size))):
        curves = [
            curves_of_batch(e, draw_batch(e, batch, sizes[-1], number), sizes)
            for number, sizes in training_sets.items()
        ]
        parts.append({name: np.concatenate([curve[name] for curve in curves], axis=3) for name in curves[0]})
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


@dataclass(frozen=True, eq=False)
class Batch:
    """Training data of B trials; all subsets of a member have the same size."""

    features: Array  # ψ + σ, shape (B, P, M)
    labels: Array  # shape (B, P)
    readout: Array | None  # standard normals of the readout noise, shape (B, k, P), or None
    teachers: Array  # w*/√M, the coefficients of the noise-free label, shape (B, M)
    plans: list[SubsetPlan]  # one for all trials, or one each
    trials: list[int]  # their numbers

    def measure(self, r: int) -> Array:
        """The features of a member, shape (B, P, N_r)."""
        if len(self.plans) == 1:
            return self.plans[0].measure(r, self.features)
        seen = [plan.measure(r, self.features[b]) for b, plan in enumerate(self.plans)]
        return namespace_of(self.features).stack(seen, axis=0)

    def add_lifted(self, r: int, weights: Array, into: Array) -> None:
        """Add A_rᵀ times weights of a member, shape (B, ..., N_r), to an array of shape (B, ..., M), in place."""
        for b, plan in enumerate(self.plans):
            trials = ... if len(self.plans) == 1 else b
            plan.add_lifted(r, weights[trials], into[trials])


def draw_batch(e: GaussianExperiment, trials: list[int], n_rows: int, training_set: int = 0) -> Batch:
    """Draw data, teachers and subsets of some trials, P = `n_rows` samples each, from the streams of each trial.

    Training sets that are prefixes of one another share the number `training_set`.
    """
    problem = e.finite_problem
    drawn = trials if "data" in e.redraw else [0] * len(trials)

    def normals(purpose: int, *shape: int) -> Array:
        return stacked_normals(e.seed, [(purpose, trial, training_set) for trial in drawn], shape, e.device, e.dtype)

    features = problem.signal_covariance.colour(normals(SIGNAL, n_rows, problem.signal_covariance.white_size))
    teachers = like(np.stack([e.teacher_of(trial) for trial in trials]) / np.sqrt(e.n_features), features)
    labels = batched_product(teachers[:, None, :], features.mT)[:, 0, :]
    zeta = float(problem.label_noise.reshape(()))
    if zeta:
        labels = labels + zeta * normals(LABEL_NOISE, n_rows)
    if e.has_feature_noise:
        features += problem.noise_covariance.colour(normals(FEATURE_NOISE, n_rows, problem.noise_covariance.white_size))
    readout = None
    if e.noise_table.any() or len(e.noise_table) > 1:
        # Samples before members, so that training sets of any length agree on their common samples.
        readout = namespace_of(features).permute_dims(normals(READOUT_NOISE, n_rows, e.ensemble.n_members), (0, 2, 1))
    plans = [e.plan_of(trial) for trial in (trials if "subsets" in e.redraw else trials[:1])]
    return Batch(features, labels, readout, teachers, plans, trials)


def train_member(e: GaussianExperiment, batch: Batch, sizes: tuple[int, ...], r: int) -> Array:
    """ŵ_r/√N_r, the coefficients of a member on its own features, shape (B, n_ridges, n_sizes, n_noises, N_r).

    Weights are linear in the labels: those for y - η ξ are those for y minus η times those for ξ. If η is swept, the
    member is trained only on y and on ξ, and every η costs one sum.
    """
    xp = namespace_of(batch.features)
    root = float(np.sqrt(batch.plans[0].subset_sizes[r]))
    etas = e.noise_table[:, r]
    targets = batch.labels[:, None, :]
    if batch.readout is not None:
        noise = batch.readout[:, r : r + 1, :]
        targets = targets - float(etas[0]) * noise if len(etas) == 1 else xp.concat([targets, noise], axis=1)
    train = partial(weights_along_curve, ridges=e.ridge_table[:, r].tolist(), scale=e.feature_scale)
    F = batch.measure(r) / root
    if e.ensemble.row_fractions is None:
        weights = train(F, targets, sizes) / root
    else:  # every size has its own rows, and is a curve of one point
        points = []
        for P in sizes:
            seen = [(e.row_sets_of(trial, P) or [])[r] for trial in batch.trials]
            own = xp.stack([select_rows(F[b], index) for b, index in enumerate(seen)])
            labels = xp.stack([take_last(targets[b], index) for b, index in enumerate(seen)])
            points.append(train(own, labels, (len(seen[0]),)))
        weights = xp.concat(points, axis=2) / root
    if len(etas) > 1:
        weights = weights[..., :1, :] - like(etas[:, None], weights) * weights[..., 1:, :]
    return weights


def curves_of_batch(e: GaussianExperiment, batch: Batch, sizes: tuple[int, ...]) -> dict[str, FloatArray]:
    """Curves of an ensemble whose members are trained at every size (a prefix of the batch) and at every ridge.

    ``risk`` and ``training_error`` have shape (B, n_ridges, n_noises, n_sizes), ``member_weights`` one more axis of
    length k, and ``pairs`` two.
    """
    k = e.ensemble.n_members
    shape = (len(batch.labels), len(e.ridge_table), len(sizes), len(e.noise_table))
    member_weights = np.full((*shape, k), 1 / k)
    aggregation = cast(LinearAggregation, e.ensemble.aggregation)  # checked by the experiment
    if e.is_weighted and e.weights_from == "theory":  # the same in every trial
        typical = Ensemble(
            batch.plans[0], e.ridge_table[:, None, None, :], e.noise_table, "mean", e.ensemble.row_fractions
        )
        member_weights[:] = aggregation.weights(
            risk(e.finite_problem, typical, np.array(sizes)[:, None] / e.n_features).moments
        )
    elif e.is_weighted:
        for b in range(len(batch.labels)):
            member_weights[b] = _weights_of_trial(e, aggregation, batch, b, sizes)
    weights = like(member_weights, batch.features)
    # The ensemble and, for the pairs, each of its members.
    predictors = namespace_of(weights).zeros(
        (*shape, 1 + k * e.pairs, e.n_features), dtype=weights.dtype, device=device_of(weights)
    )
    for r in range(k):
        trained = train_member(e, batch, sizes, r)
        batch.add_lifted(r, weights[..., r, None] * trained, predictors[..., 0, :])
        if e.pairs:
            batch.add_lifted(r, trained, predictors[..., 1 + r, :])
    own_noise = (member_weights**2 * e.noise_table**2).sum(axis=-1)
    curves = {
        "risk": _error_products(e, batch, predictors[..., :1, :])[..., 0, 0] + own_noise,
        "training_error": _training_errors(batch, predictors[..., 0, :], weights * like(e.noise_table, weights), sizes),
    }
    if e.pairs:
        noises = e.noise_table[:, :, None] ** 2 * np.eye(k)
        curves["pairs"] = _error_products(e, batch, predictors[..., 1:, :]) + noises
    if e.is_weighted:
        curves["member_weights"] = member_weights
    return {name: np.moveaxis(values, 3, 2) for name, values in curves.items()}


def _error_products(experiment: GaussianExperiment, batch: Batch, predictors: Array) -> FloatArray:
    """E_rr′ of eq. 5 (SingleErrorTerm) without readout noise, from predictors (B, ..., q, M), shape (B, ..., q, q)."""
    problem = experiment.finite_problem
    error = predictors - batch.teachers[:, None, None, None, None, :]
    products = error @ problem.signal_covariance.apply_rows(error).mT
    if experiment.has_feature_noise:
        products = products + predictors @ problem.noise_covariance.apply_rows(predictors).mT
    return to_numpy(products)


def _training_errors(batch: Batch, predictors: Array, noises: Array, sizes: tuple[int, ...]) -> FloatArray:
    """Mean squared residuals on the first samples of every size, shape (B, n_ridges, n_sizes, n_noises).

    `predictors` has one more axis of length M, and `noises`, the weights of members times their η, one of length k.
    """
    xp = namespace_of(predictors)
    B, L, _, E, M = predictors.shape
    errors = []
    for s, P in enumerate(sizes):
        rows = xp.reshape(predictors[:, :, s, ...], (B, L * E, M))
        residuals = batch.labels[:, None, :P] - batched_product(rows, batch.features[:, :P, :].mT)
        if batch.readout is not None:
            shares = xp.reshape(noises[:, :, s, ...], (B, L * E, -1))
            residuals = residuals - shares @ batch.readout[:, :, :P]
        errors.append(xp.reshape(xp.sum(residuals * residuals, axis=-1), (B, L, E)) / P)
    return to_numpy(xp.stack(errors, axis=2))


def _weights_of_trial(
    experiment: GaussianExperiment, aggregation: LinearAggregation, batch: Batch, b: int, sizes: tuple[int, ...]
) -> FloatArray:
    """Weights from the leave-one-out errors of one trial, shape (n_ridges, n_sizes, n_noises, k).

    Left-out errors do not contain the readout noise of new samples, so it is added.
    """
    plan = batch.plans[b if len(batch.plans) > 1 else 0]
    features = to_numpy(batch.features[b])
    labels = to_numpy(batch.labels[b])
    weights = np.empty((len(experiment.ridge_table), len(sizes), len(experiment.noise_table), plan.n_members))
    for s, P in enumerate(sizes):
        rows = training_rows(features[:P], labels[None, :P], None, False)
        for e, eta in enumerate(experiment.noise_table):
            xi = None if batch.readout is None else eta[:, None, None] * to_numpy(batch.readout[b, :, :P])[:, None, :]
            sets = experiment.row_sets_of(batch.trials[b], P)
            losses = Losses(member_paths(rows, plan, experiment.ridge_table, xi, sets), rows, aggregation)
            for index in range(len(experiment.ridge_table)):
                found = losses.moments(losses.common(index), aggregation).of_batch(0)
                weights[index, s, e] = aggregation.weights(replace(found, pairs=found.pairs + np.diag(eta**2)))
    return weights
