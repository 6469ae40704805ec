"""How sure a gain must be before an ensemble replaces one ridge: standard errors c, on development tables.

    python benchmarks/default/sure.py DATA --jobs 16

The tables of the tournament, with numbers and with classes (one-hot), at several numbers of rows, and generated ones.
Every table is fitted once by the default; what each c would have taken follows from gains and their standard errors.
Squared error on new rows over that of one ridge, which is that of RidgeCV.
"""

import argparse
import os
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from tables import GENERATED, MOST_TEST_ROWS, WITH_CLASSES, WITH_NUMBERS, digest, generate_draw

SURE = (2.0, 2.25, 2.5, 2.75, 3.0, 3.5)
SIZES = (60, 120, 250)


def drawn(data, name, n, draw):
    """Training and test rows of a table, labels of shape (n, C); None if it has fewer than twice as many."""
    if name in GENERATED["develop"]:
        X, y, X_test, y_test = generate_draw("develop", name, draw)
    else:
        with np.load(data / f"{name}.npz") as file:
            X, y = file["X"].astype(np.float64), file["y"]
        if len(y) < 2 * n:
            return None
        y = np.eye(int(y.max()) + 1)[y] if y.dtype.kind in "iu" else y
        order = np.random.default_rng([digest(name) % 2**32, n, draw]).permutation(len(X))
        train, test = order[:n], order[n : n + MOST_TEST_ROWS]
        X, y, X_test, y_test = X[train], y[train], X[test], y[test]
    return X, y.reshape(len(y), -1), X_test, y_test.reshape(len(y_test), -1)


def ratios(task):
    """Name, rows, and for each c the error of what is taken over that of one ridge."""
    import subridge as sr

    data, name, n, draw = task
    warnings.simplefilter("ignore")
    if (rows := drawn(data, name, n, draw)) is None:
        return None
    X, y, X_test, y_test = rows
    y = y[:, y.std(axis=0) > 0] if y.shape[1] == 1 else y
    if y.shape[1] == 0:
        return None
    model = sr.RidgeEnsembleRegressor(random_state=draw).fit(X, y)
    trials, known = model.choice_.trials, {}

    def error(place):
        if place not in known:
            ensemble = trials[place].ensemble
            own = sr.RidgeEnsembleRegressor(
                subsets=ensemble.plan, ridge=ensemble.ridge, aggregation=ensemble.aggregation.name
            )
            known[place] = ((own.fit(X, y).predict(X_test).reshape(y_test.shape) - y_test) ** 2).sum() / len(y_test)
        return known[place]

    places = []
    for c in SURE:
        needed = [c if each.ensemble.n_members > 1 else each.needed for each in trials]
        sure = [at for at, each in enumerate(trials) if at and each.gain > needed[at] * each.standard_error]
        places.append(max(sure, key=lambda place: trials[place].gain, default=0))
    return name, len(X), [error(place) / error(0) for place in places], [trials[place].name for place in places]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--draws", type=int, default=8)
    options = parser.parse_args()
    real = WITH_NUMBERS + WITH_CLASSES
    real = [each for each in real if (options.data / f"{each}.npz").exists()]
    tasks = [(options.data, name, n, draw) for draw in range(options.draws) for name in real for n in SIZES]
    tasks += [(options.data, name, 0, draw) for draw in range(options.draws) for name in GENERATED["develop"]]
    tables = {}
    with ProcessPoolExecutor(options.jobs) as pool:
        for each in pool.map(ratios, tasks):
            if each is not None:
                tables.setdefault(each[:2], []).append(each[2])
                print(*each[:2], " ".join(f"{value:.3f}" for value in each[2]), each[3][3], flush=True)
    values = np.array([np.mean(each, axis=0) for each in tables.values()])  # (tables, c)
    fits = np.concatenate(list(tables.values()))
    print(
        "\n| c | mean over tables and sizes | least | largest | fits more than 5 % worse | fits more than 5 % better |"
    )
    print("|---" * 6 + "|")
    for place, c in enumerate(SURE):
        own, single = values[:, place], fits[:, place]
        print(
            f"| {c:g} | {own.mean():.4f} | {own.min():.3f} | {own.max():.3f} | {np.mean(single > 1.05):.1%} | "
            f"{np.mean(single < 0.95):.1%} |"
        )
