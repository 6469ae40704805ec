"""What the left-out error of a fit must not depend on: an offset of X, and how the scales of its columns differ."""

import warnings

import numpy as np
import pytest

import subridge as sr
from reference import refits

RIDGES = np.array([0, 0.01, 0.1, 1, 10])


def fitted(X, y, **options):
    with warnings.catch_warnings():  # scales and ends of paths are told, and not what is tested here
        warnings.simplefilter("ignore")
        return sr.RidgeEnsembleRegressor(1, **options).fit(X, y)


def binary(seed):
    rng = np.random.default_rng(seed)
    return (rng.random((15, 16)) < 0.2).astype(float), rng.standard_normal(15)


def test_an_offset_changes_neither_the_chosen_ridge_nor_its_error():
    """Without ridge the rounding of means was once fitted: on X + 100 ridge 0 was chosen, with an error of 1.3e-8."""
    for seed in [282, *range(40)]:
        X, y = binary(seed)
        plain, moved = (fitted(X + offset, y, ridges=RIDGES) for offset in (0.0, 100.0))
        assert moved.ridge_ == plain.ridge_, seed
        assert moved.loo_error_ == pytest.approx(plain.loo_error_, rel=1e-7), seed


def test_columns_of_mixed_scales_have_the_error_of_refits():
    """Eight rows of seven columns, whose scales differ by up to 1e12, at an ordinary ridge."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((8, 7)) * 10 ** rng.uniform(-6, 6, 7), rng.standard_normal(8)
        penalty = 0.01 * X.var() * 8
        exact = np.mean(refits.refit_errors(X, y, penalty) ** 2)
        assert fitted(X, y, ridge=penalty / 7).loo_error_ == pytest.approx(exact, rel=1e-7), seed
