"""What each aggregation buys on real data: one-hot squared error, misclassification, and the cost of choosing weights.

    python benchmarks/aggregation.py [--draws 3] [--members 8 32] [--sets bundled digits cancer] [--out FILE.csv]
    python benchmarks/aggregation.py --cost [--rounds 21]

Every ensemble chooses its own ridge by its own left-out error; "one ridge" is a single member on all features. The set
"bundled" are the Fashion features that come with the package; sets of ``make data`` that are in the cache (cifar10,
fashion) can be named as well. ``--cost`` times fits with n = 2,000, M = 2,048 and 8 ridges in turns, each beside that
of the mean in the same round, in wall and in processor time. The latter counts threads that wait for work.
"""

import argparse
import csv
import time
import warnings

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from threadpoolctl import threadpool_info

import subridge as sr

AGGREGATIONS = ("mean", "scaled", "simplex", "free")


def load(name: str) -> tuple[np.ndarray, np.ndarray, int]:
    """Features, labels and the number of samples to train on."""
    if name == "bundled":
        data = sr.datasets.load_fashion_features()
        return np.concatenate([data.X, data.X_test]), np.concatenate([data.y, data.y_test]), 2000
    if name in ("digits", "cancer"):
        X, y = (load_digits if name == "digits" else load_breast_cancer)(return_X_y=True)
        return X / (X.std(axis=0) + 1e-9), y, 900 if name == "digits" else 300
    data = sr.datasets.load_set(name)
    return np.concatenate([data.X, data.X_test]), np.concatenate([data.y, data.y_test]), 2000


def judged(outputs: np.ndarray, one_hot: np.ndarray) -> tuple[float, float]:
    wrong = outputs.argmax(axis=1) != one_hot.argmax(axis=1)
    return float(((outputs - one_hot) ** 2).sum(axis=1).mean()), float(wrong.mean())


def weighted_votes(model: sr.RidgeEnsembleRegressor, X: np.ndarray, weights: np.ndarray) -> np.ndarray:
    votes = np.zeros((len(X), model.estimators_coef_[0].shape[0]))
    for features, coef, intercept, w in zip(
        model.estimators_features_, model.estimators_coef_, model.estimators_intercept_, weights, strict=True
    ):
        best = (X[:, features] @ coef.T + intercept).argmax(axis=1)
        votes[np.arange(len(X)), best] += w
    return votes


def one_draw(name: str, k: int, seed: int) -> dict[str, tuple[float, float, float]]:
    """Squared error, misclassification and left-out error of every aggregation."""
    X, y, n = load(name)
    order = np.random.default_rng(seed).permutation(len(X))
    one_hot = np.eye(int(y.max()) + 1)[y]
    kept, fresh = order[:n], order[n:]
    found = {}
    for label, members, aggregation in [
        ("one ridge", 1, "mean"),
        *((each, k, each) for each in AGGREGATIONS),
        ("scaled per class", k, sr.aggregation.Scaled(per_target=True)),
        ("free per class", k, sr.aggregation.Free(per_target=True)),
    ]:
        model = sr.RidgeEnsembleRegressor(members, subsets="equal", aggregation=aggregation, random_state=seed).fit(
            X[kept], one_hot[kept]
        )
        found[label] = (*judged(model.predict(X[fresh]), one_hot[fresh]), model.loo_error_)
        if label in ("mean", "simplex", "free"):
            votes = weighted_votes(model, X[fresh], model.weights_)
            wrong = float((votes.argmax(axis=1) != y[fresh]).mean())
            found["votes" if label == "mean" else f"votes weighted by {label}"] = (np.nan, wrong, np.nan)
    return found


def cost(repeats: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 2048))
    y = X @ rng.standard_normal(2048) / 45 + rng.standard_normal(2000)

    def fit(k: int, name: str) -> None:
        sr.RidgeEnsembleRegressor(
            k, aggregation=name, subsets="equal", ridges=np.logspace(-1, 2.5, 8), random_state=0
        ).fit(X, y)

    threads = max(library["num_threads"] for library in threadpool_info())
    print(f"{threads} threads, {repeats} rounds; median of the ratios to the mean [quarter and three quarters of them]")
    for k in (8, 32):
        seconds = np.empty((repeats, len(AGGREGATIONS), 2))
        for name in AGGREGATIONS:  # what is loaded and allocated on first use
            fit(k, name)
        for turn in range(repeats):
            for place in rng.permutation(len(AGGREGATIONS)):
                wall, processor = time.perf_counter(), time.process_time()
                fit(k, AGGREGATIONS[place])
                seconds[turn, place] = time.perf_counter() - wall, time.process_time() - processor
        low, middle, high = np.quantile(seconds / seconds[:, :1], (0.25, 0.5, 0.75), axis=0)
        for clock, unit in enumerate(("wall", "processor")):
            ratios = ", ".join(
                f"{name} x{middle[place, clock]:.2f} [{low[place, clock]:.2f}, {high[place, clock]:.2f}]"
                for place, name in enumerate(AGGREGATIONS)
                if name != "mean"
            )
            print(f"k={k} {unit:9}: mean {np.median(seconds[:, 0, clock]):.3f} s; {ratios}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--members", type=int, nargs="+", default=[8, 32])
    parser.add_argument("--sets", nargs="+", default=["bundled", "digits", "cancer"])
    parser.add_argument("--out")
    parser.add_argument("--cost", action="store_true")
    parser.add_argument("--rounds", type=int, default=21, help="of --cost")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.cost:
        cost(options.rounds)
        return
    table = [["set", "members", "aggregation", "squared_error", "misclassification", "left_out"]]
    table[0] += ["percent_beside_mean", "se"]
    for name in options.sets:
        for k in options.members:
            draws = [one_draw(name, k, seed) for seed in range(options.draws)]
            for label in draws[0]:
                means = np.mean([draw[label] for draw in draws], axis=0)
                # Beside the mean of the same draw, in percent: what it buys, and how much that varies over draws.
                beside = [100 * (draw[label][0] / draw["mean"][0] - 1) for draw in draws]
                error = np.std(beside, ddof=1) / len(draws) ** 0.5 if len(draws) > 1 else np.nan
                table.append(
                    [name, k, label, *(f"{value:.4f}" for value in means), f"{np.mean(beside):+.1f}", f"{error:.1f}"]
                )
                print("  ".join(f"{cell!s:>12}" for cell in table[-1]), flush=True)
    if options.out:
        with open(options.out, "w", newline="") as file:
            csv.writer(file).writerows(table)


if __name__ == "__main__":
    main()
