"""Small problems over y ≥ 0, held against a search that starts from nothing."""

import numpy as np
import pytest
from scipy.optimize import nnls
from subridge.model.moments import MemberMoments, least_nonnegative

import subridge as sr


def problems(n_problems, k, seed):
    rng = np.random.default_rng(seed)
    outputs = rng.standard_normal((n_problems, 3 * k, k)) + rng.standard_normal((n_problems, 3 * k, 1))
    A = np.swapaxes(outputs, 1, 2) @ outputs
    size = np.sqrt(np.diagonal(A, axis1=1, axis2=2))
    return A / size[:, :, None] / size[:, None, :], rng.standard_normal((n_problems, k)) + 0.7


@pytest.mark.parametrize("k", [1, 2, 5, 32])
def test_solutions_are_those_of_a_search(k):
    A, b = problems(60, k, seed=k)
    found, known = least_nonnegative(A, b)
    assert known.all()
    assert (found == 0).any()  # some problems have their answer at a boundary
    for matrix, right, y in zip(A, b, found, strict=True):
        root = np.linalg.cholesky(matrix)
        expected = nnls(root.T, np.linalg.solve(root, right))[0]
        np.testing.assert_allclose(y, expected, atol=1e-12 * max(1.0, np.abs(expected).max()))


def test_members_that_repeat_each_other_are_left_to_the_search_and_spoil_no_other_problem():
    A, b = problems(3, 4, seed=0)
    A[1, :, 3], A[1, 3, :] = A[1, :, 2], A[1, 2, :]
    A[1, 3, 3] = 1.0
    found, known = least_nonnegative(A, b)
    assert known.tolist() == [True, False, True]
    np.testing.assert_allclose(found[0], least_nonnegative(A[:1], b[:1])[0][0], rtol=1e-13)


@pytest.mark.parametrize("name", ["scaled", "simplex", "free"])
def test_many_moments_at_once_give_the_weights_of_each(name):
    rng = np.random.default_rng(2)
    aggregation = sr.aggregation.read_aggregation(name)
    errors = rng.standard_normal((7, 6, 2, 40)) * rng.uniform(0.3, 2.0, (7, 6, 1, 1))
    errors[3, 2] = errors[3, 1]  # members that are alike, in one of them
    targets = rng.standard_normal((2, 40))
    each = [aggregation.moments(e, targets, np.ones(40), np.full(6, 30.0)) for e in errors]
    together = aggregation.settle(MemberMoments.stacked(each))
    for i, moments in enumerate(each):
        alone = aggregation.settle(moments)
        np.testing.assert_allclose(together.weights[i], alone.weights, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(together.expected[i], alone.expected, rtol=1e-12)
        np.testing.assert_array_equal(MemberMoments.stacked(each).at(i).pairs, moments.pairs)
