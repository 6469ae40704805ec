import numpy as np
import pytest

import subridge as sr
from subridge.forecasting.pilot import factorise_pilot, read_sample
from subridge.forecasting.rule import Spread, influences, variance_shares


def test_influences_follow_the_delete_one_values(pilot_data):
    """Against leaving rows out and computing every leave-one-out error again."""
    X, y = pilot_data
    plan = sr.subsets.equal(2, 40, 0)
    penalties = np.full((1, 2), 4.0)
    form = np.full((1, 2, 2), 0.25)

    def value(rows):
        (block,) = factorise_pilot(read_sample(X[rows], y[rows], "regression", True).rows, plan).left_out(penalties)
        return block, (block.errors[0].mean(axis=0) ** 2).sum()

    block, whole = value(np.arange(60))
    gains = 1 / (1 - variance_shares(block.pilot.members, penalties))
    found = influences(block, form, gains)[0][0]
    exact = np.array([value(np.delete(np.arange(60), j))[1] - whole for j in range(60)])
    # Rows move what they move; the common shift by one row fewer is not in the influence.
    assert np.corrcoef(found, exact)[0, 1] > 0.98
    assert found.std() == pytest.approx(exact.std(), rel=0.15)


@pytest.mark.slow
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


def spread_of(squares):
    """Of a plain mean, as the jackknife would have it: leaving out a large square lowers the mean."""
    one = np.ones(1)
    return Spread.of_influences(squares.mean() - squares[None], one, one * len(squares))


def covered(draw, n, trials=2000):
    """Share of intervals of 90 % that hold the mean, with and without what tails add; (2,)."""
    rng, found = np.random.default_rng(0), []
    truth = draw(rng, 10**6).mean()
    for _ in range(trials):
        squares = draw(rng, n)
        mean, spread = np.array([squares.mean()]), spread_of(squares)
        below, above = spread.log_widths(mean, 0.9)
        lower, upper = mean / np.exp(below), mean * np.exp(above)
        found.append([lower <= truth <= upper, lower <= truth <= mean * np.exp(below)])
    return np.mean(found, axis=0).ravel()


@pytest.mark.slow
def test_heavy_tails_raise_the_upper_bound():
    with_lean, without = covered(lambda rng, n: rng.lognormal(0.0, 1.8, n), 100)
    assert without < 0.83
    assert with_lean > without + 0.015


@pytest.mark.slow
def test_gaussian_errors_are_left_alone():
    with_lean, without = covered(lambda rng, n: rng.standard_normal(n) ** 2, 200)
    assert 0.88 < without <= with_lean < without + 0.01
