"""From the data of a batch to the risks along its learning curves.

Readout noise is linear: weights for the labels y - η ξ are those for y minus η times those for ξ. When η is swept,
members are trained on both and every η costs a few inner products. The vectors are kept as a *basis*: element 0 comes
from the labels, element q from noise pattern q, and row e of ``mix`` combines them into the vector at noise e.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from subridge.arrays.namespace import like, to_numpy
from subridge.arrays.products import rows_times_transpose
from subridge.arrays.types import FloatArray
from subridge.ridge.curves import weights_along_curve
from subridge.simulation.experiment import Experiment
from subridge.simulation.sampling import Batch


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


def curves_of_batch(experiment: Experiment, batch: Batch, sizes: tuple[int, ...]) -> dict[str, FloatArray]:
    """Train every member at every size and ridge, and return exact risks and training errors.

    Parameters
    ----------
    experiment : Experiment
    batch : Batch
    sizes : tuple of int, strictly ascending
        Training-set sizes, prefixes of the batch.

    Returns
    -------
    dict
        ``risk`` and ``training_error`` of shape (B, n_ridges, n_noises, n_sizes); ``pairs``, where asked for, with two
        more axes of length k.
    """
    basis = NoiseBasis.of(experiment.noise_table)
    xp = array_namespace(batch.features)
    k, B = experiment.n_members, batch.features.shape[0]
    members, mean = [], None
    for r in range(k):
        lifted = _lifted_weights(experiment, batch, sizes, r, swept=len(basis.patterns) > 0)
        if experiment.pairs:
            members.append(lifted)
        parts = [lifted[..., :1, :]]
        parts += [float(pattern[r]) * lifted[..., 1:2, :] for pattern in basis.patterns]
        share = (xp.concat(parts, axis=-2) if len(parts) > 1 else parts[0]) / k
        mean = share if mean is None else mean + share
    assert mean is not None  # (B, n_ridges, n_sizes, 1 + n_patterns, M)
    constant = (experiment.noise_table**2).sum(axis=1) / k**2
    risk = _combined(_quadratic_forms(experiment, batch, mean), basis.mix) + constant[:, None]
    residuals = _mean_squared_residuals(experiment, batch, mean, sizes, basis)
    curves = {"risk": risk, "training_error": _combined(residuals, basis.mix)}
    if experiment.pairs:
        curves["pairs"] = _pairs(experiment, batch, xp.stack(members, axis=-2))
    assert curves["risk"].shape[0] == B
    return curves


def _lifted_weights(experiment: Experiment, batch: Batch, sizes: tuple[int, ...], r: int, *, swept: bool) -> Any:
    """A_rᵀ ŵ_r/√N_r, the coefficients of a member's prediction, shape (B, n_ridges, n_sizes, 1 or 2, M)."""
    xp = array_namespace(batch.features)
    N = int(batch.plans[0].subset_sizes[r])
    if len(batch.plans) == 1:
        F = batch.plans[0].measure(r, batch.features)
    else:
        F = xp.stack([plan.measure(r, batch.features[b, ...]) for b, plan in enumerate(batch.plans)], axis=0)
    F = F / float(np.sqrt(N))
    targets = batch.labels[:, None, :]
    if swept:
        targets = xp.stack([batch.labels, batch.readout[:, r, :]], axis=1)
    elif batch.readout is not None:
        targets = targets - float(experiment.noise_table[0, r]) * batch.readout[:, r : r + 1, :]
    ridges = [float(lam) for lam in experiment.ridge_table[:, r]]
    weights = weights_along_curve(F, targets, sizes, ridges, scale=experiment.feature_variance) / float(np.sqrt(N))
    if len(batch.plans) == 1:
        return batch.plans[0].lift_rows(r, weights)
    return xp.stack([plan.lift_rows(r, weights[b, ...]) for b, plan in enumerate(batch.plans)], axis=0)


def _quadratic_forms(experiment: Experiment, batch: Batch, mean: Any) -> FloatArray:
    """Σ_s-form of the error and Σ_0-form of the mean predictor, shape (B, n_ridges, n_sizes, basis, basis)."""
    problem, xp = experiment.finite_problem, array_namespace(mean)
    noise = to_numpy(_gram(mean, problem.noise_covariance.apply_rows(mean))) if experiment.has_feature_noise else 0.0
    teacher = batch.teachers[:, None, None, None, :]
    error = xp.concat([mean[..., :1, :] - teacher, mean[..., 1:, :]], axis=-2)
    return to_numpy(_gram(error, problem.signal_covariance.apply_rows(error))) + noise


def _gram(left: Any, right: Any) -> Any:
    """Inner products of all basis vectors, shape (..., basis, basis)."""
    xp, n = array_namespace(left), left.shape[-2]
    rows = [xp.sum(left[..., i : i + 1, :] * right, axis=-1) for i in range(n)]
    return xp.stack(rows, axis=-2)


def _mean_squared_residuals(
    experiment: Experiment, batch: Batch, mean: Any, sizes: tuple[int, ...], basis: NoiseBasis
) -> FloatArray:
    """Products of training residuals averaged over samples, shape (B, n_ridges, n_sizes, basis, basis)."""
    xp = array_namespace(mean)
    B, L, _, q, M = mean.shape
    goals = batch.labels[:, None, :]
    if q > 1:
        goals = xp.concat([goals, like(basis.patterns, mean) @ batch.readout / experiment.n_members], axis=1)
    elif batch.readout is not None:
        eta = like(experiment.noise_table[:1], mean)
        goals = goals - (eta @ batch.readout) / experiment.n_members
    products = []
    for p, P in enumerate(sizes):  # by size, so that only the samples of the training set are visited
        predictions = rows_times_transpose(xp.reshape(mean[:, :, p, :, :], (B, L * q, M)), batch.features[:, :P, :])
        residuals = goals[:, None, :, :P] - xp.reshape(predictions, (B, L, q, P))
        products.append(_gram(residuals, residuals) / P)
    return to_numpy(xp.stack(products, axis=2))


def _combined(forms: FloatArray, mix: FloatArray) -> FloatArray:
    """Evaluate the forms at every noise: (B, n_ridges, n_sizes, ., .) to (B, n_ridges, n_noises, n_sizes)."""
    return np.einsum("ei,blpij,ej->blep", mix, forms, mix)


def _pairs(experiment: Experiment, batch: Batch, members: Any) -> FloatArray:
    """E_rr′ of eq. SingleErrorTerm, shape (B, n_ridges, n_noises, n_sizes, k, k)."""
    problem = experiment.finite_problem
    xp = array_namespace(members)
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
