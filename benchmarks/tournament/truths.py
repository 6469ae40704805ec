"""What ensembles truly err, measured by plain fits: python benchmarks/tournament/truths.py DATA OUT.npz [--jobs 16]

For every table in the folder DATA and every size that its pilots are forecast at: the squared error and the share of
wrong votes of one ridge, 8 equal and 8 heterogeneous members, and the error of 8 equal members with scaled and with
free weights, at every ridge of a path of four steps a decade. Tables with groups also have the error on new groups
after training on whole groups. Eight draws of training rows, tested on 2,000 other rows at most, fewer draws where the
time ends before. No code of forecasts is used, and the subsets are saved beside, so that any version of the package can
be judged by one file (compare.py).
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"

import argparse
import json
import multiprocessing
import time
import warnings
from functools import lru_cache
from pathlib import Path

import numpy as np
from fits import PATH, mean_errors, paths, plans, weighted_errors, wrong_votes
from tables import load, names, within

import subridge as sr

DRAWS = 8
WEIGHTS = {"scaled": sr.aggregation.Scaled(), "free": sr.aggregation.Free()}
loaded = lru_cache(8)(load)


def trial(task):
    """The task with the errors of one draw at one size, by what errs; each of shape (L,)."""
    name, kind, size, draw, folder = task
    warnings.simplefilter("ignore")
    table = loaded(name, folder)
    train, test = (table.split if kind == "rows" else table.group_split)(size, draw)
    found = {}
    for label, subsets in plans(table.X.shape[1]).items():
        members = paths(table, train, test, subsets)
        found[label] = mean_errors(table, test, members)
        if kind == "rows" and table.classes:
            found[f"{label}, votes"] = wrong_votes(table, test, members)
        if kind == "rows" and label == "8 equal":
            for weights, aggregation in WEIGHTS.items():
                found[f"{label}, {weights}"] = weighted_errors(table, train, test, members, aggregation)[1]
    return task, found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("out")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--minutes", type=float, default=np.inf, help="after which the draws that are there are saved")
    parser.add_argument("--only", nargs="+")
    options = parser.parse_args()
    tasks, costs, arrays, start = [], {}, {"path": PATH}, time.time()
    for name in options.only or names(options.data):
        table = load(name, options.data)
        for label, subsets in plans(table.X.shape[1]).items():
            arrays[f"{name}/{label}/subsets"] = np.concatenate(subsets).astype(np.int16)
            arrays[f"{name}/{label}/lengths"] = np.array([len(each) for each in subsets], np.int16)
        sizes = [("rows", size) for size in table.all_sizes]
        sizes += [("groups", size) for size in (table.group_sizes if table.groups is not None else [])]
        tasks += [(name, *each, draw, options.data) for each in sizes for draw in range(options.draws)]
        costs |= {(name, *each): each[1] * table.X.shape[1] for each in sizes}
    tasks.sort(key=lambda task: (task[3], -costs[task[:3]]))  # all tables once, the longest first
    sums = {}
    with multiprocessing.Pool(options.jobs) as pool:
        for (name, kind, size, *_), errors in within(options.minutes, pool.imap_unordered(trial, tasks), len(tasks)):
            for label, values in errors.items():
                sums.setdefault(f"{name}/{kind}/{size}/{label}", []).append(values)
    arrays |= {key: np.mean(values, axis=0) for key, values in sums.items()}
    np.savez_compressed(options.out, **arrays)
    fewest = min(map(len, sums.values()))
    about = {"trials": len(tasks), "curves": len(sums), "fewest draws": fewest, "seconds": round(time.time() - start)}
    print(json.dumps(about))


if __name__ == "__main__":
    main()
