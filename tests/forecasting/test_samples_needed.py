"""How many rows reach a wanted error."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import Ridge

import subridge as sr
from subridge.model.errors import SubridgeWarning

ONE = {"one": sr.Ensemble(sr.subsets.Equal(1), 0.1)}


def gaussian(n, M, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, M))
    return X, X[:, 0] + X[:, 1] + rng.standard_normal(n)


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


@pytest.mark.slow
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


def test_an_error_inside_the_interval_of_the_label_noise_cannot_be_told():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 10))
    y = X @ rng.standard_normal(10) + 2 * rng.standard_normal(100)
    noise = {end: sr.forecast(X, y, [100], ONE).attrs[f"label_noise_{end}"] ** 2 for end in ("lower", "upper")}
    inside = 1.1 * noise["lower"]
    assert inside < noise["upper"]
    (answer,) = sr.samples_needed(X, y, inside, ONE).answer.values
    assert answer.startswith("may not be reachable: the label noise alone is ")
    blind = {"blind": sr.Ensemble(sr.SubsetPlan.from_indices([[0]], 10), ridge=0.1)}  # errs more, whatever the noise is
    (answer,) = sr.samples_needed(X, y, inside, blind).answer.values
    assert answer.startswith("not reachable: with infinitely many rows the error of this ensemble is ")


def test_beyond_reach_there_is_no_answer():
    X, y = gaussian(40, 100)
    needed = sr.samples_needed(X, y, 1.1, ONE)
    assert np.isinf(needed.n_samples[0])
    assert not needed.in_reach[0]
    assert str(needed.answer.values[0]).startswith("not ")
