"""Automatic ridges of forecasts and advice go as far as the data ask for, as those of the estimators do."""

import warnings

import numpy as np
import pytest

import subridge as sr


@pytest.fixture
def nearly_equal_columns():
    """Two columns that differ by a ten-thousandth, and a target that is this difference."""
    rng = np.random.default_rng(0)
    first, second = rng.standard_normal((2, 150))
    return np.column_stack([first, first + 1e-4 * second]), second + 0.1 * rng.standard_normal(150)


def test_a_forecast_looks_below_its_path_where_the_error_still_falls(nearly_equal_columns):
    X, y = nearly_equal_columns
    one = {"one ridge": sr.Ensemble(sr.subsets.Equal(1))}
    with warnings.catch_warnings():
        warnings.simplefilter("error", sr.errors.RidgePathWarning)
        curves = sr.forecast(X, y, [150, 600], one, ridges="auto")
    assert float(curves.prediction_error.max()) < 0.02
    assert float(curves.prediction_error.max()) < 1.2 * np.mean(
        (y - sr.RidgeEnsembleRegressor(1).fit(X, y).loo_predictions_) ** 2
    )


def test_advice_does_too(nearly_equal_columns):
    X, y = nearly_equal_columns
    with warnings.catch_warnings():
        warnings.simplefilter("error", sr.errors.RidgePathWarning)
        table = sr.advise(X, y, n_members=[2]).table
    assert float(table.sel(candidate="one ridge").prediction_error) < 0.02
    assert float(table.sel(candidate="one ridge").ridge) < 1e-4


def test_given_ridges_are_kept_and_the_end_is_told(nearly_equal_columns):
    X, y = nearly_equal_columns
    with pytest.warns(sr.errors.RidgePathWarning, match="smaller"):
        curves = sr.forecast(X, y, [150], {"one ridge": sr.Ensemble(sr.subsets.Equal(1))}, ridges=[1e-8, 1e-7, 1.0])
    assert float(curves.ridge.max()) == 1e-8


@pytest.mark.slow
def test_labels_of_noise_do_not_make_the_path_grow_without_end():
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((80, 5)) * [1e8, 1, 1, 1, 1e-8], rng.standard_normal(80)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.errors.SubridgeWarning)
        table = sr.advise(X, y, n_members=[2]).table
    assert bool((table.ridge < 1e25).all())
    assert float(table.sel(candidate="one ridge").prediction_error) < 1.1 * y.var()


@pytest.mark.parametrize(
    "ask",
    [
        lambda X, y: sr.forecast(X, y, [40, 400], ridges=[5.0, 50.0]),
        lambda X, y: sr.advise(X, y, 400, n_members=[2, 4], ridges=[5.0, 50.0]),
        lambda X, y: sr.RidgeEnsembleRegressor(2, ridges=[5.0, 50.0]).fit(X, y),
    ],
)
def test_an_end_is_told_once_at_the_line_that_asked(ask):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 8))
    y = X @ rng.standard_normal(8) + 0.1 * rng.standard_normal(40)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        ask(X, y)
    (told,) = (each for each in said if each.category is sr.errors.RidgePathWarning)
    assert told.filename == __file__
