"""Run the tournament: python benchmarks/tournament/run.py {development,judgement} [--jobs N] [--only SET ...]

Reads the tables of `build.py`, writes data/<role>.json with every cell, and the truth it measured beside the tables.
One thread per process. The protocol is in README.md.
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"

import argparse
import json
import time
import warnings
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from rivals import DRAWS, SHARES, forecasts
from sets import SOURCES
from tables import FOLDER, PATH, at_ridge, load, split, truth_at, truths, wanted_sizes
from trained import errors_of, member_path

import subridge as sr

PILOTS, ADVISED = 4, 2
ADVICE_DRAWS = {300: 8, 1000: 4}  # the larger size has less noise and takes ten times as long


def left_out_errors(table, rows, plan):
    """Leave-one-out error of the mean of members at every ridge of the path, by plain hat matrices; shape (L,)."""
    F, Y = table.X[rows], table.targets[rows]
    subsets = [plan.measurements[r] for r in range(plan.n_members)]
    errors = sum(member_path(F[:, each], F[:0, each], Y, PATH * len(each))[0] for each in subsets)
    return ((errors / plan.n_members) ** 2).sum(axis=1).mean(axis=1)


def rival_curves(table, rows, plan, whole):
    """Sizes, and errors (sizes, L) of sub-samples and of the pilot."""
    n, rng = len(rows), np.random.default_rng(5)
    sizes = sorted({max(8, int(share * n)) for share in SHARES})
    errors = [
        np.mean([left_out_errors(table, rng.choice(rows, m, replace=False), plan) for _ in range(DRAWS)], axis=0)
        for m in sizes
    ]
    return np.array([*sizes, n], float), np.array([*errors, whole])


def forecast_cells(name, n, number):
    table, truth = load(name), truths(name)
    rows, sizes = table.pilot(n, number), table.sizes(n)
    X, y = table.X[rows], table.y[rows]
    cells = []
    for index, (label, plan) in enumerate(table.plans().items()):
        whole = left_out_errors(table, rows, plan)
        best = float(PATH[np.argmin(whole)])
        curve_sizes, curve = rival_curves(table, rows, plan, whole)
        for kind, ridge in (("best", best), ("small", best / 10), ("chosen", None)):
            ensemble = sr.Ensemble(plan, ridge=1.0 if ridge is None else ridge)
            start = time.perf_counter()
            found = sr.forecast(
                X, y, sizes, {label: ensemble}, ridges=None if ridge is not None else "auto", task=table.task
            ).isel(ensemble=0)
            cost = time.perf_counter() - start
            if ridge is None:
                rival = forecasts(curve_sizes, curve.min(axis=1), sizes)
            else:
                rival = forecasts(curve_sizes, np.array([at_ridge(line, ridge) for line in curve]), sizes)
            for place, size in enumerate(sizes):
                point = found.isel(n_samples=place)
                used = float(point.ridge)
                mean, error, wrong = (truth[size][part][index] for part in range(3))
                cell = {
                    "set": name, "n": n, "pilot": number, "ensemble": label, "ridge": kind, "size": size,
                    "truth": at_ridge(mean, used), "truth_error": at_ridge(error + 1e-300, used), "seconds": cost,
                    "forecast": float(point.prediction_error), "lower": float(point.prediction_error_lower),
                    "upper": float(point.prediction_error_upper), "in_reach": bool(point.in_reach),
                    "used": used, "best_truth": float(mean.min()), "is_bound": bool(point.is_bound),
                    "rivals": {law: float(values[place]) for law, values in rival.items()},
                }  # fmt: skip
                if table.classes:
                    cell["wrong_truth"] = float(np.interp(np.log(used), np.log(PATH), wrong))
                    for end in ("", "_lower", "_upper"):
                        cell[f"wrong{end}"] = float(point[f"misclassification{end}"])
                cells.append(cell)
    return cells


def advice_cells(name, n, number):
    """What every candidate truly errs at 2n, pasted and held (see `trained`), and one ridge beside them."""
    table, size = load(name), 2 * n
    rows = table.pilot(n, number)
    start = time.perf_counter()
    advice = sr.advise(table.X[rows], table.y[rows], size, task=table.task)
    cost = time.perf_counter() - start
    single = next(iter(table.plans().values()))
    rival_ridge = float(PATH[np.argmin(left_out_errors(table, rows, single))])
    plans, held = {}, {}
    for candidate, ensemble in advice.ensembles.items():
        key = candidate.rpartition(", ")[0] or candidate
        plans[key] = ensemble.plan
        settings = float(np.ravel(ensemble.ridge)[0]), np.asarray(advice.weights[candidate])
        held.setdefault(key, {})[ensemble.aggregation.name] = (candidate, settings)
    pasted, kept = dict.fromkeys(advice.ensembles, 0.0), dict.fromkeys(advice.ensembles, 0.0)
    rival = 0.0
    draws = ADVICE_DRAWS[n]
    for draw in range(draws):
        train, test = split(table, size, 100 + draw)
        for key, plan in plans.items():
            given = {aggregation: settings for aggregation, (_, settings) in held[key].items()}
            for aggregation, (one, other) in errors_of(table, train, test, plan, given).items():
                candidate = held[key][aggregation][0]
                pasted[candidate] += one / draws
                kept[candidate] += other / draws
        rival += errors_of(table, train, test, single, {"mean": (rival_ridge, np.ones(1))})["mean"][1] / draws
    return [
        {
            "set": name,
            "n": n,
            "pilot": number,
            "advised": advice.best,
            "seconds": cost,
            "pasted": pasted,
            "pasted_rival": pasted["one ridge"],
            "truth": kept,
            "rival": rival,
        }
    ]


def work(task):
    kind, name, n, number = task
    warnings.simplefilter("ignore")
    try:
        return kind, (forecast_cells if kind == "forecast" else advice_cells)(name, n, number)
    except Exception as error:  # a set that cannot be forecast is a loss, not a reason to stop
        return kind, [{"set": name, "n": n, "pilot": number, "failed": repr(error)}]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("role", choices=("development", "judgement"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--pilots", type=int, default=PILOTS)
    parser.add_argument("--out", default=None)
    parser.add_argument("--no-advice", action="store_true")
    options = parser.parse_args()
    names = [n for n, s in SOURCES.items() if s.role == options.role and (not options.only or n in options.only)]
    with ProcessPoolExecutor(options.jobs) as pool:
        measured = [(name, size) for name in names for size in wanted_sizes(name)]
        list(pool.map(truth_at, *zip(*sorted(measured, key=lambda each: -each[1]), strict=True)))
        pairs = [(name, n) for name in names for n in SOURCES[name].pilots]
        tasks = [("forecast", *pair, number) for pair in pairs for number in range(options.pilots)]
        if not options.no_advice:
            tasks += [("advice", *pair, number) for pair in pairs for number in range(min(ADVISED, options.pilots))]
        tasks.sort(key=lambda task: -task[2])  # the longest first
        results = list(pool.map(work, tasks))
    cells = {kind: [cell for k, found in results if k == kind for cell in found] for kind in ("forecast", "advice")}
    out = FOLDER / f"{options.role}.json" if options.out is None else options.out
    with open(out, "w") as file:
        json.dump(cells, file)
    print(f"{len(cells['forecast'])} forecasts and {len(cells['advice'])} pieces of advice in {out}")


if __name__ == "__main__":
    main()
