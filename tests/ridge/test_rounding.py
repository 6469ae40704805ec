"""Exact leave-one-out on rows that hurt: offsets, mixed scales, n ≈ N, ridge 0."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone

import subridge as sr
from reference import judge, refits
from subridge.model.errors import AccuracyWarning
from subridge.ridge.member import member_paths
from subridge.ridge.rows import left_out_groups, training_rows

RIDGES = np.array([0, 0.01, 0.1, 1, 10])


def mean_square(X, y, ridges=RIDGES):
    rows = training_rows(X, y[None], None, True)
    path = member_paths(rows, sr.SubsetPlan.from_indices([np.arange(X.shape[1])], X.shape[1]), ridges)[0]
    return np.array([float(np.mean(path.errors(i) ** 2)) for i in range(len(ridges))])


@pytest.mark.parametrize("first", [0, *(pytest.param(first, marks=pytest.mark.slow) for first in range(50, 300, 50))])
def test_hostile_rows_equal_refits_or_say_that_they_may_not(first):
    assert [v for v in map(judge.judge_rows, range(40_000 + first, 40_050 + first)) if v.remark] == []


@pytest.mark.parametrize("seed", [9127007084, 7741006086])
def test_a_row_that_alone_tells_columns_apart_that_rounding_does_too(seed):
    """Without it a rank is decided by the last digit: exact arithmetic says 5.7e15 for the first of these."""
    assert not judge.judge_rows(seed).remark


def test_a_row_that_hardly_tells_anything_of_the_rest_is_not_rounded_away():
    """Its share outside the features is 1e-9, its part of what they leave over the root of that."""
    assert not judge.judge_rows(6203012819).remark
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((12, 11)) * np.geomspace(1, 1e-2, 11), rng.standard_normal(12)
    outside = np.linalg.svd(X)[0][:, -1]
    for share in (1e-8, 1e-10, 1e-12, 1e-14):
        normal = np.append(share**0.5, outside[1:])
        A = X - np.outer(normal, normal @ X) / (normal @ normal)
        exact = np.mean(refits.refit_errors(A, y, 1.0, None, False) ** 2)
        rows = training_rows(A, y[None], None, False)
        plan = sr.SubsetPlan.from_indices([np.arange(11)], 11)
        errors = member_paths(rows, plan, np.array([1 / 11, 10.0]))[0].errors(0)
        assert np.mean(np.asarray(errors) ** 2) == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("first", [0, *(pytest.param(first, marks=pytest.mark.slow) for first in range(50, 300, 50))])
def test_columns_that_nearly_explain_each_other_equal_refits_or_say_that_they_may_not(first):
    assert [v for v in map(judge.judge_near, range(60_000 + first, 60_050 + first)) if v.remark] == []


def test_columns_that_differ_in_the_last_digit_are_told():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((12, 4)), rng.standard_normal(12)
    X[:, 3] = X[:, 2] * (1 + 2e-16 * rng.integers(-1, 2, 12))
    with pytest.warns(AccuracyWarning, match="up to rounding"):
        mean_square(X, y, np.zeros(1))
    X[:, 3] = X[:, 2] + 1
    X[5, 3] += 1e-15  # where the two are told apart by one row
    with pytest.warns(AccuracyWarning, match="up to rounding"):
        mean_square(X, y, np.zeros(1))


def test_dependent_columns_hide_one_that_is_as_small_as_their_rounding():
    """What rounding leaves of two columns of 1e6 that are multiples is larger than a column of 1e-15."""
    rng = np.random.default_rng(3)
    x = rng.integers(-9, 9, 12) * 1e5
    X, y = np.column_stack([x, 3 * x, 1e-15 * rng.standard_normal(12)]), rng.standard_normal(12)
    with pytest.warns(AccuracyWarning, match="up to rounding"):
        mean_square(X, y, np.zeros(1))


def test_a_column_whose_squares_are_less_than_any_float_is_told():
    X, y = np.array([[5e-324], [0.0], [0.0], [5e-324]]), np.array([1.0, -2.0, 3.0, 0.5])
    with pytest.warns(AccuracyWarning):
        mean_square(X, y, np.zeros(1))


def test_columns_that_vanish_are_told_if_groups_are_left_out_too():
    assert not judge.judge_near(11001707).remark


def test_a_direction_that_a_group_alone_shows_up_to_rounding_is_told():
    assert not judge.judge_near(12000709).remark


def test_columns_that_differ_by_the_last_digits_and_by_the_smallest_float_are_told():
    assert not judge.judge_near(251118001981).remark


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("groups", [None, np.arange(12) // 2])
def test_exact_dependence_is_no_reason_for_a_warning(weighted, groups):
    """Copies, dummies of all categories, one of them in a single row, a multiple, a constant."""
    rng = np.random.default_rng(1)
    kinds = np.array([0, 1, 2, 2, 1, 1, 2, 2, 1, 2, 1, 2])
    x = np.round(rng.standard_normal(12), 3)
    X = np.column_stack([x, x, 2 * x, np.eye(3)[kinds], np.full(12, 0.1)])
    y, weights = rng.standard_normal(12), rng.uniform(0.2, 3, 12) if weighted else None
    rows = training_rows(X, y[None], weights, True, None if groups is None else left_out_groups(groups, 12))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = member_paths(rows, sr.SubsetPlan.from_indices([np.arange(7)], 7), np.zeros(1))[0].errors(0)[0]
    exact = refits.refit_errors(X, y, 0.0, weights, True, groups)
    np.testing.assert_allclose(found, exact, rtol=1e-9, atol=1e-11)


def test_a_constant_column_is_no_feature():
    """The rounding of its weighted mean was one, and without ridge it was fitted."""
    for seed in range(1, 40, 2):
        rng = np.random.default_rng(seed)
        X, y, weights = rng.standard_normal((9, 3)), rng.standard_normal(9), rng.uniform(0.2, 3, 9)
        X[:, 0] = rng.standard_normal()
        for table in (X, scipy.sparse.csr_array(X)):
            rows = training_rows(table, y[None], weights, True)
            path = member_paths(rows, sr.SubsetPlan.from_indices([np.arange(3)], 3), np.zeros(1))[0]
            np.testing.assert_allclose(path.errors(0)[0], refits.refit_errors(X, y, 0.0, weights), rtol=1e-9)


def binary(seed):
    rng = np.random.default_rng(seed)
    return (rng.random((15, 16)) < 0.2).astype(float), rng.standard_normal(15)


def test_an_offset_does_not_change_the_error_without_ridge():
    X, y = binary(282)
    exact = [np.mean(refits.refit_errors(X, y, ridge * 16) ** 2) for ridge in RIDGES]
    for offset in (0.0, 100.0):
        np.testing.assert_allclose(mean_square(X + offset, y), exact, rtol=1e-7)


@pytest.mark.filterwarnings("ignore::subridge.model.errors.AccuracyWarning")
def test_an_offset_does_not_change_the_chosen_ridge():
    chosen = [[np.argmin(mean_square(X + offset, y)) for offset in (0.0, 100.0)] for X, y in map(binary, range(60))]
    assert all(plain == moved for plain, moved in chosen)


def test_mixed_scales_near_the_threshold_at_an_ordinary_ridge():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((8, 7)) * 10 ** rng.uniform(-6, 6, 7), rng.standard_normal(8)
        penalty = 0.01 * X.var() * 8
        exact = np.mean(refits.refit_errors(X, y, penalty) ** 2)
        assert mean_square(X, y, np.array([penalty / 7]))[0] == pytest.approx(exact, rel=1e-7)


def test_sparse_rows_with_an_offset_equal_dense_ones():
    X, y = binary(282)
    X = X + np.where(np.arange(16) < 4, 100.0, 0.0)
    np.testing.assert_allclose(mean_square(scipy.sparse.csr_array(X), y), mean_square(X, y), rtol=1e-7)


@pytest.mark.parametrize("offset", [1e6, 1e8])
@pytest.mark.parametrize(
    "model",
    [
        sr.RidgeEnsembleRegressor(1, ridge=0.1),
        sr.RidgeEnsembleRegressor(subsets="projection", n_estimators=2, ridge=0.1, random_state=0),
        sr.RidgeEnsembleRegressor(1, per_target=True),
        sr.BandedRidge({"a": [0, 1], "b": ...}, n_draws=2, random_state=0),
    ],
)
def test_sparse_columns_without_zeros_may_have_large_offsets(model, offset):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 5)) + offset * np.array([1, 1, 0, 1, 0])
    X[:, 3] = offset / 3  # constant
    X[:, 4] *= rng.random(40) < 0.3
    y = X[:, 0] - offset + rng.standard_normal(40)
    dense = clone(model).fit(X, y)
    thin = clone(model).fit(scipy.sparse.csr_array(X), y)
    assert thin.loo_error_ == pytest.approx(dense.loo_error_, rel=1e-6)
    np.testing.assert_allclose(thin.coef_, dense.coef_, rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(thin.predict(scipy.sparse.csr_array(X)), dense.predict(X), atol=offset * 1e-14)


def test_rotating_the_features_of_a_member_changes_nothing():
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((12, 10)) + 3, rng.standard_normal(12)
    Q = np.linalg.qr(rng.standard_normal((10, 10)))[0]
    np.testing.assert_allclose(mean_square(X @ Q, y), mean_square(X, y), rtol=1e-8)
