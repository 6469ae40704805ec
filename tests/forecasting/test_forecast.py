import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.stats import t as student

import subridge as sr
from subridge.forecasting.rule import RULE
from subridge.model.errors import ClassCodesWarning, DataError, ParameterError, RidgeError, SubsetError

ONE = {"one": sr.Ensemble(sr.subsets.Equal(1), 0.3)}


@pytest.mark.slow
@pytest.mark.parametrize("M", [120, 300])
def test_it_is_close_to_trained_ensembles(M):
    """Mean forecast over pilots within 5 % of the engine's mean at half to four times the pilot's size."""
    n, zeta = 150, 0.5
    covariance = sr.covariance.autoregressive(M, 0.5)
    rng = np.random.default_rng(0)
    problem = sr.Problem(covariance, rng.standard_normal(M), label_noise=zeta)
    plans = {"one": sr.subsets.equal(1, M, 0), "four": sr.subsets.equal(4, M, 0)}
    ensembles = {name: sr.Ensemble(plan, 0.2 if name == "four" else 4.0, 0.3) for name, plan in plans.items()}
    sizes = [75, 150, 600]
    root = np.linalg.cholesky(covariance.dense())
    found = []
    for _ in range(50):
        X = rng.standard_normal((n, M)) @ root.T
        y = X @ problem.teacher_weights / np.sqrt(M) + zeta * rng.standard_normal(n)
        found.append(sr.forecast(X, y, sizes, ensembles, fit_intercept=False).prediction_error.values)
    for row, ensemble in enumerate(ensembles.values()):
        runs = sr.simulate(problem, ensemble, sizes, 400, nested=False, seed=1, progress=False)
        truth = runs.risk.mean("trial").values + zeta**2
        np.testing.assert_allclose(np.mean(found, axis=0)[row], truth, rtol=0.05, err_msg=f"row {row}")


def test_the_dataset_says_what_it_holds(pilot_data):
    X, y = pilot_data
    curve = sr.forecast(X, y, [60, 120, np.inf], ONE)
    assert curve.prediction_error.dims == ("ensemble", "n_samples")
    bounds = {"prediction_error_lower", "prediction_error_upper"}
    assert bounds | {"in_reach", "standard_error", "ridge", "reach"} <= set(curve.data_vars)
    assert curve.aggregation.values.tolist() == ["mean"]
    assert curve.attrs["schema"] == "forecast"
    np.testing.assert_allclose(curve.irreducible_error.values, curve.prediction_error.sel(n_samples=np.inf).values)
    assert np.isinf(curve.reach.values).all()
    assert curve.attrs["n_pilot"] == 60


def test_bounds_are_quantiles_of_a_mean_whose_skewness_is_removed(pilot_data):
    """At the pilot's size: Hall's cubic of the logarithm, over Student's quantile, from the left-out errors alone."""
    X, y = pilot_data
    n, penalty = len(X), 0.5 * X.shape[1]
    A = X - X.mean(axis=0)
    H = A @ np.linalg.solve(A.T @ A + penalty * np.eye(X.shape[1]), A.T) + 1 / n
    R = np.eye(n) - H
    squares = (R @ y / np.diag(R)) ** 2
    dimensions = np.trace(R) ** 2 / np.trace(R @ R)
    kurtosis = np.mean((squares - squares.mean()) ** 4) / squares.var() ** 2
    freedom = min(2 * n / (kurtosis - (n - 3) / (n - 1)), dimensions - 1)
    v = squares.std(ddof=1) / np.sqrt(dimensions) / squares.mean()
    s = np.mean((squares - squares.mean()) ** 3) / squares.std() ** 3 / np.sqrt(dimensions)
    cubic = np.polynomial.Polynomial([s / 6, 1, (s - 1.5 * v) / 3, (s - 1.5 * v) ** 2 / 27])
    ensemble = {"one": sr.Ensemble(sr.subsets.Equal(1), ridge=0.5)}
    for level in (0.5, 0.9, 0.99):
        curve = sr.forecast(X, y, [n], ensemble, level=level)
        np.testing.assert_allclose(curve.standard_error.item(), v * squares.mean(), rtol=1e-6)
        quantile = student.ppf(0.5 + level / 2, freedom)
        for end, bound in ((quantile, curve.prediction_error_lower), (-quantile, curve.prediction_error_upper)):
            t = np.log(squares.mean() / bound.item()) / RULE.interval_stretch / v
            np.testing.assert_allclose(cubic(t), end, rtol=1e-6)


def test_at_the_pilots_size_it_is_the_leave_one_out_error(pilot_data):
    X, y = pilot_data
    ensemble = sr.Ensemble(sr.subsets.equal(4, 40, 0), 0.3)
    curve = sr.forecast(X, y, [60], {"four": ensemble})
    assert float(curve.prediction_error[0, 0]) == pytest.approx(sr.risk_matrix(X, y, ensemble).mean(), rel=1e-6)


def test_out_of_reach_is_nan(pilot_data):
    X, y = pilot_data[0][:30], pilot_data[1][:30]
    curve = sr.forecast(X, y, [30, 3000], ONE)
    assert curve.in_reach.values.tolist() == [[True, False]]
    for name in ("prediction_error", "prediction_error_lower", "prediction_error_upper", "standard_error"):
        assert np.isnan(curve[name].values[0, 1])
    assert 30 < float(curve.reach[0, 0]) < 3000


def test_chosen_ridges_are_those_of_least_left_out_error(pilot_data):
    X, y = pilot_data
    path = [1e-6, 1e-4, 0.01, 0.1, 1.0, 10.0]
    plan = sr.subsets.equal(2, 40, 0)
    sizes = [len(X) // 2, len(X), 2 * len(X)]
    tuned = sr.forecast(X, y, sizes, {"two": sr.Ensemble(plan)}, ridges=path)
    fixed = [sr.forecast(X, y, sizes, {"two": sr.Ensemble(plan, ridge)}).prediction_error.values[0] for ridge in path]
    best = int(np.argmin(np.array(fixed)[:, 1]))
    assert tuned.ridge.values[0].tolist() == [path[best]] * 3
    np.testing.assert_allclose(tuned.prediction_error.values[0], fixed[best])


def test_a_best_ridge_beyond_reach_is_a_bound_that_does_not_rise():
    """n < M and little noise: at 200 n the best ridge is far below any that 100 rows can judge."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 300))
    y = X @ rng.standard_normal(300) / np.sqrt(300) + 0.3 * rng.standard_normal(100)
    one = {"one": sr.Ensemble(sr.subsets.Equal(1))}
    curve = sr.forecast(X, y, [100, 1000, 20_000], one, ridges="auto")
    assert curve.is_bound.values.tolist() == [[False, True, True]]
    errors = curve.prediction_error.values[0]
    assert np.isfinite(errors).all()
    assert (np.diff(errors) <= 0).all()


@pytest.mark.parametrize("M", [20, 120])
def test_the_forecast_is_the_theory(M):
    """Left-out error times (1 - γ)/(1 - γ n/n′) at equal effective ridges, from hat matrices alone."""
    rng = np.random.default_rng(0)
    n, size, penalty = 60, 150, 30.0
    X = rng.standard_normal((n, M))
    y = X @ rng.standard_normal(M) / np.sqrt(M) + 0.5 * rng.standard_normal(n)

    def hat(p):
        return X @ np.linalg.solve(X.T @ X + p * np.eye(M), X.T)

    df = np.trace(hat(penalty))
    wanted = penalty * (size - df) / (n - df) / M  # the ridge at n′ with the effective ridge of the pilot's penalty
    R = np.eye(n) - hat(penalty)
    left_out = np.mean((R @ y / np.diag(R)) ** 2)
    gamma = 1 - np.trace(R) ** 2 / (n * np.trace(R @ R))
    found = sr.forecast(X, y, [size], {"one": sr.Ensemble(sr.subsets.Equal(1), wanted)}, fit_intercept=False)
    expected = left_out * (1 - gamma) / (1 - gamma * n / size)
    assert float(found.prediction_error[0, 0]) == pytest.approx(expected, rel=1e-8)


@pytest.mark.filterwarnings("ignore::subridge.model.errors.RareColumnsWarning")
@pytest.mark.filterwarnings("ignore::subridge.model.errors.DominantRowsWarning")
@pytest.mark.parametrize("value", [0.1, 1.0, 10.0])
def test_a_feature_of_one_row_has_no_say_whatever_its_size(value):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 10))
    y = X @ rng.standard_normal(10) + rng.standard_normal(60)
    ensembles = {"one": sr.Ensemble(sr.subsets.equal(1, 10, 0), 0.0)}
    X[:, 0] = 0.0
    X[3, 0] = 1.0
    expected = sr.forecast(X, y, [120, np.inf], ensembles).prediction_error.values
    X[3, 0] = value
    found = sr.forecast(X, y, [120, np.inf], ensembles).prediction_error.values
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("features", [28, 29, 30])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_thresholds_give_far_wider_bounds_without_ridge_and_no_warning(features, fit_intercept):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, features))
    y = X[:, 0] + rng.standard_normal(30)
    ensembles = {name: sr.Ensemble(sr.subsets.Equal(1), ridge) for name, ridge in (("none", 0.0), ("some", 0.3))}
    curve = sr.forecast(X, y, [15, 60, features], ensembles, fit_intercept=fit_intercept)
    without, some = (curve.sel(ensemble=name, n_samples=60) for name in ensembles)
    assert not without.in_reach
    if np.isnan(without.prediction_error):  # the pilot is interpolated
        return
    bounds = [(float(each.prediction_error_lower), float(each.prediction_error_upper)) for each in (without, some)]
    # Bounds are symmetric in logarithms, but for a lower one that ends at the label noise, which no error is below.
    # There the upper half counts twice.
    errors = [float(each.prediction_error) for each in (without, some)]
    widths = [
        max(np.log(upper / max(lower, 1e-300)), 2 * np.log(upper / error))
        for (lower, upper), error in zip(bounds, errors, strict=True)
    ]
    assert widths[0] > 3 * widths[1]
    # Least squares on Gaussian features is known exactly, and lies inside however near the pilot is to its threshold.
    rows = 60 - fit_intercept
    assert bounds[0][0] < (1 + fit_intercept / 60) * (1 + features / (rows - features - 1)) < bounds[0][1]


@pytest.mark.slow
def test_fitted_weights_are_forecast_to_gain_what_they_gain_on_pure_noise():
    """They lose a little there, and on the rows they were fitted to they seem to gain much."""
    rng = np.random.default_rng(0)
    plan = sr.subsets.overlapping([20] * 12, 40, 0)
    ensembles = {kind: sr.Ensemble(plan, 0.5, aggregation=kind) for kind in ("mean", "simplex")}
    said, true = [], []
    for _ in range(40):
        X, y = rng.standard_normal((60, 40)), rng.standard_normal(60)
        mean, best = sr.forecast(X, y, [60], ensembles).prediction_error.values[:, 0]
        said.append(1 - best / mean)
        models = [sr.RidgeEnsembleRegressor(subsets=plan, ridge=0.5, aggregation=each).fit(X, y) for each in ensembles]
        mean, best = (1 + (model.coef_**2).sum() + model.intercept_**2 for model in models)
        true.append(1 - best / mean)
    assert abs(np.mean(said) - np.mean(true)) < 0.025
    assert np.mean(said) < 0.01


def test_weights_help_where_one_member_has_the_signal(pilot_data):
    X, _ = pilot_data
    plan = sr.subsets.dirichlet(4, 40, 0.75, 0)
    ensembles = {kind: sr.Ensemble(plan, 0.3, aggregation=kind) for kind in ("mean", "simplex")}
    mean, best = sr.forecast(X, X[:, plan.measurements[0]].sum(axis=1), [60, 240], ensembles).prediction_error.values
    assert (best < 0.5 * mean).all()


def test_readout_noise_is_averaged_over_members(pilot_data):
    X, y = pilot_data
    plan = sr.subsets.equal(4, 40, 0)
    ensembles = {str(eta): sr.Ensemble(plan, 0.3, eta) for eta in (0.0, 2.0)}
    quiet, noisy = sr.forecast(X, y, [np.inf], ensembles).prediction_error.values[:, 0]
    assert noisy - quiet == pytest.approx(2.0**2 / 4, rel=1e-9)


def test_several_targets_add_up(pilot_data):
    X, y = pilot_data
    one, two = (sr.forecast(X, target, [120], ONE) for target in (y, np.stack([y, 2 * y], axis=1)))
    np.testing.assert_allclose(two.prediction_error.values, 5 * one.prediction_error.values, rtol=1e-6)


def test_frames_and_sparse_matrices_are_read_like_arrays(pilot_data):
    X, y = pilot_data
    expected = sr.forecast(X, y, [120], ONE).prediction_error.values
    frame = sr.forecast(pd.DataFrame(X).add_prefix("x"), pd.Series(y), [120], ONE).prediction_error.values
    np.testing.assert_allclose(frame, expected)
    sparsely = sr.forecast(sparse.csr_array(X), y, [120], ONE).prediction_error.values
    np.testing.assert_allclose(sparsely, expected, rtol=1e-8)


@pytest.mark.parametrize("beside", [{}, {"two": sr.Ensemble(sr.subsets.Equal(2), 0.3)}])
def test_a_projection_is_forecast_as_the_features_that_it_measures(pilot_data, beside):
    X, y = pilot_data
    plan = sr.subsets.projection((9, 14), X.shape[1], seed=2)
    both = sr.forecast(X, y, [30, 60, 240], beside | {"it": sr.Ensemble(plan, 0.3)})
    measured = np.hstack([X @ A.T for A in plan.measurements])
    apart = sr.SubsetPlan.from_indices([range(9), range(9, 23)], 23)
    wanted = sr.forecast(measured, y, [30, 60, 240], {"it": sr.Ensemble(apart, 0.3)})
    for name in ("prediction_error", "prediction_error_lower", "prediction_error_upper"):
        np.testing.assert_allclose(both[name].sel(ensemble="it"), wanted[name].sel(ensemble="it"), rtol=1e-8)


def test_constant_columns_change_nothing_but_the_scale_of_the_ridge(pilot_data):
    X, y = pilot_data
    padded = np.column_stack([X, np.ones(60), np.full(60, -3.0)])
    found = sr.forecast(padded, y, [60, 240], {"one": sr.Ensemble(sr.subsets.equal(1, 42, 0), 0.3 * 40 / 42)})
    expected = sr.forecast(X, y, [60, 240], {"one": sr.Ensemble(sr.subsets.equal(1, 40, 0), 0.3)})
    np.testing.assert_allclose(found.prediction_error.values, expected.prediction_error.values, rtol=1e-8)


@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_a_member_of_constant_columns_predicts_the_mean(pilot_data, ridge):
    X, y = pilot_data
    plan = sr.SubsetPlan.from_indices([np.arange(30), [40]], 41)
    found = sr.forecast(np.column_stack([X, np.ones(60)]), y, [60, 240], {"two": sr.Ensemble(plan, ridge)})
    left_out = []
    for i in range(60):
        kept = np.arange(60) != i
        means = X[kept, :30].mean(axis=0), y[kept].mean()
        F, g = X[kept, :30] - means[0], y[kept] - means[1]
        fitted = (X[i, :30] - means[0]) @ np.linalg.solve(F.T @ F + ridge * 30 * np.eye(30), F.T @ g)
        left_out.append(y[i] - means[1] - 0.5 * fitted)
    assert float(found.prediction_error[0, 0]) == pytest.approx(np.mean(np.square(left_out)), rel=1e-8)
    assert float(found.prediction_error[0, 1]) < float(found.prediction_error[0, 0])
    assert np.isfinite(found.prediction_error_upper.values).all()


def test_constant_columns_alone_are_refused(pilot_data):
    with pytest.raises(DataError, match="only constant columns"):
        sr.forecast(np.ones((60, 2)), pilot_data[1], [60], {"one": sr.Ensemble(sr.subsets.equal(1, 2, 0), 0.3)})


def test_labels_are_classes_or_numbers_as_documented(pilot_data):
    X, y = pilot_data
    whole = np.round(y).astype(int)
    with pytest.warns(ClassCodesWarning, match="7 whole values"):
        numbers = sr.forecast(X, whole, [120], ONE).prediction_error.values
    objects = np.array([int(value) for value in whole], dtype=object)
    found = sr.forecast(X, objects, [120], ONE, task="regression")
    np.testing.assert_allclose(found.prediction_error.values, numbers)
    categories = pd.Series((y > 3).astype(int)).astype("category")
    assert "misclassification" in sr.forecast(X, categories, [120], ONE)


def test_label_noise_is_estimated():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 100))
    y = X @ rng.standard_normal(100) + 2.0 * rng.standard_normal(300)
    attributes = sr.forecast(X, y, [600], ONE).attrs
    assert attributes["label_noise"] == pytest.approx(2.0, rel=0.15)
    assert attributes["label_noise_lower"] < 2.0 < attributes["label_noise_upper"]


def test_classes_are_voted_on():
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((3, 30))
    codes = rng.integers(3, size=3000)
    X = centres[codes] + 2.0 * rng.standard_normal((3000, 30))
    labels = np.array(["ant", "bee", "cat"])[codes]
    ensembles = {"three": sr.Ensemble(sr.subsets.equal(3, 30, 0), 0.5)}
    n, size = 150, 600
    curve = sr.forecast(X[:n], labels[:n], [n, size], ensembles)
    assert curve.attrs["class_names"] == "ant, bee, cat"
    model = sr.RidgeEnsembleClassifier(subsets=sr.subsets.equal(3, 30, 0), ridge=0.5, voting="majority")
    assert float(curve.misclassification[0, 0]) == pytest.approx(model.fit(X[:n], labels[:n]).loo_error_, abs=1e-12)
    wrong = [
        (model.fit(X[i : i + size], labels[i : i + size]).predict(X[1500:]) != labels[1500:]).mean()
        for i in range(0, 900, 150)
    ]
    pilots = [sr.forecast(X[i : i + n], labels[i : i + n], [n, size], ensembles) for i in range(0, 1500, n)]
    now, later = np.mean([each.misclassification.values[0] for each in pilots], axis=0)
    assert np.mean(wrong) < later < now
    bounds = [[each[f"misclassification_{end}"].values[0, 1] for each in pilots] for end in ("lower", "upper")]
    assert np.mean((bounds[0] < np.mean(wrong)) & (np.mean(wrong) < bounds[1])) >= 0.8


@pytest.mark.parametrize(
    ("change", "error", "word"),
    [
        ({"X": np.full((60, 40), np.nan)}, ValueError, "NaN"),
        ({"y": np.ones(59)}, DataError, "60 rows"),
        ({"y": np.ones(60)}, DataError, "nothing to learn"),
        ({"y": np.array([None] * 60)}, DataError, "lacks 60 labels"),
        ({"y": np.array(["a"] * 60)}, DataError, "nothing to learn"),
        ({"y": np.arange(60).astype(str)}, DataError, "60 distinct values"),
        ({"n_samples": [1]}, ParameterError, "n_samples"),
        ({"n_samples": [2.5]}, ParameterError, "n_samples"),
        ({"ensembles": {}}, ParameterError, "at least one"),
        ({"ensembles": {"a": 3}}, ParameterError, "must be an Ensemble"),
        ({"ensembles": {"a": sr.Ensemble(sr.subsets.equal(2, 30, 0))}}, SubsetError, "30 features"),
        ({"ensembles": {"a": sr.Ensemble([0.5, 0.5])}}, SubsetError, "fractions"),
        ({"ensembles": {"a": sr.Ensemble(sr.subsets.Equal(2), -0.1)}}, RidgeError, "at least 0"),
        ({"ensembles": {"a": sr.Ensemble(sr.subsets.Equal(2), [[0.1], [0.2]])}}, ParameterError, "sweeps"),
        (
            {"ensembles": {"a": sr.Ensemble(sr.subsets.Equal(2), aggregation="median")}},
            ParameterError,
            "can be forecast",
        ),
        ({"ensembles": {"a": sr.Ensemble(sr.subsets.Equal(2), aggregation="sum")}}, ParameterError, "majority vote"),
        ({"ensembles": {1: ONE["one"], "1": ONE["one"]}}, ParameterError, "differ as text"),
        ({"ridges": "many"}, ParameterError, "ridges"),
        ({"task": "ranking"}, ParameterError, "task"),
        ({"level": 1.5}, ParameterError, "level"),
    ],
)
def test_bad_input_is_named(pilot_data, change, error, word):
    X, y = pilot_data
    options = {"X": X, "y": y, "n_samples": [120], "ensembles": ONE} | change
    with pytest.raises(error, match=word):
        sr.forecast(**options)


def test_a_pilot_of_a_few_rows_is_refused(pilot_data):
    X, y = pilot_data
    with pytest.raises(DataError, match="at least 20"):
        sr.forecast(X[:19], y[:19], [100], ONE)


def test_sizes_have_a_default(pilot_data):
    X, y = pilot_data
    found = sr.forecast(X, y)
    assert found.n_samples[0] == len(X)
    assert found.n_samples[-1] == 16 * len(X)
    assert found.sizes["n_samples"] == 12


def test_a_column_next_to_the_smallest_floats_is_forecast_without_a_word_of_overflow():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 5)), rng.standard_normal(40)
    X[:, 0] *= 1e-160
    with pytest.warns(sr.errors.SubridgeWarning):  # of scales that differ
        found = sr.forecast(X, y + X[:, 1], [80])
    assert np.isfinite(found.prediction_error).all()
