"""Bounds of means of squared errors that have heavy tails."""

import numpy as np

from subridge.forecasting.uncertainty.spread import Spread


def spread_of(squares):
    """Of a plain mean, as the jackknife would have it: leaving out a large square lowers the mean."""
    one = np.ones(1)
    return Spread(squares.mean() - squares[None], one, 0 * one, one * len(squares))


def covered(draw, n, trials=2000):
    """Share of intervals of 90 % that hold the mean, with and without what tails add; (2,)."""
    rng, found = np.random.default_rng(0), []
    truth = draw(rng, 10**6).mean()
    for _ in range(trials):
        squares = draw(rng, n)
        mean, spread = np.array([squares.mean()]), spread_of(squares)
        factor = spread.interval_factor(mean, 0.9)
        upper = mean * factor * np.exp(spread.lean(mean, 0.9))
        found.append([mean / factor <= truth <= upper, mean / factor <= truth <= mean * factor])
    return np.mean(found, axis=0).ravel()


def test_heavy_tails_raise_the_upper_bound():
    with_lean, without = covered(lambda rng, n: rng.lognormal(0.0, 1.8, n), 100)
    assert without < 0.83
    assert with_lean > without + 0.015


def test_gaussian_errors_are_left_alone():
    with_lean, without = covered(lambda rng, n: rng.standard_normal(n) ** 2, 200)
    assert 0.88 < without <= with_lean < without + 0.01
