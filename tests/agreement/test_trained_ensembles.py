"""Prop. 1 against ensembles that were really trained, on Gaussian data with fixed seeds.

Tolerance: |Δ| ≤ 4 SE + 1.5·E/min_r|P - N_r| (theory is asymptotic; near a threshold its finite-size bias is about
E/|P - N_r| relative), with SE below 2 % of E.
"""

import numpy as np
import pytest

import subridge as sr
from subridge.model.checks import stream

M = 120


def teacher(seed=0):
    return np.random.default_rng(seed).standard_normal(M)


def problems():
    ar = sr.covariance.autoregressive(M, 0.8)
    rotated = sr.covariance.power_law(M, 0.8, 3.0, seed=1)
    return {
        "autoregressive": sr.Problem(ar, teacher(), sr.covariance.autoregressive(M, 0.3, 0.1), 0.1),
        "equicorrelated": sr.EquicorrelatedProblem(1.0, 0.5, 0.3, 0.3, 0.2).realise(M, 2),
        "isotropic": sr.Problem(sr.covariance.isotropic(M), teacher(), None, 0.3),
        "power law": sr.Problem(rotated, teacher(), sr.covariance.isotropic(M, 0.05), 0.2),
    }


def plans():
    return {
        "overlapping": sr.subsets.overlapping([24, 48, 72], M, 5),
        "equal": sr.subsets.equal(4, M, 5),
        "dirichlet": sr.subsets.dirichlet(4, M, 0.75, 8),
        "projections": sr.subsets.projection([24, 60], M, 5),
        "single": sr.subsets.overlapping([M], M, 0),
    }


# problem, subsets, ridge, readout noise, sample sizes below, between and above the thresholds
SETTINGS = [
    ("autoregressive", "overlapping", 1e-6, 0.2, (12, 36, 60, 100)),
    ("autoregressive", "overlapping", [1e-3, 1.0, 0.1], [0.1, 0.3, 0.2], (12, 36, 60, 100)),
    ("autoregressive", "projections", 0.05, 0.1, (12, 40, 100)),
    ("equicorrelated", "equal", 0.0, 0.1, (12, 50, 90)),
    ("equicorrelated", "dirichlet", 0.01, [0.0, 0.1, 0.2, 0.3], (10, 60, 110)),
    ("isotropic", "single", 0.0, 0.0, (60, 180)),
    ("isotropic", "projections", 0.0, 0.2, (12, 42, 100)),
    ("power law", "overlapping", 0.0, 0.0, (12, 36, 60, 110)),
    ("power law", "dirichlet", [0.0, 0.1, 0.0, 1.0], 0.2, (6, 50, 110)),
]


def draw_training_set(problem, n_samples, rng):
    """Features ψ + σ, shape (P, M), and labels w*·ψ/√M + ε, shape (P,) (sec. 2.1 (Setup))."""
    signal, noise = problem.signal_covariance, problem.noise_covariance
    psi = signal.colour(rng.standard_normal((n_samples, signal.white_size)))
    sigma = noise.colour(rng.standard_normal((n_samples, noise.white_size)))
    epsilon = float(problem.label_noise) * rng.standard_normal(n_samples)
    return psi + sigma, psi @ problem.teacher_weights / np.sqrt(problem.n_features) + epsilon


def reference_curve(problem, ensemble, n_samples, n_trials, seed):
    """Fresh data for every trial and size, one plain solve per member: exact E_rr′(D), shape (trials, sizes, k, k)."""
    k = ensemble.n_members
    eta = np.broadcast_to(ensemble.readout_noise, (k,))
    pairs = np.empty((n_trials, len(n_samples), k, k))
    for trial in range(n_trials):
        for position, P in enumerate(n_samples):
            rng = stream(seed, trial, position)
            X, y = draw_training_set(problem, P, rng)
            weights = sr.fit_members(X, y, ensemble, noise=eta[:, None] * rng.standard_normal((k, P)))
            pairs[trial, position] = sr.risk_of_weights(problem, ensemble, weights).pairs
    return pairs


@pytest.mark.parametrize(
    ("problem", "plan", "ridge", "noise", "n_samples"),
    [*(pytest.param(*each, marks=pytest.mark.slow) for each in SETTINGS[:-1]), SETTINGS[-1]],
)
def test_theory_predicts_trained_ensembles(problem, plan, ridge, noise, n_samples):
    ensemble = sr.Ensemble(plans()[plan], ridge, noise)
    task = problems()[problem]
    n_trials = 400 if plan == "equal" else 120  # a spike along 1 makes small samples vary more
    errors = reference_curve(task, ensemble, n_samples, n_trials, seed=11).mean(axis=(-2, -1))
    mean, se = errors.mean(axis=0), errors.std(axis=0, ddof=1) / np.sqrt(n_trials)
    theory = sr.risk(task, ensemble, np.array(n_samples) / M).total
    distance = np.abs(np.subtract.outer(n_samples, ensemble.plan.subset_sizes)).min(axis=1)
    allowed = 4 * se + 1.5 * theory / distance
    assert (np.abs(mean - theory) <= allowed).all(), f"z = {(mean - theory) / se}, allowed {allowed / se}"
    assert (se < 0.02 * theory)[distance > 15].all()


@pytest.mark.slow
def test_pairs_of_members_agree_one_by_one():
    task = problems()["autoregressive"]
    ensemble = sr.Ensemble(plans()["overlapping"], [1e-2, 0.1, 1.0], [0.1, 0.3, 0.2])
    pairs = reference_curve(task, ensemble, (40, 90), 150, seed=3)
    mean, se = pairs.mean(axis=0), pairs.std(axis=0, ddof=1) / np.sqrt(len(pairs))
    theory = sr.risk(task, ensemble, np.array([40, 90]) / M).pairs
    assert (np.abs(mean - theory) <= 4 * se + 1.5 * theory / 8).all()


def test_negative_ridge_of_an_ensemble_beats_none_in_training():
    """Equal members without noise: averaging pays for variance, so the best common ridge is below zero."""
    closed = sr.EquicorrelatedProblem(correlation=0.5)
    plan = sr.subsets.equal(4, M, 0)
    best = float(sr.optimal_ridge(closed, sr.Ensemble([0.25] * 4), 1.0, scope="ensemble")[0])
    assert best < 0
    theory = [float(sr.risk(closed, sr.Ensemble([0.25] * 4, ridge), 1.0).total) for ridge in (best, 0.0)]
    assert theory[0] < theory[1]
    rng = np.random.default_rng(0)
    trained = []
    for trial in range(60):
        problem = closed.realise(M, trial)
        X = problem.signal_covariance.colour(rng.standard_normal((M, problem.signal_covariance.white_size)))
        y = X @ problem.teacher_weights / np.sqrt(M)
        errors = []
        for ridge in (best, 0.0):
            weights = []
            for r, N in enumerate(plan.subset_sizes):
                F = plan.measure(r, X) / np.sqrt(N)
                weights.append(np.linalg.solve(F.T @ F + ridge * np.eye(N), F.T @ y))
            errors.append(sr.risk_of_weights(problem, sr.Ensemble(plan), weights).total)
        trained.append(errors)
    gain = np.diff(trained, axis=1)[:, 0]
    assert gain.mean() > 4 * gain.std(ddof=1) / np.sqrt(len(gain))


def test_training_data_have_the_described_law():
    n, P = 6, 200_000
    problem = sr.Problem(
        sr.covariance.autoregressive(n, 0.7), np.arange(n) - 1.0, sr.covariance.equicorrelated(n, 0.3, 0.5), 0.4
    )
    X, y = draw_training_set(problem, P, np.random.default_rng(0))
    Sigma_s = problem.signal_covariance.dense()
    np.testing.assert_allclose(X.T @ X / P, Sigma_s + problem.noise_covariance.dense(), atol=0.02)
    np.testing.assert_allclose(X.T @ y / P, Sigma_s @ problem.teacher_weights / np.sqrt(n), atol=0.03)
    power = problem.teacher_weights @ Sigma_s @ problem.teacher_weights / n
    assert y.var() == pytest.approx(power + 0.16, rel=0.02)
