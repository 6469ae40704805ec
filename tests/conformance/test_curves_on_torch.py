"""The batched curve on PyTorch and on a strict array library against LAPACK."""

import numpy as np
import pytest

from subridge.ridge.curves import weights_along_curve

SIZES = [3, 90, 149, 150, 151, 200, 400]


def sample(B=3, P=400, N=150, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((B, P, N)) / np.sqrt(N), rng.standard_normal((B, 2, P))


def deviation(found, expected):
    return float((np.linalg.norm(found - expected, axis=-1) / np.linalg.norm(expected, axis=-1)).max())


@pytest.mark.torch
@pytest.mark.parametrize("ridges", [[1e-3, 1.0], [0.0], [0.0, 1e-10, 1e-2]])
def test_torch_and_lapack_train_the_same_weights(ridges):
    torch = pytest.importorskip("torch")
    F, targets = sample()
    found = weights_along_curve(torch.asarray(F), torch.asarray(targets), SIZES, ridges)
    assert deviation(found.numpy(), weights_along_curve(F, targets, SIZES, ridges)) < 1e-8


@pytest.mark.torch
def test_torch_gives_the_minimum_norm_solution_for_repeated_features():
    torch = pytest.importorskip("torch")
    F, targets = sample(N=75)
    F = np.concatenate([F, F], axis=2)
    found = weights_along_curve(torch.asarray(F), torch.asarray(targets), SIZES, [0.0])
    assert deviation(found.numpy(), weights_along_curve(F, targets, SIZES, [0.0])) < 1e-8


def test_only_standard_calls_are_needed():
    strict = pytest.importorskip("array_api_strict")
    F, targets = sample(B=1, P=90, N=80)
    found = weights_along_curve(strict.asarray(F), strict.asarray(targets), [20, 90], [0.1])
    assert deviation(np.asarray(found), weights_along_curve(F, targets, [20, 90], [0.1])) < 1e-10
