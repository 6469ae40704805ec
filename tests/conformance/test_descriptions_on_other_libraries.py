"""Covariances and measurements give the same numbers in every array library."""

import numpy as np
import pytest

import subridge as sr
from subridge.arrays.namespace import add_at_last, geometric_scan

M = 70
COVARIANCES = {
    "autoregressive": sr.covariance.autoregressive(M, 0.8, 2.0),
    "alternating": sr.covariance.autoregressive(M, -0.5),
    "equicorrelated": sr.covariance.equicorrelated(M, 1.5, 0.3),
    "diagonal": sr.covariance.diagonal(np.linspace(0.0, 1.0, M)),
    "dense": sr.covariance.power_law(M, 1.0, seed=0),
}
PLANS = {
    "subsets": sr.subsets.overlapping([20, 45], M, seed=0),
    "projections": sr.subsets.projection([20, 45], M, seed=0),
}


@pytest.fixture(params=["strict", pytest.param("torch", marks=pytest.mark.torch)])
def library(request):
    name = {"strict": "array_api_strict", "torch": "torch"}[request.param]
    return pytest.importorskip(name)


@pytest.mark.parametrize("name", COVARIANCES)
def test_a_covariance_colours_and_multiplies_alike(library, name):
    covariance, rng = COVARIANCES[name], np.random.default_rng(0)
    white, rows = rng.standard_normal((2, 3, covariance.white_size)), rng.standard_normal((2, 3, M))
    coloured = np.asarray(covariance.colour(library.asarray(white)))
    np.testing.assert_allclose(coloured, covariance.colour(white), rtol=1e-10, atol=1e-13)
    applied = np.asarray(covariance.apply_rows(library.asarray(rows)))
    np.testing.assert_allclose(applied, rows @ covariance.dense(), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", COVARIANCES)
def test_single_precision_stays_single(name):
    covariance = COVARIANCES[name]
    white = np.ones((3, covariance.white_size), dtype=np.float32)
    assert covariance.colour(white).dtype == np.float32
    assert covariance.apply_rows(np.ones((3, M), dtype=np.float32)).dtype == np.float32


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_measures_and_lifts_alike(library, name):
    plan, rng = PLANS[name], np.random.default_rng(0)
    X, weights = rng.standard_normal((2, 3, M)), rng.standard_normal((2, 3, 45))
    np.testing.assert_allclose(np.asarray(plan.measure(1, library.asarray(X))), plan.measure(1, X), rtol=1e-12)
    lifted = plan.lift_rows(1, weights)
    np.testing.assert_allclose(np.asarray(plan.lift_rows(1, library.asarray(weights))), lifted, rtol=1e-12)
    total = library.asarray(X.copy())
    plan.add_lifted(1, library.asarray(weights), total)
    np.testing.assert_allclose(np.asarray(total), X + lifted, rtol=1e-12)


@pytest.mark.parametrize("decay", [0.0, 0.8, 0.999, -0.9, 1.0])
def test_the_doubling_scan_is_the_recursion(library, decay):
    values = np.random.default_rng(0).standard_normal((2, 500))
    found = np.asarray(geometric_scan(library.asarray(values), decay))
    np.testing.assert_allclose(found, geometric_scan(values, decay), rtol=1e-9, atol=1e-11)


def test_adding_at_an_index_leaves_the_rest_alone(library):
    into = library.asarray(np.zeros((2, 5)))
    add_at_last(into, np.array([3, 1]), library.asarray(np.array([[1.0, 2.0], [3.0, 4.0]])))
    assert np.asarray(into).tolist() == [[0, 2, 0, 1, 0], [0, 4, 0, 3, 0]]
