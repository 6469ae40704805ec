"""The classification engine against a plain loop over scikit-learn's Ridge, to the last vote."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import subridge as sr
from subridge.arrays.machine import device_problem, stacked_normals
from subridge.arrays.namespace import to_numpy
from subridge.simulation.classification import TEST_NOISE, TRAINING_NOISE, make_classification

# The sizes cross the interpolation threshold of every member; 12 and 36 hit those of k = 3 and k = 1 exactly.
_GRID = {"ridges": [0.0, 0.1], "n_samples": [5, 12, 36, 120]}


def ensembles(subsets, aggregation):
    strategies = [sr.subsets.Equal(k) if subsets == "equal" else sr.subsets.Dirichlet(k, 0.75) for k in (1, 2, 3, 9)]
    return [sr.Ensemble(each, readout_noise=[[0.0], [0.5]], aggregation=aggregation) for each in strategies]


def toy(seed=0, n=140, n_test=80, n_features=36, n_classes=4):
    """Classes around positive means, without centring, as pooled activations are."""
    rng = np.random.default_rng(seed)
    means = rng.standard_normal((n_classes, n_features))
    y = rng.integers(n_classes, size=n + n_test)
    X = np.maximum(means[y] + rng.standard_normal((n + n_test, n_features)), 0) + 0.1 * rng.random((1, n_features))
    return X[:n], y[:n], X[n:], y[n:]


def vote(scores, aggregation):
    """Prediction from scores of shape (k, n_test, n_classes) by the documented rule, sample by sample."""
    total = scores.sum(axis=0)
    if aggregation == "sum":
        return total.argmax(axis=1)
    taken = []
    for sample in range(scores.shape[1]):
        votes = np.bincount(scores[:, sample].argmax(axis=1), minlength=scores.shape[2])
        tied = np.flatnonzero(votes == votes.max())
        taken.append(tied[total[sample, tied].argmax()])
    return np.array(taken)


def plain_loop(data, chosen, options, device):
    """Shares of wrong classes by one scikit-learn fit per member, noise, ridge and size."""
    X, _, X_test, y_test = data
    e = make_classification(data, chosen, **options, device=device)
    error = np.zeros((e.n_trials, len(e.strategies), len(e.ridges), len(e.readout_noises), len(e.n_samples)))
    for trial, place in np.ndindex(*error.shape[:2]):
        order, plan = e.order_of(trial), e.plan_of(place, trial)
        for l, n, p in np.ndindex(*error.shape[2:]):
            rows, eta = order[: e.n_samples[p]], e.readout_noises[n]
            for draw in range(e.test_draws):
                scores = []
                for r, columns in enumerate(plan.measurements):
                    shape = (e.n_samples[-1], len(e.classes))
                    xi = to_numpy(stacked_normals(e.seed, [(TRAINING_NOISE, trial, r)], shape, device, "float64")[0])
                    shape = (len(y_test), len(e.classes))
                    where = [(TEST_NOISE, trial, draw, r)]
                    fresh = to_numpy(stacked_normals(e.seed, where, shape, device, "float64")[0])
                    goals = np.eye(len(e.classes))[e.labels][rows] - eta * xi[: len(rows)]
                    F, F_test = X[np.ix_(rows, columns)], X_test[:, columns]
                    if e.ridges[l] == 0:
                        quiet = F_test @ (np.linalg.pinv(F) @ goals)
                    else:
                        model = Ridge(alpha=e.ridges[l] * len(columns), fit_intercept=False).fit(F, goals)
                        quiet = model.predict(F_test)
                    scores.append(quiet + eta * fresh)
                wrong = vote(np.array(scores), e.aggregation.name) != y_test
                error[trial, place, l, n, p] += wrong.mean() / e.test_draws
    return error


@pytest.mark.parametrize("subsets", [pytest.param("equal", marks=pytest.mark.slow), "dirichlet"])
@pytest.mark.parametrize("aggregation", ["majority", pytest.param("sum", marks=pytest.mark.slow)])
def test_every_vote_equals_that_of_a_scikit_learn_loop(subsets, aggregation):
    options, chosen = _GRID | {"n_trials": 1, "test_draws": 2, "seed": 3}, ensembles(subsets, aggregation)
    ours = sr.simulate_classification(*toy(), chosen, **options, progress=False)
    np.testing.assert_allclose(ours.misclassification, plain_loop(toy(), chosen, options, "cpu"), rtol=0, atol=1e-12)


@pytest.mark.torch
@pytest.mark.skipif(device_problem("torch") is not None, reason="PyTorch is not installed")
def test_every_vote_of_the_batched_engine_equals_that_of_a_scikit_learn_loop():
    options, chosen = _GRID | {"n_trials": 2, "test_draws": 1, "seed": 4}, ensembles("dirichlet", "majority")
    ours = sr.simulate_classification(*toy(), chosen, **options, run=sr.Run(device="torch"), progress=False)
    np.testing.assert_allclose(ours.misclassification, plain_loop(toy(), chosen, options, "torch"), rtol=0, atol=1e-12)
