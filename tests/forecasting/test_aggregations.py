"""Weighted sums of members whose weights need not sum to one."""

import numpy as np
import pytest

import subridge as sr
from subridge.ensemble.aggregation import Simplex
from subridge.spec.errors import ParameterError

M, ZETA = 40, 0.5
PLAN = sr.subsets.equal(4, M, 0)
BETA = np.random.default_rng(1).standard_normal(M) / 3


def draw(rng, n):
    X = rng.standard_normal((n, M))
    return X, X @ BETA + ZETA * rng.standard_normal(n) + 2.0


@pytest.mark.parametrize("aggregation", ["scaled", "free"])
def test_what_they_err_is_what_trained_ensembles_err(aggregation):
    """Members that each see a quarter of the features: their mean throws away most of what they know."""
    rng = np.random.default_rng(0)
    X_test, y_test = draw(rng, 5000)
    truth = []
    for _ in range(6):
        model = sr.RidgeEnsembleRegressor(subsets=PLAN, ridge=0.3, aggregation=aggregation).fit(*draw(rng, 480))
        truth.append(((model.predict(X_test) - y_test) ** 2).mean())
    ensembles = {kind: sr.Ensemble(PLAN, 0.3, aggregation=kind) for kind in ("mean", aggregation)}
    found = np.mean([sr.forecast(*draw(rng, 120), [480], ensembles).prediction_error.values for _ in range(6)], axis=0)
    assert found[1, 0] == pytest.approx(np.mean(truth), rel=0.12)
    assert found[1, 0] < 0.5 * found[0, 0]


def test_a_constant_target_among_many_changes_nothing(pilot_data):
    X, y = pilot_data
    ensembles = {"one": sr.Ensemble(sr.subsets.Equal(1), 0.3)}
    alone = sr.forecast(X, y, [120], ensembles)
    among = sr.forecast(X, np.stack([y, np.full(60, 4.0)], axis=1), [120], ensembles)
    np.testing.assert_allclose(among.prediction_error, alone.prediction_error, rtol=1e-9)
    np.testing.assert_allclose(among.prediction_error_upper, alone.prediction_error_upper, rtol=1e-6)


def test_weights_for_each_target_are_refused(pilot_data):
    X, y = pilot_data
    ensembles = {"own": sr.Ensemble(sr.subsets.equal(2, 40, 0), 0.3, aggregation=Simplex(per_target=True))}
    with pytest.raises(ParameterError, match="each target"):
        sr.forecast(X, y, [120], ensembles)
