"""Tables as people have them: columns whose units differ by many powers of ten."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import RidgeCV

import subridge as sr
from subridge.model.errors import RidgePathWarning, ScaleWarning


def spread_table(seed):
    """500 rows to learn from and 1000 to be judged by; scales of columns spread over 10⁸."""
    rng = np.random.default_rng(seed)
    M = int(rng.integers(3, 30))
    scales = 10.0 ** rng.uniform(-4, 4, M)
    scales[:2] = 1e-4, 1e4
    Z = rng.standard_normal((1500, M))
    if seed % 2:
        Z = Z @ (np.eye(M) + 0.4 * rng.standard_normal((M, M)))
    w = rng.standard_normal(M) * (rng.random(M) < 0.7)
    w[0] = 1.0  # the smallest column matters
    y = Z @ w + rng.uniform(0.2, 2) * rng.standard_normal(1500)
    X = (Z + rng.standard_normal(M)) * scales
    return X[:500], y[:500], X[500:], y[500:]


@pytest.mark.parametrize("seed", range(10))
def test_one_member_errs_no_more_than_a_ridge_chosen_by_scikit_learn(seed):
    X, y, X_new, y_new = spread_table(seed)
    with pytest.warns(ScaleWarning, match="StandardScaler"):
        model = sr.RidgeEnsembleRegressor(1, random_state=0).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rival = RidgeCV(np.logspace(-12, 12, 25)).fit(X, y)
    ours, theirs = (np.mean((each.predict(X_new) - y_new) ** 2) for each in (model, rival))
    assert ours <= 1.05 * theirs


def people(n=1500):
    rng = np.random.default_rng(0)
    income, age, ratio = rng.lognormal(10.5, 0.6, n), rng.uniform(18, 90, n), rng.random(n)
    y = 1e-5 * income + 0.01 * age + 2 * ratio + 0.3 * rng.standard_normal(n)
    return np.stack([income, age, ratio], axis=1), y


def test_income_beside_age_and_a_ratio():
    X, y = people()
    with pytest.warns(ScaleWarning, match=r"factor of 1e\+05 \(column 0 against column 2\)"):
        model = sr.RidgeEnsembleRegressor(1).fit(X[:500], y[:500])
    assert np.mean((model.predict(X[500:]) - y[500:]) ** 2) < 1.05 * 0.09
    with pytest.warns(ScaleWarning):
        curve = sr.forecast(X[:500], y[:500], [500], {"one": sr.Ensemble(sr.subsets.Equal(1))}, ridges="auto")
    assert float(curve.prediction_error[0, 0]) < 1.1 * 0.09


def test_columns_of_a_frame_are_called_by_their_names():
    pandas = pytest.importorskip("pandas")
    X, y = people(60)
    frame = pandas.DataFrame(X, columns=["income", "age", "ratio"])
    named = r"\(column 'income' against column 'ratio'\)"
    with pytest.warns(ScaleWarning, match=named):
        sr.RidgeEnsembleRegressor(1).fit(frame, y)
    with pytest.warns(ScaleWarning, match=named):
        sr.RidgeEnsembleRegressor(1, ridge=0.1).partial_fit(frame, y)
    with pytest.warns(ScaleWarning, match=named):
        sr.forecast(frame, y, [100], {"one": sr.Ensemble(sr.subsets.Equal(1), ridge=0.1)})


def test_a_choice_at_the_end_of_given_ridges_is_told_and_the_packages_own_path_goes_on():
    X, y = people(500)
    X = X / X.std(axis=0)
    noise = np.random.default_rng(1).standard_normal((60, 51))
    with pytest.warns(RidgePathWarning, match="largest of those considered"):
        sr.RidgeEnsembleRegressor(1, ridges=[1e-3, 1e-2, 0.1]).fit(noise[:, :50], noise[:, 50])
    with pytest.warns(RidgePathWarning, match="smallest of those considered"):
        sr.RidgeEnsembleRegressor(1, ridges=[1e3, 1e4, 1e5]).fit(X, y)
    with pytest.warns(RidgePathWarning, match="smallest of those considered"):
        sr.forecast(X, y, [500], {"one": sr.Ensemble(sr.subsets.Equal(1))}, ridges=[1e3, 1e4, 1e5])
    # Two columns that all but agree, and whose difference is what matters: no column is small, a direction is.
    rng = np.random.default_rng(2)
    shared, apart = rng.standard_normal((2, 400))
    twins = np.stack([shared + 1e-5 * apart, shared - 1e-5 * apart], axis=1)
    model = sr.RidgeEnsembleRegressor(1).fit(twins[:200], apart[:200] + 0.1 * rng.standard_normal(200))
    assert np.mean((model.predict(twins[200:]) - apart[200:]) ** 2) < 0.02


def test_rows_without_noise_need_no_ridge_and_no_warning():
    X = np.random.default_rng(3).standard_normal((80, 5))
    model = sr.RidgeEnsembleRegressor(1).fit(X, X @ np.arange(5.0))
    assert model.loo_error_ < 1e-6


def test_columns_whose_squares_differ_beyond_the_range_of_floats_give_one_named_warning():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4)) * [1, 1, 1, 1e-160]
    with pytest.warns(ScaleWarning, match=r"factor of \de\+1[56]") as said:
        sr.RidgeEnsembleRegressor(1).fit(X, X[:, 0] + rng.standard_normal(60))
    assert len(said) == 1
