"""RidgeEnsembleClassifier: votes, ties, probabilities, class weights."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.metrics import log_loss

import subridge as sr


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X[order] / 16, y[order]
    return X[:300], y[:300], X[300:], y[300:]


def scores(model, X):
    """Members' scores, shape (k, n, C)."""
    return np.stack(
        [
            X[:, index] @ coef.T + intercept
            for index, coef, intercept in zip(
                model.estimators_features_, model.estimators_coef_, model.estimators_intercept_, strict=True
            )
        ]
    )


def test_each_member_regresses_one_hot_labels(digits):
    X, y, *_ = digits
    model = sr.RidgeEnsembleClassifier(3, ridge=0.5, random_state=0, voting="majority").fit(X, y)
    for index, coef in zip(model.estimators_features_, model.estimators_coef_, strict=True):
        F, Y = X[:, index] - X[:, index].mean(axis=0), np.eye(10)[y]
        wanted = np.linalg.solve(F.T @ F + 0.5 * len(index) * np.eye(len(index)), F.T @ Y).T
        np.testing.assert_allclose(coef, wanted, atol=1e-9)


def test_the_majority_decides_and_ties_go_to_the_summed_scores_then_the_lowest_class(digits):
    X, y, X_new, _ = digits
    model = sr.RidgeEnsembleClassifier(4, random_state=0, voting="majority").fit(X, y)
    members = scores(model, X_new)
    votes = np.array([np.bincount(row, minlength=10) for row in members.argmax(axis=2).T])
    tied = votes == votes.max(axis=1, keepdims=True)
    assert (tied.sum(axis=1) > 1).any()  # four members over ten classes do tie
    wanted = np.where(tied, members.sum(axis=0), -np.inf).argmax(axis=1)
    np.testing.assert_array_equal(model.predict(X_new), wanted)


def test_the_summed_scores_decide_when_asked(digits):
    X, y, X_new, _ = digits
    model = sr.RidgeEnsembleClassifier(4, voting="sum", random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.predict(X_new), scores(model, X_new).sum(axis=0).argmax(axis=1))
    np.testing.assert_allclose(model.decision_function(X_new), X_new @ model.coef_.T + model.intercept_)


@pytest.mark.parametrize("voting", ["majority", "sum"])
def test_probabilities_agree_with_predictions_and_are_calibrated(digits, voting):
    X, y, X_new, y_new = digits
    model = sr.RidgeEnsembleClassifier(6, voting=voting, random_state=0).fit(X, y)
    probabilities = model.predict_proba(X_new)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    np.testing.assert_array_equal(probabilities.argmax(axis=1), model.predict(X_new))
    # Mean confidence equals accuracy on new data up to sampling error (300 left-out, 1497 new samples: 0.02).
    assert probabilities.max(axis=1).mean() == pytest.approx(model.score(X_new, y_new), abs=0.06)
    decision = model.decision_function(X_new)
    raw = np.exp(decision) / np.exp(decision).sum(axis=1, keepdims=True)
    assert log_loss(y_new, probabilities) < log_loss(y_new, raw) - 0.3


def test_the_leave_one_out_error_predicts_the_test_error(digits):
    X, y, X_new, y_new = digits
    model = sr.RidgeEnsembleClassifier(6, random_state=0, voting="majority").fit(X, y)
    assert model.loo_error_ == pytest.approx(1 - model.score(X_new, y_new), abs=0.05)  # binomial error 0.018
    assert model.loo_path_.min() <= model.loo_error_ < model.loo_path_.min() + 0.02  # what choosing costs


def test_two_classes_have_one_decision_value(digits):
    X, y, X_new, _ = digits
    words = np.array(["even", "odd"])
    model = sr.RidgeEnsembleClassifier(5, random_state=0, voting="majority").fit(X, words[y % 2])
    decision = model.decision_function(X_new)
    assert decision.shape == (len(X_new),)
    assert model.coef_.shape == (1, 64)
    np.testing.assert_array_equal(model.predict(X_new), words[(decision > 0).astype(int)])


def test_class_weights_are_sample_weights(digits):
    X, y, X_new, _ = digits
    y = y % 3
    by_class = {0: 1.0, 1: 5.0, 2: 0.5}
    a = sr.RidgeEnsembleClassifier(4, ridge=1.0, class_weight=by_class, random_state=0, voting="majority").fit(X, y)
    b = sr.RidgeEnsembleClassifier(4, ridge=1.0, random_state=0, voting="majority")
    b.fit(X, y, sample_weight=np.vectorize(by_class.get)(y))
    np.testing.assert_allclose(a.predict_proba(X_new), b.predict_proba(X_new))


def test_balanced_weights_raise_the_rare_class(digits):
    X, y, X_new, y_new = digits
    rare, rare_new = (y == 8).astype(int), (y_new == 8).astype(int)
    plain = sr.RidgeEnsembleClassifier(4, ridge=1.0, voting="sum", random_state=0).fit(X, rare)
    balanced = sr.RidgeEnsembleClassifier(4, ridge=1.0, voting="sum", class_weight="balanced", random_state=0)
    balanced.fit(X, rare)
    recall = [model.predict(X_new)[rare_new == 1].mean() for model in (plain, balanced)]
    assert recall[1] > recall[0] + 0.3


@pytest.mark.parametrize("voting", ["majority", "sum"])
def test_a_repeated_row_counts_like_a_row_of_weight_two(digits, voting):
    X, y, X_new, _ = digits
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    model = sr.RidgeEnsembleClassifier(4, ridge=1.0, voting=voting, random_state=0)
    weighted = model.fit(X, y, sample_weight=weights).decision_function(X_new)
    with pytest.warns(sr.errors.CorrelatedRowsWarning):  # neighbours are copies
        repeated = model.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights)).decision_function(X_new)
    np.testing.assert_allclose(weighted, repeated, atol=1e-9)


def test_a_row_of_weight_zero_does_not_exist_even_for_probabilities(digits):
    X, y, X_new, _ = digits
    model = sr.RidgeEnsembleClassifier(4, random_state=0, voting="majority")
    weighted = model.fit(X, y, sample_weight=np.r_[np.ones(250), np.zeros(50)]).predict_proba(X_new)
    np.testing.assert_allclose(weighted, model.fit(X[:250], y[:250]).predict_proba(X_new), atol=1e-9)


@pytest.mark.parametrize(
    "labels",
    [
        lambda y: np.where(y > 0, y.astype(str), None),
        lambda y: pd.Series(np.where(y > 0, y.astype(str), None)),
        lambda y: pd.Series(np.where(y > 0, y.astype(str), None), dtype="string"),
        lambda y: np.where(y > 0, y.astype(str), None).tolist(),
        lambda y: pd.Series(y).where(y > 0).astype("Int64"),
    ],
)
def test_classes_that_are_missing_are_told(digits, labels):
    X, y, *_ = digits
    with pytest.raises(sr.errors.DataError, match=f"y contains NaN or None in {np.sum(y == 0)} places"):
        sr.RidgeEnsembleClassifier(1).fit(X, labels(y))


def test_sparse_input_gives_the_same_votes(digits):
    X, y, X_new, _ = digits
    model = sr.RidgeEnsembleClassifier(4, random_state=0, voting="majority")
    dense = model.fit(X, y).predict_proba(X_new)
    thin = model.fit(sparse.csr_array(X), y).predict_proba(sparse.csr_array(X_new))
    np.testing.assert_allclose(thin, dense, atol=1e-8)


@pytest.mark.slow
def test_ridges_per_member_may_be_searched(digits):
    X, y, X_new, y_new = digits
    ridges = [1e-6, 1e-4, 0.01, 1.0, 100.0, 1e4]
    for scope in ("member", "joint"):
        model = sr.RidgeEnsembleClassifier(3, ridge_scope=scope, ridges=ridges, random_state=0, voting="majority").fit(
            X, y
        )
        assert model.ridge_.shape == (3,)
        assert model.score(X_new, y_new) > 0.7


def test_unusable_labels_and_options_are_named(digits):
    X, y, *_ = digits
    with pytest.raises(ValueError, match="at least two classes"):
        sr.RidgeEnsembleClassifier().fit(X, np.zeros(len(y)))
    with pytest.raises(sr.errors.ParameterError, match="voting must be one of majority, sum"):
        sr.RidgeEnsembleClassifier(voting="loudest").fit(X, y)
