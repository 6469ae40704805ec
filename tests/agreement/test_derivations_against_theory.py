"""What SymPy derived, compiled to numbers, against what the theory computes, on random inputs."""

import numpy as np
import pytest

import subridge as sr
from subridge.derivations import equicorrelated, numeric, reduced
from subridge.derivations.notation import H, W, Z, a, alpha, b, eta, k, nu, rho, zeta

pytestmark = pytest.mark.slow

DRAWS = 30
# Both sides are double precision closed forms; near thresholds a factor 1/(1-γ) magnifies rounding.
TOLERANCE = 1e-9


@pytest.fixture(scope="module")
def draws():
    generator = np.random.default_rng(11)
    nu_r, nu_s = generator.uniform(0.1, 0.5, (2, DRAWS))
    return {
        "alpha": generator.uniform(0.05, 2.0, DRAWS),
        "nu_r": nu_r,
        "nu_s": nu_s,
        "nu_rs": generator.uniform(0.0, 1.0, DRAWS) * np.minimum(nu_r, nu_s) * 0.9,
        "ridges": generator.uniform(0.01, 2.0, (2, DRAWS)),
        "s": generator.uniform(0.5, 2.0, DRAWS),
        "c": generator.uniform(0.1, 0.9, DRAWS),
        "omega": generator.uniform(0.0, 0.8, DRAWS),
        "zeta": generator.uniform(0.0, 0.8, DRAWS),
        "eta": generator.uniform(0.0, 0.8, DRAWS),
        "rho": generator.uniform(-0.95, 0.95, DRAWS),
    }


def cases(draws):
    """Yield one problem, ensemble and set of numbers at a time: fractions differ from draw to draw."""
    for n in range(DRAWS):
        one = {name: value[..., n] for name, value in draws.items()}
        problem = sr.EquicorrelatedProblem(one["s"], one["c"], one["omega"], one["rho"], one["zeta"])
        fractions = np.array([[one["nu_r"], one["nu_rs"]], [one["nu_rs"], one["nu_s"]]])
        yield problem, sr.Ensemble(fractions, ridge=one["ridges"], readout_noise=one["eta"]), one


def test_pair_errors_and_gamma_of_proposition_two_are_the_derived_ones(draws):
    own, crossed = (numeric.pair_error_function(same) for same in (True, False))
    gamma = numeric.gamma_function()
    for problem, ensemble, one in cases(draws):
        bulk = one["s"] * (1 - one["c"])
        variances, noises = (bulk + one["omega"] ** 2, bulk), (one["zeta"], one["eta"])
        fractions = (one["nu_r"], one["nu_s"], one["nu_rs"])
        pairs = sr.risk(problem, ensemble, one["alpha"]).pairs
        arguments = (one["alpha"], fractions, tuple(one["ridges"]), variances, noises, one["rho"])
        np.testing.assert_allclose(pairs[0, 0], own(*arguments), rtol=TOLERANCE)
        np.testing.assert_allclose(pairs[0, 1], crossed(*arguments), rtol=TOLERANCE, atol=1e-12)
        found = sr.order_parameters(problem, ensemble, one["alpha"]).gamma[0, 1]
        np.testing.assert_allclose(found, gamma(one["alpha"], *fractions, *one["ridges"], variances[0]), rtol=TOLERANCE)


def test_optimal_ridge_is_the_derived_one(draws):
    derived = numeric.numeric_version(equicorrelated.optimal_ridge(), [nu, a, b, eta, zeta, rho])
    for problem, ensemble, one in cases(draws):
        bulk = one["s"] * (1 - one["c"])
        expected = derived(one["nu_r"], bulk + one["omega"] ** 2, bulk, one["eta"], one["zeta"], one["rho"])
        np.testing.assert_allclose(sr.optimal_ridge(problem, ensemble)[0], expected, rtol=TOLERANCE)


def ratios(draws):
    return draws["rho"], draws["eta"], draws["omega"], draws["zeta"]


def test_reduced_error_and_optimal_ridge_are_the_derived_ones(draws):
    members = np.arange(DRAWS) % 9 + 1.0
    r, h, w, z = ratios(draws)
    ridge = draws["ridges"][0]
    error = numeric.reduced_error_function()(members, draws["alpha"], r, ridge, h, w, z)
    np.testing.assert_allclose(sr.reduced_risk(members, draws["alpha"], r, ridge, h, w, z), error, rtol=TOLERANCE)
    best = numeric.numeric_version(reduced.reduced_optimal_ridge(), [k, rho, H, W, Z])(members, r, h, w, z)
    np.testing.assert_allclose(sr.reduced_optimal_ridge(members, r, h, w, z), best, rtol=TOLERANCE)


def test_large_ensemble_coefficients_and_boundaries_are_the_derived_ones(draws):
    r, h, w, z = ratios(draws)
    compiled = numeric.numeric_version(reduced.ridgeless_coefficient(), [alpha, rho, H, W])
    theory = sr.large_k_coefficient(draws["alpha"], r, h, w, z)
    np.testing.assert_allclose(theory, compiled(draws["alpha"], r, h, w), rtol=TOLERANCE)
    compiled = numeric.numeric_version(reduced.optimal_coefficient(False), [alpha, H, W, Z])
    theory = sr.large_k_coefficient(draws["alpha"], 0.0, h, w, z, ridge="optimal")
    np.testing.assert_allclose(theory, compiled(draws["alpha"], h, w, z), rtol=TOLERANCE)
    boundary = numeric.numeric_version(reduced.ridgeless_boundary(), [rho, H, W])(r, h, w)
    theory = sr.phase_boundary(r, h, w, z)
    exists = np.isfinite(theory)
    assert exists.sum() > DRAWS / 4
    np.testing.assert_allclose(theory[exists], boundary[exists], rtol=TOLERANCE)
    assert (boundary[~exists] <= 0).all()
    boundary = numeric.numeric_version(reduced.optimal_boundary(), [H, W, Z])(h, w, z)
    np.testing.assert_allclose(sr.phase_boundary(0.0, h, w, z, ridge="optimal"), boundary, rtol=1e-6)
