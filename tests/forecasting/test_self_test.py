"""The self-test, and what is said of pilots that deserve doubt."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import Ridge
from subridge.model.errors import CopiedRowsWarning, CorrelatedRowsWarning, RareColumnsWarning, SubridgeWarning

import subridge as sr
from subridge.forecasting.curve.curve import _shrunk, forecast_curve
from subridge.forecasting.inputs.request import read_ensembles
from subridge.forecasting.inputs.sample import read_sample
from subridge.forecasting.pilot.pilot import decompose_pilot
from subridge.forecasting.self_test.evidence import Evidence
from subridge.forecasting.self_test.parts import errors_of_parts, part_rows

ONE = {"one": sr.Ensemble(sr.subsets.Equal(1), 0.1)}


def gaussian(n, M, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, M))
    return X, X[:, 0] + X[:, 1] + rng.standard_normal(n)


def test_parts_of_a_gaussian_pilot_forecast_what_it_shows():
    X, y = gaussian(200, 40)
    curves = sr.forecast(X, y, [800], ONE)
    assert curves.self_test_rows.values[0].tolist() == [100, 50, 100]
    ratio = curves.self_test_forecast / curves.self_test_shown
    assert abs(float(np.log(ratio).mean())) < 0.1


@pytest.mark.parametrize(("M", "ridge"), [(20, 0.2), (150, 0.2), (150, 0.0), (60, 0.0)])
def test_errors_of_parts_equal_those_of_models_trained_on_them(M, ridge):
    X, y = gaussian(80, M, 3)
    plan = sr.SubsetPlan.from_indices([np.arange(M // 2), np.arange(M // 4, M)], M)
    rows = read_sample(X, y, "regression", True).rows
    weights = np.array([[0.3, 0.7]])
    for parts in part_rows(80):
        found = errors_of_parts(decompose_pilot(rows, plan), parts, np.full((1, 2), ridge), weights)
        for part, error in zip(parts, found[:, 0], strict=True):
            outside, output = np.setdiff1d(np.arange(80), part), 0.0
            for r, share in enumerate(weights[0]):
                F, penalty = X[:, plan.measurements[r]], ridge * plan.subset_sizes[r]
                C = F[part] - F[part].mean(axis=0)
                dual = np.linalg.pinv(C @ C.T + penalty * np.eye(len(part)), rcond=1e-12) @ (y[part] - y[part].mean())
                output += share * (y[part].mean() + (F[outside] - F[part].mean(axis=0)) @ (C.T @ dual))
            assert error == pytest.approx(np.mean((y[outside] - output) ** 2), rel=1e-5)


@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize("times", [2, 5])
def test_a_table_copied_whole_counts_once(classes, times):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 20))
    y = X[:, 0] + 0.5 * rng.standard_normal(60)
    y = np.where(y > 0, "up", "down") if classes else y
    plain = sr.forecast(X, y, [120], ONE, extrapolate=True)
    with pytest.warns(CopiedRowsWarning, match=f"{60 * (times - 1)} of {60 * times} rows"):
        copied = sr.forecast(np.tile(X, (times, 1)), np.tile(y, times), [120], ONE, extrapolate=True)
    assert copied.attrs["n_pilot"] == 60
    np.testing.assert_allclose(copied.prediction_error, plain.prediction_error)


def test_equal_rows_of_a_table_of_levels_are_not_taken_for_copies():
    rng = np.random.default_rng(4)
    X = rng.integers(0, 2, (200, 4)).astype(float)
    y = X @ [1.0, 2.0, 4.0, 8.0]
    assert sr.forecast(X, y, [400], ONE).attrs["n_pilot"] == 200


def test_a_copied_row_does_not_make_reach_infinite():
    X, y = gaussian(60, 100, 1)
    plain = sr.forecast(X, y, [120], ONE, extrapolate=True)
    with pytest.warns(CopiedRowsWarning, match="1 of 61 rows"):
        copied = sr.forecast(np.vstack([X, X[:1]]), np.append(y, y[0]), [120], ONE, extrapolate=True)
    np.testing.assert_allclose(copied.reach, plain.reach)
    np.testing.assert_allclose(copied.prediction_error, plain.prediction_error)


def test_repeated_rows_of_a_table_of_categories_are_kept():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (80, 4)).astype(float)
    y = (X[:, 0] + rng.integers(0, 2, 80)).astype(float)
    assert sr.forecast(X, y, [160], ONE, task="regression").attrs["n_pilot"] == 80


def test_errors_do_not_fall_below_the_noise_of_the_labels():
    X, y = gaussian(80, 30)
    curves = sr.forecast(X, y, [160, 10**6], ONE)
    floor = curves.attrs["label_noise_lower"] ** 2
    assert float(curves.prediction_error_lower.min()) >= floor * (1 - 1e-9)
    assert float(curves.prediction_error[0, -1]) == pytest.approx(float(curves.irreducible_error[0]), rel=0.02)


def test_rare_columns_and_order_are_said():
    X, y = gaussian(100, 20)
    X[:, 3] = 0
    X[5, 3] = 1
    with pytest.warns(RareColumnsWarning, match="1 of 20 columns"):
        sr.forecast(X, y, [200], ONE)
    X, y = gaussian(300, 20)
    drift = 2 * np.sin(np.linspace(0, 9, 300))
    with pytest.warns(CorrelatedRowsWarning):
        sr.forecast(X, y + drift, [600], ONE)


def test_samples_needed_reads_the_curve():
    X, y = gaussian(100, 30)
    wanted = float(sr.forecast(X, y, [300], ONE).prediction_error[0, 0])
    needed = sr.samples_needed(X, y, wanted, ONE)
    assert float(needed.n_samples[0]) == pytest.approx(300, rel=0.1)
    assert float(needed.n_samples_lower[0]) < 300 < float(needed.n_samples_upper[0])
    hopeless = sr.samples_needed(X, y, 0.01, ONE)
    assert np.isinf(hopeless.n_samples[0])
    assert "label noise alone" in str(hopeless.answer.values[0])
    with pytest.raises(sr.errors.ParameterError, match="error must be positive"):
        sr.samples_needed(X, y, 0.0, ONE)


def rows_of_rare_columns(rng, n):
    """Beside 20 dense columns every row has an entry in one of 30 others: leverages near one wherever it is alone."""
    dense, rare = rng.standard_normal((n, 20)), np.zeros((n, 30))
    rare[np.arange(n), rng.integers(30, size=n)] = 4.0 * rng.standard_normal(n)
    return np.hstack([dense, rare]), dense @ np.full(20, 0.3) + rng.standard_normal(n)


@pytest.mark.filterwarnings("ignore::subridge.model.errors.SubridgeWarning")
def test_rare_columns_are_forecast_better_than_by_the_present_error():
    """From 150 rows to 1,200: pilots see most of the fall, and their intervals hold the truth."""
    rng = np.random.default_rng(0)
    (X_test, y_test), truth, found, inside = rows_of_rare_columns(rng, 4000), [], [], []
    for _ in range(10):
        X, y = rows_of_rare_columns(rng, 1200)
        centred = X - X.mean(axis=0)
        w = np.linalg.solve(centred.T @ centred + 5.0 * np.eye(50), centred.T @ (y - y.mean()))
        truth.append(((y_test - y.mean() - (X_test - X.mean(axis=0)) @ w) ** 2).mean())
    for _ in range(10):
        curve = sr.forecast(*rows_of_rare_columns(rng, 150), [150, 1200], ONE)
        found.append(curve.prediction_error.values[0])
        lower, upper = (float(curve[f"prediction_error_{end}"][0, 1]) for end in ("lower", "upper"))
        inside.append(lower < np.mean(truth) < upper)
    last, forecast = np.abs(np.log(np.median(found, axis=0) / np.mean(truth)))
    assert forecast < 0.8 * last
    assert np.mean(inside) >= 0.7


def test_a_law_of_the_parts_ends_at_a_limit():
    from subridge.forecasting.self_test.evidence import DECAY, Evidence

    evidence = Evidence(np.full(3, -0.2), np.zeros(3))
    changes = evidence.continued(np.array([1.0, 2.0, np.inf]))
    np.testing.assert_allclose(changes, -0.2 * np.array([DECAY, DECAY + DECAY**2, DECAY / (1 - DECAY)]))


def test_the_rows_that_trained_models_needed_lie_within_the_interval():
    X, y = load_digits(return_X_y=True)
    X, y = X[:, X.std(axis=0) > 0.7], (y % 2).astype(float)
    X, ridge = X / X.std(axis=0), 0.1
    errors = []
    for draw in range(10):
        order = np.random.default_rng((1, draw)).permutation(len(X))
        fitted = Ridge(alpha=ridge * X.shape[1]).fit(X[order[:300]], y[order[:300]])
        errors.append(np.mean((fitted.predict(X[order[300:]]) - y[order[300:]]) ** 2))
    one = {"one ridge": sr.Ensemble(sr.subsets.Equal(1), ridge=ridge)}
    for pilot in range(4):
        rows = np.random.default_rng((2, pilot)).permutation(len(X))[:100]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SubridgeWarning)
            needed = sr.samples_needed(X[rows], y[rows], float(np.mean(errors)), one, task="regression")
        assert float(needed.n_samples_lower[0]) <= 300 <= float(needed.n_samples_upper[0])


def test_an_error_below_the_label_noise_is_said_to_be_out_of_reach():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 10))
    y = X @ rng.standard_normal(10) + 2 * rng.standard_normal(100)
    (answer,) = sr.samples_needed(X, y, 0.5, ONE).answer.values
    assert answer.startswith("not reachable: the label noise alone is ")


def test_a_doubtful_change_is_shrunk_and_a_sure_one_is_not():
    change = np.array([-0.5, -0.5, -0.5, 0.2, 0.0, 0.0])
    noise = np.array([0.0, 0.01, 5.0, 0.2, 0.0, 0.3])
    found = _shrunk(change, noise)
    assert found[0] == -0.5
    assert found[1] == pytest.approx(-0.5, rel=1e-3)
    assert abs(found[2]) < 0.01
    assert found[3] == pytest.approx(0.1)
    assert found[4:].tolist() == [0.0, 0.0]


def test_where_rare_columns_make_the_change_the_forecast_stays_near_the_pilot():
    X, y = gaussian(200, 40, 5)
    X[:, 10:] *= np.random.default_rng(1).random((200, 30)) < 0.02
    with pytest.warns(RareColumnsWarning):
        pilot = decompose_pilot(read_sample(X, y, "regression", True).rows, sr.subsets.equal(1, 40, 0))
    drawn = read_ensembles({"one": sr.Ensemble(sr.subsets.equal(1, 40, 0), 0.01)}, 40, 0)["one"]
    plain = forecast_curve(pilot, drawn, np.array([400.0, 1600.0]), None, None)
    assert plain.steadiness.max() < 0.5
    changes = np.log(plain.judged(200, Evidence.of_scatter(2.0, 2), 0.0).prediction_error / plain.present)
    assert (abs(changes) < 0.5 * abs(np.log(plain.prediction_error / plain.present))).all()


@pytest.mark.filterwarnings("ignore::subridge.model.errors.SubridgeWarning")
@pytest.mark.parametrize("ridge", [1e-9, 1e-3, 1.0])
def test_a_member_that_is_silent_in_most_rows_is_forecast_without_a_word_of_numpy(ridge):
    rng = np.random.default_rng(0)
    X = np.hstack([rng.standard_normal((120, 4)), rng.random((120, 4)) < 0.03])
    X[:, 4:] *= 1e3
    y = X[:, 0] + rng.standard_normal(120)
    plan = sr.SubsetPlan.from_indices([np.arange(4), np.arange(4, 8)], 8)
    curves = sr.forecast(X, y, [240], {"two": sr.Ensemble(plan, ridge)}, extrapolate=True, fit_intercept=False)
    assert np.isfinite(curves.prediction_error).all()
