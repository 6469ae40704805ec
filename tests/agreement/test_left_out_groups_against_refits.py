"""Leaving out groups in closed form, against training again without them."""

import numpy as np
import pytest

import subridge as sr

# Some groups hold most of the rows, and some samples are too few to fit weights, so that the mean is taken: both are
# told, and not what is tested here.
pytestmark = [
    pytest.mark.filterwarnings("ignore::subridge.model.errors.LargeGroupWarning"),
    pytest.mark.filterwarnings("ignore::subridge.model.errors.FewSamplesWarning"),
]

AGGREGATIONS = ("mean", "scaled", "simplex", "free", "median")


def refitted(X, y, weights, penalty, fit_intercept):
    """Plain weighted ridge regression, the minimum-norm solution without penalty; a function of new rows."""
    total = weights.sum()
    means, mean = (weights @ X / total, weights @ y / total) if fit_intercept else (np.zeros(X.shape[1]), 0.0)
    root = np.sqrt(weights)
    F, g = (X - means) * root[:, None], (y - mean) * root
    U, s, Vt = np.linalg.svd(F, full_matrices=False)
    kept = s > 1e-13 * max(F.shape) * s[0] if s[0] > 0 else s > 0
    coef = Vt[kept].T @ (s[kept] / (s[kept] ** 2 + penalty) * (U[:, kept].T @ g))
    return lambda new: mean + (new - means) @ coef


def aggregate(model, outputs, mean):
    """The aggregate of member outputs (k, m) at the fitted weights, measured from the mean of the training rows."""
    if model.aggregation == "median":
        return np.median(outputs, axis=0)
    return mean + model.weights_ @ (outputs - mean)


def refit_without(model, X, y, weights, rows, new):
    """What the ensemble at its ridges and weights says of new rows when trained without some."""
    rest = np.setdiff1d(np.arange(len(y)), rows)
    outputs = []
    for features, ridge in zip(model.estimators_features_, model.ensemble_.ridge, strict=True):
        trained = refitted(X[rest][:, features], y[rest], weights[rest], ridge * len(features), model.fit_intercept)
        outputs.append(trained(new[:, features]))
    mean = weights[rest] @ y[rest] / weights[rest].sum() if model.fit_intercept else 0.0
    return aggregate(model, np.array(outputs), mean)


def random_groups(rng, n):
    """Groups of any size up to half of the rows, in no order."""
    largest = int(rng.integers(1, n // 2 + 1))
    others = 1 + rng.integers(0, max(1, int(rng.integers(1, n))), n - largest)
    return rng.permutation(np.concatenate([np.zeros(largest, dtype=int), others]))


def at_fitted_weights(model, y):
    """Left-out predictions at the weights of the whole fit; those of the model choose weights without each group."""
    left_out = model._left_out
    if not model.ensemble_.aggregation.fits_weights:
        return model.loo_predictions_
    w, errors, deviations = left_out.weights, left_out.errors[:, 0], left_out.rows.deviations[0]
    return y - w @ errors - (1 - w.sum()) * deviations


def random_case(number):
    rng = np.random.default_rng(number)
    n, k = int(rng.integers(6, 31)), int(rng.integers(1, 4))
    M = max(k, (int(rng.integers(1, n)), n, int(rng.integers(n + 1, 2 * n + 2)), n - 1)[number % 4])
    X = rng.standard_normal((n, M)) + rng.standard_normal(M)
    y = X @ rng.standard_normal(M) + rng.standard_normal(n)
    weights = rng.uniform(0.1, 3.0, n) if rng.integers(2) else None
    subsets, sizes = "equal" if rng.integers(2) else "overlapping", float(rng.uniform(0.5, 1.0))
    model = sr.RidgeEnsembleRegressor(
        k,
        subsets=subsets,
        subset_sizes=sizes if subsets == "overlapping" else None,
        ridge=float(rng.choice([0.0, 0.0, 1e-8, 1e-3, 1.0, 100.0])),
        aggregation=AGGREGATIONS[number % 5],
        fit_intercept=bool(rng.integers(2)),
        random_state=number,
    )
    return model, X, y, weights, random_groups(rng, n)


@pytest.mark.parametrize("block", [0, *(pytest.param(block, marks=pytest.mark.slow) for block in range(1, 25))])
def test_left_out_groups_are_what_training_without_them_predicts(block):
    """1,000 cases: more and fewer features than rows, weights, intercepts, no ridge, groups of 1 to n/2."""
    for number in range(40 * block, 40 * (block + 1)):
        model, X, y, weights, groups = random_case(number)
        model.fit(X, y, sample_weight=weights, groups=groups)
        w = np.ones(len(y)) if weights is None else weights
        for label in np.unique(groups):
            rows = np.flatnonzero(groups == label)
            expected = refit_without(model, X, y, w, rows, X[rows])
            deviation = np.abs(at_fitted_weights(model, y)[rows] - expected).max()
            assert deviation <= 1e-7 * max(np.abs(y[rows] - expected).max(), np.abs(y).max()), (number, label)


@pytest.mark.parametrize("gap", [1, 3])
@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_a_gap_leaves_out_neighbours_and_answers_for_one_row(gap, ridge):
    rng = np.random.default_rng(gap)
    X, y = rng.standard_normal((30, 12)), rng.standard_normal(30)
    model = sr.RidgeEnsembleRegressor(2, ridge=ridge, gap=gap, random_state=0, aggregation="mean").fit(X, y)
    for i in range(30):
        rows = np.arange(max(0, i - gap), min(30, i + gap + 1))
        expected = refit_without(model, X, y, np.ones(30), rows, X[[i]])
        np.testing.assert_allclose(model.loo_predictions_[i], expected[0], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("aggregation", AGGREGATIONS)
@pytest.mark.parametrize(("M", "ridge"), [(12, 0.1), (60, 0.1), (60, 0.0)])
def test_intervals_are_those_of_refits(grouped, aggregation, M, ridge):
    rng = np.random.default_rng(M)
    n, level = 24, 0.8
    X, y, new = rng.standard_normal((n, M)), rng.standard_normal(n), rng.standard_normal((7, M))
    weights, groups = rng.uniform(0.5, 2.0, n), np.arange(n) // 2 if grouped else None
    model = sr.RidgeEnsembleRegressor(3, ridge=ridge, aggregation=aggregation, random_state=0)
    lower, upper = model.fit(X, y, sample_weight=weights, groups=groups).predict_interval(new, level)
    sets = [np.flatnonzero(groups == g) for g in range(12)] if grouped else [np.array([i]) for i in range(n)]
    values, masses = [], []
    for rows in sets:
        left = refit_without(model, X, y, weights, rows, np.vstack([new, X[rows]]))
        # Fitted weights are those of the whole fit for new rows, and chosen without the row for its own error.
        own = left[7:] if aggregation == "mean" else model.loo_predictions_[rows]
        values += [(left[:7] - abs(error), left[:7] + abs(error)) for error in y[rows] - own]
        masses += [1 / (len(sets) + 1) / len(rows)] * len(rows)
    low, high = np.array(values).transpose(1, 2, 0)
    for x in range(7):
        order = np.argsort(high[x])
        wanted = high[x][order][np.argmax(np.cumsum(np.array(masses)[order]) >= level - 1e-9)]
        np.testing.assert_allclose(upper[x], wanted, rtol=1e-8, atol=1e-8)
        order = np.argsort(-low[x])
        wanted = low[x][order][np.argmax(np.cumsum(np.array(masses)[order]) >= level - 1e-9)]
        np.testing.assert_allclose(lower[x], wanted, rtol=1e-8, atol=1e-8)
