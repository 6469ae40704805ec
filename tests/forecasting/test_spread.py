import numpy as np
import pytest

import subridge as sr
from subridge.forecasting.rule import log_widths, spread_of_means


@pytest.mark.slow
@pytest.mark.parametrize(("M", "ridge"), [(40, 0.0), (40, 0.5), (120, 0.5), (70, 0.0)])
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


def covered(draw, n, trials=2000):
    """Share of intervals of 90 % that hold the mean, with and without what tails add; (2,)."""
    rng, found = np.random.default_rng(0), []
    truth = draw(rng, 10**6).mean()
    for _ in range(trials):
        squares = draw(rng, n)
        mean = np.array([squares.mean()])
        below, above = log_widths(mean, *spread_of_means(squares[None], np.array([n])), 0.9)
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
