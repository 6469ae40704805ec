import numpy as np
import pytest
from scipy.optimize import nnls

import subridge as sr
from subridge.model.aggregation import minimum_nonnegative


def random_pairs(k, seed):
    root = np.random.default_rng(seed).standard_normal((k, k + 2))
    return root @ root.T


def test_free_weights_are_the_closed_form():
    E = random_pairs(4, 0)
    expected = np.linalg.solve(E, np.ones(4))
    np.testing.assert_allclose(sr.member_weights(E, simplex=False), expected / expected.sum())


@pytest.mark.parametrize("seed", range(8))
def test_simplex_weights_satisfy_the_optimality_conditions(seed):
    """At the optimum E w is constant on the support and nowhere smaller."""
    E = random_pairs(6, seed)
    w = sr.member_weights(E)
    assert w.sum() == pytest.approx(1)
    assert (w >= 0).all()
    slope = E @ w
    level = w @ slope
    np.testing.assert_allclose(slope[w > 1e-9], level, rtol=1e-8)
    assert (slope >= level - 1e-8).all()


def test_optimal_weights_never_do_worse_than_the_mean():
    problem = sr.EquicorrelatedProblem(correlation=0.3, label_noise=0.3)
    pairs = sr.risk(problem, sr.Ensemble([0.1, 0.2, 0.6], 0.01, 0.1), np.array([0.15, 0.5, 1.0])).pairs
    w = sr.member_weights(pairs)
    assert w.shape == (3, 3)
    assert (np.einsum("gi,gij,gj->g", w, pairs, w) <= pairs.mean(axis=(-2, -1))).all()


def test_members_of_infinite_error_get_no_weight():
    np.testing.assert_allclose(sr.member_weights([[np.inf, 0.1], [0.1, 1.0]]), [0, 1])
    with pytest.raises(sr.errors.ParameterError, match="every member has infinite error"):
        sr.member_weights([[np.inf]])


def test_a_matrix_that_is_not_square_is_refused():
    with pytest.raises(sr.errors.ParameterError, match="pairs must have shape"):
        sr.member_weights(np.ones((2, 3)))


def problems(n_problems, k, seed):
    rng = np.random.default_rng(seed)
    outputs = rng.standard_normal((n_problems, 3 * k, k)) + rng.standard_normal((n_problems, 3 * k, 1))
    A = np.swapaxes(outputs, 1, 2) @ outputs
    size = np.sqrt(np.diagonal(A, axis1=1, axis2=2))
    return A / size[:, :, None] / size[:, None, :], rng.standard_normal((n_problems, k)) + 0.7


@pytest.mark.parametrize("k", [1, 2, 5, 32])
def test_solutions_are_those_of_a_search(k):
    A, b = problems(60, k, seed=k)
    found = minimum_nonnegative(A, b)
    assert (found == 0).any()  # some problems have their answer at a boundary
    for matrix, right, y in zip(A, b, found, strict=True):
        root = np.linalg.cholesky(matrix)
        expected = nnls(root.T, np.linalg.solve(root, right))[0]
        np.testing.assert_allclose(y, expected, atol=1e-12 * max(1.0, np.abs(expected).max()))


def test_members_that_repeat_each_other_share_their_weight_and_spoil_no_other_problem():
    A, b = problems(3, 4, seed=0)
    A[1, :, 3], A[1, 3, :] = A[1, :, 2], A[1, 2, :]
    A[1, 3, 3] = 1.0
    b[1] = A[1] @ [0.5, 1.0, 1.5, 1.5]
    found = minimum_nonnegative(A, b)
    np.testing.assert_allclose(found[1], [0.5, 1.0, 1.5, 1.5], rtol=1e-6)
    for i in (0, 2):
        np.testing.assert_allclose(found[i], minimum_nonnegative(A[i], b[i]), rtol=1e-13)


@pytest.mark.parametrize("name", ["scaled", "simplex", "free"])
def test_many_moments_at_once_give_the_weights_of_each(name):
    rng = np.random.default_rng(2)
    aggregation = sr.aggregation.read_aggregation(name)
    errors = rng.standard_normal((7, 6, 2, 40)) * rng.uniform(0.3, 2.0, (7, 6, 1, 1))
    errors[3, 2] = errors[3, 1]  # members that are alike, in one of them
    targets = rng.standard_normal((2, 40))
    each = [aggregation.moments(e, targets, np.ones(40), np.full(6, 30.0)) for e in errors]
    stack = aggregation.moments(errors, np.broadcast_to(targets, (7, 2, 40)), np.ones(40), np.full(6, 30.0))
    together = aggregation.settle(stack)
    for i, moments in enumerate(each):
        alone = aggregation.settle(moments)
        np.testing.assert_allclose(together.weights[i], alone.weights, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(together.expected[i], alone.expected, rtol=1e-12)


def test_a_matrix_that_cannot_be_solved_leaves_the_others_alone():
    rng = np.random.default_rng(0)
    roots = rng.standard_normal((200, 3, 5))
    A = roots @ roots.swapaxes(1, 2)
    A /= np.sqrt(np.diagonal(A, axis1=1, axis2=2)[:, :, None] * np.diagonal(A, axis1=1, axis2=2)[:, None, :])
    A[[17, 90]] = [[1, 1, 0], [1, 1, 0], [0, 0, 1]], [[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1]]
    b = rng.uniform(-0.3, 1, (200, 3))
    found = minimum_nonnegative(A, b)
    assert (found >= 0).all()
    np.testing.assert_allclose(found, [minimum_nonnegative(*each) for each in zip(A, b, strict=True)], rtol=1e-12)
