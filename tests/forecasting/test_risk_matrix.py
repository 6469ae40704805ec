import numpy as np
import pytest
from subridge.model.errors import ParameterError

import subridge as sr


def refitted(X, y, plan, ridges, fit_intercept):
    """Leave every row out in turn and fit again."""
    n, k = len(X), plan.n_members
    errors = np.empty((k, n))
    for i in range(n):
        rest = np.arange(n) != i
        shift, level = (X[rest].mean(axis=0), y[rest].mean()) if fit_intercept else (0.0 * X[0], 0.0)
        for r in range(k):
            F = plan.measure(r, X[rest] - shift)
            G = F.T @ F + ridges[r] * F.shape[1] * np.eye(F.shape[1])
            weights = (
                np.linalg.pinv(G) @ F.T @ (y[rest] - level)
                if ridges[r] == 0
                else np.linalg.solve(G, F.T @ (y[rest] - level))
            )
            errors[r, i] = y[i] - level - plan.measure(r, X[i] - shift) @ weights
    return errors @ errors.T / n


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("ridges", [[0.3, 0.3], [0.0, 0.1], [0.0, 0.0]])
@pytest.mark.parametrize("n", [25, 60])
def test_it_equals_refitting_on_both_sides_of_the_threshold(pilot_data, n, ridges, fit_intercept):
    X, y = pilot_data[0][:n], pilot_data[1][:n]
    plan = sr.SubsetPlan.from_indices([np.arange(30), np.arange(28, 40)], 40)
    found = sr.risk_matrix(X, y, sr.Ensemble(plan, ridges), fit_intercept=fit_intercept)
    np.testing.assert_allclose(found, refitted(X, y, plan, ridges, fit_intercept), rtol=1e-6)


@pytest.mark.parametrize("ridge", [0.0, 0.2])
@pytest.mark.parametrize("n", [100, 400])
def test_it_agrees_with_theory_on_gaussian_data(ridge, n):
    """Mean over pilots against Prop. 1; members have 180 and 90 features, so that n = 100 is below one threshold."""
    M, zeta, pilots = 240, 0.4, 60
    covariance = sr.covariance.autoregressive(M, 0.6)
    rng = np.random.default_rng(0)
    problem = sr.Problem(covariance, rng.standard_normal(M), label_noise=zeta)
    plan = sr.SubsetPlan.from_indices([np.arange(180), np.arange(150, 240)], M)
    ensemble = sr.Ensemble(plan, ridge)
    root = np.linalg.cholesky(covariance.dense())
    found = []
    for _ in range(pilots):
        X = rng.standard_normal((n, M)) @ root.T
        y = X @ problem.teacher_weights / np.sqrt(M) + zeta * rng.standard_normal(n)
        found.append(sr.risk_matrix(X, y, ensemble, fit_intercept=False))
    expected = sr.risk(problem, ensemble, n / M).pairs + zeta**2
    doubt = np.std(found, axis=0) / np.sqrt(pilots)
    nearest = min(abs(n - 180), abs(n - 90))
    allowed = 4 * doubt + 1.5 * expected / nearest * (ridge == 0) + 0.02 * expected
    assert (abs(np.mean(found, axis=0) - expected) <= allowed).all()


def test_known_label_noise_is_subtracted_as_a_variance(pilot_data):
    X, y = pilot_data
    ensemble = sr.Ensemble(sr.subsets.equal(2, 40, 0), 0.3, aggregation="median")
    with_noise, without = (sr.risk_matrix(X, y, ensemble, label_noise=zeta) for zeta in (0.0, 0.5))
    np.testing.assert_allclose(without, with_noise - 0.25)
    with pytest.raises(ParameterError, match="label_noise"):
        sr.risk_matrix(X, y, ensemble, label_noise=-1.0)
