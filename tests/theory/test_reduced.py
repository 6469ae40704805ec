import numpy as np
import pytest

import subridge as sr


@pytest.mark.parametrize("c", [0.1, 0.7])
def test_reduced_error_is_proposition_2_for_equal_disjoint_members(c):
    rng = np.random.default_rng(0)
    for _ in range(50):
        k, alpha, rho = int(rng.integers(1, 8)), rng.uniform(0.05, 2), rng.uniform(0, 1)
        s, eta, omega, zeta = rng.uniform(0.2, 3), *rng.uniform(0, 1.5, 3)
        lam = rng.choice([0, 0.01, 1.0])
        unit = s * (1 - c)
        whole = sr.risk(sr.EquicorrelatedProblem(s, c, omega, rho, zeta), sr.Ensemble([1 / k] * k, lam, eta), alpha)
        reduced = sr.reduced_risk(k, alpha, rho, lam / unit, eta**2 / unit, omega**2 / unit, zeta**2 / unit)
        np.testing.assert_allclose(whole.total, unit * reduced, rtol=1e-10)


def test_reduced_optimal_ridge_is_the_members_optimum_in_units_of_the_signal():
    s, c, omega, rho, zeta, eta, k = 1.3, 0.4, 0.5, 0.6, 0.3, 0.2, 5
    unit = s * (1 - c)
    full = sr.optimal_ridge(sr.EquicorrelatedProblem(s, c, omega, rho, zeta), sr.Ensemble([1 / k] * k, 0, eta))
    reduced = sr.reduced_optimal_ridge(k, rho, eta**2 / unit, omega**2 / unit, zeta**2 / unit)
    np.testing.assert_allclose(full, unit * reduced)


def test_infinite_ensemble_is_the_limit_of_large_ones():
    args = (0.7, 0.4, 0.3, 0.5, 0.2, 0.1)
    assert sr.reduced_risk(np.inf, *args) == pytest.approx(float(sr.reduced_risk(1e9, *args)), rel=1e-7)
    assert sr.reduced_risk(np.inf, *args) == pytest.approx(1 - 0.16 + 0.16 * 0.2)


def test_optimal_ridge_is_infinite_when_the_teacher_is_fully_aligned():
    assert np.isinf(sr.reduced_optimal_ridge(3, 1.0, 0.1, 0.0, 0.0))
    assert sr.reduced_optimal_ridge(1, 1.0, 0.0, 0.0, 0.0) == 0


def test_parameters_broadcast():
    k, alpha = np.array([1, 2, 5])[:, None], np.linspace(0.1, 2, 7)
    assert sr.reduced_risk(k, alpha, 0.3, 0.1, 0.2, 0.1, 0.4).shape == (3, 7)


def test_fewer_than_one_member_is_refused():
    with pytest.raises(sr.errors.ParameterError, match="n_members must be at least 1"):
        sr.reduced_risk(0, 0.5, 0, 0, 0, 0, 0)


def test_infinite_ensembles_have_an_infinite_best_ridge_and_compose_with_the_risk():
    ridge = sr.reduced_optimal_ridge(np.inf, [0.0, 0.3], 0.5, 0, 0)
    assert np.isinf(ridge).all()
    np.testing.assert_allclose(sr.reduced_risk(np.inf, 0.5, [0.0, 0.3], ridge, 0.5, 0, 0), [1, 0.91])
