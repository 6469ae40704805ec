import numpy as np
import pytest

import subridge as sr


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
