"""Leave-one-out errors of fitted weights against the error on fresh data, in the mean over many draws.

    python benchmarks/left_out_errors.py [--draws 200] [--processes 2] [--cases noise24,60x1000] [--out FILE.csv]
    python benchmarks/left_out_errors.py --cases gauss40 --aggregations mean,scaled --one-fewer --first-seed 1000000

Each draw fits the estimator with an automatic ridge and compares ``loo_error_`` with the squared error on new samples.
The labels of a draw vary in power more than what is looked for, so the column "adjusted" takes off what the same draw
shows of it: the left-out minus the fresh error of the mean of y, whose expectation is known to be zero.

Left-out errors are those of n - 1 samples. ``--one-fewer`` fits each draw without its last sample as well and prints by
how many percent that raises the fresh error: so much of the difference is no optimism.
"""

import argparse
import csv
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from sklearn.datasets import load_diabetes, load_digits

import subridge as sr

FRESH = 2000


def gaussian(n: int, n_features: int, signal: float) -> Callable:
    def draw(rng: np.random.Generator):
        X = rng.standard_normal((n + FRESH, n_features))
        y = X @ rng.standard_normal(n_features) * signal / np.sqrt(n_features) + rng.standard_normal(n + FRESH)
        return X[:n], y[:n], X[n:], y[n:]

    return draw


def real(load: Callable, n: int) -> Callable:
    def draw(rng: np.random.Generator):
        X, y = load()
        order = rng.permutation(len(X))
        kept, fresh = order[:n], order[n:]
        return X[kept], y[kept], X[fresh], y[fresh]

    return draw


def fashion():
    data = sr.datasets.load_fashion_features()
    return np.concatenate([data.X, data.X_test]), np.eye(10)[np.concatenate([data.y, data.y_test])]


def digits():
    X, y = load_digits(return_X_y=True)
    return X / 16, np.eye(10)[y]


def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return X, y / y.std()


CASES = {
    "noise24": (gaussian(24, 40, 0.0), 10),
    "60x1000": (gaussian(60, 1000, 2.0), 16),
    "gauss40": (gaussian(40, 30, 2.0), 2),
    "gauss200": (gaussian(200, 256, 2.0), 32),
    "gauss1000": (gaussian(1000, 256, 2.0), 16),
    "gauss4000": (gaussian(4000, 128, 2.0), 32),
    "diabetes100": (real(diabetes, 100), 4),
    "digits150": (real(digits, 150), 8),
    "digits600": (real(digits, 600), 32),
    "fashion300": (real(fashion, 300), 16),
}


def one_draw(job: tuple[str, str, int, bool]) -> tuple[float, float, float, float]:
    """Fresh error, left-out error, what the mean of y shows of the draw, and the fresh error with one sample fewer."""
    case, aggregation, seed, one_fewer = job
    draw, k = CASES[case]
    X, y, new, labels = draw(np.random.default_rng(seed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = sr.RidgeEnsembleRegressor(k, aggregation=aggregation, random_state=seed).fit(X, y)
        smaller = (
            sr.RidgeEnsembleRegressor(k, aggregation=aggregation, random_state=seed).fit(X[:-1], y[:-1])
            if one_fewer
            else model
        )

    def power(errors):
        return float((errors**2).reshape(len(errors), -1).sum(axis=1).mean())

    n, mean = len(y), y.mean(axis=0)
    control = power((y - mean) * n / (n - 1)) - power(labels - mean)
    fresh, fewer = (power(labels - each.predict(new)) for each in (model, smaller))
    return fresh, model.loo_error_, control, fewer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--aggregations", default="scaled,simplex,free")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--one-fewer", action="store_true")
    parser.add_argument("--out")
    options = parser.parse_args()
    table = [["case", "aggregation", "draws", "fresh", "left_out", "excess_percent", "adjusted_percent", "se_percent"]]
    table[0] += ["one_fewer_percent", "its_se"] if options.one_fewer else []
    with ProcessPoolExecutor(options.processes) as pool:
        for case in options.cases.split(","):
            for aggregation in options.aggregations.split(","):
                seeds = range(options.first_seed, options.first_seed + options.draws)
                jobs = [(case, aggregation, seed, options.one_fewer) for seed in seeds]
                fresh, left_out, control, fewer = np.array(list(pool.map(one_draw, jobs, chunksize=4))).T
                # The share of the control that explains most of the difference.
                gap = left_out - fresh
                slope = np.cov(gap, control)[0, 1] / max(control.var(ddof=1), 1e-300)
                adjusted = gap - slope * control
                unit = 100 / fresh.mean()
                row = [fresh.mean(), left_out.mean(), gap.mean() * unit, adjusted.mean() * unit]
                root = np.sqrt(options.draws)
                row.append(adjusted.std(ddof=1) / root * unit)
                if options.one_fewer:
                    row += [(fewer - fresh).mean() * unit, (fewer - fresh).std(ddof=1) / root * unit]
                table.append([case, aggregation, options.draws, *(f"{value:.4g}" for value in row)])
                print("  ".join(f"{cell!s:>12}" for cell in table[-1]), flush=True)
    if options.out:
        with open(options.out, "w", newline="") as file:
            csv.writer(file).writerows(table)


if __name__ == "__main__":
    sys.exit(main())
