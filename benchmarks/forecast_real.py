"""Forecasts from pilots of real data against what was measured, and against what people use now.

OMP_NUM_THREADS=1 python benchmarks/forecast_real.py bundled cifar10 fashion digits digits_relu diabetes breast_cancer
python benchmarks/forecast_real.py                 # only writes the tables anew, from the records of an earlier run
python benchmarks/forecast_real.py bundled --quick

Every set named is run and replaces its cases in results/forecast_real.json, which git ignores because of its size; then
results/forecast_real.md is written, with every case that file holds.
`pip install sklearn-ensemble-cv` (0.2.5, no dependency beyond pandas is imported) for its rows.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
from forecast_rivals import SHARE, CvEnsemble, extrapolated_cv, measure_subagged, power_law
from forecast_tables import write_tables
from real_tables import IMAGES, TABLES, load, measure, official

import subridge as sr

K, SPREAD = 8, 0.75
N_PILOTS = {"cifar10": 20}  # 8 for other sets, where there are enough rows
SETTINGS = {"best / 10": 0.1, "best": 1.0, "best × 10": 10.0}
RESULTS = Path(__file__).parent / "results" / "forecast_real.json"


def plans_for(M):
    return {
        "single": sr.subsets.equal(1, M, seed=0),
        "equal": sr.subsets.equal(K, M, seed=0),
        "heterogeneous": sr.subsets.dirichlet(K, M, SPREAD, seed=0),
    }


def subsets_of(plan):
    return [np.asarray(index) for index in plan.measurements]


def rounded(ridge):
    return float(f"{ridge:.6g}")


def ridges_for(table, n, plans):
    """The path that "auto" searches, with the scale of all rows, and three ridges around the best of the first pilot.

    The best is that of leave-one-out errors at n, before anything is measured.
    """
    scale = float(table.X.var(axis=0).mean())
    path = [rounded(ridge) for ridge in scale * np.logspace(-3, 5, 17)]
    ensembles = {kind: sr.Ensemble(plan) for kind, plan in plans.items()}
    found = sr.forecast(*table.given(table.rows(0, n)), [n], ensembles, ridges=path, task=table.task)
    best = {kind: float(found.ridge.sel(ensemble=kind).values[0]) for kind in plans}
    return path, {kind: {s: rounded(best[kind] * f) for s, f in SETTINGS.items()} for kind in plans}


def forecasts(table, n, sizes, plans, path, fixed, n_pilots):
    """One record per pilot, kind, ridge and size."""
    own = {
        f"{kind}|{setting}": sr.Ensemble(plans[kind], ridge)
        for kind, ridges in fixed.items()
        for setting, ridge in ridges.items()
    }
    tuned = {f"{kind}|tuned": sr.Ensemble(plan) for kind, plan in plans.items()}
    records = []
    for pilot in range(n_pilots):
        given = table.given(table.rows(pilot, n))
        options = {"task": table.task}
        for found in (
            sr.forecast(*given, sizes, own, **options),
            sr.forecast(*given, sizes, tuned, ridges=path, **options),
        ):
            for name in found.ensemble.values:
                for size in sizes:
                    at = found.sel(ensemble=name, n_samples=size)
                    record = {"set": table.name, "n": n, "pilot": pilot, "size": size}
                    record["kind"], record["setting"] = str(name).split("|")
                    record |= {
                        "ridge": rounded(float(at.ridge)),
                        "in_reach": bool(at.in_reach),
                        "forecast": float(at.prediction_error),
                        "lower": float(at.prediction_error_lower),
                        "upper": float(at.prediction_error_upper),
                    }
                    if "misclassification" in at:
                        record["votes"] = float(at.misclassification)
                        record["votes_lower"] = float(at.misclassification_lower)
                        record["votes_upper"] = float(at.misclassification_upper)
                    records.append(record)
    return records


def timed(work):
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    return result, {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}


def rivals(table, n, sizes, plans, path, fixed, n_pilots):
    """Forecast, power law and ECV of one ensemble at a time, timed by turns."""
    records = []
    for pilot in range(n_pilots):
        rows = table.rows(pilot, n)
        X, Y = table.X[rows], table.Y[rows]
        for kind, plan in plans.items():
            for setting, ridge in fixed[kind].items():
                base = {"set": table.name, "n": n, "pilot": pilot, "kind": kind, "setting": setting, "ridge": ridge}

                # One-hot targets as numbers, no label noise: what the others do not give is not timed.
                def ours(at, plan=plan, ridge=ridge, X=X, Y=Y, **options):
                    own = {"it": sr.Ensemble(plan, ridge)}
                    return sr.forecast(X, Y, at, own, label_noise=False, **options).isel(ensemble=0)

                found, spent = timed(lambda ours=ours: ours(sizes))
                law, law_spent = timed(
                    lambda X=X, Y=Y, plan=plan, ridge=ridge: power_law(X, Y, subsets_of(plan), ridge, sizes)
                )
                for i, size in enumerate(sizes):
                    reach = {"size": size, "in_reach": bool(found.in_reach[i])}
                    estimate = float(found.prediction_error[i])
                    records.append(base | reach | spent | {"method": "forecast", "estimate": estimate})
                    records.append(base | reach | law_spent | {"method": "power law", "estimate": float(law[i])})
                if setting == "best":
                    _, spent = timed(lambda ours=ours: ours(sizes, ridges=path))
                    records.append(base | spent | {"method": "forecast, 17 ridges", "size": 0, "estimate": None})
                    own = {"it": sr.Ensemble(plan, ridge)}
                    _, spent = timed(
                        lambda own=own, rows=rows: sr.forecast(*table.given(rows), sizes, own, task=table.task)
                    )
                    records.append(base | spent | {"method": "forecast, with votes", "size": 0, "estimate": None})
                if setting != "best" or kind == "heterogeneous" or CvEnsemble is None:
                    continue
                size = int(SHARE * n) if kind == "single" else n
                found, spent = timed(lambda ours=ours, size=size: ours([size]))
                estimate = float(found.prediction_error[0])
                records.append(base | spent | {"method": "forecast at n", "size": size, "estimate": estimate})
                share = 1.0 if kind == "single" else 1 / K
                (one, all_of_them), spent = timed(
                    lambda X=X, Y=Y, ridge=ridge, share=share: extrapolated_cv(X, Y, ridge, K, share)
                )
                estimate = one if kind == "single" else all_of_them
                records.append(base | spent | {"method": "ECV", "size": size, "estimate": float(estimate)})
    return records


def add_measured(table, records, plans, n_trials, seed):
    """Measure every case that occurs and put it into the records, without the pilot's own rows."""
    needed = {}
    for record in records:
        if record.get("method") != "ECV" and record["size"]:
            kinds = needed.setdefault(record["size"], {})
            kinds.setdefault(record["kind"], set()).add(record["ridge"])
    measured = {}
    for size, kinds in sorted(needed.items()):
        start = time.perf_counter()
        wanted = {kind: (subsets_of(plans[kind]), sorted(ridges)) for kind, ridges in kinds.items()}
        count = 4 * n_trials if len(table.X) < 3000 else n_trials
        for (kind, ridge), losses in measure(table, size, wanted, count, seed).items():
            measured[size, kind, ridge] = losses
        print(f"  measured at {size}: {time.perf_counter() - start:.0f} s", flush=True)
    subagged = {}
    for record in records:
        if record["size"] == 0:
            continue
        n, ridge = record["n"], record["ridge"]
        rows = table.rows(record["pilot"], n)
        if record.get("method") == "ECV" and record["kind"] == "equal":
            if (n, ridge) not in subagged:
                subagged[n, ridge] = measure_subagged(table, n, [ridge], K, 2 * n_trials)[ridge]
            record |= subagged[n, ridge].without(rows)
        else:
            record |= measured[record["size"], record["kind"], ridge].without(rows)
    return measured


def short(found):
    """Five digits of every number, None where there is none."""
    if isinstance(found, dict):
        return {key: short(each) for key, each in found.items()}
    if isinstance(found, list):
        return [short(each) for each in found]
    if isinstance(found, float):
        return float(f"{found:.5g}") if np.isfinite(found) else None
    return found


def run(name, quick):
    table, start = load(name), time.perf_counter()
    M, N = table.X.shape[1], len(table.X)
    plans, cases, compared = plans_for(M), [], []
    for n in table.pilots[:1] if quick else table.pilots:
        sizes = [size for size in (n, 2 * n, 4 * n) if size <= 0.8 * N]
        path, fixed = ridges_for(table, n, plans)
        n_pilots = 2 if quick else min(N_PILOTS.get(name, 8), N // n, 12000 // n)
        cases += forecasts(table, n, sizes, plans, path, fixed, n_pilots)
        print(f"{name} n = {n}: {n_pilots} pilots, {time.perf_counter() - start:.0f} s", flush=True)
        few = 1 if quick else 2 if n >= 1000 else 3
        compared += rivals(table, n, sizes[1:], plans, path, fixed, min(few, n_pilots))
        print(f"{name} n = {n}: rivals, {time.perf_counter() - start:.0f} s", flush=True)
    measured = add_measured(table, cases + compared, plans, 4 if quick else 12, seed=3)
    whole = {
        "M": M,
        "rows": N,
        "note": table.note,
        "members": [int(size) for size in plans["heterogeneous"].subset_sizes],
        "seconds": time.perf_counter() - start,
    }
    if name in IMAGES:
        size = 1000
        wanted = {kind: (subsets_of(plans[kind]), [fixed[kind]["best"]]) for kind in plans}
        there = official(name, size, wanted, 4 if quick else 12)
        whole["official"] = {
            kind: error / measured[size, kind, ridge].without([])["measured"]
            for (kind, ridge), error in there.items()
            if (size, kind, ridge) in measured
        }
    return {"set": whole, "cases": cases, "compared": compared}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", help=", ".join([*IMAGES, *TABLES]))
    parser.add_argument("--quick", action="store_true", help="few pilots and trials, the smallest n")
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    unknown = set(arguments.sets) - {*IMAGES, *TABLES}
    if unknown:
        parser.error(f"unknown sets: {', '.join(sorted(unknown))}")
    results = json.loads(arguments.out.read_text()) if arguments.out.exists() else {}
    warm = np.random.default_rng(0).standard_normal((40, 10))
    sr.forecast(warm, warm[:, 0] + warm[:, 1] ** 2, [80], {"it": sr.Ensemble(sr.subsets.equal(2, 10, seed=0), 0.1)})
    for name in arguments.sets:
        results[name] = short(run(name, arguments.quick))
        arguments.out.write_text(json.dumps(results, separators=(",", ":")))
    write_tables(results, arguments.out.with_suffix(".md"), __doc__.splitlines()[2])


if __name__ == "__main__":
    main()
