import warnings

import numpy as np
import pytest

import subridge as sr


@pytest.mark.slow
@pytest.mark.parametrize("ridge", [0, "optimal"])
def test_best_size_equals_an_exhaustive_search(ridge):
    rng = np.random.default_rng(0)
    n = 250
    alpha = np.where(rng.random(n) < 0.1, np.inf, rng.choice([0, 0.1, 0.25, 0.5, 1.0, rng.uniform(0, 3)], n))
    rho = rng.choice([0, 0.05, 0.3, 0.6, 0.9], n)
    H, W, Z = rng.choice([0, 0.01, 0.1, 0.5, 1, 2.5], n), rng.choice([0, 0.2, 1.0], n), rng.choice([0, 0.3, 2.0], n)
    found = sr.optimal_n_members(alpha, rho, H, W, Z, ridge=ridge)
    ks = np.arange(1.0, 4001.0)
    for i in range(n):
        Lam = sr.reduced_optimal_ridge(ks, rho[i], H[i], W[i], Z[i]) if ridge else 0.0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sr.errors.InfiniteRiskWarning)
            errors = np.append(
                sr.reduced_risk(ks, alpha[i], rho[i], Lam, H[i], W[i], Z[i]),
                sr.reduced_risk(np.inf, alpha[i], rho[i], 0, H[i], W[i], Z[i]),
            )
        best = np.append(ks, np.inf)[np.flatnonzero(errors <= errors.min() + 1e-13)[0]]
        if found[i] <= 4000 or np.isinf(found[i]):
            assert found[i] == best
        else:  # beyond the search, but then better than all of it
            assert best == np.inf


def test_just_above_the_phase_boundary_the_best_size_is_large_and_finite():
    edge = sr.phase_boundary(0.6, 0.5)
    assert sr.optimal_n_members(1.02 * edge, 0.6, 0.5) == 515
    assert sr.optimal_n_members(1.0001 * edge, 0.6, 0.5) > 1e4
    assert np.isfinite(sr.optimal_n_members(1.0001 * edge, 0.6, 0.5))


def test_without_data_and_noise_all_sizes_tie_and_the_smallest_wins():
    for ridge in (0, "optimal"):
        assert sr.optimal_n_members(0.0, 0.3, ridge=ridge) == 1
        assert np.isinf(sr.optimal_n_members(0.0, 0.3, 0.5, ridge=ridge))


def test_without_noise_one_member_at_its_threshold_is_best_at_every_alignment():
    rho = np.linspace(0.01, 0.99, 99)  # λ* is zero there, and rounding must not make it negative
    np.testing.assert_array_equal(sr.optimal_n_members(1.0, rho, ridge="optimal"), 1.0)


def test_phase_boundary_is_the_zero_of_the_large_k_coefficient():
    H, W = np.array([0.0, 0.3, 0.8]), 0.2
    edge = sr.phase_boundary(0.4, H, W)
    np.testing.assert_allclose(sr.large_k_coefficient(edge, 0.4, H, W, 0.7), 0, atol=1e-12)
    assert np.isinf(sr.phase_boundary(0.6, 1.5, 0.2))
    assert sr.phase_boundary(0.0, 0.5) == 0


def test_large_k_coefficient_is_the_slope_of_the_error_in_one_over_k():
    k = 1e6
    for ridge, Lam in ((0, 0.0), ("optimal", sr.reduced_optimal_ridge(k, 0.0, 0.5, 0.2, 0.4))):
        limit = sr.reduced_risk(np.inf, 0.7, 0, 0, 0.5, 0.2, 0.4)
        slope = k * (sr.reduced_risk(k, 0.7, 0.0, Lam, 0.5, 0.2, 0.4) - limit)
        assert slope == pytest.approx(float(sr.large_k_coefficient(0.7, 0.0, 0.5, 0.2, 0.4, ridge=ridge)), rel=1e-4)


def test_ridge_must_be_zero_or_optimal():
    with pytest.raises(sr.errors.ParameterError, match='ridge must be 0 or "optimal"'):
        sr.optimal_n_members(0.5, 0.3, ridge=0.1)


def test_phase_diagram_names_its_axes_and_phases():
    diagram = sr.phase_diagram(np.linspace(0.05, 3, 30), 0.3, np.linspace(0, 3, 20))
    assert diagram.optimal_n_members.dims == ("readout_nsr", "sample_ratio")
    assert diagram.boundary.dims == ("readout_nsr",)
    assert set(np.unique(diagram.phase)) == {0, 1, 2}
    assert (np.isinf(diagram.optimal_n_members) == (diagram.phase == 2)).all()
    with pytest.raises(sr.errors.ParameterError, match="sample_ratio must be a number or a one-dimensional array"):
        sr.phase_diagram(np.ones((2, 2)))
