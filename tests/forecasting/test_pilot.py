"""What is said and done about pilots that deserve doubt: copies, rare columns, order, label noise."""

import warnings

import numpy as np
import pytest

import subridge as sr
from subridge.model.errors import CopiedRowsWarning, CorrelatedRowsWarning, DominantRowsWarning, RareColumnsWarning

ONE = {"one": sr.Ensemble(sr.subsets.Equal(1), 0.1)}


def gaussian(n, M, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, M))
    return X, X[:, 0] + X[:, 1] + rng.standard_normal(n)


@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize("times", [2, 5])
def test_a_table_copied_whole_counts_once(classes, times):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 20))
    y = X[:, 0] + 0.5 * rng.standard_normal(60)
    y = np.where(y > 0, "up", "down") if classes else y
    plain = sr.forecast(X, y, [120], ONE)
    with pytest.warns(CopiedRowsWarning, match=f"{60 * (times - 1)} of {60 * times} rows"):
        copied = sr.forecast(np.tile(X, (times, 1)), np.tile(y, times), [120], ONE)
    assert copied.attrs["n_pilot"] == 60
    np.testing.assert_allclose(copied.prediction_error, plain.prediction_error)


def test_equal_rows_of_a_table_of_levels_are_not_taken_for_copies():
    rng = np.random.default_rng(4)
    X = rng.integers(0, 2, (200, 4)).astype(float)
    y = X @ [1.0, 2.0, 4.0, 8.0]
    assert sr.forecast(X, y, [400], ONE).attrs["n_pilot"] == 200


def test_a_copied_row_does_not_make_reach_infinite():
    X, y = gaussian(60, 100, 1)
    plain = sr.forecast(X, y, [120], ONE)
    with pytest.warns(CopiedRowsWarning, match="1 of 61 rows"):
        copied = sr.forecast(np.vstack([X, X[:1]]), np.append(y, y[0]), [120], ONE)
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
    assert float(curves.prediction_error.min()) >= curves.attrs["label_noise_lower"] ** 2
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


def test_a_row_that_dominates_is_said():
    X, y = gaussian(100, 20)
    X[:, 3:] = 0
    X[5, 3] = 6
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RareColumnsWarning)
        with pytest.warns(DominantRowsWarning, match="leverage"):
            sr.forecast(X, y, [200], {"one": sr.Ensemble(sr.subsets.Equal(1), 0.01)})


def rows_of_rare_columns(rng, n):
    """Beside 20 dense columns every row has an entry in one of 30 others: leverages near one wherever it is alone."""
    dense, rare = rng.standard_normal((n, 20)), np.zeros((n, 30))
    rare[np.arange(n), rng.integers(30, size=n)] = 4.0 * rng.standard_normal(n)
    return np.hstack([dense, rare]), dense @ np.full(20, 0.3) + rng.standard_normal(n)


@pytest.mark.slow
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


@pytest.mark.filterwarnings("ignore::subridge.model.errors.SubridgeWarning")
@pytest.mark.parametrize("ridge", [1e-9, 1e-3, 1.0])
def test_a_member_that_is_silent_in_most_rows_is_forecast_without_a_word_of_numpy(ridge):
    rng = np.random.default_rng(0)
    X = np.hstack([rng.standard_normal((120, 4)), rng.random((120, 4)) < 0.03])
    X[:, 4:] *= 1e3
    y = X[:, 0] + rng.standard_normal(120)
    plan = sr.SubsetPlan.from_indices([np.arange(4), np.arange(4, 8)], 8)
    curves = sr.forecast(X, y, [240], {"two": sr.Ensemble(plan, ridge)}, fit_intercept=False)
    assert np.isfinite(curves.prediction_error).all()


@pytest.mark.filterwarnings("ignore::subridge.model.errors.RareColumnsWarning")
@pytest.mark.filterwarnings("ignore::subridge.model.errors.DominantRowsWarning")
def test_one_rare_entry_does_not_ruin_a_forecast():
    """A column that is 1 in one row: its odds of leverage are those of hundreds, and nothing follows from it."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 40))
    y = X[:, 0] + X[:, 1] + rng.standard_normal(300)
    rare = np.zeros((300, 1))
    rare[7] = 1
    errors = [
        sr.forecast(table, y, [600, 2400], {"one": sr.Ensemble(sr.subsets.Equal(1), 0.1)}).prediction_error.values
        for table in (X, np.hstack([X, rare]))
    ]
    np.testing.assert_allclose(errors[1], errors[0], rtol=0.02)
