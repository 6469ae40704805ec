"""The experiment engine against the plain trainer, on the same drawn data, for every option."""

import numpy as np
import pytest

import subridge as sr
from subridge.simulation.gaussian import GaussianExperiment
from subridge.simulation.training import draw_batch

M, SIZES = 40, [8, 13, 14, 15, 30, 90]


def problem(seed=0):
    teacher = np.random.default_rng(seed).standard_normal(M)
    signal = sr.covariance.autoregressive(M, 0.7)
    return sr.Problem(signal, teacher, sr.covariance.autoregressive(M, 0.3, 0.2), label_noise=0.3)


def plainly(problem, ensemble, sizes, n_trials, *, ridges, device="cpu", **options):
    """Risks, training errors and pairs by the reference trainer, from the engine's own draws."""
    settings = {"n_features": M, "device": device} | options
    ridges = None if ridges is None else np.array(ridges)
    experiment = GaussianExperiment(problem, ensemble, tuple(sizes), n_trials, ridges=ridges, **settings)
    lams, etas = experiment.ridge_table, experiment.noise_table
    k = experiment.ensemble.n_members
    risk = np.empty((n_trials, len(lams), len(etas), len(sizes)))
    training, pairs = risk.copy(), np.empty((*risk.shape, k, k))
    for t, p in np.ndindex(n_trials, len(sizes)):
        P = sizes[p]
        nested = experiment.nested
        batch = draw_batch(experiment, [t], sizes[-1] if nested else P, 0 if nested else P)
        X, y = np.asarray(batch.features[0])[:P], np.asarray(batch.labels[0])[:P]
        xi = np.zeros((k, P)) if batch.readout is None else np.asarray(batch.readout[0])[:, :P]
        plan = batch.plans[0]
        finite = sr.Problem(
            experiment.finite_problem.signal_covariance,
            np.asarray(batch.teachers[0]) * np.sqrt(experiment.n_features),
            experiment.finite_problem.noise_covariance,
        )
        for l, e in np.ndindex(len(lams), len(etas)):
            member = sr.Ensemble(plan, lams[l], etas[e])
            noise = etas[e][:, None] * xi
            weights = sr.fit_members(X, y, member, noise=noise)
            exact = sr.risk_of_weights(finite, member, weights)
            risk[t, l, e, p], pairs[t, l, e, p] = exact.total, exact.pairs
            predictions = [
                plan.measure(r, X) @ w / np.sqrt(plan.subset_sizes[r]) + noise[r] for r, w in enumerate(weights)
            ]
            training[t, l, e, p] = np.mean((np.mean(predictions, axis=0) - y) ** 2)
    return risk, training, pairs


def largest_relative_deviation(found, expected):
    return float(np.max(np.abs(found - expected) / np.abs(expected)))


RIDGES = [0.0, 1e-3, 0.5]
PLAN = sr.subsets.overlapping([14, 25, 8], M, seed=1)


@pytest.mark.parametrize("nested", [True, False])
def test_risks_pairs_and_training_errors_are_those_of_the_plain_trainer(nested):
    ensemble = sr.Ensemble(PLAN, readout_noise=[0.1, 0.3, 0.2])
    found = sr.simulate(problem(), ensemble, SIZES, 2, ridges=RIDGES, nested=nested, pairs=True, progress=False)
    risk, training, pairs = plainly(problem(), ensemble, SIZES, 2, ridges=RIDGES, nested=nested)
    assert largest_relative_deviation(found.risk.values, risk[:, :, 0]) < 1e-10
    assert largest_relative_deviation(found.pairs.values, pairs[:, :, 0]) < 1e-9
    # A ridgeless member interpolates: training errors are differences of nearly equal numbers there.
    assert np.abs(found.training_error.values - training[:, :, 0]).max() < 1e-10


def test_ridges_may_differ_from_member_to_member():
    ridges = [[0.1, 0.2, 0.3], [1.0, 0.0, 1e-9]]
    ensemble = sr.Ensemble(PLAN)
    found = sr.simulate(problem(), ensemble, SIZES, 2, ridges=ridges, progress=False)
    assert found.member_ridge.values.tolist() == ridges
    risk = plainly(problem(), ensemble, SIZES, 2, ridges=np.array(ridges))[0]
    assert largest_relative_deviation(found.risk.values, risk[:, :, 0]) < 1e-10


@pytest.mark.parametrize(
    "noises",
    [
        np.array([[0.0], [0.2], [0.5]]),
        np.array([[0.1, 0.2, 0.3], [0.3, 0.0, 0.1]]),
        np.array([[0.1, 0.2, 0.0], [0.2, 0.4, 0.0]]),
        np.zeros((2, 1)),
    ],
    ids=["common", "per member", "proportional", "none"],
)
def test_a_sweep_of_readout_noise_is_a_run_at_each_value(noises):
    ensemble = sr.Ensemble(PLAN, ridge=0.1, readout_noise=noises)
    found = sr.simulate(problem(), ensemble, SIZES, 2, pairs=True, progress=False)
    risk, training, pairs = plainly(problem(), ensemble, SIZES, 2, ridges=None)
    assert found.risk.dims == ("trial", "readout_noise", "n_samples")
    assert largest_relative_deviation(found.risk.values, risk[:, 0]) < 1e-10
    assert largest_relative_deviation(found.training_error.values, training[:, 0]) < 1e-10
    assert largest_relative_deviation(found.pairs.values, pairs[:, 0]) < 1e-9


@pytest.mark.parametrize("device", ["cpu", pytest.param("torch", marks=pytest.mark.torch)])
def test_teacher_and_subsets_may_be_new_in_every_trial(device):
    if device == "torch":
        pytest.importorskip("torch")
    equicorrelated = sr.EquicorrelatedProblem(correlation=0.4, feature_noise=0.3, alignment=0.5, label_noise=0.1)
    ensemble = sr.Ensemble(sr.subsets.Dirichlet(3, 0.5), ridge=0.2, readout_noise=0.1)
    options = {"redraw": ("data", "teacher", "subsets"), "n_features": M}
    found = sr.simulate(equicorrelated, ensemble, SIZES, 4, run=sr.Run(device=device), progress=False, **options)
    risk = plainly(equicorrelated, ensemble, SIZES, 4, ridges=None, device=device, **options)[0]
    assert largest_relative_deviation(found.risk.values, risk[:, 0, 0]) < 1e-10
    assert "every trial" in found.attrs["subsets_drawn"]


@pytest.mark.parametrize("device", ["cpu", pytest.param("torch", marks=pytest.mark.torch)])
def test_gaussian_projections_and_dense_covariances_are_trained_alike(device):
    if device == "torch":
        pytest.importorskip("torch")
    dense = sr.Problem(sr.covariance.power_law(M, 1.0, seed=3), np.ones(M), sr.covariance.isotropic(M, 0.1))
    ensemble = sr.Ensemble(sr.subsets.projection([10, 20], M, seed=1), readout_noise=0.1)
    found = sr.simulate(dense, ensemble, SIZES, 3, ridges=[0.01], run=sr.Run(device=device), progress=False)
    risk = plainly(dense, ensemble, SIZES, 3, ridges=np.array([0.01]), device=device)[0]
    assert largest_relative_deviation(found.risk.values, risk[:, :, 0]) < 1e-10


@pytest.mark.torch
def test_torch_agrees_with_the_plain_trainer_on_its_own_draws():
    pytest.importorskip("torch")
    ensemble = sr.Ensemble(PLAN, readout_noise=np.array([[0.1], [0.4]]))
    run = sr.Run(device="torch")
    found = sr.simulate(problem(), ensemble, SIZES, 3, ridges=RIDGES, pairs=True, run=run, progress=False)
    risk, training, pairs = plainly(problem(), ensemble, SIZES, 3, ridges=RIDGES, device="torch")
    assert largest_relative_deviation(found.risk.values, risk) < 1e-9
    assert np.abs(found.training_error.values - training).max() < 1e-9
    assert largest_relative_deviation(found.pairs.values, pairs) < 1e-8


def test_a_covariance_of_low_rank_is_trained_without_a_ridge():
    factor = np.random.default_rng(5).standard_normal((M, 6))
    flat = sr.Problem(sr.covariance.low_rank(factor), np.ones(M), label_noise=0.1)
    ensemble = sr.Ensemble(sr.subsets.equal(2, M, seed=0))
    found = sr.simulate(flat, ensemble, SIZES, 2, progress=False)
    risk = plainly(flat, ensemble, SIZES, 2, ridges=None)[0]
    assert largest_relative_deviation(found.risk.values, risk[:, 0, 0]) < 1e-8
