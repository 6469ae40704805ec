import numpy as np
import pytest

import subridge as sr
from subridge.forecasting.pilot.left_out import left_out
from subridge.forecasting.pilot.pilot import decompose_pilot
from subridge.forecasting.uncertainty.jackknife import jackknife
from subridge.ridge.rows.training import training_rows


def test_influences_follow_the_delete_one_values(pilot_data):
    """Against leaving rows out and computing every leave-one-out error again."""
    X, y = pilot_data
    plan = sr.subsets.equal(2, 40, 0)
    penalties = np.full((1, 2), 4.0)
    form = np.full((1, 2, 2), 0.25)

    def value(rows):
        (block,) = left_out(decompose_pilot(training_rows(X[rows], y[None, rows], None, True), plan), penalties)
        return block, (block.errors[0].mean(axis=0) ** 2).sum()

    block, whole = value(np.arange(60))
    traces = block.diagonals.sum(axis=2)
    gains = 60 * block.pair_traces / (traces[:, :, None] * traces[:, None, :])
    found = jackknife(block, form, gains, np.zeros(1), np.ones(1)).influence[0]
    exact = np.array([value(np.delete(np.arange(60), j))[1] - whole for j in range(60)])
    # Rows move what they move; the common shift by one row fewer is not in the influence.
    assert np.corrcoef(found, exact)[0, 1] > 0.98
    assert found.std() == pytest.approx(exact.std(), rel=0.15)


@pytest.mark.parametrize(("M", "ridge"), [(40, 0.0), (40, 0.5), (120, 0.5)])
def test_standard_errors_are_those_of_other_pilots(M, ridge):
    rng = np.random.default_rng(0)
    beta = rng.standard_normal(M) / np.sqrt(M)
    ensemble = {"it": sr.Ensemble(sr.subsets.equal(1, M, 0), ridge)}
    found = []
    for _ in range(100):
        X = rng.standard_normal((80, M))
        y = X @ beta + 0.7 * rng.standard_normal(80)
        found.append(sr.forecast(X, y, [80], ensemble))
    spread = np.std([float(each.prediction_error[0, 0]) for each in found])
    assert np.mean([float(each.standard_error[0, 0]) for each in found]) == pytest.approx(spread, rel=0.3)
