"""Moments of batches, dense and sparse."""

from weakref import WeakSet

import numpy as np
import pytest
from scipy import sparse

from subridge.model.errors import DataError
from subridge.ridge.moments import merged, moments_of


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 10)) + 1000.0  # means far above the spread: naive sums would lose six digits
    return X, rng.standard_normal((2, 80)), rng.uniform(0.5, 2.0, 80)


def streamed(X, Y, weights, size=17):
    parts = [slice(start, start + size) for start in range(0, X.shape[0], size)]
    batches = [moments_of(X[part], Y[:, part], weights[part]) for part in parts]
    return sum(batches[1:], start=batches[0])


def test_batches_add_up_to_the_whole(data):
    whole, parts = moments_of(*data), streamed(*data)
    for name in ("total_weight", "feature_means", "target_means", "gram", "cross", "target_squares"):
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-9, atol=1e-9)
    assert parts.n_samples == 80


def test_parts_are_merged_as_a_tree_and_few_are_held(data):
    X, Y, weights = data
    batches = [moments_of(X[i : i + 2], Y[:, i : i + 2], weights[i : i + 2]) for i in range(0, 80, 2)]
    for count in (1, 2, 5, 7, 8, 11, 40):
        level = batches[:count]
        while len(level) > 1:
            pairs = [level[i : i + 2] for i in range(0, len(level), 2)]
            level = [pair[0] + pair[1] if len(pair) == 2 else pair[0] for pair in pairs]
        np.testing.assert_array_equal(merged(iter(batches[:count])).gram, level[0].gram)
        by_eight = [merged(batches[i : min(i + 8, count)]) for i in range(0, count, 8)]
        np.testing.assert_array_equal(merged(by_eight).gram, level[0].gram)

    alive = WeakSet()

    def fresh():
        for _ in range(250):
            part = moments_of(X[:2], Y[:, :2])
            alive.add(part)
            yield part
            del part
            assert len(alive) <= 10  # log₂ 250, the one that is added, and the one that is made

    assert merged(fresh()).n_samples == 500


def test_sparse_batches_have_the_same_moments(data):
    X, Y, weights = data
    X = (X - 1000.0) * (X > 1000.3)
    dense, thin = moments_of(X, Y, weights), moments_of(sparse.csr_array(X), Y, weights)
    for name in ("feature_means", "gram", "cross", "target_squares"):
        np.testing.assert_allclose(getattr(thin, name), getattr(dense, name), atol=1e-11)


def test_batches_of_different_width_do_not_mix(data):
    X, Y, _ = data
    with pytest.raises(DataError, match="cannot join"):
        moments_of(X, Y) + moments_of(X[:, 1:], Y)
