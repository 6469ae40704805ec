"""What the pilot's own noise leaves to any rule: python benchmarks/tournament/ceiling.py ROLE_OR_FILE [...]

A forecast, and every rival, carries the pilot's left-out error to a larger size. Here the factor is not forecast but
taken from the truth: the error at n′ over that at n, both measured by training on other rows. What is left of the error
is that of the pilot's left-out error alone, and no rule that carries it can be sure to do better.
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"

import json
import sys
from collections import defaultdict

import numpy as np
from report import median, misses, percent
from run import left_out_errors
from tables import FOLDER, PATH, at_ridge, load, truth_at


def carried(cells):
    """Errors of the last value, times the true factor, of cells of one set; shape (cells,)."""
    table, errors = load(cells[0]["set"]), np.empty(len(cells))
    plans = table.plans()
    best = {}
    for index, cell in enumerate(cells):
        key = cell["n"], cell["pilot"], cell["ensemble"]
        if key not in best:
            whole = left_out_errors(table, table.pilot(cell["n"], cell["pilot"]), plans[cell["ensemble"]])
            best[key] = float(PATH[np.argmin(whole)])
        ridge = best[key] / 10 if cell["ridge"] == "small" else best[key]
        here = truth_at(table.name, cell["n"])[0][list(plans).index(cell["ensemble"])]
        errors[index] = abs(cell["rivals"]["last value"] / at_ridge(here, ridge) - 1)
    return errors


def main(files):
    by_set = defaultdict(list)
    for given in files:
        with open(given if given.endswith(".json") else FOLDER / f"{given}.json") as file:
            for cell in json.load(file)["forecast"]:
                if "failed" not in cell and cell["in_reach"]:
                    by_set[cell["set"]].append(cell)
    laws = list(next(iter(by_set.values()))[0]["rivals"])
    columns = defaultdict(list)
    print("Median error in reach, %.\n\n| set | perfect factor | forecast | last value | best law |\n|" + "---|" * 5)
    for name, cells in by_set.items():
        rivals = {law: median(misses(cells, law)) for law in laws}
        for column, value in {"perfect": median(carried(cells)), "forecast": median(misses(cells)), **rivals}.items():
            columns[column].append(value)
        best = min(rivals, key=rivals.get)
        print(
            f"| {name} | {percent(columns['perfect'][-1])} | {percent(columns['forecast'][-1])} | "
            f"{percent(rivals['last value'])} | {best} {percent(rivals[best])} |",
            flush=True,
        )
    over = {column: median(values) for column, values in columns.items()}
    rival = min(laws, key=over.get)
    print(
        f"\nMedian over {len(by_set)} sets: perfect factor {percent(over['perfect'])}, forecast "
        f"{percent(over['forecast'])}, best rival {rival} {percent(over[rival])}. Of the best rival's: perfect factor "
        f"{over['perfect'] / over[rival]:.2f}, the forecast {over['forecast'] / over[rival]:.2f}."
    )


if __name__ == "__main__":
    main(sys.argv[1:])
