"""Forecasts of several versions of the package, or of variants of one, on the same pilots beside the same truth.

    python benchmarks/tournament/compare.py DATA --truths FILE ... --rule old=OLD/src --rule new=NEW/src --out FOLDER

DATA holds the tables of build.py, the truths come from truths.py. Every rule runs in processes of its own with its
source folder first on the path, and leaves FOLDER/NAME.json with a line of cells for every pilot, as they come; a file
that exists is kept. The first pilots of all tables come first, so that a run that ends after `--minutes` lacks pilots
rather than tables. The report compares the rules on the pilots that all of them have and the cells that the first has
in reach, paired by table, and writes the figures of every table to FOLDER/by_table.json. A rule may change what it
imports, for ablations:

    --rule "flat=NEW/src::subridge.forecasting.constants.CONSTANTS.share=0.5"    an attribute, also of a frozen object
    --rule "other=NEW/src::patch.py"                                             a file that is run after the import
    --rule "plain=NEW/src::off:skewness"                                         a correction of OFF, switched off

Forecasts: one ridge, 8 equal and 8 heterogeneous members, at the ridge of least left-out error ("best"), at a tenth of
it ("small") and at ridges that the forecast chooses ("chosen"); 8 equal members with fitted weights; whole groups.
Advice: what the advised ensemble truly errs at 2n over what one ridge does, both tuned by left-out errors on 2n rows.
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"

import argparse
import importlib
import json
import multiprocessing
import runpy
import subprocess
import sys
import time
import warnings
from collections import defaultdict
from functools import lru_cache
from pathlib import Path

import numpy as np
from tables import load, names, within

loaded = lru_cache(8)(load)
PILOTS, ADVISED, ADVICE_DRAWS = 4, 1, 4
SECTIONS = "squared error", "misclassification", "fitted weights", "groups"


# Corrections beyond the plain formula: the module, the function or constant, and what stands in its place.
OFF = {
    "stretch": [("forecasting.rule.RULE", "interval_stretch", 1.0)],
    "fine path": [("forecasting.rule.RULE", "path_steps", 1), ("ridge.choose", "_LITTLE", 0.0)],
    "design effect": [("forecasting.rule", "design_effects", lambda block: np.ones(block.penalties.shape))],
}


# What one rule says: run in processes that import its version of the package.


def pilot_cells(task):
    """Forecasts from one pilot; a call that fails is a cell with the reason."""
    folder, truths, kind, name, n, number = task
    warnings.simplefilter("ignore")
    table, start = loaded(name, folder), time.process_time()
    work = {"rows": row_cells, "groups": group_cells, "advice": advice_cells}[kind]
    cells = []
    for call in work(table, saved_subsets(truths, name), n, number):
        try:
            cells += call()
        except Exception as error:  # a table that cannot be forecast is a loss and no reason to stop
            cells.append({"section": kind, "failed": repr(error)})
    taken = time.process_time() - start
    return [cell | {"set": name, "n": n, "pilot": number, "seconds": taken} for cell in cells]


def saved_subsets(truths, name):
    """Subsets of the ensembles of a table, by label, as they were when the truth was measured."""
    for file in truths:
        with np.load(file) as arrays:
            keys = [key for key in arrays if key.startswith(f"{name}/") and key.endswith("/subsets")]
            if keys:
                ends = {key: np.cumsum(arrays[key.replace("subsets", "lengths")])[:-1] for key in keys}
                return {key.split("/")[1]: np.split(arrays[key].astype(int), ends[key]) for key in keys}
    raise ValueError(f"no truth of {name}")


def row_cells(table, subsets, n, number):
    import subridge as sr

    rows, sizes = table.pilot(n, number), table.sizes(n)
    X, y, Y = table.X[rows], table.y[rows], table.targets[rows]
    plans = {label: sr.SubsetPlan.from_indices(each, X.shape[1]) for label, each in subsets.items()}
    best = best_ridges(table, rows, subsets)

    def fixed():
        shares = {"best": 1.0, "small": 0.1}
        ensembles = {f"{a}/{b}": sr.Ensemble(plans[a], ridge=best[a] * shares[b]) for a in plans for b in shares}
        return cells_of(sr.forecast(X, y, sizes, ensembles, task=table.task))

    def chosen():
        ensembles = {f"{label}/chosen": sr.Ensemble(plan) for label, plan in plans.items()}
        return cells_of(sr.forecast(X, y, sizes, ensembles, ridges="auto", task=table.task))

    def weights():
        if Y.std(axis=0).min() == 0:  # a class that the pilot does not have
            return []
        given = {"ridge": best["8 equal"]}
        ensembles = {
            f"8 equal, {w}/best": sr.Ensemble(plans["8 equal"], aggregation=w, **given) for w in ("scaled", "free")
        }
        return cells_of(sr.forecast(X, Y, sizes, ensembles), "fitted weights")

    return fixed, chosen, weights


def group_cells(table, subsets, n, number):
    import subridge as sr

    rows = table.group_pilot(number)
    X, y, groups = table.X[rows], table.y[rows], table.groups[rows]
    plans = {label: sr.SubsetPlan.from_indices(each, X.shape[1]) for label, each in subsets.items()}
    best = best_ridges(table, rows, subsets)
    given = {"task": table.task, "groups": groups, "n_groups": table.group_sizes}

    def fixed():
        ensembles = {f"{label}/best": sr.Ensemble(plan, ridge=best[label]) for label, plan in plans.items()}
        return cells_of(sr.forecast(X, y, ensembles=ensembles, **given), "groups")

    def chosen():
        ensembles = {f"{label}/chosen": sr.Ensemble(plan) for label, plan in plans.items()}
        return cells_of(sr.forecast(X, y, ensembles=ensembles, ridges="auto", **given), "groups")

    return fixed, chosen


def advice_cells(table, subsets, n, number):
    from fits import tuned_error

    import subridge as sr

    def advised():
        rows = table.pilot(n, number)
        start = time.perf_counter()
        advice = sr.advise(table.X[rows], table.y[rows], 2 * n, task=table.task)
        cost = time.perf_counter() - start
        best = advice.ensembles[advice.best]
        single = sr.Ensemble(sr.SubsetPlan.from_indices(subsets["one ridge"], table.X.shape[1]))
        splits = [table.split(2 * n, 100 + draw) for draw in range(ADVICE_DRAWS)]
        errors = [np.mean([tuned_error(table, *split, each) for split in splits]) for each in (best, single)]
        return [{"section": "advice", "advised": advice.best, "cost": cost, "error": errors[0], "one ridge": errors[1]}]

    return (advised,)


def best_ridges(table, rows, subsets):
    from fits import PATH, left_out_errors

    return {label: float(PATH[np.argmin(left_out_errors(table, rows, each))]) for label, each in subsets.items()}


def cells_of(found, section="squared error"):
    """A cell for every ensemble and size of a forecast, and another for its votes."""
    cells = []
    for key in found.ensemble.values:
        for place in range(found.sizes["n_samples"]):
            point = found.sel(ensemble=key).isel(n_samples=place)
            size = point.n_groups if section == "groups" else point.n_samples
            label, ridge = str(key).split("/")
            about = {"ensemble": label, "ridge": ridge, "size": int(size), "used": float(point.ridge)}
            names = {section: "prediction_error"}
            if "misclassification" in found and section == "squared error":
                names["misclassification"] = "misclassification"
            for each, name in names.items():
                values = {end: float(point[name + end]) for end in ("", "_lower", "_upper")}
                values = {"value": values[""], "lower": values["_lower"], "upper": values["_upper"]}
                cells.append({"section": each} | about | values | {"in_reach": bool(point.in_reach)})
    return cells


def start_worker(patches, counter):
    """Pin a worker to a core, so that the package takes one, and change what the rule changes."""
    if counter is not None:
        with counter.get_lock():
            counter.value += 1
            cores = sorted(os.sched_getaffinity(0))
            os.sched_setaffinity(0, {cores[counter.value % len(cores)]})
    for patch in patches:
        if patch.endswith(".py"):
            runpy.run_path(patch)
            continue
        path, _, value = patch.partition("=")
        changes = [(*path.rpartition(".")[::2], json.loads(value))] if value else []
        for module, field, other in OFF[patch.removeprefix("off:")] if not value else []:
            changes.append((f"subridge.{module}", field, other))
        for owner, field, other in changes:
            if not hasattr(resolved(owner), field):
                raise AttributeError(f"{owner} has no {field}")
            object.__setattr__(resolved(owner), field, other)


def resolved(path):
    """A module, or what is in it."""
    try:
        return importlib.import_module(path)
    except ImportError:
        owner, _, name = path.rpartition(".")
        return getattr(resolved(owner), name)


def write_cells(options):
    """All cells of the version that is on the path, into a file."""
    tasks = []
    for name in options.only or names(options.data):
        table = load(name, options.data)
        if options.task not in (None, table.task):
            continue
        for number in range(options.pilots):
            kinds = [("rows", n, n) for n in table.pilots]
            kinds += [("groups", 0, 500)] if table.groups is not None else []
            if number < ADVISED and options.advice:
                kinds += [("advice", n, 4 * n) for n in table.pilots if table.sizes(n)]
            tasks += [((number, -table.X.shape[1] * rows), kind, name, n, number) for kind, n, rows in kinds]
    tasks = [(options.data, options.truths, *task[1:]) for task in sorted(tasks)]
    counter = multiprocessing.Value("i", 0) if options.jobs > 1 else None
    with (
        multiprocessing.Pool(options.jobs, start_worker, (options.patch, counter)) as pool,
        open(options.write, "w") as file,
    ):
        for cells in within(options.minutes, pool.imap_unordered(pilot_cells, tasks), len(tasks)):
            file.write(json.dumps(cells) + "\n")
            file.flush()


# The report: any version of the package, or none.


class Truth:
    """True errors by section, from the files of truths.py."""

    def __init__(self, files):
        self.curves = {}
        for file in files:
            with np.load(file) as arrays:
                self.curves |= {key: arrays[key] for key in arrays if not key.endswith(("subsets", "lengths"))}
        self.path = np.log(self.curves.pop("path"))

    def of(self, cell):
        """The true error at the cell's ridge, and the least of the path; NaN where no truth was measured."""
        kind = "groups" if cell["section"] == "groups" else "rows"
        votes = cell["section"] == "misclassification"
        name = f"{cell['set']}/{kind}/{cell['size']}/{cell['ensemble']}{', votes' if votes else ''}"
        curve = self.curves.get(name, np.full(len(self.path), np.nan))
        if votes:  # may be 0
            return float(np.interp(np.log(cell["used"]), self.path, curve)), float(curve.min())
        return float(np.exp(np.interp(np.log(max(cell["used"], 1e-300)), self.path, np.log(curve)))), float(curve.min())


def key_of(cell):
    return tuple(cell[part] for part in ("section", "set", "n", "pilot", "ensemble", "ridge", "size"))


def pilot_of(cell):
    return cell["set"], cell["n"], cell["pilot"]


def read_cells(files, truth):
    """Cells of forecasts with their truth by key, pieces of advice by key, and failures."""
    forecasts, advice, failed = {}, {}, []
    lines = [line for file in files for line in file.read_text().splitlines()]
    for cell in (cell for line in lines for cell in json.loads(line)):
        if "failed" in cell:
            failed.append(cell)
        elif cell["section"] == "advice":
            advice[pilot_of(cell)] = cell
        else:
            known, least = truth.of(cell)
            forecasts[key_of(cell)] = cell | {"truth": known, "least": least}
    return forecasts, advice, failed


def figures(cells):
    """What is reported of cells, over all of them."""
    misses = np.array([abs(cell["value"] / cell["truth"] - 1) for cell in cells])
    return {
        "cells": len(cells),
        "median": float(np.median(misses)),
        "ninetieth": float(np.quantile(misses, 0.9)),
        "bias": float(np.median([cell["value"] / cell["truth"] - 1 for cell in cells])),
        "covered": float(np.mean([cell["lower"] <= cell["truth"] <= cell["upper"] for cell in cells])),
        "width": float(np.median([cell["upper"] / cell["lower"] if cell["lower"] > 0 else np.inf for cell in cells])),
        "ridge_loss": float(
            np.mean([cell["truth"] / cell["least"] - 1 if cell["least"] > 0 else 0.0 for cell in cells])
        ),
    }


def report(rules, truths):
    """Print what the rules err; returns figures by section, rule and table."""
    truth = Truth(truths)
    read = {name: read_cells(files, truth) for name, files in rules.items()}
    for name, (_, _, failed) in read.items():
        reasons = sorted({f"{cell['set']}: {cell['failed'][:90]}" for cell in failed})
        print(f"{name}: {len(failed)} calls failed" + "".join(f"\n  {each}" for each in reasons[:12]))
    tried = [
        {pilot_of(cell) for cell in failed} | {pilot_of(cell) for cell in known.values()}
        for known, _, failed in read.values()
    ]
    for known, _, _ in read.values():
        for key in [key for key, cell in known.items() if not all(pilot_of(cell) in each for each in tried)]:
            del known[key]
    first, by_table = next(iter(rules)), {}
    reached = {
        key
        for key, cell in read[first][0].items()
        if cell["in_reach"] and np.isfinite(cell["value"]) and cell["truth"] > 0
    }
    titles = {section: (section, lambda cell: True) for section in SECTIONS}
    for ridge in ("best", "small", "chosen"):
        titles[f"squared error, {ridge} ridge"] = "squared error", lambda cell, ridge=ridge: cell["ridge"] == ridge
    for low, high in ((0, 299), (300, 999), (1000, 10**9)):
        label = f"squared error, pilots of {low} rows or more" if low else "squared error, pilots under 300 rows"
        titles[label] = "squared error", lambda cell, low=low, high=high: low <= cell["n"] <= high
    for growth in (2, 4, 8):
        titles[f"squared error, {growth}n"] = "squared error", lambda cell, g=growth: cell["size"] == g * cell["n"]
    for weights in ("scaled", "free"):
        titles[f"{weights} weights"] = "fitted weights", lambda cell, w=weights: cell["ensemble"].endswith(w)
    print(f"\nErrors in % of the truth, on the cells that {first!r} has in reach; by table first, then over tables.")
    print(
        "| what | rule | tables | cells | unanswered | in reach | median | mean | worst tenth | 90th | bias |", end=""
    )
    print(" covered | upper/lower | ridge loss | mean, to the first | tables better : worse |\n|" + "---|" * 16)
    for title, (section, kept) in titles.items():
        medians = {}
        for name in rules:
            every = [cell for key, cell in read[name][0].items() if key[0] == section and kept(cell)]
            asked = [
                cell for key, cell in read[first][0].items() if key in reached and key[0] == section and kept(cell)
            ]
            ours = [read[name][0].get(key_of(cell)) for cell in asked]
            answered = [cell for cell in ours if cell is not None and np.isfinite(cell["value"]) and cell["truth"] > 0]
            if not answered:
                continue
            tables = defaultdict(list)
            for cell in answered:
                tables[cell["set"]].append(cell)
            own = {table: figures(cells) for table, cells in tables.items()}
            by_table.setdefault(title, {})[name] = own
            medians[name] = {table: each["median"] for table, each in own.items()}
            line, over = figures(answered), np.sort(list(medians[name].values()))
            in_reach = np.mean([cell["in_reach"] for cell in every])
            loss = np.mean([each["ridge_loss"] for each in own.values()])
            worst = over[-max(1, round(len(over) / 10)) :].mean()
            common = [table for table in medians[first] if table in medians[name]]
            a, b = (np.array([medians[each][table] for table in common]) for each in (first, name))
            print(
                f"| {title} | {name} | {len(over)} | {len(asked)} | {len(asked) - len(answered)} | "
                f"{in_reach:.1%} | {100 * np.median(over):.2f} | {100 * over.mean():.2f} | {100 * worst:.1f} | "
                f"{100 * line['ninetieth']:.1f} | {100 * line['bias']:+.1f} | {line['covered']:.1%} | "
                f"{line['width']:.3f} | {100 * loss:.1f} | {b.mean() / a.mean():.3f} "
                f"| {np.sum(b < a)} : {np.sum(b > a)} |"
            )
    advised(read, first)
    return by_table


def advised(read, first):
    """Losses of advice to one ridge; its cells are paired too."""
    known = {name: advice for name, (_, advice, _) in read.items() if advice}
    if not known:
        return
    print("\n| advice | pilots | same pick | mean change to one ridge | worst | gains, 2 % | losses, 2 % | seconds |")
    print("|" + "---|" * 8)
    for name, advice in known.items():
        pairs = [(cell, known[first][key]) for key, cell in advice.items() if key in known.get(first, {})]
        changes = np.array([cell["error"] / cell["one ridge"] - 1 for cell in advice.values()])
        same = np.mean([a["advised"] == b["advised"] for a, b in pairs]) if pairs else np.nan
        print(
            f"| {name} | {len(changes)} | {same:.0%} | {100 * changes.mean():+.2f} % | {100 * changes.max():+.1f} % | "
            f"{np.mean(changes < -0.02):.0%} | {np.mean(changes > 0.02):.0%} | "
            f"{np.mean([cell['cost'] for cell in advice.values()]):.1f} |"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--truths", type=Path, nargs="+", required=True)
    parser.add_argument("--rule", action="append", default=[], help="NAME=SRC[::PATCH]..., the first is compared with")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--part", help="names the files of a run on part of the tables; reports read all parts")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--pilots", type=int, default=PILOTS)
    parser.add_argument("--minutes", type=float, default=np.inf, help="after which a rule ends with the pilots it has")
    parser.add_argument("--only", nargs="+", help="tables")
    parser.add_argument("--task", help="tables of one task only: regression or classification")
    parser.add_argument("--advice", action="store_true", help="also what is advised, and what that errs")
    parser.add_argument("--report", action="store_true", help="run nothing")
    parser.add_argument("--patch", action="append", default=[], help=argparse.SUPPRESS)
    parser.add_argument("--write", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.write:
        return write_cells(options)
    options.out.mkdir(parents=True, exist_ok=True)
    rules = {}
    for rule in options.rule:
        name, _, rest = rule.partition("=")
        file = options.out / (f"{name}.{options.part}.json" if options.part else f"{name}.json")
        if not options.report and not file.exists():
            run_rule(options, file, *rest.split("::"))
        rules[name] = [each for each in options.out.glob(f"{name}.*json") if each.name.split(".")[0] == name]
    (options.out / "by_table.json").write_text(json.dumps(report(rules, options.truths), indent=1))
    return None


def run_rule(options, file, source, *patches):
    """Forecasts of one version of the package, in a process that has its sources first on the path."""
    command = [sys.executable, __file__, options.data, "--out", options.out, "--write", file, "--jobs", options.jobs]
    command += ["--pilots", options.pilots, "--minutes", options.minutes, "--truths", *options.truths]
    command += ["--only", *options.only] if options.only else []
    command += ["--task", options.task] if options.task else []
    command += ["--advice"] if options.advice else []
    command += [word for patch in patches for word in ("--patch", patch)]
    path = os.pathsep.join([str(Path(source).resolve()), os.environ.get("PYTHONPATH", "")])
    start = time.perf_counter()
    subprocess.run([str(word) for word in command], env=os.environ | {"PYTHONPATH": path}, check=True)
    print(f"{file.name}: {time.perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
