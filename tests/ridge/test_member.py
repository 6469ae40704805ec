"""Leave-one-out without refitting, against refitting."""

import numpy as np
import pytest

from subridge.model.ensemble import SubsetPlan
from subridge.ridge.member import MemberPath, member_paths
from subridge.ridge.rows import training_rows

RIDGES = np.array([0.0, 1e-3, 1.0, 50.0])
# The minimum-norm solution next to the threshold n = N amplifies rounding in the refits themselves.
TOLERANCE = 1e-8


def refitted_errors(X, Y, weights, ridge, intercept):
    """Leave each row out, fit the others by least squares on stacked rows, and predict it; shape (C, n)."""
    n, N = X.shape
    errors = np.empty((Y.shape[1], n))
    for i in range(n):
        kept = np.arange(n) != i
        w = weights[kept]
        x_mean, y_mean = (
            (np.average(X[kept], axis=0, weights=w), np.average(Y[kept], axis=0, weights=w))
            if intercept
            else (np.zeros(N), np.zeros(Y.shape[1]))
        )
        root = np.sqrt(w)[:, None]
        rows = np.vstack([root * (X[kept] - x_mean), np.sqrt(ridge * N) * np.eye(N)[: N if ridge else 0]])
        labels = np.vstack([root * (Y[kept] - y_mean), np.zeros((N if ridge else 0, Y.shape[1]))])
        coef = np.linalg.lstsq(rows, labels, rcond=None)[0]
        errors[:, i] = Y[i] - (y_mean + (X[i] - x_mean) @ coef)
    return errors


def path_of(X, Y, weights, ridges, intercept) -> MemberPath:
    rows = training_rows(X, Y.T.copy(), weights, intercept)
    return member_paths(rows, SubsetPlan.from_indices([np.arange(X.shape[1])], X.shape[1]), ridges)[0]


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("N", [1, 5, 11, 13, 17, 40])  # against n = 15: below, around and above the threshold
def test_every_ridge_equals_refitting(N, weighted, intercept):
    rng = np.random.default_rng(N)
    X, Y = rng.standard_normal((15, N)) + 0.5, rng.standard_normal((15, 2))
    weights = rng.uniform(0.2, 3.0, 15)
    path = path_of(X, Y, weights if weighted else None, RIDGES, intercept)
    for index, ridge in enumerate(RIDGES):
        wanted = refitted_errors(X, Y, weights if weighted else np.ones(15), ridge, intercept)
        np.testing.assert_allclose(path.errors(index), wanted, rtol=TOLERANCE, atol=TOLERANCE)


@pytest.mark.parametrize("N", [14, 15, 16])
def test_members_at_the_threshold_equal_refitting(N):
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((15, N)), rng.standard_normal((15, 1))
    path = path_of(X, Y, None, RIDGES, True)
    for index, ridge in enumerate(RIDGES):
        wanted = refitted_errors(X, Y, np.ones(15), ridge, True)
        np.testing.assert_allclose(path.errors(index), wanted, rtol=TOLERANCE, atol=TOLERANCE * abs(wanted).max())


@pytest.mark.parametrize("n", [12, 60])
def test_duplicated_features_equal_refitting(n):
    """The Gram matrix is singular, so without ridge the design itself is decomposed."""
    rng = np.random.default_rng(1)
    half = rng.standard_normal((n, 10))
    X, Y = np.hstack([half, half]), rng.standard_normal((n, 1))
    path = path_of(X, Y, None, RIDGES, True)
    for index, ridge in enumerate(RIDGES):
        np.testing.assert_allclose(
            path.errors(index), refitted_errors(X, Y, np.ones(n), ridge, True), rtol=1e-7, atol=1e-8
        )


@pytest.mark.parametrize("ridges", [[0.0], [1e-6, 1.0]])
def test_a_sample_that_alone_shows_a_feature_is_predicted_without_it(ridges):
    """Its leverage is one without ridge, where r/(1-H) is 0/0."""
    rng = np.random.default_rng(2)
    X, Y = rng.standard_normal((20, 4)), rng.standard_normal((20, 1))
    X[:, 3] = 0.0
    X[7, 3] = 1.0
    path = path_of(X, Y, None, np.array(ridges), False)
    for index, ridge in enumerate(ridges):
        wanted = refitted_errors(X, Y, np.ones(20), ridge, False)
        np.testing.assert_allclose(path.errors(index), wanted, rtol=1e-8, atol=1e-8)


def test_constant_features_leave_the_mean_of_the_others():
    Y = np.array([[0.0], [3.0], [6.0]])
    path = path_of(np.ones((3, 2)), Y, None, np.array([0.0, 1.0]), True)
    np.testing.assert_allclose(path.errors(0), [[-4.5, 0.0, 4.5]], atol=1e-12)
    np.testing.assert_allclose(path.coefficients(0), np.zeros((1, 2)))


def test_readout_noise_is_added_to_labels_but_not_to_what_errors_refer_to():
    rng = np.random.default_rng(3)
    X, Y, noise = rng.standard_normal((30, 6)), rng.standard_normal((30, 1)), rng.standard_normal((30, 1))
    rows = training_rows(X, Y.T.copy(), None, True)
    plan = SubsetPlan.from_indices([np.arange(6)], 6)
    path = member_paths(rows, plan, np.array([0.5]), noise.T[None])[0]
    noisy = refitted_errors(X, Y - noise, np.ones(30), 0.5, True)  # against the labels Y - ξ
    np.testing.assert_allclose(path.errors(0), noisy + noise.T, atol=1e-10)


def test_a_long_path_is_computed_on_demand_with_the_same_result():
    """With more ridges than features no table of all errors is kept."""
    rng = np.random.default_rng(4)
    X, Y = rng.standard_normal((30, 3)), rng.standard_normal((30, 1))
    long, short = np.logspace(-3, 3, 13), np.array([1.0])
    at_one = path_of(X, Y, None, long, True), path_of(X, Y, None, short, True)
    np.testing.assert_allclose(at_one[0].errors(6), at_one[1].errors(0))
    np.testing.assert_allclose(at_one[0].coefficients(6), at_one[1].coefficients(0))
