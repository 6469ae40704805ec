"""Our ensembles against scikit-learn's, member for member on the same masks."""

from itertools import product

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_digits
from sklearn.ensemble import BaggingRegressor
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier, RidgeCV
from sklearn.model_selection import LeaveOneOut, cross_val_predict

import subridge as sr

TOLERANCE = 1e-8


def looped_prediction(X, y, X_new, masks, ridges, *, weights=None, intercept=True):
    """A hand-written ensemble: one scikit-learn model per mask, averaged."""
    members = []
    for mask, ridge in zip(masks, ridges, strict=True):
        # LinearRegression takes the minimum-norm solution, which Ridge(alpha=0) leaves to its solver.
        model = (
            Ridge(alpha=ridge * len(mask), fit_intercept=intercept, solver="svd")
            if ridge
            else LinearRegression(fit_intercept=intercept, tol=1e-15)
        )
        members.append(model.fit(X[:, mask], y, sample_weight=weights).predict(X_new[:, mask]))
    return np.mean(members, axis=0)


@pytest.mark.parametrize("ridge", [0.0, 0.7, [0.0, 0.1, 10.0]])
@pytest.mark.parametrize("n", [10, 20, 21, 60])  # members of 20, 12 and 30 features: n < N, n = N, n > N
def test_predictions_equal_a_loop_over_the_masks(n, ridge):
    for weighted, intercept, n_targets in product((True, False), (True, False), (1, 3)):
        check_predictions(n, ridge, weighted, intercept, n_targets)


def check_predictions(n, ridge, weighted, intercept, n_targets):
    rng = np.random.default_rng(0)
    X, X_new = rng.standard_normal((n, 40)) + 1.0, rng.standard_normal((25, 40))
    y = rng.standard_normal(n) if n_targets == 1 else rng.standard_normal((n, n_targets))
    weights = rng.uniform(0.3, 3.0, n) if weighted else None
    plan = sr.subsets.overlapping([20, 12, 30], 40, seed=1)
    model = sr.RidgeEnsembleRegressor(subsets=plan, ridge=ridge, fit_intercept=intercept, aggregation="mean")
    ours = model.fit(X, y, sample_weight=weights).predict(X_new)
    ridges = np.broadcast_to(ridge, (3,))
    theirs = looped_prediction(X, y, X_new, plan.measurements, ridges, weights=weights, intercept=intercept)
    assert ours.shape == theirs.shape
    # At n = N without ridge the smallest singular value is about 1e-3 of the largest: solutions are that much larger.
    np.testing.assert_allclose(ours, theirs, rtol=TOLERANCE, atol=TOLERANCE * max(1.0, abs(theirs).max()))


@pytest.mark.parametrize(("n", "ridge"), [(400, 0.3), (60, 0.3), (60, 5.0)])
def test_predictions_equal_bagged_ridge(n, ridge):
    X, y = load_diabetes(return_X_y=True)
    X = np.hstack([X, X**2 * 20, np.sin(X * 40)])  # 30 features
    bagged = BaggingRegressor(Ridge(alpha=ridge * 12), n_estimators=9, max_features=12, bootstrap=False, random_state=0)
    bagged.fit(X[:n], y[:n])
    ours = sr.RidgeEnsembleRegressor(subsets=bagged.estimators_features_, ridge=ridge, aggregation="mean").fit(
        X[:n], y[:n]
    )
    np.testing.assert_allclose(ours.predict(X[400:]), bagged.predict(X[400:]), rtol=TOLERANCE)
    assert ours.n_estimators_ == 9


def test_a_ridge_per_member_equals_bagged_ridge_cv():
    X, y = load_diabetes(return_X_y=True)
    X = np.hstack([X, X**2 * 20, np.sin(X * 40)])
    ridges = np.logspace(-4, 1, 11)
    bagged = BaggingRegressor(
        RidgeCV(alphas=ridges * 8), n_estimators=7, max_features=8, bootstrap=False, random_state=1
    ).fit(X, y)
    options = {"subsets": bagged.estimators_features_, "aggregation": "mean"}
    theirs = np.array([member.alpha_ for member in bagged.estimators_]) / 8
    ours = sr.RidgeEnsembleRegressor(ridge=theirs, **options).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), bagged.predict(X), rtol=TOLERANCE)
    # Our choice adds what an error may owe to luck, more so for small ridges.
    chosen = sr.RidgeEnsembleRegressor(ridge_scope="member", ridges=ridges, **options).fit(X, y).ridge_
    assert len(set(chosen)) > 1
    assert (chosen >= theirs * (1 - 1e-9)).all()
    assert np.isclose(chosen, theirs).sum() >= 4


@pytest.mark.parametrize("aggregation", ["mean", "median"])
@pytest.mark.parametrize(("n", "ridge"), [(40, 0.5), (40, 0.0), (9, 0.0)])
def test_the_leave_one_out_error_equals_refitting_the_whole_ensemble(aggregation, n, ridge):
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:n] * 20, y[:n] / 50
    plan = sr.subsets.overlapping([3, 4, 6], 10, seed=0) if n > 10 else sr.subsets.equal(1, 10)
    model = sr.RidgeEnsembleRegressor(subsets=plan, ridge=ridge, aggregation=aggregation)
    refitted = cross_val_predict(model, X, y, cv=LeaveOneOut())
    assert model.fit(X, y).loo_error_ == pytest.approx(np.mean((refitted - y) ** 2), rel=TOLERANCE)


@pytest.mark.parametrize("voting", ["majority", "sum"])
def test_the_leave_one_out_votes_equal_refitting_the_whole_classifier(voting):
    X, y = load_digits(n_class=6, return_X_y=True)
    X, y = X[:60], y[:60]
    model = sr.RidgeEnsembleClassifier(subsets=sr.subsets.overlapping([6, 9, 12], 64, seed=0), ridge=1.0, voting=voting)
    refitted = cross_val_predict(model, X, y, cv=LeaveOneOut())
    mistakes = np.mean(refitted != y)
    assert 0 < mistakes < 1
    assert model.fit(X, y).loo_error_ == pytest.approx(mistakes)


def test_one_member_on_all_features_equals_ridge_cv():
    X, y = load_diabetes(return_X_y=True)
    ridges = np.logspace(-6, 1, 8)
    single = RidgeCV(alphas=ridges * 10).fit(X, y)
    ours = sr.RidgeEnsembleRegressor(1, subsets="equal", ridges=ridges, aggregation="mean").fit(X, y)
    assert ours.ridge_path_[ours.loo_path_.argmin()] * 10 == pytest.approx(single.alpha_)
    assert ours.loo_path_.min() == pytest.approx(-single.best_score_, rel=1e-9)
    assert ours.ridge_ * 10 == pytest.approx(single.alpha_)
    np.testing.assert_allclose(ours.coef_, single.coef_, rtol=1e-7)
    assert -single.best_score_ <= ours.loo_error_ < -1.02 * single.best_score_  # with what choosing costs


def test_one_binary_member_equals_ridge_classifier():
    X, y = load_digits(n_class=2, return_X_y=True)
    theirs = RidgeClassifier(alpha=64 * 2.0).fit(X[:200], y[:200])
    ours = sr.RidgeEnsembleClassifier(1, subsets="equal", ridge=2.0, voting="sum").fit(X[:200], y[:200])
    # RidgeClassifier regresses labels -1 and 1; the difference of one-hot scores is the same number.
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-8)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
