"""Members' designs: sparse and shared forms equal the plain one."""

import numpy as np
import pytest
from scipy import sparse

from subridge.model.subsets import overlapping, projection
from subridge.ridge.member import factorise, factorise_members, member_paths
from subridge.ridge.rows import training_rows


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 12)) * (rng.random((40, 12)) < 0.4)
    return X, rng.standard_normal((2, 40)), rng.uniform(0.5, 2.0, 40)


@pytest.mark.parametrize("intercept", [True, False])
def test_sparse_centring_is_exact_though_never_carried_out(data, intercept):
    X, Y, weights = data
    columns = np.array([0, 3, 5, 9])
    dense = training_rows(X, Y, weights, intercept).design(columns)
    thin = training_rows(sparse.csr_array(X), Y, weights, intercept).design(columns)
    rng = np.random.default_rng(1)
    onto_samples, onto_features = rng.standard_normal((3, 4)), rng.standard_normal((3, 40))
    np.testing.assert_allclose(thin.dense(), dense.dense(), atol=1e-14)
    np.testing.assert_allclose(thin.gram(), dense.gram(), atol=1e-12)
    np.testing.assert_allclose(thin.kernel(), dense.kernel(), atol=1e-12)
    np.testing.assert_allclose(thin.onto_samples(onto_samples), dense.onto_samples(onto_samples), atol=1e-12)
    np.testing.assert_allclose(thin.onto_features(onto_features), dense.onto_features(onto_features), atol=1e-12)


@pytest.mark.parametrize("n", [40, 6])
@pytest.mark.parametrize("plan", [overlapping([5, 7], 12, seed=0), projection([5, 7], 12, seed=0)])
def test_sparse_rows_give_the_same_members(data, plan, n):
    X, Y, weights = data[0][:n], data[1][:, :n].copy(), data[2][:n]
    ridges = np.array([0.0, 0.5])
    dense = member_paths(training_rows(X, Y, weights, True), plan, ridges)
    thin = member_paths(training_rows(sparse.csr_array(X), Y, weights, True), plan, ridges)
    for a, b in zip(dense, thin, strict=True):
        for index in range(2):
            np.testing.assert_allclose(b.coefficients(index), a.coefficients(index), atol=1e-9)
            np.testing.assert_allclose(b.errors(index), a.errors(index), atol=1e-8)


def test_heavily_overlapping_members_share_one_gram_matrix(data):
    X, Y, weights = data
    plan = overlapping([8] * 5, 12, seed=0)
    rows = training_rows(X, Y, weights, True)
    for r, shared in enumerate(factorise_members(rows, plan)):
        np.testing.assert_allclose(shared.spectrum, factorise(rows, plan, r).spectrum, atol=1e-12)
