"""Forecasts from rows that come in groups."""

import numpy as np
import pytest
from scipy.optimize import brentq

import subridge as sr
from subridge.model.errors import DataError, ParameterError


def subjects(seed, n_groups, rows=5, shared=0.5, M=15):
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), rows)
    own, common = rng.standard_normal((n_groups * rows, M)), rng.standard_normal((n_groups, M))[groups]
    X = np.sqrt(shared) * common + np.sqrt(1 - shared) * own
    effect = rng.standard_normal(n_groups)[groups]
    return X, X @ np.ones(M) / np.sqrt(M) + effect + 0.3 * rng.standard_normal(len(groups)), groups


ENSEMBLE = {"one": sr.Ensemble(sr.subsets.equal(1, 15, 0), 0.5)}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::subridge.model.errors.CorrelatedRowsWarning")
@pytest.mark.parametrize("target", [30, 60, 240])
def test_the_error_on_new_groups_is_forecast_where_rows_promise_too_little(target):
    ratios = []
    for seed in range(12):
        X, y, groups = subjects(seed, 60)
        by_group = sr.forecast(X, y, [5 * target], ENSEMBLE, groups=groups).prediction_error.item()
        by_row = sr.forecast(X, y, [5 * target], ENSEMBLE).prediction_error.item()
        A, b, labels = subjects(1000 + seed, target)
        model = sr.RidgeEnsembleRegressor(subsets=[range(15)], ridge=0.5).fit(A, b, groups=labels)
        # A new row has features of unit variance, a known target, and noise of variance 1.09.
        truth = ((model.coef_ - 1 / np.sqrt(15)) ** 2).sum() + model.intercept_**2 + 1.09
        ratios.append([by_group / truth, by_row / truth])
    by_group, by_row = np.mean(ratios, axis=0)
    spread = np.std(ratios, axis=0)[0] / np.sqrt(12)
    assert abs(by_group - 1) < 3 * spread + 0.03
    assert by_row < by_group - 0.03


def test_rows_that_are_independent_within_groups_count_nearly_one_each():
    X, y, groups = subjects(0, 80, shared=0.0)
    y = y - np.repeat([y[groups == g].mean() for g in range(80)], 5)
    found = sr.forecast(X, y, [400], ENSEMBLE, groups=groups)
    assert found.effective_samples.item() > 0.8 * 400
    assert found.n_groups.item() == 80


def test_rows_that_are_copies_count_once_for_each_group():
    X, y, groups = subjects(0, 80, shared=1.0)
    y = np.repeat(y[::5], 5)
    found = sr.forecast(X, y, [400], ENSEMBLE, groups=groups)
    np.testing.assert_allclose(found.effective_samples.item(), 80, rtol=0.02)


def test_the_ridge_of_least_error_on_left_out_groups_is_taken():
    X, y, groups = subjects(0, 40)
    path = [0.01, 0.1, 1.0, 10.0]
    chosen = sr.forecast(X, y, [100, 400], ENSEMBLE, ridges=path, groups=groups)
    left_out = [
        sr.RidgeEnsembleRegressor(subsets=[range(15)], ridge=ridge).fit(X, y, groups=groups).loo_error_
        for ridge in path
    ]
    best = path[int(np.argmin(left_out))]
    assert chosen.ridge.values[0].tolist() == [best, best]


def test_the_forecast_has_the_design_effect_and_doubts_it_as_far_as_independent_rows():
    """From hat matrices and refits: γ times the design effect, and γ alone, at equal effective ridges."""
    X, y, groups = subjects(0, 30)
    n, M, size, p_wanted = len(X), 15, 600, 0.5 * 15

    def hat(p):
        A = X - X.mean(axis=0)
        return A @ np.linalg.solve(A.T @ A + p * np.eye(M), A.T) + 1 / n

    def misfit(p):
        df = np.trace(hat(p))
        return p / (n - df) - p_wanted / (size - df)

    p = brentq(misfit, 1e-6, 1e3, xtol=1e-12)
    H, errors = hat(p), np.empty(n)
    for g in range(30):
        own = groups == g
        A, centre = X[~own] - X[~own].mean(axis=0), X[~own].mean(axis=0)
        coef = np.linalg.solve(A.T @ A + p * np.eye(M), A.T @ (y[~own] - y[~own].mean()))
        errors[own] = y[own] - y[~own].mean() - (X[own] - centre) @ coef
    R, shared = np.eye(n) - H, H - 1 / n  # the mean of the labels is common to all rows
    gamma = 1 - np.trace(R) ** 2 / (n * np.trace(R @ R))
    together = sum(
        errors[groups == g] @ shared[np.ix_(groups == g, groups == g)] @ errors[groups == g] for g in range(30)
    )
    effect = together / (errors**2 @ np.diag(shared))
    quotients = [(1 - D * gamma * 30 / 29) / (1 - D * gamma * n / size) for D in (1, effect)]
    found = sr.forecast(X, y, [size], ENSEMBLE, groups=groups)
    assert effect > 1.5
    np.testing.assert_allclose(found.prediction_error.item(), np.mean(errors**2) * quotients[1], rtol=1e-6)
    unsure = np.mean(errors**2) * abs(np.diff(quotients)).item() / np.sqrt(3)
    assert found.standard_error.item() > unsure > 0


def test_a_group_that_errs_far_more_than_the_others_raises_the_upper_bound():
    X, y, groups = subjects(0, 60)
    found = sr.forecast(X, y + 8.0 * (groups == 7), [600], ENSEMBLE, groups=groups)
    lower, value, upper = (found[f"prediction_error{end}"].item() for end in ("_lower", "", "_upper"))
    assert np.log(upper / value) > 1.3 * np.log(value / lower)


def test_groups_of_single_rows_are_told_to_be_left_out():
    X, y, _ = subjects(0, 40)
    with pytest.raises(DataError, match="groups"):
        sr.forecast(X, y, [100], ENSEMBLE, groups=np.zeros(len(y)))


def classes(seed, n_groups, rows=5, M=15):
    """Two classes told apart by the features and by the subject."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), rows)
    X = np.sqrt(0.5) * rng.standard_normal((n_groups, M))[groups] + np.sqrt(0.5) * rng.standard_normal((len(groups), M))
    score = X @ np.ones(M) / np.sqrt(M) + 0.7 * rng.standard_normal(n_groups)[groups]
    return X, np.where(score + 0.3 * rng.standard_normal(len(groups)) > 0, "b", "a"), groups


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::subridge.model.errors.CorrelatedRowsWarning")
@pytest.mark.parametrize("target", [20, 40, 160])
def test_wrong_votes_on_new_groups_are_forecast(target):
    ensemble = {"three": sr.Ensemble(sr.subsets.overlapping([10] * 3, 15, seed=0), 0.5)}
    plan = ensemble["three"].plan
    found = []
    for seed in range(12):
        X, y, groups = classes(seed, 40)
        forecast = sr.forecast(X, y, n_groups=[target], ensembles=ensemble, groups=groups)
        A, b, labels = classes(100 + seed, target)
        model = sr.RidgeEnsembleClassifier(subsets=plan, ridge=0.5, voting="majority").fit(A, b, groups=labels)
        new, truth, _ = classes(1000 + seed, 400)
        inside = forecast.misclassification_lower <= forecast.misclassification <= forecast.misclassification_upper
        assert bool(inside.all())
        found.append([forecast.misclassification.item(), (model.predict(new) != truth).mean()])
    ours, true = np.mean(found, axis=0)
    spread = np.std(np.diff(found, axis=1)) / np.sqrt(12)
    assert abs(ours - true) < 3 * spread + 0.015, (ours, true)


def test_at_the_pilots_own_size_wrong_votes_are_those_of_left_out_groups():
    X, y, groups = classes(0, 40)
    ensemble = {"three": sr.Ensemble(sr.subsets.overlapping([10] * 3, 15, seed=0), 0.5)}
    found = sr.forecast(X, y, [200], ensemble, groups=groups)
    model = sr.RidgeEnsembleClassifier(subsets=ensemble["three"].plan, ridge=0.5, voting="majority")
    np.testing.assert_allclose(found.misclassification.item(), model.fit(X, y, groups=groups).loo_error_)


def test_sizes_may_be_numbers_of_groups():
    X, y, groups = subjects(0, 40)
    by_groups = sr.forecast(X, y, n_groups=[20, 80], ensembles=ENSEMBLE, groups=groups)
    by_rows = sr.forecast(X, y, [100, 400], ENSEMBLE, groups=groups)
    np.testing.assert_array_equal(by_groups.prediction_error, by_rows.prediction_error)
    assert by_groups.n_groups.values.tolist() == by_rows.n_groups.values.tolist() == [20, 80]
    assert by_groups.n_samples.values.tolist() == [100, 400]


@pytest.mark.parametrize(
    ("options", "word"),
    [({"n_samples": [100], "n_groups": [20]}, "n_groups"), ({"n_groups": [1]}, "n_groups"),
     ({"n_groups": [20], "groups": None}, "needs groups"),
     ({"n_groups": [20], "ensembles": {"a": sr.Ensemble(sr.subsets.Equal(2), 1.0, 0.3)}}, "readout_noise")],
)  # fmt: skip
def test_what_has_no_forecast_by_groups_is_refused_in_words(options, word):
    X, y, groups = subjects(0, 40)
    with pytest.raises(sr.errors.SubridgeError, match=word):
        sr.forecast(X, y, **{"groups": groups, "ensembles": ENSEMBLE} | options)


def test_advice_ranks_by_left_out_groups():
    X, y, groups = subjects(0, 30)
    advice = sr.advise(X, y, n_members=[2], groups=groups)
    assert advice.table.attrs["n_groups"] == 30
    assert "label_noise" not in advice.table.attrs
    for name in advice.table.candidate.values[:3].tolist():
        model = advice.estimator(name).fit(X, y, groups=groups)
        left_out = float(advice.table.pilot_prediction_error.sel(candidate=name))
        assert model.loo_error_ == pytest.approx(left_out, rel=1e-6)
    assert "30 left-out groups" in advice.reasons[1]
    assert advice.code.endswith("give groups= to fit, too")
    with pytest.raises(ParameterError, match="readout_noise cannot be forecast with groups"):
        sr.advise(X, y, n_members=[2], groups=groups, readout_noise=0.1)


@pytest.mark.filterwarnings("ignore::subridge.model.errors.CorrelatedRowsWarning")
def test_rows_of_a_group_promise_too_little_in_advice():
    X, y, groups = subjects(1, 40, shared=1.0)
    y = np.repeat(y[::5], 5) + 1e-3 * np.random.default_rng(0).standard_normal(len(y))
    by_row, by_group = (sr.advise(X, y, n_members=[2], groups=each) for each in (None, groups))
    assert float(by_group.table.prediction_error[0]) > 1.5 * float(by_row.table.prediction_error[0])


@pytest.mark.parametrize("seed", [7, 19, 31, 35])
def test_the_ridge_at_the_present_size_is_that_of_a_fit_with_groups(seed):
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(8), 10)
    X = rng.standard_normal((8, 30))[groups] + 0.5 * rng.standard_normal((80, 30))
    y = X @ rng.standard_normal(30) / 5 + rng.standard_normal(8)[groups] + rng.standard_normal(80)
    fitted = sr.RidgeEnsembleRegressor(1).fit(X, y, groups=groups).ridge_
    one = {"one ridge": sr.Ensemble(sr.subsets.Equal(1))}
    found = sr.forecast(X, y, ensembles=one, ridges="auto", groups=groups, n_groups=[8]).ridge.item()
    assert abs(np.log10(found / fitted)) < 0.5  # a step of the path of a fit; that of a forecast is finer


@pytest.mark.parametrize("seed", [3, 7, 10])
def test_ridges_of_single_targets_at_the_present_size_are_those_of_a_fit_with_groups(seed):
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(8), 10)
    X = rng.standard_normal((8, 30))[groups] + 0.5 * rng.standard_normal((80, 30))
    noise = rng.standard_normal((8, 2))[groups] + rng.standard_normal((80, 2))
    Y = X @ rng.standard_normal((30, 2)) / 5 + noise
    fitted = sr.RidgeEnsembleRegressor(1, per_target=True).fit(X, Y, groups=groups).ridge_
    one = {"one ridge": sr.Ensemble(sr.subsets.Equal(1))}
    found = sr.forecast(X, Y, ensembles=one, ridges="auto", groups=groups, n_groups=[8], per_target=True).ridge
    assert abs(np.log10(found.values.ravel() / fitted)).max() < 0.5
