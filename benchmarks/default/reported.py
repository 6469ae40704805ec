"""The error that is reported after all choices over the error on new rows, which is exact here.

    python benchmarks/default/reported.py --draws 200 --jobs 16

Features are independent, standard normal; labels are X @ w + noise with a share R² of signal and all features relevant.
A cell is one (n, p/n, R²): the mean of what `loo_error_` says over draws, over the mean of what new rows would show.
Groups are five rows in a row that share nothing: whole groups are left out, so members then have seen five rows fewer.
What is reported goes up and down with the luck of the labels. The mean square of the noise and the variance of the
labels have known expectations, and what they explain of the reported error by linear regression is taken away.
"""

import argparse
import itertools
import json
import os
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

CELLS = list(itertools.product((20, 50, 100), (0.5, 1.0, 5.0), (0.0, 0.5)))
PROCEDURES = {
    "default": {},
    "default, groups": {"groups": True},
    "fixed ridge 1, k = 1": {"n_estimators": 1, "aggregation": "mean", "ridge": 1.0},
    "fixed ridge 1, k = 1, groups": {"n_estimators": 1, "aggregation": "mean", "ridge": 1.0, "groups": True},
    "mean, k = 1": {"n_estimators": 1, "aggregation": "mean"},
    "scaled, k = 1": {"n_estimators": 1, "aggregation": "scaled"},
    "simplex, k = 1": {"n_estimators": 1, "aggregation": "simplex"},
    "free, k = 1": {"n_estimators": 1, "aggregation": "free"},
    "mean, k = 1, groups": {"n_estimators": 1, "aggregation": "mean", "groups": True},
    "scaled, k = 1, groups": {"n_estimators": 1, "aggregation": "scaled", "groups": True},
    "free, k = 1, groups": {"n_estimators": 1, "aggregation": "free", "groups": True},
    "mean, common, k = 8": {"aggregation": "mean"},
    "mean, own, k = 8": {"aggregation": "mean", "ridge_scope": "member"},
    "mean, joint, k = 8": {"aggregation": "mean", "ridge_scope": "joint"},
    "median, common, k = 8": {"aggregation": "median"},
    "scaled, common, k = 8": {"aggregation": "scaled"},
    "simplex, common, k = 8": {"aggregation": "simplex"},
    "free, common, k = 8": {"aggregation": "free"},
    "free, own, k = 8": {"aggregation": "free", "ridge_scope": "member"},
    "free, joint, k = 8": {"aggregation": "free", "ridge_scope": "joint"},
    "mean, k = 8, groups": {"aggregation": "mean", "groups": True},
    "scaled, k = 8, groups": {"aggregation": "scaled", "groups": True},
    "free, k = 8, groups": {"aggregation": "free", "groups": True},
}


def fitted(task):
    """What is reported, what is true, and two numbers of mean zero, shape (draws, 4), for one cell and procedure.

    `draws` is a range: a part of them can be run alone.
    """
    import subridge as sr

    (n, ratio, share), name, draws = task
    warnings.simplefilter("ignore")
    options = dict(PROCEDURES[name])
    groups = np.arange(n) // 5 if options.pop("groups", False) else None
    found = []
    for draw in draws:
        rng = np.random.default_rng([draw, n, int(10 * ratio), int(10 * share)])
        M = int(n * ratio)
        w = rng.standard_normal(M)
        w *= np.sqrt(share / (1 - share)) / np.linalg.norm(w)
        X = rng.standard_normal((n, M))
        noise = rng.standard_normal(n)
        y = X @ w + noise
        luck = np.mean(noise**2) - 1, np.var(y, ddof=1) - 1 / (1 - share)
        if name.startswith("default") or "k = 1" in name:
            model = sr.RidgeEnsembleRegressor(**options, random_state=draw)
        else:
            model = sr.RidgeEnsembleRegressor(subsets=sr.subsets.equal(8, M, seed=draw), **options)
        model.fit(X, y, groups=groups)
        if name.startswith("median"):
            Z = rng.standard_normal((20_000, M))
            fresh = 1 + np.mean((Z @ w - model.predict(Z)) ** 2)
        else:
            fresh = 1 + ((model.coef_ - w) ** 2).sum() + model.intercept_**2
        found.append((model.loo_error_, fresh, *luck))
    return np.array(found)


def ratio_of(found):
    """Reported over true error and its standard error, less the luck of the labels."""
    reported, fresh, luck = found[:, 0] / found[:, 1].mean(), found[:, 1], found[:, 2:]
    slopes = np.linalg.lstsq(luck - luck.mean(axis=0), reported - reported.mean(), rcond=None)[0]
    steady = reported - luck @ slopes - (fresh / fresh.mean() - 1)
    return steady.mean(), np.std(steady, ddof=3) / len(steady) ** 0.5


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", nargs="+", choices=list(PROCEDURES), default=list(PROCEDURES))
    parser.add_argument("--out", type=Path, help="JSON, with the means of every cell")
    options = parser.parse_args()
    kept = {}
    print("| chosen | geometric mean | least cell | largest cell | cells beyond 7 % |\n|---|---|---|---|---|")
    with ProcessPoolExecutor(options.jobs) as pool:
        tasks = [(cell, name, range(options.draws)) for name in options.only for cell in CELLS]
        found = pool.map(fitted, tasks)
        for name in options.only:
            pairs = [next(found) for _ in CELLS]
            ratios, noise = np.array([ratio_of(each) for each in pairs]).T
            kept[name] = [
                {"n": n, "p/n": p, "R2": r2, "ratio": float(each), "standard error": float(error)}
                for (n, p, r2), each, error in zip(CELLS, ratios, noise, strict=True)
            ]
            ends = " | ".join(
                f"{ratios[at]:.3f} ± {noise[at]:.3f} (n, p/n, R² = {', '.join(map(str, CELLS[at]))})"
                for at in (ratios.argmin(), ratios.argmax())
            )
            beyond = int((abs(ratios - 1) > 0.07).sum())
            print(f"| {name} | {np.exp(np.log(ratios).mean()):.3f} | {ends} | {beyond} |", flush=True)
    if options.out:
        options.out.write_text(json.dumps(kept, indent=1))
