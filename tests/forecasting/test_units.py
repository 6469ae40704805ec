"""Forecasts do not depend on the units of features and labels, however large or small the numbers are."""

import warnings

import numpy as np
import pytest
from subridge.model.errors import DataError, RidgeError

import subridge as sr

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


@pytest.mark.parametrize("ridge", [1e-65, 1e-300, 1e-320])
def test_ridges_that_are_nothing_beside_the_columns_are_to_be_none(ridge):
    with pytest.raises(RidgeError, match=r"ridges must be 0 or at least .*; use 0"):
        sr.forecast(X, Y, [20, 40], ridges=[0.0, ridge, 1.0])
    with pytest.raises(RidgeError, match=r"ridge of ensembles\['one'\] must be 0 or at least"):
        sr.forecast(X, Y, [20, 40], {"one": sr.Ensemble(sr.subsets.Equal(1), ridge=ridge)})
    with pytest.raises(RidgeError, match="use 0"):
        sr.advise(X, Y, n_members=[2], ridges=[ridge, 1.0])


def test_the_smallest_ridges_give_numbers():
    one, spiked = {"one": sr.Ensemble(sr.subsets.Equal(1))}, X.copy()
    spiked[3] *= 1e8  # such rows made bounds NaN
    for table in (X, spiked):
        least = 2e-60 * float(np.var(table, axis=0).mean())
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            warnings.simplefilter("ignore", sr.errors.SubridgeWarning)
            tiny, none = (sr.forecast(table, Y, [20, 40, 400], one, ridges=[each]) for each in (least, 0.0))
        error, lower, upper = (tiny[f"prediction_error{end}"].values for end in ENDS)
        assert (lower <= error).all()
        assert (error <= upper).all()
        if table is X:
            np.testing.assert_allclose(error, none.prediction_error.values, rtol=1e-9)
