"""How the cost of one machine grows with each quantity, and a picture of it."""

import time

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import NullFormatter
from peers import rows

import subridge as sr

BASE = {"n_features": 500, "largest n_samples": 500, "n_members": 4, "number of ridges": 3, "number of sizes": 20}
GRIDS = {
    "n_features": [125, 250, 500, 1000, 2000],
    "largest n_samples": [125, 250, 500, 1000, 2000],
    "n_members": [1, 4, 16, 64],
    "number of ridges": [1, 3, 10, 30],
    "number of sizes": [1, 5, 20, 100],
}
FITS = {
    "n_features": [125, 250, 500, 1000, 2000],
    "n_samples": [250, 500, 1000, 2000, 4000],
    "n_members": [1, 4, 16, 64],
    "targets": [1, 10, 100, 1000],
}
FIT = {"n_features": 500, "n_samples": 1000, "n_members": 4, "targets": 1}


def seconds_per_trial(setting, repeats=2):
    """Best of some runs of one trial, the first one left out."""
    M, P, k = setting["n_features"], setting["largest n_samples"], setting["n_members"]
    sizes = np.unique(np.linspace(P / setting["number of sizes"], P, setting["number of sizes"]).astype(int))
    ridges = np.logspace(-4, 0, setting["number of ridges"])
    problem = sr.Problem(sr.covariance.autoregressive(M, 0.8), np.ones(M), label_noise=0.1)
    ensemble = sr.Ensemble(sr.subsets.equal(k, M, seed=0), readout_noise=0.1)
    times = []
    for seed in range(repeats + 1):
        start = time.perf_counter()
        sr.simulate(problem, ensemble, sizes, 1, ridges=ridges, seed=seed, progress=False)
        times.append(time.perf_counter() - start)
    return min(times[1:])


def seconds_of_fit(setting):
    X, y = rows(setting["n_samples"], setting["n_features"], setting["targets"])
    given = {"subsets": "equal", "aggregation": "mean", "ridges": np.logspace(-3, 1, 9), "random_state": 0}
    model = sr.RidgeEnsembleRegressor(setting["n_members"], **given)
    best = np.inf
    for _ in range(2):
        start = time.perf_counter()
        model.fit(X, y)
        best = min(best, time.perf_counter() - start)
    return best


def exponent(points):
    """Slope of the last two points in logarithms: what the growth tends to."""
    (a, s), (b, t) = points[-2:]
    return float(np.log(t / s) / np.log(b / a))


def growth(quick, out):
    tables = {}
    for title, grids, base, measure in (
        ("a trial of an experiment", GRIDS, BASE, seconds_per_trial),
        ("a fit of the estimator", FITS, FIT, seconds_of_fit),
    ):
        table = {}
        for name, values in grids.items():
            points = [(value, measure(base | {name: value})) for value in (values[:2] if quick else values)]
            table[name] = {"points": points, "exponent": exponent(points)}
            told = ", ".join(f"{value} → {1e3 * s:.0f} ms" for value, s in points)
            print(f"{title}, {name}: {told}; exponent at the end {table[name]['exponent']:.1f}", flush=True)
        tables[title] = {"base": base, "grids": table}
        draw(title, table, out / f"growth-{title.split()[1]}.png")
    return tables


def draw(title, table, path):
    figure, axes = plt.subplots(1, len(table), figsize=(2.6 * len(table), 2.8), sharey=True, layout="constrained")
    for axis, (name, found) in zip(axes, table.items(), strict=True):
        axis.loglog(*zip(*found["points"], strict=True), "o-")
        axis.set_xlabel(name)
        axis.xaxis.set_minor_formatter(NullFormatter())  # labels of the steps between powers of ten run together
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("seconds")
    figure.suptitle(title[0].upper() + title[1:])
    figure.savefig(path, dpi=100)
    plt.close(figure)
