"""Every way to split a curve gives the same weights; the chosen one is the cheapest."""

import time
from itertools import combinations, pairwise

import numpy as np
import pytest

from subridge.ridge.curves import cheapest_split, dual_cost, plan_curve, segment_cost, solve_curve

SIZES = (5, 12, 20, 31, 60)
RIDGES = (0.01, 1.0)


def splits(n):
    """Every dual head with every partition of the rest into segments."""
    for n_dual in range(n + 1):
        rest = range(n_dual + 1, n)
        for count in range(len(rest) + 1):
            for cuts in combinations(rest, count):
                edges = [n_dual, *cuts, n]
                segments = tuple(pairwise(edges)) if n_dual < n else ()
                yield n_dual, segments


ALL_SPLITS = list(dict.fromkeys(splits(len(SIZES))))


def sample(N=17, n_rhs=2):
    rng = np.random.default_rng(0)
    return rng.standard_normal((3, 60, N)) / np.sqrt(N), rng.standard_normal((3, n_rhs, 60))


def expected(F, targets):
    weights = np.empty((len(F), len(RIDGES), len(SIZES), targets.shape[1], F.shape[2]))
    for b, l, p in np.ndindex(*weights.shape[:3]):
        f, t = F[b, : SIZES[p]], targets[b, :, : SIZES[p]]
        weights[b, l, p] = np.linalg.solve(f.T @ f + RIDGES[l] * np.eye(f.shape[1]), f.T @ t.T).T
    return weights


def test_lapack_finds_the_same_weights_by_every_split():
    F, targets = sample()
    right = expected(F, targets)
    assert len(ALL_SPLITS) == 32
    for n_dual, segments in ALL_SPLITS:
        found = np.concatenate(
            [solve_curve(F[[b]], targets[[b]], SIZES, RIDGES, n_dual, segments) for b in range(len(F))]
        )
        np.testing.assert_allclose(found, right, rtol=1e-9, atol=1e-11, err_msg=str((n_dual, segments)))


@pytest.mark.torch
def test_a_batch_finds_the_same_weights_by_every_split():
    torch = pytest.importorskip("torch")
    F, targets = sample()
    right = expected(F, targets)
    for n_dual, segments in ALL_SPLITS:
        found = solve_curve(torch.asarray(F), torch.asarray(targets), SIZES, RIDGES, n_dual, segments)
        np.testing.assert_allclose(found.numpy(), right, rtol=1e-9, atol=1e-11, err_msg=str((n_dual, segments)))


@pytest.mark.parametrize("N", [50, 200, 700, 3000])
@pytest.mark.parametrize("n_ridges", [1, 10])
def test_no_other_split_is_cheaper_than_the_chosen_one(N, n_ridges):
    sizes = (100, 300, 500, 900, 2000)

    def cost(n_dual, segments):
        tail = sum(n_ridges * segment_cost(sizes, N, *segment) for segment in segments)
        return dual_cost(sizes, N, n_ridges, n_dual) + (sizes[-1] * N * N + tail if segments else 0.0)

    chosen = cost(*cheapest_split(sizes, N, n_ridges))
    assert chosen == pytest.approx(min(cost(*split) for split in ALL_SPLITS))


def test_tiny_ridges_are_refined():
    assert plan_curve([10, 20, 30, 40], 20, [1e-9, 1.0, 0.0])[0] == [1]


def test_a_plan_for_many_sizes_takes_no_longer_than_for_some():
    start = time.process_time()
    n_dual, segments = cheapest_split(tuple(range(1, 100_001)), 10, 1)
    assert time.process_time() - start < 2  # every pair of sizes would take hours
    assert [n_dual, *(stop for _, stop in segments)][-1] == 100_000
    assert [start for start, _ in segments] == [n_dual, *(stop for _, stop in segments)][:-1]
