"""Ridges are chosen by the error of the aggregate."""

import itertools

import numpy as np
import pytest

from subridge.model.aggregation import Aggregation, LinearAggregation, Majority, Mean, Median, Simplex, Summed
from subridge.model.subsets import dirichlet
from subridge.ridge.choose import Losses, choose_ridges, outputs_at, squares_at
from subridge.ridge.member import member_paths
from subridge.ridge.rows import training_rows

RIDGES = np.logspace(-2, 3, 6)


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 30))
    y = X[:, :10].sum(axis=1) + rng.standard_normal(50)
    rows = training_rows(X, y[None, :], rng.uniform(0.5, 2.0, 50), True)
    return rows, member_paths(rows, dirichlet(3, 30, 0.75, seed=1), RIDGES)


class Indifferent(Aggregation):
    """Every ridge is as good as any other."""

    name = "indifferent"

    def combine(self, outputs, weights=None):
        return outputs[0]

    def loss(self, errors, targets, sample_weights):
        return 0.0, 0.0


def test_a_common_ridge_minimises_the_means_error(fitted):
    rows, paths = fitted
    errors = [
        np.average(np.mean([p.errors(index)[0] for p in paths], axis=0) ** 2, weights=rows.weights)
        for index in range(6)
    ]
    losses = Losses(paths, rows, Mean())
    np.testing.assert_allclose([losses.at(losses.common(index)).loss[0] for index in range(6)], errors)
    assert choose_ridges(losses, "ensemble").tolist() == [[np.argmin(errors)] * 3]


def test_each_members_own_ridge_minimises_its_own_error(fitted):
    rows, paths = fitted
    squares = [[np.average(path.errors(index)[0] ** 2, weights=rows.weights) for index in range(6)] for path in paths]
    wanted = np.argmin(squares, axis=1)
    assert len(set(wanted)) > 1
    np.testing.assert_array_equal(choose_ridges(Losses(paths, rows, Median()), "member"), [wanted])


@pytest.mark.parametrize("aggregation", [Mean(), Median(), Simplex()])
def test_ridges_chosen_together_reach_the_best_combination(fitted, aggregation):
    rows, paths = fitted
    losses = Losses(paths, rows, aggregation)

    def error(indices):
        return losses.criterion(np.array(indices).reshape(1, 3))[0]

    # Exhaustive over 6³; coordinate descent happens to reach the optimum here, for the median only nearly.
    best = min(error(indices) for indices in itertools.product(range(6), repeat=3))
    found = error(choose_ridges(losses, "joint"))
    assert found[0] <= best[0] * (1.02 if isinstance(aggregation, Median) else 1 + 1e-12)
    assert found <= error(choose_ridges(losses, "ensemble"))


def test_classifying_losses_count_left_out_mistakes():
    targets = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
    scores = np.stack([targets, targets, targets[::-1] * 5])  # two members right, the third loudly wrong
    weights = np.array([1.0, 1.0, 1.0, 2.0])
    assert Majority().loss(targets - scores, targets, weights)[0] == 0.0
    assert Summed().loss(targets - scores, targets, weights)[0] == 1.0


def test_of_equally_good_ridges_the_largest_is_taken(fitted):
    rows, paths = fitted
    assert choose_ridges(Losses(paths, rows, Indifferent()), "ensemble").tolist() == [[5, 5, 5]]


class Fixed(LinearAggregation):
    """A weighted sum of given weights."""

    name = "fixed"
    fits_weights = False

    def weights(self, moments):
        return np.broadcast_to([0.7, 0.2, 0.0], moments.pairs.shape[:-1])


def test_left_out_rows_are_judged_with_weights_that_are_not_fitted(fitted):
    rows, paths = fitted
    losses, place = Losses(paths, rows, Fixed()), np.full((1, 3), 2)
    errors = np.array([0.7, 0.2]) @ [path.errors(2)[0] for path in paths[:2]] + 0.1 * rows.deviations[0]
    judged = losses.at(place)
    np.testing.assert_allclose(judged.loss, np.average(errors**2, weights=rows.weights))
    np.testing.assert_allclose(squares_at(losses, place)[0], errors**2 * rows.weights)
    np.testing.assert_allclose(outputs_at(losses, place, judged.weights)[0, 0], rows.targets[0] - errors)
