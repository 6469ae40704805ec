"""Forecasts from moments: those of the rows, but for leverages."""

import numpy as np
import pytest

import subridge as sr

M = 60


def data(n, seed):
    rng = np.random.default_rng(seed)
    scales = np.arange(1, M + 1) ** -0.5
    teacher = np.random.default_rng(7).standard_normal(M) * scales
    X = rng.standard_normal((n, M)) * scales + 3.0
    return X, X @ teacher + rng.standard_normal(n)


def ensembles(aggregation="mean"):
    four = sr.subsets.overlapping([M // 2] * 4, M, seed=0)
    return {
        "one": sr.Ensemble(sr.subsets.equal(1, M, seed=0), ridge=0.05),
        "four": sr.Ensemble(four, ridge=0.05, aggregation=aggregation),
    }


@pytest.mark.parametrize(("aggregation", "fit_intercept"), [("mean", True), ("free", True), ("simplex", False)])
def test_moments_forecast_what_their_rows_forecast(aggregation, fit_intercept):
    X, y = data(2000, 0)
    sizes = [1000, 2000, 20000, np.inf]
    moments = sr.gather_moments((X[i : i + 300], y[i : i + 300]) for i in range(0, 2000, 300))
    options = {"ensembles": ensembles(aggregation), "fit_intercept": fit_intercept}
    found, wanted = sr.forecast(moments, n_samples=sizes, **options), sr.forecast(X, y, sizes, **options)
    # Traces in place of leverages change an error by about M/n of its fluctuation, which is a few hundredths here.
    np.testing.assert_allclose(found.prediction_error, wanted.prediction_error, rtol=3e-3)
    np.testing.assert_allclose(found.irreducible_error, wanted.irreducible_error, rtol=3e-3)
    np.testing.assert_allclose(found.reach, wanted.reach)
    # The spread of 32 batches is known to an eighth of itself: three times that.
    np.testing.assert_allclose(found.standard_error, wanted.standard_error, rtol=0.4)
    for name in ("label_noise", "label_noise_upper", "target_variance", "n_pilot", "n_features", "n_targets"):
        assert found.attrs[name] == pytest.approx(wanted.attrs[name], rel=1e-9)


def test_ten_times_the_rows_bring_what_moments_forecast():
    X, y = data(1500, 1)
    curve = sr.forecast(sr.gather_moments(iter([(X, y)])), n_samples=[15000], ensembles=ensembles())
    more, fresh = data(15000, 2), data(50000, 3)
    for name, ensemble in ensembles().items():
        model = sr.RidgeEnsembleRegressor(subsets=ensemble.plan, ridge=0.05, aggregation="mean").fit(*more)
        error = np.mean((model.predict(fresh[0]) - fresh[1]) ** 2)
        told = curve.sel(ensemble=name)
        assert abs(float(told.prediction_error[0]) - error) < 3 * float(told.standard_error[0])
        assert float(told.prediction_error_lower[0]) < error < float(told.prediction_error_upper[0])


def test_rows_needed_are_told_from_moments():
    X, y = data(400, 4)
    found, wanted = (
        sr.samples_needed(*given, error=1.15, ensembles=ensembles())
        for given in ((sr.gather_moments(iter([(X, y)])), None), (X, y))
    )
    np.testing.assert_allclose(found.n_samples, wanted.n_samples, rtol=0.1)
    assert found.in_reach.all()


def test_what_moments_cannot_forecast_is_named():
    X, y = data(100, 5)
    moments = sr.gather_moments(iter([(X, y)]))
    for options in ({"y": y}, {"groups": np.arange(100)}, {"task": "classification"}):
        with pytest.raises(sr.errors.DataError, match="moments hold y"):
            sr.forecast(moments, **options)
    with pytest.raises(sr.errors.DataError, match="without sample_weight"):
        sr.forecast(sr.gather_moments(iter([(X, y, np.arange(100.0))])))
    with pytest.raises(sr.errors.DataError, match="at least 20 rows"):
        sr.forecast(sr.gather_moments(iter([(X[:10], y[:10])])))
    with pytest.raises(sr.errors.DataError, match="nothing to learn"):
        sr.forecast(sr.gather_moments(iter([(X, 0 * y + 3)])))
    with pytest.raises(sr.errors.DataError, match="advice needs rows"):
        sr.advise(moments, None)
    with pytest.raises(sr.errors.DataError, match="y must have shape"):
        sr.forecast(X)
