"""The self-test, and what is said of pilots that deserve doubt."""

import numpy as np
import pytest

import subridge as sr
from subridge.spec.errors import CopiedRowsWarning, CorrelatedRowsWarning, RareColumnsWarning

ONE = {"one": sr.Ensemble(sr.subsets.Equal(1), 0.1)}


def gaussian(n, M, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, M))
    return X, X[:, 0] + X[:, 1] + rng.standard_normal(n)


def test_parts_of_a_gaussian_pilot_forecast_what_it_shows():
    X, y = gaussian(200, 40)
    curves = sr.forecast(X, y, [800], ONE)
    assert curves.self_test_rows.values[0].tolist() == [100, 100, 50, 50] * 2
    ratio = curves.self_test_forecast / curves.self_test_shown
    assert abs(float(np.log(ratio).mean())) < 0.1


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
    assert sr.forecast(X, y, [160], ONE).attrs["n_pilot"] == 80


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


def tail_of_rows(rng, n, M=30):
    """Every row has one of many rare columns beside dense ones: few rows hold most of the leverage."""
    dense, rare = rng.standard_normal((n, M)), np.zeros((n, 40))
    rare[np.arange(n), rng.integers(40, size=n)] = 12.0 * rng.standard_normal(n) ** 3
    X = np.hstack([dense, rare])
    return X, dense @ np.ones(M) / 5 + rng.standard_normal(n)


@pytest.mark.filterwarnings("ignore::subridge.spec.errors.SubridgeWarning")
def test_where_few_rows_dominate_parts_of_the_pilot_have_a_say():
    """The curve lies between the rule and the law of the parts, and nearer to trained ridges than the rule of old."""
    rng = np.random.default_rng(0)
    X_test, y_test = tail_of_rows(rng, 4000)
    truth = []
    for _ in range(10):
        X, y = tail_of_rows(rng, 480)
        centred = X - X.mean(axis=0)
        w = np.linalg.solve(centred.T @ centred + 7.0 * np.eye(70), centred.T @ (y - y.mean()))
        truth.append(((y_test - y.mean() - (X_test - X.mean(axis=0)) @ w) ** 2).mean())
    found, inside = [], []
    for _ in range(8):
        curve = sr.forecast(*tail_of_rows(rng, 60), [480], ONE)
        found.append(float(curve.prediction_error[0, 0]))
        lower, upper = float(curve.prediction_error_lower[0, 0]), float(curve.prediction_error_upper[0, 0])
        inside.append(lower < np.mean(truth) < upper)
    assert abs(np.median(found) / np.mean(truth) - 1) < 0.25
    assert np.mean(inside) >= 0.75


def test_a_law_of_the_parts_ends_at_a_limit():
    from subridge.forecasting.self_test.evidence import DECAY, Evidence

    evidence = Evidence(np.full(3, -0.2), np.ones(3), np.zeros(3))
    changes = evidence.continued(np.array([1.0, 2.0, np.inf]))
    np.testing.assert_allclose(changes, -0.2 * np.array([DECAY, DECAY + DECAY**2, DECAY / (1 - DECAY)]))
