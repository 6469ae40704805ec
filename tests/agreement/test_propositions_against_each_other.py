"""General against closed form, and both against a plain transcription of Prop. 1 with matrix inverses."""

import numpy as np
import pytest
from scipy.optimize import brentq

import subridge as sr


def blocks(M):
    """Three members on runs of neighbouring features: ν = .3, .5, .4 with overlaps .1 and .2."""
    ends = [(0.0, 0.3), (0.2, 0.7), (0.5, 0.9)]
    return sr.SubsetPlan.from_indices([np.arange(round(a * M), round(b * M)) for a, b in ends], M)


def transcribed_pairs(problem, ensemble, alpha, teacher_moment):
    """Eq. 9 (GeneralErr) with matrices; the teacher enters by its second moment ⟨w* w*ᵀ⟩, exact for an average over w*.

    The ridges are positive here, and κ is found by scipy's scalar solver.
    """
    plan, M = ensemble.plan, problem.n_features
    Sigma_s, Sigma_0 = problem.signal_covariance.dense(), problem.noise_covariance.dense()
    A = [np.eye(M)[index] if index.ndim == 1 else index for index in plan.measurements]
    nu, k = plan.subset_sizes / M, plan.n_members
    lam, eta = np.broadcast_to(ensemble.ridge, k), np.broadcast_to(ensemble.readout_noise, k)
    zeta = float(problem.label_noise)
    R = []
    for r in range(k):
        own = A[r] @ (Sigma_s + Sigma_0) @ A[r].T / nu[r]
        d = np.linalg.eigvalsh(own)
        kappa = brentq(lambda x, d=d, r=r: x - lam[r] - x / M * np.sum(d / (x + alpha * d)), lam[r], 1e3, xtol=1e-15)
        R.append(np.linalg.inv(kappa / alpha * np.eye(len(own)) + own))
    pairs = np.empty((k, k))
    v = Sigma_s @ teacher_moment @ Sigma_s
    for r in range(k):
        for s in range(k):
            Sigma_rs = A[r] @ (Sigma_s + Sigma_0) @ A[s].T / np.sqrt(nu[r] * nu[s])
            gamma = np.trace(R[r] @ Sigma_rs @ R[s] @ Sigma_rs.T) / (alpha * M)
            bias = np.trace(Sigma_s @ teacher_moment)
            bias -= np.trace(v @ A[r].T @ R[r] @ A[r]) / nu[r] + np.trace(v @ A[s].T @ R[s] @ A[s]) / nu[s]
            bias += np.trace(v @ A[r].T @ R[r] @ Sigma_rs @ R[s] @ A[s]) / np.sqrt(nu[r] * nu[s])
            pairs[r, s] = (bias / M + gamma * zeta**2 + (r == s) * eta[r] ** 2) / (1 - gamma)
    return pairs


def teacher_moment(rho, M):
    ones = np.ones((M, M))
    return (1 - rho**2) * (np.eye(M) - ones / M) + rho**2 * ones


SETTINGS = {
    "isotropic": ({"correlation": 0.0, "feature_noise": 0.4, "label_noise": 0.3}, [0.1, 0.1, 1.0]),
    "correlated": ({"correlation": 0.2, "feature_noise": 0.4, "label_noise": 0.3}, [0.3, 0.2, 0.5]),
    "half aligned": ({"correlation": 0.8, "alignment": 0.6, "feature_noise": 0.3}, [0.5, 0.5, 0.5]),
    "aligned": ({"correlation": 0.5, "alignment": 1.0, "label_noise": 0.2}, [0.2, 0.3, 1.0]),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_proposition_2_is_the_limit_of_proposition_1_at_rate_one_over_m(name):
    fields, ridge = SETTINGS[name]
    closed = sr.EquicorrelatedProblem(data_scale=1.3, **fields)
    for alpha in (0.4, 1.3):
        limit = sr.risk(closed, sr.Ensemble(blocks(100), ridge, 0.1), alpha).pairs
        gaps = []
        for M in (80, 320):
            ensemble = sr.Ensemble(blocks(M), ridge, 0.1)
            found = transcribed_pairs(closed.realise(M, 0), ensemble, alpha, teacher_moment(float(closed.alignment), M))
            gaps.append(np.abs(found - limit).max())
        assert gaps[1] < 0.04 * np.abs(limit).max()
        assert 2.8 < gaps[0] / gaps[1] < 5.5  # 4 for a pure 1/M


@pytest.mark.parametrize("correlation", [0.001, 0.01, 0.3, 1.0])
def test_finite_size_form_follows_proposition_1_across_the_crossover_in_correlation(correlation):
    M, alpha, ridge = 300, 0.4, [0.1, 0.3, 0.2]
    closed = sr.EquicorrelatedProblem(1.0, correlation, 0.3, 1.0, 0.1)
    ensemble = sr.Ensemble(blocks(M), ridge, 0.1)
    exact = sr.risk(closed.realise(M, 0), ensemble, alpha).total
    uniform = sr.risk(closed, ensemble, alpha, n_features=M).total
    infinite = sr.risk(closed, ensemble, alpha).total
    assert abs(uniform - exact) < 0.01 * exact
    if correlation < 0.1:
        assert abs(infinite - exact) > 5 * abs(uniform - exact)


def test_finite_size_form_joins_the_two_printed_cases():
    ensemble = sr.Ensemble([0.3, 0.5], 0.1, 0.2)
    no_correlation = sr.EquicorrelatedProblem(1.2, 0.0, 0.3, 0.7, 0.1)
    np.testing.assert_allclose(
        sr.risk(no_correlation, ensemble, 0.4, n_features=50).pairs, sr.risk(no_correlation, ensemble, 0.4).pairs
    )
    correlated = sr.EquicorrelatedProblem(1.2, 0.5, 0.3, 0.7, 0.1)
    np.testing.assert_allclose(
        sr.risk(correlated, ensemble, 0.4, n_features=10**12).pairs, sr.risk(correlated, ensemble, 0.4).pairs, rtol=1e-9
    )


@pytest.mark.parametrize("kind", ["projections", "overlapping", "duplicated rows"])
def test_general_theory_equals_its_transcription_with_matrix_inverses(kind):
    M, rng = 40, np.random.default_rng(1)
    root = rng.standard_normal((M, M))
    w = rng.standard_normal(M)
    problem = sr.Problem(root @ root.T / M, w, np.diag(rng.uniform(0, 0.3, M)), 0.3)
    plan = {
        "projections": lambda: sr.subsets.projection([12, 25], M, 3),
        "overlapping": lambda: sr.subsets.overlapping([12, 25, 30], M, 3),
        "duplicated rows": lambda: sr.SubsetPlan.from_matrices([np.eye(M)[[0, 0, 3, 4, 5]], np.eye(M)[3:20]]),
    }[kind]()
    ensemble = sr.Ensemble(plan, [0.2, 0.05, 0.5][: plan.n_members], 0.2)
    for alpha in (0.2, 0.9):
        expected = transcribed_pairs(problem, ensemble, alpha, np.outer(w, w))
        np.testing.assert_allclose(sr.risk(problem, ensemble, alpha).pairs, expected, rtol=1e-9)


@pytest.mark.parametrize("ridge", [0.0, 1e-9, [0.0, 0.1, 1.0], [-1e-3, 0.1, 1.0]])
def test_structure_changes_the_cost_and_not_the_result(ridge):
    """Diagonal and spiked tables against the dense ones, where nothing but the route differs."""
    M, alpha = 90, np.array([0.0, 0.07, 0.31, 0.6, 2.0, np.inf])
    plan = sr.subsets.overlapping([20, 45, 30], M, 1)
    rng = np.random.default_rng(0)
    w = rng.standard_normal(M)
    covariances = [
        sr.covariance.power_law(M, 1.2),
        sr.covariance.isotropic(M, 0.7),
        sr.covariance.equicorrelated(M, 1.1, 0.4),
        sr.covariance.low_rank(rng.standard_normal((M, 3)), 0.5),
    ]
    for signal in covariances:
        noise = sr.covariance.isotropic(M, 0.2)
        structured = sr.Problem(signal, w, noise, 0.2)
        dense = sr.Problem(signal.dense(), w, noise.dense(), 0.2)
        ensemble = sr.Ensemble(plan, ridge, 0.1)
        np.testing.assert_allclose(
            sr.risk(structured, ensemble, alpha).pairs, sr.risk(dense, ensemble, alpha).pairs, rtol=1e-9
        )


def test_rank_and_not_size_sets_the_interpolation_threshold():
    M, rng = 60, np.random.default_rng(0)
    factor = rng.standard_normal((M, 6))
    problem = sr.Problem(sr.covariance.low_rank(factor), rng.standard_normal(M), label_noise=0.5)
    ensemble = sr.Ensemble(sr.SubsetPlan.from_indices([np.arange(30)], M))
    with pytest.warns(sr.errors.InfiniteRiskWarning):
        assert np.isinf(sr.risk(problem, ensemble, 6 / M).total)
    assert np.isfinite(sr.risk(problem, ensemble, 30 / M).total)
    # Above the threshold the data determine the teacher's visible part: only amplified label noise is left.
    np.testing.assert_allclose(sr.risk(problem, ensemble, 0.5).total, 0.25 * (0.1 / 0.5) / (1 - 0.1 / 0.5), rtol=1e-9)
