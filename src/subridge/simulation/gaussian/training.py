"""From the data of a batch to the risks along its learning curves.

Readout noise is linear: weights for the labels y - η ξ are those for y minus η times those for ξ. When η is swept,
members are trained on both and every η costs a few inner products. The vectors are kept as a *basis*: element 0 comes
from the labels, element q from noise pattern q, and row e of ``mix`` combines them into the vector at noise e.
"""

from dataclasses import dataclass

import numpy as np

from subridge.arrays.namespace import device_of, like, namespace_of, rows_times_transpose, to_numpy
from subridge.arrays.types import Array, FloatArray
from subridge.ridge.curves.solve import weights_along_curve
from subridge.simulation.gaussian.experiment import GaussianExperiment
from subridge.simulation.gaussian.sampling import Batch

# Training errors are computed for groups of sizes, over the samples of each group's largest: few calls, little in vain.
GROUPS = 8


@dataclass(frozen=True)
class NoiseBasis:
    """η_er = Σ_q coefficients[e, q] · patterns[q, r]; no pattern where a single η is part of the labels."""

    patterns: FloatArray
    mix: FloatArray

    @classmethod
    def of(cls, noise_table: FloatArray) -> "NoiseBasis":
        n_noises, k = noise_table.shape
        if n_noises == 1:
            return cls(np.zeros((0, k)), np.ones((1, 1)))
        largest = noise_table[np.abs(noise_table).sum(axis=1).argmax()]
        if not largest.any():
            return cls(np.zeros((0, k)), np.ones((n_noises, 1)))
        shares = noise_table @ largest / (largest @ largest)
        if np.array_equal(noise_table == 0, np.outer(shares, largest) == 0) and np.allclose(
            noise_table, np.outer(shares, largest), rtol=1e-14, atol=0
        ):
            return cls(largest[None, :], np.column_stack([np.ones(n_noises), -shares]))
        return cls(np.eye(k), np.column_stack([np.ones(n_noises), -noise_table]))


def curves_of_batch(experiment: GaussianExperiment, batch: Batch, sizes: tuple[int, ...]) -> dict[str, FloatArray]:
    """Train every member at every size, a prefix of the batch, and at every ridge.

    ``risk`` and ``training_error`` have shape (B, n_ridges, n_noises, n_sizes), ``pairs`` two more axes of length k.
    """
    basis = NoiseBasis.of(experiment.noise_table)
    xp = namespace_of(batch.features)
    k, B, M = experiment.n_members, batch.features.shape[0], experiment.n_features
    shape = (B, len(experiment.ridge_table), len(sizes), 1 + len(basis.patterns), M)
    mean = xp.zeros(shape, dtype=batch.features.dtype, device=device_of(batch.features))
    members = []
    for r in range(k):
        weights = train_member(experiment, batch, sizes, r, swept=len(basis.patterns) > 0)
        if experiment.pairs:
            members.append(lifted(batch, r, weights))
        parts = [weights[..., :1, :]]
        parts += [float(pattern[r]) * weights[..., 1:2, :] for pattern in basis.patterns]
        share = (xp.concat(parts, axis=-2) if len(parts) > 1 else parts[0]) / k
        if len(batch.plans) == 1:
            batch.plans[0].add_lifted(r, share, mean)
        else:
            for b, plan in enumerate(batch.plans):
                plan.add_lifted(r, share[b, ...], mean[b, ...])
    constant = (experiment.noise_table**2).sum(axis=1) / k**2
    risk = _combined(_quadratic_forms(experiment, batch, mean), basis.mix) + constant[:, None]
    residuals = _mean_squared_residuals(experiment, batch, mean, sizes, basis)
    curves = {"risk": risk, "training_error": _combined(residuals, basis.mix)}
    if experiment.pairs:
        curves["pairs"] = member_pairs(experiment, batch, xp.stack(members, axis=-2))
    return curves


def train_member(experiment: GaussianExperiment, batch: Batch, sizes: tuple[int, ...], r: int, *, swept: bool) -> Array:
    """ŵ_r/√N_r, the coefficients of a member on its own features, shape (B, n_ridges, n_sizes, 1 or 2, N_r)."""
    xp = namespace_of(batch.features)
    N = int(batch.plans[0].subset_sizes[r])
    if len(batch.plans) == 1:
        F = batch.plans[0].measure(r, batch.features)
    else:
        F = xp.stack([plan.measure(r, batch.features[b, ...]) for b, plan in enumerate(batch.plans)], axis=0)
    F = F / float(np.sqrt(N))
    targets = batch.labels[:, None, :]
    if batch.readout is not None:
        noise, eta = batch.readout[:, r : r + 1, :], float(experiment.noise_table[0, r])
        targets = xp.concat([targets, noise], axis=1) if swept else targets - eta * noise
    ridges = [float(lam) for lam in experiment.ridge_table[:, r]]
    return weights_along_curve(F, targets, sizes, ridges, scale=experiment.feature_variance) / float(np.sqrt(N))


def lifted(batch: Batch, r: int, weights: Array) -> Array:
    """A_rᵀ ŵ_r/√N_r, shape (B, n_ridges, n_sizes, 1 or 2, M)."""
    xp = namespace_of(weights)
    if len(batch.plans) == 1:
        return batch.plans[0].lift_rows(r, weights)
    return xp.stack([plan.lift_rows(r, weights[b, ...]) for b, plan in enumerate(batch.plans)], axis=0)


def _quadratic_forms(experiment: GaussianExperiment, batch: Batch, mean: Array) -> FloatArray:
    """Σ_s-form of the error and Σ_0-form of the mean predictor, shape (B, n_ridges, n_sizes, basis, basis)."""
    problem, xp = experiment.finite_problem, namespace_of(mean)
    noise = to_numpy(_gram(mean, problem.noise_covariance.apply_rows(mean))) if experiment.has_feature_noise else 0.0
    teacher = batch.teachers[:, None, None, None, :]
    error = xp.concat([mean[..., :1, :] - teacher, mean[..., 1:, :]], axis=-2)
    return to_numpy(_gram(error, problem.signal_covariance.apply_rows(error))) + noise


def _gram(left: Array, right: Array) -> Array:
    """Inner products of all basis vectors, shape (..., basis, basis)."""
    xp, n = namespace_of(left), left.shape[-2]
    rows = [xp.sum(left[..., i : i + 1, :] * right, axis=-1) for i in range(n)]
    return xp.stack(rows, axis=-2)


def _mean_squared_residuals(
    experiment: GaussianExperiment, batch: Batch, mean: Array, sizes: tuple[int, ...], basis: NoiseBasis
) -> FloatArray:
    """Products of training residuals averaged over samples, shape (B, n_ridges, n_sizes, basis, basis)."""
    xp = namespace_of(mean)
    B, L, _, q, M = mean.shape
    goals = batch.labels[:, None, :]
    if batch.readout is not None:
        eta = like(basis.patterns if q > 1 else experiment.noise_table[:1], mean)
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


def _combined(forms: FloatArray, mix: FloatArray) -> FloatArray:
    """Evaluate the forms at every noise: (B, n_ridges, n_sizes, ., .) to (B, n_ridges, n_noises, n_sizes)."""
    return np.asarray(np.einsum("ei,blpij,ej->blep", mix, forms, mix))


def member_pairs(experiment: GaussianExperiment, batch: Batch, members: Array) -> FloatArray:
    """E_rr′ of eq. 5 (SingleErrorTerm), shape (B, n_ridges, n_noises, n_sizes, k, k)."""
    problem = experiment.finite_problem
    xp = namespace_of(members)
    teacher = batch.teachers[:, None, None, None, :]
    tables = []
    for eta in experiment.noise_table:
        lifted = members[..., 0, :, :]
        if members.shape[-3] > 1:
            lifted = lifted - like(eta, members)[:, None] * members[..., 1, :, :]
        error = lifted - teacher
        table = error @ xp.matrix_transpose(problem.signal_covariance.apply_rows(error))
        if experiment.has_feature_noise:
            table = table + lifted @ xp.matrix_transpose(problem.noise_covariance.apply_rows(lifted))
        tables.append(to_numpy(table) + np.diag(eta**2))
    return np.stack(tables, axis=2)
