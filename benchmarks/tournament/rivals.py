"""What a careful person does without forecasts: laws through exact leave-one-out errors of sub-samples.

    python benchmarks/tournament/rivals.py DATA --truths FILE ... --out FOLDER [--jobs 2]

writes FOLDER/LAW.json for every law, "selected_law" and "last_value" among them, which compare.py reports beside the
rules: --report --rule new=x --rule last_value=x --out FOLDER. No law has an interval.
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"

import argparse
import json
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from compare import PILOTS, saved_subsets
from fits import PATH, at_ridge, left_out_errors
from scipy.optimize import least_squares
from tables import load, names

SHARES = (0.125, 0.25, 0.375, 0.5, 0.75)
DRAWS = 4


def _pow2(m, a, b):
    return np.exp(a) * m ** -np.exp(b)


def _pow3(m, a, b, c):
    return np.exp(c) + np.exp(a) * m ** -np.exp(b)


def _pow4(m, a, b, c, d):
    return np.exp(c) + np.exp(a) * (m + np.exp(d)) ** -np.exp(b)


def _mmf4(m, a, b, c, d):
    share = m ** np.exp(d)
    return (np.exp(a) * np.exp(b) + np.exp(c) * share) / (np.exp(b) + share)


def _wbl4(m, a, b, c, d):
    return np.exp(c) + np.exp(a) * np.exp(-np.exp(b) * m ** np.exp(d))


def _exp3(m, a, b, c):
    return np.exp(c) + np.exp(a) * np.exp(-np.exp(b) * m)


# Every law with its starts, for sizes in units of n and errors in units of the last.
LAWS = {
    "POW2": (_pow2, [(0.0, -1.0), (0.0, 0.0)]),
    "POW3": (_pow3, [(-1.0, -0.5, -0.5), (-1.0, 0.0, -1.5)]),
    "POW4": (_pow4, [(-1.0, -0.5, -0.5, -2.0), (-1.0, 0.0, -1.5, -1.0)]),
    "MMF4": (_mmf4, [(0.5, -1.0, -0.5, 0.0), (1.0, 0.0, -1.5, 0.5)]),
    "WBL4": (_wbl4, [(0.0, 0.0, -0.5, 0.0), (0.5, 1.0, -0.2, -0.5)]),
    "EXP3": (_exp3, [(0.0, 0.0, -0.5), (0.0, 1.0, -0.2)]),
}


def fit(law, sizes, errors, wanted):
    """A law through errors at sizes, in units of the last of each; its values at wanted sizes."""
    curve, starts = LAWS[law]
    m, logs = sizes / sizes[-1], np.log(errors / errors[-1])
    weights = np.sqrt(m)  # larger samples have more rows to judge by

    def misfit(parameters):
        with np.errstate(all="ignore"):
            values = np.log(curve(m, *np.clip(parameters, -30, 8)))
        return np.nan_to_num(weights * (values - logs), nan=1e3, posinf=1e3, neginf=-1e3)

    best = min((least_squares(misfit, start, max_nfev=200) for start in starts), key=lambda found: found.cost)
    with np.errstate(all="ignore"):
        values = curve(np.asarray(wanted) / sizes[-1], *np.clip(best.x, -30, 8)) * errors[-1]
    return np.where(np.isfinite(values), values, errors[-1])


def forecasts(sizes, errors, wanted):
    """Every rival's errors at wanted sizes, by name."""
    found = {law: fit(law, sizes, errors, wanted) for law in LAWS}
    laws = np.array(list(found.values()))
    known = sizes < sizes[-1]
    misses = [abs(np.log(fit(law, sizes[known], errors[known], sizes[-1:])[0] / errors[-1])) for law in LAWS]
    found["median of laws"] = np.median(laws, axis=0)
    found["selected law"] = laws[int(np.argmin(misses))]
    found["last value"] = np.full(len(wanted), errors[-1])
    return found


def rival_cells(task):
    """Every law's forecasts from one pilot, as cells of compare.py by law."""
    folder, truths, name, n, number = task
    table = load(name, folder)
    rows, sizes, rng = table.pilot(n, number), table.sizes(n), np.random.default_rng(5)
    fewer = sorted({max(8, int(share * n)) for share in SHARES})
    cells = {}
    for label, subsets in saved_subsets(truths, name).items():
        whole = left_out_errors(table, rows, subsets)
        curve = [
            np.mean([left_out_errors(table, rng.choice(rows, m, replace=False), subsets) for _ in range(DRAWS)], axis=0)
            for m in fewer
        ]
        curve, m, best = np.array([*curve, whole]), np.array([*fewer, n], float), float(PATH[np.argmin(whole)])
        for kind, ridge in (("best", best), ("small", best / 10), ("chosen", None)):
            line = curve.min(axis=1) if ridge is None else np.array([at_ridge(each, ridge) for each in curve])
            for law, values in forecasts(m, line, sizes).items():
                for size, value in zip(sizes, map(float, values), strict=True):
                    cell = {"section": "squared error", "set": name, "n": n, "pilot": number, "ensemble": label}
                    cell |= {"ridge": kind, "size": size, "used": ridge or best, "value": value}
                    cells.setdefault(law, []).append(cell | {"lower": value, "upper": value, "in_reach": True})
    return cells


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--truths", type=Path, nargs="+", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", nargs="+")
    options = parser.parse_args()
    tables = [load(name, options.data) for name in options.only or names(options.data)]
    tasks = [
        (options.data, options.truths, table.name, n, number)
        for table in tables
        for n in table.pilots
        for number in range(PILOTS)
    ]
    with ProcessPoolExecutor(options.jobs) as pool:
        parts = list(pool.map(rival_cells, tasks))
    options.out.mkdir(parents=True, exist_ok=True)
    for law in parts[0]:
        cells = [cell for part in parts for cell in part.get(law, [])]
        (options.out / f"{law.replace(' ', '_')}.json").write_text(json.dumps(cells))


if __name__ == "__main__":
    main()
