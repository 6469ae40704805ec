"""A single ridge is solved without a decomposition where that keeps the digits, and only there."""

import numpy as np
import pytest
from subridge.model.plan import SubsetPlan

import subridge as sr
from subridge.ridge.rows.one_ridge import SolvedMember, solve_member
from subridge.ridge.rows.path import member_paths
from subridge.ridge.rows.training import training_rows


def rows_of(seed, n=60, M=20, fit_intercept=True, weighted=True):
    rng = np.random.default_rng(seed)
    X, Y = rng.standard_normal((n, M)) + 3.0, rng.standard_normal((2, n))
    return training_rows(X, Y, rng.uniform(0.1, 3.0, n) if weighted else None, fit_intercept)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("ridge", [0.01, 1.0, 1e4])
def test_a_solved_ridge_is_the_one_of_a_path(fit_intercept, weighted, ridge):
    rows, plan = rows_of(0, fit_intercept=fit_intercept, weighted=weighted), SubsetPlan.from_indices([range(20)], 20)
    noise = np.random.default_rng(1).standard_normal((1, 2, 60))
    (alone,) = member_paths(rows, plan, np.array([ridge]), noise)
    (path,) = member_paths(rows, plan, np.array([ridge, 1e6]), noise)
    assert isinstance(alone.solution, SolvedMember)
    np.testing.assert_allclose(alone.errors(0), path.errors(0), rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(alone.coefficients(0), path.coefficients(0), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("M", "penalty"), [(20, 0.0), (20, 1e-8), (59, 1.0), (80, 1.0)])
def test_tiny_penalties_and_many_features_are_left_to_decompositions(M, penalty):
    rows = rows_of(0, M=M)
    design = rows.member(SubsetPlan.from_indices([range(M)], M), 0)
    assert solve_member(design, penalty, rows.intercept_leverage, 2e-9) is None


def test_a_row_of_full_leverage_is_left_to_decompositions():
    X = np.random.default_rng(0).standard_normal((60, 20))
    X[7, 3] = 1e5
    rows = training_rows(X, np.zeros((1, 60)), None, True)
    design = rows.member(SubsetPlan.from_indices([range(20)], 20), 0)
    assert solve_member(design, 20.0, rows.intercept_leverage, 2e-9) is None


@pytest.mark.parametrize("far", [1.0, 1e3])
def test_rows_that_cannot_be_outermost_change_no_interval(far):
    """Few of 400 rows can matter for usual new rows, nearly all of them for rows far away; both agree with refits."""
    rng = np.random.default_rng(0)
    X, new = rng.standard_normal((400, 8)), rng.standard_normal((5, 8))
    new[0] *= far
    y = X[:, 0] + rng.standard_normal(400)
    model = sr.RidgeEnsembleRegressor(2, ridge=0.1, random_state=0).fit(X, y)
    lower, upper = model.predict_interval(new, 0.9)
    left = []
    for i in range(400):
        rest = np.arange(400) != i
        without = sr.RidgeEnsembleRegressor(subsets=model.subset_plan_, ridge=0.1).fit(X[rest], y[rest])
        left.append((without.predict(new), abs(y[i] - without.predict(X[[i]])[0])))
    centres, widths = np.array([each[0] for each in left]), np.array([each[1] for each in left])[:, None]
    rank = int(np.ceil(0.9 * 401)) - 1
    np.testing.assert_allclose(upper, np.sort(centres + widths, axis=0)[rank], rtol=1e-8)
    np.testing.assert_allclose(lower, np.sort(centres - widths, axis=0)[399 - rank], rtol=1e-8)
