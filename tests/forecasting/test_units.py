"""Forecasts do not depend on the units of features and labels, however large or small the numbers are."""

import warnings

import numpy as np
import pytest

import subridge as sr
from subridge.spec.errors import DataError

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 8))
Y = X @ RNG.standard_normal(8) + RNG.standard_t(3, 40)
ENDS = ("", "_lower", "_upper")


@pytest.mark.parametrize("unit", [1e-68, 1e-45, 1e45, 1e70])
def test_of_labels(unit):
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        plain, scaled = (sr.forecast(X, Y * factor, [20, 40, 400]) for factor in (1.0, unit))
        advice, same = (sr.advise(X, Y * factor, 400, n_members=[2, 4]) for factor in (1.0, unit))
    for end in ENDS:
        name = f"prediction_error{end}"
        np.testing.assert_allclose(scaled[name].values / unit / unit, plain[name].values, rtol=1e-9)
        np.testing.assert_allclose(same.table[name].values / unit / unit, advice.table[name].values, rtol=1e-9)
    np.testing.assert_allclose(same.table.gain_standard_error, advice.table.gain_standard_error, rtol=1e-6, atol=1e-12)
    assert list(same.table.candidate.values) == list(advice.table.candidate.values)


@pytest.mark.parametrize("unit", [1e-140, 1e-70, 1e70])
def test_of_features(unit):
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        plain, scaled = (sr.forecast(X * factor, Y, [20, 40, 400]) for factor in (1.0, unit))
    for end in ENDS:
        name = f"prediction_error{end}"
        np.testing.assert_allclose(scaled[name].values, plain[name].values, rtol=1e-8)


def test_labels_too_small_for_their_spread_to_be_known_are_refused():
    with pytest.raises(DataError, match="multiply y by a constant"):
        sr.forecast(X, Y * 1e-100, [80])


@pytest.mark.parametrize("ridge", [1e-300, 1e-320])
def test_ridges_next_to_the_smallest_floats_are_none(ridge):
    one = {"one": sr.Ensemble(sr.subsets.Equal(1))}
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        tiny, none = (sr.forecast(X, Y, [20, 40, 400], one, ridges=[each]) for each in (ridge, 0.0))
    np.testing.assert_allclose(tiny.prediction_error.values, none.prediction_error.values, rtol=1e-9)
