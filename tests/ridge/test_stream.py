"""Members and their risk from moments alone."""

import numpy as np
import pytest

from subridge.model.ensemble import SubsetPlan
from subridge.model.subsets import overlapping, projection
from subridge.ridge.member import member_paths
from subridge.ridge.rows import training_rows
from subridge.ridge.stream import moments_of, streamed_path


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.standard_normal((80, 10)) + 1.0, rng.standard_normal((2, 80)), rng.uniform(0.5, 2.0, 80)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("plan", [overlapping([4, 6], 10, seed=0), projection([4, 6], 10, seed=0)])
def test_members_equal_those_fitted_from_rows(data, plan, intercept):
    X, Y, weights = data
    ridges = np.array([0.0, 0.3])
    rows = member_paths(training_rows(X, Y, weights, intercept), plan, ridges)
    parts = [slice(start, start + 17) for start in range(0, 80, 17)]
    first, *rest = [moments_of(X[part], Y[:, part], weights[part]) for part in parts]
    path = streamed_path(sum(rest, start=first), plan, np.repeat(ridges[:, None], 2, axis=1), intercept)
    for r, member in enumerate(rows):
        for index in range(2):
            np.testing.assert_allclose(path.coefficients[r][index], member.coefficients(index), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("intercept", [True, False])
def test_pairs_are_residual_products_over_the_trace_corrections(data, intercept):
    X, Y, _ = data
    plan, ridges = overlapping([4, 6], 10, seed=0), np.array([0.3, 2.0])
    ones, n = np.ones((80, 1)), 80
    residuals, slack = [], []
    for index, ridge in zip(plan.measurements, ridges, strict=True):
        F = X[:, index] - (X[:, index].mean(axis=0) if intercept else 0)
        H = F @ np.linalg.solve(F.T @ F + ridge * len(index) * np.eye(len(index)), F.T) + intercept * ones @ ones.T / n
        residuals.append((Y - Y @ H).ravel())
        slack.append(1 - np.trace(H) / n)
    wanted = np.array([[a @ b for a in residuals] for b in residuals]) / n / np.outer(slack, slack)
    pairs = streamed_path(moments_of(X, Y), plan, ridges[None, :], intercept).pairs[0]
    np.testing.assert_allclose(pairs, wanted, rtol=1e-9)


def test_an_interpolating_stream_uses_the_limit_of_vanishing_ridge():
    rng = np.random.default_rng(1)
    X, Y = rng.standard_normal((8, 20)), rng.standard_normal((1, 8))
    plan = SubsetPlan.from_indices([range(20), range(15)], 20)
    moments = moments_of(X, Y)
    at_zero = streamed_path(moments, plan, np.zeros((1, 2)), True).pairs
    near_zero = streamed_path(moments, plan, np.full((1, 2), 1e-5), True).pairs
    np.testing.assert_allclose(at_zero, near_zero, rtol=1e-4)
