"""Whole learning curves against one least-squares fit per point."""

import numpy as np
import pytest

from subridge.ridge.curves import weights_along_curve

SIZES = [3, 18, 19, 20, 21, 25, 60]


def sample(B=2, P=60, N=20, n_rhs=2, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((B, P, N)) / np.sqrt(N), rng.standard_normal((B, n_rhs, P))


def brute_force(F, targets, sizes, ridges):
    """Least squares on features stacked over √λ I, point by point."""
    B, _, N = F.shape
    weights = np.empty((B, len(ridges), len(sizes), targets.shape[1], N))
    for b, l, p in np.ndindex(B, len(ridges), len(sizes)):
        stacked = np.vstack([F[b, : sizes[p]], np.sqrt(ridges[l]) * np.eye(N)])
        padded = np.concatenate([targets[b, :, : sizes[p]], np.zeros((targets.shape[1], N))], axis=1)
        if ridges[l] == 0:
            stacked, padded = stacked[: sizes[p]], padded[:, : sizes[p]]
        weights[b, l, p] = np.linalg.lstsq(stacked, padded.T, rcond=None)[0].T
    return weights


def deviation(found, expected):
    """Largest relative deviation of a weight vector."""
    scale = np.linalg.norm(expected, axis=-1)
    return float((np.linalg.norm(found - expected, axis=-1) / scale).max())


@pytest.mark.parametrize("ridges", [[1.0], [0.0], [1e-9, 0.0], [1e-3, 0.0, 1.0]])
def test_every_point_of_a_curve_equals_its_own_least_squares_fit(ridges):
    F, targets = sample()
    found = weights_along_curve(F, targets, SIZES, ridges)
    assert deviation(found, brute_force(F, targets, SIZES, ridges)) < 1e-9


def test_a_single_size_and_a_single_target_are_enough():
    F, targets = sample(n_rhs=1)
    found = weights_along_curve(F, targets, [60], [0.1])
    assert deviation(found, brute_force(F, targets, [60], [0.1])) < 1e-12


def test_repeated_features_still_give_the_minimum_norm_solution():
    F, targets = sample(N=10)
    F = np.concatenate([F, F], axis=2)
    assert deviation(weights_along_curve(F, targets, SIZES, [0.0]), brute_force(F, targets, SIZES, [0.0])) < 1e-9


def test_repeated_samples_still_give_the_minimum_norm_solution():
    F, targets = sample()
    F[:, 5:10], targets[:, :, 5:10] = F[:, :5], targets[:, :, :5]
    assert deviation(weights_along_curve(F, targets, SIZES, [0.0]), brute_force(F, targets, SIZES, [0.0])) < 1e-9


def test_a_training_set_does_not_know_the_samples_beyond_it():
    F, targets = sample()
    changed, other = F.copy(), targets.copy()
    changed[:, 25:], other[:, :, 25:] = 7.0, -3.0
    before, after = (weights_along_curve(f, t, SIZES, [0.01])[:, :, :6] for f, t in ((F, targets), (changed, other)))
    assert deviation(before, after) < 1e-12


def test_single_precision_is_good_to_four_digits_at_an_ordinary_ridge():
    F, targets = sample()
    found = weights_along_curve(F.astype("float32"), targets.astype("float32"), SIZES, [0.1])
    assert found.dtype == np.float32
    assert deviation(found, brute_force(F, targets, SIZES, [0.1])) < 1e-4
