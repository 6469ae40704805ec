"""Forecasts of fitted weights beside those of the mean, on the development tables of the tournament.

    python benchmarks/forecast_weights.py [--pilots 3] [--processes 2] [--only SET ...] [--data FOLDER] [--members 8 16]

Every pilot takes for each aggregation the ridge of its own least left-out error and forecasts equal disjoint members at
two, four and eight times its rows, and at its own size, which shows the noise of the pilot itself. The truth is the
error of the estimator on new rows, in the mean over draws. The tables are those of ``benchmarks/tournament/build.py``.
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import argparse
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "tournament"))

from sets import SOURCES
from tables import FOLDER, load, split

import subridge as sr

AGGREGATIONS = ("mean", "scaled", "free")
DRAWS = 3


def cells(job):
    """One pilot: for every aggregation and size the forecast, its bounds, whether it is in reach, and the truth."""
    name, n, number, k, folder = job
    warnings.simplefilter("ignore")
    table = load(name, folder)
    if table.X.shape[1] < k:
        return []
    rows, sizes, plan = table.pilot(n, number), [n, *table.sizes(n)], sr.subsets.equal(k, table.X.shape[1], seed=0)
    if table.targets[rows].std(axis=0).min() == 0:  # a class that the pilot does not have
        return []
    ensembles = {}
    for aggregation in AGGREGATIONS:
        model = sr.RidgeEnsembleRegressor(subsets=plan, aggregation=aggregation).fit(table.X[rows], table.targets[rows])
        ensembles[aggregation] = sr.Ensemble(plan, ridge=model.ridge_, aggregation=aggregation)
    found = sr.forecast(table.X[rows], table.targets[rows], sizes, ensembles)
    answers = []
    for place, size in enumerate(sizes):
        for aggregation, ensemble in ensembles.items():
            ridge = float(ensemble.ridge[0])
            truth = []
            for draw in range(DRAWS):
                train, test = split(table, size, draw)
                model = sr.RidgeEnsembleRegressor(subsets=plan, aggregation=aggregation, ridge=ridge)
                model.fit(table.X[train], table.targets[train])
                errors = model.predict(table.X[test]).reshape(len(test), -1) - table.targets[test]
                truth.append((errors**2).sum(axis=1).mean())
            point = found.sel(ensemble=aggregation).isel(n_samples=place)
            values = [point.prediction_error, point.prediction_error_lower, point.prediction_error_upper]
            answers.append((name, k, aggregation, size / n, *map(float, values), bool(point.in_reach), np.mean(truth)))
    return answers


def summary(label, rows):
    """Median and 90th percentile of the relative error, coverage, and the share in reach."""
    values = np.array([row[4:] for row in rows], dtype=float)
    forecast, lower, upper, reached, truth = values.T
    reached = (reached > 0) & np.isfinite(forecast)
    if not reached.any():
        return f"{label:34s} nothing in reach"
    miss = 100 * np.abs(forecast / truth - 1)[reached]
    covered = ((lower <= truth) & (truth <= upper))[reached].mean()
    bias = 100 * np.median((forecast / truth - 1)[reached])
    return (
        f"{label:34s} {len(rows):5d} in reach {reached.mean():.2f}  median {np.median(miss):5.1f} %  "
        f"90th {np.quantile(miss, 0.9):5.1f} %  median bias {bias:+5.1f} %  covered {covered:.2f}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pilots", type=int, default=3)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--members", type=int, nargs="+", default=[8])
    parser.add_argument("--only", nargs="+")
    parser.add_argument("--data", type=Path, default=FOLDER)
    options = parser.parse_args()
    names = options.only or [name for name, source in SOURCES.items() if source.role == "development"]
    jobs = [
        (name, n, number, k, options.data)
        for name in names
        for n in SOURCES[name].pilots
        for number in range(options.pilots)
        for k in options.members
    ]
    with ProcessPoolExecutor(options.processes) as pool:
        rows = [row for part in pool.map(cells, jobs) for row in part]
    for name in names:
        for aggregation in AGGREGATIONS:
            own = [row for row in rows if row[0] == name and row[2] == aggregation and row[3] > 1]
            if own:
                print(summary(f"{name}, {aggregation}", own), flush=True)
    for aggregation in AGGREGATIONS:
        for growth in sorted({row[3] for row in rows}):
            own = [row for row in rows if row[2] == aggregation and row[3] == growth]
            print(summary(f"all, {growth:g}n, {aggregation}", own))
        print(summary(f"all, {aggregation}", [row for row in rows if row[2] == aggregation and row[3] > 1]))


if __name__ == "__main__":
    main()
