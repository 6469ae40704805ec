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


def covered(draw, n, trials=4000):
    """Share of intervals of 90 % that hold the mean, and shares that lie above and below it."""
    rng = np.random.default_rng(0)
    truth, parts = draw(rng, 10**6).mean(), draw(rng, (trials, n))
    mean = parts.mean(axis=1)
    below, above = log_widths(mean, *spread_of_means(parts, np.full(trials, float(n))), 0.9)
    too_high, too_low = np.mean(mean / np.exp(below) > truth), np.mean(mean * np.exp(above) < truth)
    return 1 - too_high - too_low, too_high, too_low


# 4,000 trials have a standard error of .005, of which three are allowed.
@pytest.mark.parametrize(
    ("draw", "n"),
    [
        (lambda rng, shape: 5 + rng.standard_normal(shape), 10),
        (lambda rng, shape: rng.chisquare(5, shape), 10),  # groups of five rows
        (lambda rng, shape: rng.chisquare(5, shape), 50),
        (lambda rng, shape: rng.standard_normal(shape) ** 2, 50),
        (lambda rng, shape: rng.standard_normal(shape) ** 2, 200),
        (lambda rng, shape: rng.lognormal(0.0, 0.5, shape), 50),
    ],
)
def test_intervals_of_means_cover_what_they_say(draw, n):
    share, *_ = covered(draw, n)
    assert 0.885 < share < 0.915


def test_heavy_tails_raise_the_upper_bound():
    """Of the misses of intervals with equal factors, most would be too low; the tails come nearer to each other."""
    share, too_high, too_low = covered(lambda rng, shape: rng.lognormal(0.0, 1.0, shape), 200)
    assert share > 0.89
    assert too_low < 2 * too_high
