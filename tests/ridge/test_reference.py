import numpy as np
import pytest
from sklearn.linear_model import Ridge

import subridge as sr


def data(P=15, M=10, targets=None):
    rng = np.random.default_rng(0)
    return rng.standard_normal((P, M)), rng.standard_normal(P if targets is None else (P, targets))


@pytest.mark.parametrize("targets", [None, 3])
@pytest.mark.parametrize("P", [4, 15])
def test_members_equal_scikit_learn_with_the_ridge_times_the_subset_size(P, targets):
    X, y = data(P, targets=targets)
    plan = sr.subsets.overlapping([3, 7], 10, 1)
    weights = sr.fit_members(X, y, sr.Ensemble(plan, [0.1, 2.0]))
    for r, ridge in enumerate([0.1, 2.0]):
        N = plan.subset_sizes[r]
        fitted = Ridge(alpha=ridge * N, fit_intercept=False, solver="svd").fit(plan.measure(r, X), y)
        np.testing.assert_allclose(weights[r] / np.sqrt(N), fitted.coef_.T, rtol=1e-9)


def test_no_ridge_is_the_minimum_norm_solution():
    X, y = data(4)
    ensemble = sr.Ensemble(sr.SubsetPlan.from_indices([np.arange(10)], 10))
    np.testing.assert_allclose(sr.fit_members(X, y, ensemble)[0], np.linalg.pinv(X / np.sqrt(10)) @ y)


@pytest.mark.slow
def test_exact_risk_equals_a_sampled_test_error():
    M = 8
    problem = sr.Problem(sr.covariance.autoregressive(M, 0.5), np.ones(M), sr.covariance.isotropic(M, 0.2), 0.3)
    plan = sr.subsets.overlapping([3, 5], M, 0)
    ensemble = sr.Ensemble(plan, 0.1, [0.2, 0.4])
    weights = sr.fit_members(*data(20, M), ensemble)
    exact = sr.risk_of_weights(problem, ensemble, weights)
    rng, n = np.random.default_rng(2), 400_000
    psi = problem.signal_covariance.colour(rng.standard_normal((n, M)))
    X = psi + np.sqrt(0.2) * rng.standard_normal((n, M))
    error = [
        plan.measure(r, X) @ w / np.sqrt(len(w)) + ensemble.readout_noise[r] * rng.standard_normal(n)
        for r, w in enumerate(weights)
    ] - psi @ np.ones(M) / np.sqrt(M)
    np.testing.assert_allclose(exact.pairs, error @ error.T / n, rtol=0.02, atol=0.002)
    assert exact.total == pytest.approx(float(np.mean(error.mean(axis=0) ** 2)), rel=0.02)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"X": np.ones((4, 3))}, sr.errors.DataError, r"X must have shape \(n_samples, 10\)"),
        ({"y": np.ones(3)}, sr.errors.DataError, "y must have 15 rows"),
        ({"y": np.full(15, np.nan)}, sr.errors.DataError, "y contains NaN"),
        ({"X": np.full((15, 10), np.inf)}, sr.errors.DataError, "X contains infinity"),
        ({"ridge": -1.0}, sr.errors.RidgeError, "ridge must be at least 0"),
        ({"ridge": [[1.0], [2.0]]}, sr.errors.ParameterError, "trains one ensemble"),
        ({"noise": np.ones(15)}, sr.errors.DataError, "noise must have shape"),
    ],
)
def test_bad_training_input_is_refused_by_name(change, error, message):
    X, y = data()
    given = {"X": X, "y": y, "ridge": 0.1, "noise": None, **change}
    ensemble = sr.Ensemble(sr.subsets.equal(2, 10, 0), given["ridge"])
    with pytest.raises(error, match=message):
        sr.fit_members(given["X"], given["y"], ensemble, noise=given["noise"])


def test_risk_of_weights_wants_one_array_per_member():
    problem = sr.Problem(np.eye(4), np.ones(4))
    with pytest.raises(sr.errors.ParameterError, match="one array per member"):
        sr.risk_of_weights(problem, sr.Ensemble(sr.subsets.equal(2, 4, 0)), [np.ones(2)])
