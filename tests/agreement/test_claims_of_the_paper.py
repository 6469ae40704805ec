"""Statements of the paper's text, one by one: what holds, and what is too strong. docs/claims.md is their table."""

import numpy as np
import pytest

import subridge as sr


def random_ratios(n, seed=0):
    rng = np.random.default_rng(seed)
    alpha, rho = rng.uniform(0.02, 4, n), rng.uniform(0, 0.99, n)
    H, W, Z = rng.uniform(0, 2, (3, n)) * rng.integers(0, 2, (3, n))
    return alpha, rho, H, W, Z


def reduced_at_optimum(k, alpha, rho, H, W, Z):
    return sr.reduced_risk(k, alpha, rho, sr.reduced_optimal_ridge(k, rho, H, W, Z), H, W, Z)


@pytest.mark.slow
def test_holds_readout_noise_raises_the_best_size():
    alpha = np.linspace(0.01, 3, 60)[:, None]
    H = np.linspace(0, 2.1, 106)
    for rho in (0.0, 0.3, 0.6):
        for ridge in (0, "optimal"):
            k = sr.optimal_n_members(alpha, rho, H, ridge=ridge)
            assert (k[:, 1:] >= k[:, :-1]).all()


def test_too_strong_alignment_raises_the_best_size():
    found = sr.optimal_n_members(0.5, [0.0, 0.3, 0.6], 0.15)
    assert found.tolist() == [5, 1, 1]


def test_too_strong_readout_noise_hurts_small_ensembles_more():
    k, step = np.arange(1, 5), 1e-6
    slope = (sr.reduced_risk(k, 0.4, 0, 0, step, 0, 0) - sr.reduced_risk(k, 0.4, 0, 0, 0, 0, 0)) / step
    np.testing.assert_allclose(slope, [5 / 3, 2.5, 2.0, 2 / 3], rtol=1e-6)


def test_too_strong_every_ridgeless_curve_diverges_at_its_threshold():
    assert sr.reduced_risk(1, 1.0, 0.3, 0, 0, 0, 0) == 0
    with pytest.warns(sr.errors.InfiniteRiskWarning):
        assert np.isinf(sr.reduced_risk(2, 0.5, 0.3, 0, 0, 0, 0))


def test_holds_without_readout_noise_one_member_at_its_best_ridge_is_best():
    alpha, rho, _, W, Z = random_ratios(1500)
    k = np.array([1, 2, 3, 4, 5, 7, 10, 20, 50, 200, 1000])[:, None]
    errors = reduced_at_optimum(k, alpha, rho, 0.0, W, Z)
    assert (errors[0] <= errors[1:] + 1e-13).all()
    assert (sr.optimal_n_members(alpha, rho, 0.0, W, Z, ridge="optimal") == 1).all()


@pytest.mark.slow
def test_holds_learning_curves_fall_at_the_best_ridge():
    _, rho, H, W, Z = (x[:, None] for x in random_ratios(300))
    alpha = np.geomspace(1e-3, 20, 200)
    for k in (1, 2, 5, 20):
        assert (np.diff(reduced_at_optimum(k, alpha, rho, H, W, Z), axis=1) < 1e-10).all()


def test_holds_best_ridge_of_a_member_does_not_depend_on_the_sample_size():
    from subridge.theory.ridge_search import alone, landscape_of, member_optimum

    problem = sr.EquicorrelatedProblem(1.3, 0.4, 0.5, 0.6, 0.3)
    ensemble = sr.Ensemble([0.2, 0.5], readout_noise=[0.1, 0.4])
    closed = sr.optimal_ridge(problem, ensemble)
    for r in range(2):
        landscape = landscape_of(problem, alone(problem, ensemble, r), np.array([0.05, 0.3, 0.5, 1.0, 3.0]))
        np.testing.assert_allclose(member_optimum(landscape), closed[r], rtol=1e-6)


def test_holds_best_ridge_of_a_member_is_never_negative():
    _, rho, H, W, Z = random_ratios(20000)
    k = np.random.default_rng(1).integers(1, 30, 20000)
    assert (sr.reduced_optimal_ridge(k, rho, H, W, Z) >= 0).all()


def test_not_said_best_ridge_of_members_is_not_best_for_the_ensemble():
    assert reduced_at_optimum(4, 1.0, 0, 0, 0, 0) == pytest.approx(0.7655, abs=5e-5)
    assert sr.reduced_risk(4, 1.0, 0, 0, 0, 0, 0) == pytest.approx(0.625)
    assert sr.reduced_risk(4, 1.0, 0, -0.552, 0, 0, 0) < 0.625


def test_too_strong_infinite_data_forget_heterogeneity():
    """With correlated features and an aligned teacher E_g gains s(1-c)ρ²(mean(1/ν)/k - 1)."""
    unequal, equal = np.array([0.1, 0.2, 0.3, 0.4]), np.full(4, 0.25)
    for c, rho, gain in ((0.0, 0.3, 0.0), (0.8, 0.0, 0.0), (0.8, 0.3, 0.2 * 0.09 * (np.mean(1 / unequal) / 4 - 1))):
        problem = sr.EquicorrelatedProblem(correlation=c, alignment=rho)
        totals = [sr.risk(problem, sr.Ensemble(nu, 0.1), np.inf).total for nu in (unequal, equal)]
        np.testing.assert_allclose(totals[0] - totals[1], gain, atol=1e-14)


def test_wrong_at_zero_alignment_large_ensembles_approach_their_limit_from_above_at_the_best_ridge():
    k = 1e7
    measured = k * (reduced_at_optimum(k, 1.0, 0.0, 0.5, 0, 0) - 1)
    assert measured == pytest.approx(-0.3, abs=1e-5)
    assert sr.large_k_coefficient(1.0, 0.0, 0.5, 0, 0, ridge="optimal") == pytest.approx(-0.3)


@pytest.mark.slow
def test_phase_boundary_at_the_best_ridge_separates_finite_from_infinite_sizes():
    H = np.array([0.2, 0.5, 1.0, 1.5])
    for rho in (0.0, 0.05, 0.3):
        edge = sr.phase_boundary(rho, H, 0.1, 0.2, ridge="optimal")
        inside = np.isfinite(edge)
        for factor, infinite in ((0.999, True), (1.001, False)):
            k = sr.optimal_n_members(factor * edge[inside], rho, H[inside], 0.1, 0.2, ridge="optimal")
            assert (np.isinf(k) == infinite).all()
    W, Z = 0.1, 0.2
    closed = H * (1 + W) ** 2 * (1 + H + Z) / (2 - H * (1 + W))
    np.testing.assert_allclose(sr.phase_boundary(0.0, H, W, Z, ridge="optimal"), closed, rtol=1e-9)
