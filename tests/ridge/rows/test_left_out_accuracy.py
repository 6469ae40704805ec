"""Exact leave-one-out on rows that hurt: offsets, mixed scales, n ≈ N, ridge 0."""

import numpy as np
import pytest
import scipy.sparse

import subridge as sr
from reference import judge, refits
from subridge.ridge.rows.path import member_paths
from subridge.ridge.rows.training import training_rows

RIDGES = np.array([0, 0.01, 0.1, 1, 10])


def mean_square(X, y, ridges=RIDGES):
    rows = training_rows(X, y[None], None, True)
    path = member_paths(rows, sr.SubsetPlan.from_indices([np.arange(X.shape[1])], X.shape[1]), ridges)[0]
    return np.array([float(np.mean(path.errors(i) ** 2)) for i in range(len(ridges))])


@pytest.mark.parametrize("first", range(0, 300, 100))
def test_hostile_rows_equal_refits_or_say_that_they_may_not(first):
    assert [v for v in map(judge.judge_rows, range(40_000 + first, 40_100 + first)) if v.remark] == []


def binary(seed):
    rng = np.random.default_rng(seed)
    return (rng.random((15, 16)) < 0.2).astype(float), rng.standard_normal(15)


def test_an_offset_does_not_change_the_error_without_ridge():
    X, y = binary(282)
    exact = [np.mean(refits.refit_errors(X, y, ridge * 16) ** 2) for ridge in RIDGES]
    for offset in (0.0, 100.0):
        np.testing.assert_allclose(mean_square(X + offset, y), exact, rtol=1e-7)


@pytest.mark.filterwarnings("ignore::subridge.spec.errors.AccuracyWarning")
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


def test_rotating_the_features_of_a_member_changes_nothing():
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((12, 10)) + 3, rng.standard_normal(12)
    Q = np.linalg.qr(rng.standard_normal((10, 10)))[0]
    np.testing.assert_allclose(mean_square(X @ Q, y), mean_square(X, y), rtol=1e-8)
