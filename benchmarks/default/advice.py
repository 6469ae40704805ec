"""Advice on the tables of the tournament: is it what a fit takes, and what does it cost beside always one ridge?

    python benchmarks/default/advice.py DATA --jobs 16

One pilot of each table, of its smallest size. At the pilot's size the advice is compared with what the default takes.
For twice as many rows every candidate of the advice is trained on them, ridge and weights chosen there, and its squared
error (one-hot for classes) on up to 2,000 other rows is compared with that of the best candidate (regret) and of one
ridge, not scaled.
"""

import argparse
import os
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tournament"))

from tables import load, names


def judged(task):
    """Name, pilot, what the fit and the advice take, and errors of the candidates at twice the rows."""
    from sklearn.utils import check_random_state

    import subridge as sr

    folder, name, draws = task
    warnings.simplefilter("ignore")
    table = load(name, folder)
    n = next((each for each in table.pilots if table.sizes(each)), None)
    if n is None:
        return None
    rows = table.pilot(n, 0)
    X, y = table.X[rows], table.y[rows]
    seed = int(check_random_state(0).randint(np.iinfo(np.int32).max, size=2)[0])  # as an estimator draws it
    kind = sr.RidgeEnsembleClassifier if table.classes else sr.RidgeEnsembleRegressor
    fit = kind(random_state=0).fit(X, y)
    present, planned = (sr.advise(X, y, size, task=table.task, seed=seed) for size in (None, 2 * n))
    errors = dict.fromkeys(planned.ensembles, 0.0)
    for draw in range(draws):
        train, test = table.split(2 * n, 100 + draw)
        for each, ensemble in planned.ensembles.items():
            model = sr.RidgeEnsembleRegressor(subsets=ensemble.plan, aggregation=ensemble.aggregation.name)
            output = model.fit(table.X[train], table.targets[train]).predict(table.X[test])
            errors[each] += ((output.reshape(len(test), -1) - table.targets[test]) ** 2).sum() / len(test) / draws
    return name, n, fit.choice_.name, present.best, planned.best, errors


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--only", nargs="+", help="tables")
    options = parser.parse_args()
    print("| table | pilot | fit takes | advice at n | for 2n | / best | one ridge / best | advice / one ridge |")
    print("|---" * 8 + "|")
    found = []
    with ProcessPoolExecutor(options.jobs) as pool:
        chosen = options.only or names(options.data)
        for each in pool.map(judged, [(options.data, name, options.draws) for name in chosen]):
            if each is None:
                continue
            name, n, taken, present, planned, errors = each
            best, single, ours = min(errors.values()), errors["one ridge"], errors[planned]
            found.append((taken == present, ours / best - 1, single / best - 1, ours / single - 1))
            print(
                f"| {name} | {n} | {taken} | {present} | {planned} | {ours / best:.3f} | {single / best:.3f} | "
                f"{ours / single:.3f} |",
                flush=True,
            )
    same, ours, single, change = np.array(found, dtype=float).T
    print(f"\n{len(same)} tables: advice at the pilot's size is what a fit takes on {int(same.sum())}")
    print(f"mean regret {ours.mean():.2%}, always one ridge {single.mean():.2%}")
    print(f"within 2 % of the best {np.mean(ours < 0.02):.0%}, always one ridge {np.mean(single < 0.02):.0%}")
    print(f"at worst {change.max():+.1%} beside one ridge, at best {change.min():+.1%}")
