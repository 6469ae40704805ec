"""Ridges are chosen by the error of the aggregate."""

import itertools

import numpy as np
import pytest

from subridge.ensemble.member_weights import member_weights
from subridge.ridge.aggregation import MeanLoss, MedianLoss, SummedScoreLoss, VoteLoss, WeightedLoss, median
from subridge.ridge.risk_matrix import risk_matrix
from subridge.ridge.rows.path import member_paths
from subridge.ridge.rows.training import training_rows
from subridge.ridge.selection import common_level, joint_levels, own_levels, stacked_errors
from subridge.subsets import dirichlet

RIDGES = np.logspace(-2, 3, 6)


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 30))
    y = X[:, :10].sum(axis=1) + rng.standard_normal(50)
    rows = training_rows(X, y[None, :], rng.uniform(0.5, 2.0, 50), True)
    return rows, member_paths(rows, dirichlet(3, 30, 0.75, seed=1), RIDGES)


def test_one_common_level_minimises_the_means_error(fitted):
    rows, paths = fitted
    errors = [
        np.average(np.mean([p.errors(level)[0] for p in paths], axis=0) ** 2, weights=rows.weights)
        for level in range(6)
    ]
    levels, losses = common_level(paths, rows, 6, MeanLoss())
    np.testing.assert_allclose([value for value, _ in losses], errors)
    assert set(levels) == {np.argmin(errors)}


def test_each_members_own_level_minimises_its_own_error(fitted):
    rows, paths = fitted
    squares = [[np.average(path.errors(level)[0] ** 2, weights=rows.weights) for level in range(6)] for path in paths]
    wanted = np.argmin(squares, axis=1)
    np.testing.assert_array_equal(own_levels(paths, rows, 6), wanted)


@pytest.mark.parametrize("loss", [MeanLoss(), MedianLoss(), WeightedLoss(member_weights)])
def test_joint_levels_reach_the_best_combination(fitted, loss):
    rows, paths = fitted
    levels = joint_levels(paths, rows, 6, loss, common_level(paths, rows, 6, loss)[0])

    def error(levels):
        return loss(stacked_errors(paths, levels), rows.targets, rows.weights)

    # Exhaustive over 6³; coordinate descent happens to reach the optimum here, for the median only nearly.
    best = min(error(levels) for levels in itertools.product(range(6), repeat=3))
    assert error(levels)[0] <= best[0] * (1.02 if isinstance(loss, MedianLoss) else 1 + 1e-12)


def test_the_weighted_loss_is_the_minimum_of_the_quadratic_form(fitted):
    rows, paths = fitted
    errors = stacked_errors(paths, [2, 2, 2])
    pairs = risk_matrix(errors, rows.weights)
    w = member_weights(pairs)
    assert WeightedLoss(member_weights)(errors, rows.targets, rows.weights)[0] == pytest.approx(w @ pairs @ w)
    assert w @ pairs @ w <= pairs.mean()


def test_classifying_losses_count_left_out_mistakes():
    targets = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
    scores = np.stack([targets, targets, targets[::-1] * 5])  # two members right, the third loudly wrong
    weights = np.array([1.0, 1.0, 1.0, 2.0])
    assert VoteLoss()(targets - scores, targets, weights)[0] == 0.0
    assert SummedScoreLoss()(targets - scores, targets, weights)[0] == 1.0


def test_of_equally_good_ridges_the_largest_is_taken(fitted):
    rows, paths = fitted
    assert set(common_level(paths, rows, 6, lambda errors, targets, weights: (0.0, 0.0))[0]) == {5}


def test_median_agrees_with_numpy_for_odd_and_even_members():
    outputs = np.random.default_rng(0).standard_normal((5, 2, 7))
    np.testing.assert_allclose(median(outputs), np.median(outputs, axis=0))
    np.testing.assert_allclose(median(outputs[:4]), np.median(outputs[:4], axis=0))
