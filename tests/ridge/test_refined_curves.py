import numpy as np
import pytest

from subridge.ridge.curves import refined_curve


def members(sizes, n_samples=70, decades=3.0, seed=0):
    """Features with a mean and a spectrum over some decades, as deep features have, padded to the longest."""
    rng = np.random.default_rng(seed)
    F = np.zeros((len(sizes), n_samples, max(sizes)))
    for g, N in enumerate(sizes):
        F[g, :, :N] = np.abs(rng.standard_normal((n_samples, N))) * np.logspace(0, -decades, N)
    return F, rng.standard_normal((len(sizes), 3, n_samples))


def plain(F, targets, P, N):
    return np.linalg.lstsq(F[:P, :N], targets[:, :P].T, rcond=None)[0].T


@pytest.mark.parametrize("decades", [0.0, 3.0, 6.0])
def test_padded_members_get_the_minimum_norm_solution_of_each(decades):
    sizes, grid = np.array([31, 35, 40]), [5, 30, 33, 36, 41, 70]
    F, targets = members(sizes, decades=decades)
    found = refined_curve(F, targets, grid, sizes)
    for g, N in enumerate(sizes):
        for p, P in enumerate(grid):
            wanted = plain(F[g], targets[g], P, N)
            # A least-squares solution is determined to its condition number times rounding.
            condition = np.linalg.cond(F[g, :P, :N])
            np.testing.assert_allclose(
                found[g, p, :, :N], wanted, rtol=0, atol=1e-13 * condition * np.abs(wanted).max() + 1e-12
            )
            assert not found[g, p, :, N:].any()


def test_the_interpolation_threshold_itself_is_solved():
    F, targets = members([20])
    found = refined_curve(F, targets, [20], np.array([20]))
    np.testing.assert_allclose(F[0, :20] @ found[0, 0].T, targets[0, :, :20].T, atol=1e-8)


def test_a_feature_that_is_always_zero_gets_no_weight():
    F, targets = members([12])
    F[0, :, 5] = 0.0
    found = refined_curve(F, targets, [8, 12, 13, 60], np.array([12]))
    np.testing.assert_allclose(found[0, :, :, 5], 0, atol=1e-9)
    np.testing.assert_allclose(found[0, -1], plain(F[0], targets[0], 60, 12), atol=1e-9)


def test_equal_samples_with_different_labels_share_their_mean():
    F, targets = members([30])
    F[0, 1] = F[0, 0]
    found = refined_curve(F, targets, [10], np.array([30]))
    np.testing.assert_allclose(found[0, 0] @ F[0, 0], targets[0, :, :2].mean(axis=1), atol=1e-8)


@pytest.mark.torch
def test_sizes_that_share_a_batch_get_what_each_gets_alone():
    torch = pytest.importorskip("torch")
    sizes, grid = np.array([11, 20, 23]), [3, 9, 11, 14, 18, 20, 21, 23, 25, 30, 40, 50, 70]
    F, targets = members(sizes, decades=2.0)
    alone = refined_curve(F, targets, grid, sizes)
    together = refined_curve(torch.asarray(F), torch.asarray(targets), grid, sizes)
    np.testing.assert_allclose(together.numpy(), alone, rtol=0, atol=1e-8 * np.abs(alone).max())
