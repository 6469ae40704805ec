"""The verdict on theory and experiment."""

import json

import numpy as np
import pytest
import xarray

import subridge as sr


def curves(mean, spread=0.01, n_trials=100, subset_sizes=(50,), n_samples=(20, 48, 80), seed=0):
    """A made-up experiment: independent trials around a known mean, shared between the points of a curve."""
    rng = np.random.default_rng(seed)
    mean = np.asarray(mean, dtype=float)
    shared, own = rng.standard_normal((n_trials, 1)), rng.standard_normal((n_trials, len(mean)))
    values = mean * (1 + spread * (0.8 * shared + 0.6 * own))
    return xarray.Dataset(
        {"risk": (("trial", "n_samples"), values)},
        coords={"n_samples": list(n_samples)},
        attrs={"subset_sizes": json.dumps(list(subset_sizes))},
    )


def test_a_theory_within_its_allowance_agrees():
    report = sr.compare([1.0, 5.0, 0.5], curves([1.0, 5.0, 0.5]))
    assert report.attrs["verdict"] == "agree"
    assert report.attrs["n_judged"] == 2
    assert report.attrs["largest_deviation"] < 1


def test_a_wrong_theory_disagrees_and_the_worst_point_is_named():
    report = sr.compare([1.0, 5.0, 0.6], curves([1.0, 5.0, 0.5]))
    assert report.attrs["verdict"] == "disagree"
    assert json.loads(report.attrs["largest_deviation_at"]) == {"n_samples": 80.0}
    assert report.agrees.values.tolist() == [True, True, False]
    assert report.z[2] < -50


def test_the_allowance_is_four_standard_errors_and_the_finite_size_bias():
    data = curves([1.0, 5.0, 0.5])
    report = sr.compare([1.0, 5.0, 0.5], data)
    expected = 4 * data.risk.std("trial", ddof=1) / 10 + 1.5 * np.array([1.0, 5.0, 0.5]) / [30, 2, 30]
    np.testing.assert_allclose(report.allowance, expected)


def test_points_at_a_threshold_are_listed_but_not_judged():
    report = sr.compare([1.0, np.inf, 0.5], curves([1.0, 5.0, 0.5]))
    assert report.near_threshold.values.tolist() == [False, True, False]
    assert report.attrs["verdict"] == "agree"


def test_too_few_trials_are_undecided():
    assert sr.compare([1.0, 5.0, 0.5], curves([1.0, 5.0, 0.5], spread=0.5)).attrs["verdict"] == "undecided"


def test_the_curve_is_judged_with_the_correlation_of_its_points():
    report = sr.compare([1.0, 5.0, 0.5], curves([1.0, 5.0, 0.5], n_trials=4000))
    assert float(report.correlation[0, 2]) == pytest.approx(0.64, abs=0.05)
    # Mean of the two judged deviations over its standard error, which the correlation widens.
    expected = float(report.deviation[0] + report.deviation[2]) / np.sqrt(
        float(
            report.standard_error[0] ** 2
            + report.standard_error[2] ** 2
            + 2 * report.correlation[0, 2] * report.standard_error[0] * report.standard_error[2]
        )
    )
    assert float(report.curve_z) == pytest.approx(expected, rel=1e-9)


def test_theory_may_be_a_risk_or_a_named_array():
    data = curves([1.0, 5.0, 0.5])
    total = np.array([1.0, 5.0, 0.5])
    risk = sr.Risk(total[:, None, None], total)
    named = xarray.DataArray(total, dims="n_samples", coords={"n_samples": data.n_samples})
    assert sr.compare(risk, data).identical(sr.compare(total, data))
    assert sr.compare(named, data).attrs["verdict"] == "agree"


def test_theory_of_another_shape_is_refused():
    with pytest.raises(sr.errors.ParameterError, match="does not fit"):
        sr.compare([1.0, 2.0], curves([1.0, 5.0, 0.5]))
    with pytest.raises(sr.errors.ParameterError, match="does not fit"):
        sr.compare(xarray.DataArray([1.0], dims="ridge"), curves([1.0, 5.0, 0.5]))


@pytest.mark.parametrize(("odd", "error"), [(np.nan, sr.errors.DataError), (-1.0, sr.errors.ParameterError)])
@pytest.mark.parametrize("form", [np.array, lambda values: xarray.DataArray(values, dims="n_samples")])
def test_theory_that_is_no_risk_is_refused(odd, error, form):
    with pytest.raises(error, match="theory"):
        sr.compare(form([odd, 1.0, 1.0]), curves([1.0, 5.0, 0.5]))


def test_one_size_of_an_experiment_is_a_curve_of_one_point():
    every = curves([1.0, 5.0, 0.5])
    alone, kept = (sr.compare(1.0, every.isel(n_samples=which)) for which in (0, [0]))
    xarray.testing.assert_identical(alone, kept)
    with pytest.raises(sr.errors.ParameterError, match="two trials"):
        sr.compare(1.0, every.isel(trial=0))


def test_one_trial_has_no_error_bars():
    with pytest.raises(sr.errors.ParameterError, match="two trials"):
        sr.compare(1.0, curves([1.0, 5.0, 0.5], n_trials=1))


def test_what_rounding_leaves_of_a_perfect_fit_is_no_disagreement():
    problem = sr.Problem(np.eye(8), np.ones(8))
    ensemble = sr.Ensemble(sr.SubsetPlan.from_indices([range(8)], 8))
    curves = sr.simulate(problem, ensemble, [4, 12, 16], 6, seed=0, progress=False)
    assert 0 < float(curves.risk.sel(n_samples=16).max()) < 1e-20
    report = sr.compare(sr.risk(problem, ensemble, np.array([0.5, 1.5, 2.0])), curves)
    assert bool(report.agrees.sel(n_samples=[12, 16]).all())


def test_nothing_but_rounding_agrees_with_nothing():
    """Every point is a perfect fit: no larger risk tells what rounding is relative to."""
    problem = sr.Problem(np.eye(8), 1e3 * np.ones(8))
    ensemble = sr.Ensemble(sr.SubsetPlan.from_indices([range(8)], 8))
    curves = sr.simulate(problem, ensemble, [12, 16], 6, seed=0, progress=False)
    assert 0 < float(curves.risk.max()) < 1e-20
    report = sr.compare(sr.risk(problem, ensemble, np.array([1.5, 2.0])), curves)
    assert bool((report.theory == 0).all())
    assert bool(report.agrees.all())
    assert report.attrs["verdict"] == "agree"
    assert not sr.compare(1e-7, curves).agrees.any()  # a difference of 1e-13 of the signal is none of rounding
