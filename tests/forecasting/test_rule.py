import numpy as np
import pytest

from subridge.forecasting.rule import matched_penalties


def effective_ridge(spectrum, n, intercept, p):
    return p / (n - intercept - (spectrum / (spectrum + p)).sum())


@pytest.mark.parametrize(("n", "intercept", "rank"), [(30, 1, 29), (30, 0, 30), (30, 1, 12), (30, 0, 29)])
@pytest.mark.parametrize("size", [15.0, 30.0, 31.0, 90.0])
@pytest.mark.parametrize("penalty", [0.3, 20.0])
def test_the_pilot_penalty_has_the_wanted_effective_ridge(n, intercept, rank, size, penalty):
    spectrum = np.geomspace(0.05, 50.0, rank)
    (p,) = matched_penalties(spectrum, n, n - intercept, np.array([size]), np.array([penalty]))
    if p == 0:
        assert rank == n - intercept
        assert size >= n + penalty * (1 / spectrum).sum()
        return
    kappa_bar = effective_ridge(spectrum, n, intercept, p)
    freedom = intercept + (spectrum / (spectrum + p)).sum()
    np.testing.assert_allclose(kappa_bar * (size - freedom), penalty, rtol=1e-8)


def test_the_pilot_itself_is_its_own_answer():
    spectrum = np.array([0.5, 1.0, 4.0])
    p = matched_penalties(spectrum, 10, 9, np.array([10.0, 10.0]), np.array([0.0, 2.5]))
    np.testing.assert_allclose(p, [0.0, 2.5], rtol=1e-10)


def test_reach_ends_where_the_effective_ridge_falls_below_that_of_no_ridge():
    spectrum = np.array([1.0, 2.0, 4.0])
    edge = 3 + 5.0 * (1 / spectrum).sum()
    p = matched_penalties(spectrum, 3, 3, np.array([edge - 1e-9, edge + 1e-9]), np.array([5.0, 5.0]))
    assert (p > 0).tolist() == [True, False]


def test_fewer_features_than_rows_have_no_limit():
    p = matched_penalties(np.array([1.0, 2.0]), 10, 1, np.array([1e7, np.inf, np.inf]), np.array([1.0, 1.0, 0.0]))
    assert p[0] < 1e-5
    assert p[1] == p[2] == 0


def test_without_ridge_a_smaller_sample_is_a_pilot_with_as_many_degrees_of_freedom():
    spectrum = np.geomspace(0.1, 10, 20)
    (p,) = matched_penalties(spectrum, 20, 20, np.array([8.0]), np.array([0.0]))
    np.testing.assert_allclose((spectrum / (spectrum + p)).sum(), 8.0, rtol=1e-8)
