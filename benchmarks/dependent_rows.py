"""Rows that depend on each other: what plain leave-one-out promises, what leaving out groups or neighbours does.

``python benchmarks/dependent_rows.py [--draws 200]`` draws data of two kinds, for which the error on new rows of a fit
is known exactly: subjects with effects of their own, and series with first-order autoregressive features and noise.
In the mean over draws it compares, at every ridge of a path, the promised error with the error on a new subject (or far
in time) after training without one subject (without a window); and the true error of the chosen ridge with the least on
the path. One core, about two minutes.
"""

import argparse
import warnings

import numpy as np

import subridge as sr

RIDGES = np.logspace(-2, 2, 9)


def autoregressive(rng, n, phi, columns):
    """Stationary series of variance one, shape (n, columns)."""
    series = rng.standard_normal((n, columns))
    for t in range(1, n):
        series[t] = phi * series[t - 1] + np.sqrt(1 - phi**2) * series[t]
    return series


def subjects(rng):
    """100 subjects of 6 rows: features that tell subjects apart, and a label with an effect of the subject."""
    G, m, M = 100, 6, 30
    groups = np.repeat(np.arange(G), m)
    X = rng.standard_normal((G, M))[groups] + 0.5 * rng.standard_normal((G * m, M))
    w = rng.standard_normal(M) / np.sqrt(M)
    y = X @ w + rng.standard_normal(G)[groups] + 0.5 * rng.standard_normal(G * m)
    return X, y, {"groups": groups}, 0, [groups != g for g in range(0, G, 25)], (w, 1.25, 1.25)


def series(rng):
    """500 rows in time: features and noise that remember about five steps; neighbours up to 20 steps are left out."""
    n, M, phi, gap = 500, 20, 0.8, 20
    X, noise = autoregressive(rng, n, phi, M), autoregressive(rng, n, phi, 1)[:, 0]
    w = rng.standard_normal(M) / np.sqrt(M)
    rests = [np.abs(np.arange(n) - i) > gap for i in range(gap, n - gap, 120)]
    return X, X @ w + noise, {}, gap, rests, (w, 1.0, 1.0)


def true_error(model, truth):
    """Squared error on an independent new row: features of variance s², a label noise of variance v."""
    w, variance, noise = truth
    return variance * ((w - model.coef_) ** 2).sum() + model.intercept_**2 + noise


def judge(draw, ways):
    """Errors promised along the path (ways, L), those on new rows and the true ones (L,), and choices (ways,)."""
    X, y, with_groups, gap, rests, truth = draw
    new, true = [], []
    for ridge in RIDGES:
        model = sr.RidgeEnsembleRegressor(1, ridge=ridge)
        true.append(true_error(model.fit(X, y), truth))
        new.append(np.mean([true_error(model.fit(X[rest], y[rest]), truth) for rest in rests]))
    promised, chosen = [], []
    for way in ways:
        options, steps = ({}, 0) if way == "rows" else (with_groups, gap)
        model = sr.RidgeEnsembleRegressor(1, ridges=RIDGES, gap=steps).fit(X, y, **options)
        promised.append(model.loo_path_)
        chosen.append(int(np.argmin(np.abs(RIDGES - model.ridge_))))
    return np.array(promised), np.array(new), np.array(true), np.array(chosen)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=200)
    draws = parser.parse_args().draws
    warnings.simplefilter("ignore", sr.errors.SubridgeWarning)
    ways = ("rows", "left out together")
    for name, draw in (("subjects", subjects), ("series", series)):
        found = [judge(draw(np.random.default_rng(seed)), ways) for seed in range(draws)]
        promised, new, true, chosen = (np.array(parts) for parts in zip(*found, strict=True))
        best = int(np.argmin(true.mean(axis=0)))
        for place, way in enumerate(ways):
            ratios = promised[:, place].mean(axis=0) / new.mean(axis=0)
            apart = promised[:, place, best] - ratios[best] * new[:, best]
            spread = apart.std() / np.sqrt(draws) / new[:, best].mean()
            taken = true[np.arange(draws), chosen[:, place]].mean()
            print(
                f"{name}, {way}: promised/true {ratios[best]:.3f} ± {spread:.3f} at the best ridge {RIDGES[best]:.3g},"
            )
            print(f"  {ratios.min():.3f} to {ratios.max():.3f} along the path; true error of the chosen ridge over the")
            print(f"  best's {taken / true.mean(axis=0).min():.3f}, each draw's {taken / true.min(axis=1).mean():.3f};")
            print(f"  median ridge {np.median(RIDGES[chosen[:, place]]):.3g}", flush=True)


if __name__ == "__main__":
    main()
