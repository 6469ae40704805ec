"""Jackknife+ in closed form beside MAPIE's, in coverage and width; `make bench` has the times.

``python benchmarks/intervals.py`` measures coverage and width at 90 % over random splits, at a fixed ridge and at a
chosen one, and beside them MAPIE's jackknife+ at the fixed ridge on some of the splits. The sets follow a rule that
was written down before they were measured: every table of at least 100 rows that scikit-learn bundles, and every table
of linearmodels with one row for each person. A table of numbers has its own target, one of classes the column of
largest variance, those of linearmodels the variable that is explained where the table was published; columns with
gaps, text or other forms of the target are left out. All are printed.

Needs the extra ``bench`` (MAPIE, linearmodels).
"""

import argparse
import warnings
from importlib import import_module

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.linear_model import Ridge
from sklearn.model_selection import LeaveOneOut

import subridge as sr

LEVEL = 0.9


def mapie(ridge, splits):
    from mapie.regression import CrossConformalRegressor

    return CrossConformalRegressor(Ridge(ridge), confidence_level=LEVEL, method="plus", cv=splits)


# Of linearmodels: what is explained, and other columns that are made from it or that number the rows.
PUBLISHED = {
    "birthweight": ("lbwght", ("bwght", "bwghtlbs")),
    "card": ("lwage", ("wage", "id", "weight")),
    "fertility": ("kids", ()),
    "fringe": ("hrearn", ("annearn", "lannearn", "beratio", "peratio", "vserat")),
    "meps": ("ldrugexp", ("drugexp",)),
    "mroz": ("lwage", ("wage", "repwage")),
    "wage": ("lwage", ("wage",)),
    "wage_panel": ("lwage", ("nr", "year")),
}


def real_sets():
    """Name, X and y of every set that the rule names."""
    yield "diabetes", *load_diabetes(return_X_y=True)
    for name, read in (
        ("breast cancer", load_breast_cancer),
        ("wine", load_wine),
        ("digits", load_digits),
        ("iris", load_iris),
    ):
        data = read()
        column = int(data.data.var(axis=0).argmax())
        yield f"{name}: {data.feature_names[column]}", np.delete(data.data, column, axis=1), data.data[:, column]
    for name, (target, others) in PUBLISHED.items():
        table = import_module(f"linearmodels.datasets.{name}").load()
        if name == "wage_panel":
            table = table[table.year == 1985]  # one row for each person
        table = table[table[target].notna()].select_dtypes("number").drop(columns=list(others), errors="ignore")
        table = table.dropna(axis=1)
        X = table.drop(columns=target).to_numpy(dtype=float)
        yield f"{name}: {target}", X[:, X.std(axis=0) > 0], table[target].to_numpy(dtype=float)


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
            row = []
            for model in (
                sr.RidgeEnsembleRegressor(subsets=[np.arange(M)], ridge=0.1),
                sr.RidgeEnsembleRegressor(min(4, M), aggregation="simplex", random_state=split),
            ):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", sr.errors.SubridgeWarning)
                    low, high = model.fit(A, y[train]).predict_interval(B, LEVEL)
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
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--mapie-splits", type=int, default=1)
    parser.add_argument("--only", default="", help="part of the name of a set")
    asked = parser.parse_args()
    compare_coverage(asked.splits, asked.mapie_splits, asked.only)


if __name__ == "__main__":
    main()
