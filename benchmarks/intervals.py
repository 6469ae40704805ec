"""Jackknife+ in closed form beside MAPIE's, in time, coverage and width.

``python benchmarks/intervals.py time`` times one ridge of n = 2,000 rows, M = 500 features and 1,000 new rows. MAPIE
refits once for each of the n rows; its cost is measured with 20 and 60 folds (``--folds``), and the slope is scaled
to n refits.

``python benchmarks/intervals.py coverage`` measures coverage and width at 90 % on six real sets over random splits, at
a fixed ridge and at a chosen one, and beside them MAPIE's jackknife+ at the fixed ridge on some of the splits.

Needs the extra ``bench`` (MAPIE, linearmodels).
"""

import argparse
import time
import warnings

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, LeaveOneOut

import subridge as sr

LEVEL = 0.9


def mapie(ridge, splits):
    from mapie.regression import CrossConformalRegressor

    return CrossConformalRegressor(Ridge(ridge), confidence_level=LEVEL, method="plus", cv=splits)


def compare_time(few, many, repeats=5):
    rng = np.random.default_rng(0)
    n, M, new = 2000, 500, 1000
    X, Z = rng.standard_normal((n, M)), rng.standard_normal((new, M))
    y = X @ rng.standard_normal(M) / np.sqrt(M) + rng.standard_normal(n)
    best = np.inf
    for _ in range(repeats):
        start = time.process_time()
        sr.RidgeEnsembleRegressor(subsets=[np.arange(M)], ridge=0.1).fit(X, y).predict_interval(Z, LEVEL)
        best = min(best, time.process_time() - start)
    cost = {}
    for folds in (5, few, many):
        start = time.process_time()
        theirs = mapie(50.0, KFold(folds))
        theirs.fit_conformalize(X, y)
        theirs.predict_interval(Z)
        cost[folds] = time.process_time() - start
    slope = (cost[many] - cost[few]) / (many - few)
    print(
        f"closed form {best:.3f} s; MAPIE {slope * 1000:.1f} ms a refit, {slope * n:.0f} s for {n} (scaled from {many})"
    )
    print(f"{slope * n / best:.0f} times")


def real_sets():
    """Six sets of numbers; of images and measurements one quantity is predicted from the others."""
    yield "diabetes", *load_diabetes(return_X_y=True)
    cancer, wine, digits, iris = (
        load(return_X_y=True)[0] for load in (load_breast_cancer, load_wine, load_digits, load_iris)
    )
    yield "breast cancer: area from the rest", np.delete(cancer, 3, axis=1), cancer[:, 3]
    yield "wine: proline from the rest", wine[:, :-1], wine[:, -1]
    yield "digits: brightness of a pixel", np.delete(digits, 36, axis=1), digits[:, 36]
    yield "iris: petal width from the rest", iris[:, :3], iris[:, 3]
    from linearmodels.datasets import wage_panel

    table = wage_panel.load()
    table = table[table.year == 1985]  # one row for each person
    names = ["black", "exper", "hisp", "hours", "married", "educ", "union", "expersq"]
    yield "wages of one year", table[names].to_numpy(dtype=float), table["lwage"].to_numpy()


def compare_coverage(splits, theirs_on, only):
    print("set | n train | coverage, fixed ridge | chosen ridge, 4 members | MAPIE | width fixed | chosen | MAPIE")
    for name, X, y in real_sets():
        if only and only not in name:
            continue
        n = min(len(y) // 2, 300)
        found = []
        for split in range(splits):
            rng = np.random.default_rng(split)
            order = rng.permutation(len(y))
            train, test = order[:n], order[n:]
            scale = X[train].std(axis=0) + 1e-12
            A, B = X[train] / scale, X[test] / scale
            M = A.shape[1]
            level = LEVEL
            row = []
            for model in (
                sr.RidgeEnsembleRegressor(subsets=[np.arange(M)], ridge=0.1),
                sr.RidgeEnsembleRegressor(min(4, M), aggregation="simplex", random_state=split),
            ):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", sr.errors.SubridgeWarning)
                    low, high = model.fit(A, y[train]).predict_interval(B, level)
                row += [((low <= y[test]) & (y[test] <= high)).mean(), (high - low).mean()]
            if split < theirs_on:
                theirs = mapie(0.1 * M, LeaveOneOut())
                theirs.fit_conformalize(A, y[train])
                bounds = theirs.predict_interval(B)[1][:, :, 0]
                row += [
                    ((bounds[:, 0] <= y[test]) & (y[test] <= bounds[:, 1])).mean(),
                    (bounds[:, 1] - bounds[:, 0]).mean(),
                ]
            else:
                row += [np.nan, np.nan]
            found.append(row)
        a, b, c, d, e, f = np.nanmean(found, axis=0)
        print(f"{name} | {n} | {a:.3f} | {c:.3f} | {e:.3f} | {b:.3g} | {d:.3g} | {f:.3g}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["time", "coverage"])
    parser.add_argument("--splits", type=int, default=50)
    parser.add_argument("--mapie-splits", type=int, default=3)
    parser.add_argument("--folds", type=int, nargs=2, default=[20, 60], help="refits of MAPIE that are timed")
    parser.add_argument("--only", default="", help="part of the name of a set")
    asked = parser.parse_args()
    if asked.what == "time":
        compare_time(*asked.folds)
    else:
        compare_coverage(asked.splits, asked.mapie_splits, asked.only)


if __name__ == "__main__":
    main()
