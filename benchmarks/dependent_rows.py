"""Rows that depend on each other: what plain leave-one-out promises, what leaving out groups or neighbours does.

``python benchmarks/dependent_rows.py [--draws 200]`` draws data of two kinds, for which the error on new rows of a fit is
known exactly: subjects with effects of their own, and time series with first-order autoregressive features and noise.
For every draw it compares, at the ridge that each way chooses, the promised error with the error on a new subject (or
far in time) after training without one subject (without a window); and the true error of the chosen ridge with the best
on the path. One core, about two minutes.
"""

import argparse
import warnings

import numpy as np

import subridge as sr

RIDGES = np.logspace(-2, 2, 13)


def autoregressive(rng, n, phi, columns):
    """Stationary series of variance one, shape (n, columns)."""
    series = rng.standard_normal((n, columns))
    for t in range(1, n):
        series[t] = phi * series[t - 1] + np.sqrt(1 - phi**2) * series[t]
    return series


def subjects(rng):
    """40 subjects of 6 rows: features that tell subjects apart, and a label with an effect of the subject."""
    G, m, M = 40, 6, 40
    groups = np.repeat(np.arange(G), m)
    X = rng.standard_normal((G, M))[groups] + 0.5 * rng.standard_normal((G * m, M))
    w = rng.standard_normal(M) / np.sqrt(M)
    y = X @ w + rng.standard_normal(G)[groups] + 0.5 * rng.standard_normal(G * m)
    return X, y, {"groups": groups}, 0, [groups != g for g in range(0, G, 8)], (w, 1.25, 1.25)


def series(rng):
    """240 rows in time: features and noise that remember about five steps; neighbours up to 20 steps are left out."""
    n, M, phi, gap = 240, 40, 0.8, 20
    X, noise = autoregressive(rng, n, phi, M), autoregressive(rng, n, phi, 1)[:, 0]
    w = rng.standard_normal(M) / np.sqrt(M)
    rests = [np.abs(np.arange(n) - i) > gap for i in range(gap, n - gap, 40)]
    return X, X @ w + noise, {}, gap, rests, (w, 1.0, 1.0)


def true_error(model, truth):
    """Squared error on an independent new row: features of variance s², a label noise of variance v."""
    w, variance, noise = truth
    return variance * ((w - model.coef_) ** 2).sum() + model.intercept_**2 + noise


def judge(draw, ways):
    """For each way: promised error over that on new rows at its ridge, and its ridge's true error over the best."""
    X, y, with_groups, gap, rests, truth = draw
    fits = [sr.RidgeEnsembleRegressor(1, ridge=ridge).fit(X, y) for ridge in RIDGES]
    true = np.array([true_error(fit, truth) for fit in fits])
    found = []
    for way in ways:
        options, steps = ({}, 0) if way == "rows" else (with_groups, gap)
        model = sr.RidgeEnsembleRegressor(1, ridges=RIDGES, gap=steps)
        model.fit(X, y, **options)
        chosen = sr.RidgeEnsembleRegressor(1, ridge=model.ridge_)
        new = np.mean([true_error(chosen.fit(X[rest], y[rest]), truth) for rest in rests])
        place = int(np.argmin(np.abs(RIDGES - model.ridge_)))
        found.append([model.loo_error_, new, true[place], true.min(), model.ridge_])
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=200)
    draws = parser.parse_args().draws
    warnings.simplefilter("ignore", sr.errors.SubridgeWarning)
    for name, draw in (("subjects", subjects), ("series", series)):
        ways = ("rows", "left out together")
        table = np.array([judge(draw(np.random.default_rng(seed)), ways) for seed in range(draws)])
        for place, way in enumerate(ways):
            promised, new, chosen, best, ridge = table[:, place].T
            ratio = promised.mean() / new.mean()
            spread = (promised - new * ratio).std() / np.sqrt(draws) / new.mean()
            print(
                f"{name}, {way}: promised/true {ratio:.3f} ± {spread:.3f}; true error of the chosen ridge over the best "
                f"{chosen.mean() / best.mean():.3f}; median ridge {np.median(ridge):.3g}"
            )


if __name__ == "__main__":
    main()
