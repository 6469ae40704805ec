"""Every warning about rows is given for data that deserve it, names its remedy, and the remedy silences it."""

import warnings

import numpy as np
import pytest

import subridge as sr
from subridge.model.errors import CorrelatedRowsWarning, DuplicateRowsWarning, HeavyTailWarning, LargeGroupWarning


@pytest.fixture
def clean():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 8))
    return X, X @ rng.standard_normal(8) + rng.standard_normal(120)


def fit(X, y, groups=None, **parameters):
    return sr.RidgeEnsembleRegressor(2, ridge=0.1, random_state=0, **parameters).fit(X, y, groups=groups)


def silent(X, y, groups=None, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return fit(X, y, groups, **parameters)


def test_clean_rows_give_no_warning(clean):
    silent(*clean)


@pytest.mark.parametrize("noise", [0.0, 1e-6])
def test_copies_of_rows_are_told_and_groups_that_hold_them_are_the_remedy(clean, noise):
    X, y = clean
    rng = np.random.default_rng(1)
    twice, labels = np.vstack([X, X + noise * rng.standard_normal(X.shape)]), np.concatenate([y, y])
    with pytest.warns(DuplicateRowsWarning, match="groups="):
        fit(twice, labels)
    silent(twice, labels, groups=np.tile(np.arange(120), 2))


def test_equal_rows_of_few_values_are_no_copies():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (200, 4)).astype(float)
    silent(X, X @ rng.standard_normal(4) + rng.standard_normal(200))


@pytest.mark.slow
def test_rows_in_time_order_are_told_and_a_gap_is_the_remedy(clean):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 8))
    noise = np.convolve(rng.standard_normal(403), np.ones(4) / 2, mode="valid")  # neighbours up to three steps apart
    y = X @ rng.standard_normal(8) + noise
    with pytest.warns(CorrelatedRowsWarning, match="gap="):
        fit(X, y)
    with pytest.warns(CorrelatedRowsWarning, match="larger gap than 1"):
        fit(X, y, gap=1)
    silent(X, y, gap=3)


def test_rows_sorted_by_their_labels_are_not_taken_for_time(clean):
    X, y = clean
    order = np.argsort(y)
    silent(X[order], y[order])


def test_a_group_of_more_than_half_of_the_rows_is_told(clean):
    X, y = clean
    groups = np.minimum(np.arange(120) // 10, 5)
    with pytest.warns(LargeGroupWarning, match="one group holds 70 of 120"):
        fit(X, y, groups=groups)


@pytest.mark.parametrize("name", ["X", "y"])
def test_one_heavy_row_is_told(clean, name):
    X, y = clean[0].copy(), clean[1].copy()
    if name == "X":
        X[7] *= 100
    else:
        y[7] = 500.0
    with pytest.warns(HeavyTailWarning, match=f"row 7 .* of {name}"):
        fit(X, y)


@pytest.mark.filterwarnings("ignore::subridge.model.errors.DominantRowsWarning")
@pytest.mark.parametrize("exponent", [-155, -165])
@pytest.mark.parametrize("model", [sr.RidgeEnsembleRegressor(1), sr.BandedRidge()])
def test_numbers_whose_squares_vanish_are_refused_by_name(clean, model, exponent):
    X, y = clean
    with pytest.raises(sr.errors.DataError, match="X holds numbers so small"):
        model.fit(X * 10.0**exponent, y)
    with pytest.raises(sr.errors.DataError, match="y holds numbers so small"):
        model.fit(X, y * 10.0**exponent)
    assert model.fit(X, 0 * y).loo_error_ == 0.0


def test_labels_in_single_precision_whose_squares_vanish_are_refused_by_name(clean):
    X, y = clean
    plain = sr.BandedRidge().fit(X, y)
    assert sr.BandedRidge().fit(X, (y * 1e-18).astype(np.float32)).loo_r2_ == pytest.approx(plain.loo_r2_, abs=1e-6)
    with pytest.raises(sr.errors.DataError, match="y holds numbers so small"):
        sr.BandedRidge().fit(X, (y * 1e-22).astype(np.float32))


@pytest.mark.parametrize("model", [sr.RidgeEnsembleRegressor(1), sr.BandedRidge(), sr.RidgeEnsembleClassifier(1)])
def test_a_row_that_has_all_the_weight_is_refused_by_name(clean, model):
    X, y = clean
    weights = np.ones(len(y))
    weights[7] = 1e20
    with pytest.raises(sr.errors.DataError, match="sample_weight of row 7"):
        model.fit(X, y > 0, sample_weight=weights)
    weights[7] = 1e12
    assert np.isfinite(model.fit(X, y > 0, sample_weight=weights).loo_error_)


def test_forecasts_are_told_too_and_keep_errors_positive_and_bounds_finite():
    rng = np.random.default_rng(29)
    X = rng.standard_normal((60, 30))
    X[0] *= 30
    y = X @ rng.standard_normal(30) / 30**0.5 + 0.5 * rng.standard_normal(60)
    ensembles = {kind: sr.Ensemble(sr.subsets.Equal(4), 0.1, aggregation=kind) for kind in ("mean", "simplex")}
    with pytest.warns(HeavyTailWarning):
        curve = sr.forecast(X, y, [30, 120, 960], ensembles)
    assert (curve.prediction_error.values > 0).all()
    assert np.isfinite(curve.prediction_error_upper.values).all()


@pytest.mark.parametrize("weight", [1e-8, 1.0, 1e10])
def test_copies_are_the_same_in_every_unit_of_the_weights(clean, weight):
    X, y = clean
    weights = np.full(len(y), weight)
    model = sr.RidgeEnsembleRegressor(1, ridge=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DuplicateRowsWarning)
        model.fit(X, y, weights)
    X[60:] = X[:60]
    with pytest.warns(DuplicateRowsWarning):
        model.fit(X, y, weights)
