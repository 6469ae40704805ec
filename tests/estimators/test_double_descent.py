"""The classic picture on real data: the spike of equal ensembles, and none for heterogeneous ones."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

import subridge as sr

M, K, TRIALS = 200, 4, 9
SAMPLES = np.array([20, 30, 40, 50, 62, 80, 110, 150])
SPIKE = int(np.flatnonzero(M // K == SAMPLES)[0])


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def features():
    """Rectified random features of the digits, standardised."""
    X, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    Z = np.maximum((X - X.mean(axis=0)) / 32 @ rng.standard_normal((64, M)) + 0.3 * rng.standard_normal(M), 0)
    return (Z - Z.mean(axis=0)) / Z.std(axis=0), y


def learning_curve(features, subsets):
    """Median over trials of the test error without ridge: squared (one-hot) and share misclassified."""
    Z, y = features
    Y, squared, wrong = np.eye(10)[y], [], []
    for trial in range(TRIALS):
        order = np.random.default_rng(trial).permutation(len(y))
        test = order[-500:]
        for n in SAMPLES:
            model = sr.RidgeEnsembleRegressor(K, subsets=subsets, ridge=0.0, fit_intercept=False, random_state=trial)
            scores = model.fit(Z[order[:n]], Y[order[:n]]).predict(Z[test])
            squared.append(((scores - Y[test]) ** 2).sum(axis=1).mean())
            wrong.append((scores.argmax(axis=1) != y[test]).mean())
    return (np.median(np.reshape(values, (TRIALS, -1)), axis=0) for values in (squared, wrong))


def test_an_equal_ensemble_spikes_where_samples_equal_features_per_member(features):
    squared, wrong = learning_curve(features, "equal")
    assert np.argmax(squared) == np.argmax(wrong) == SPIKE
    assert squared[SPIKE] > 10 * max(squared[SPIKE - 1], squared[SPIKE + 1])
    assert wrong[SPIKE] > 2 * max(wrong[SPIKE - 1], wrong[SPIKE + 1])


def test_a_heterogeneous_ensemble_has_no_spike(features):
    squared, wrong = learning_curve(features, "dirichlet")
    assert (squared < 1.3 * squared[0]).all()
    assert (squared[1:] < 1.3 * squared[:-1]).all()
    assert (wrong < 1.1 * wrong[0]).all()
