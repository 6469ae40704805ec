"""Speed of the ensemble against scikit-learn on the same masks, with equal predictions.

Run on a quiet machine: ``python benchmarks/estimators.py [fit] [predict] [stream]`` (all three by default). Methods
alternate within each round; medians of five rounds are printed.
"""

import resource
import sys
import time
from collections.abc import Callable

import numpy as np
from sklearn.ensemble import BaggingRegressor
from sklearn.linear_model import Ridge, RidgeCV

import subridge as sr

ROUNDS = 5


def alternating(methods: dict[str, Callable[[], object]], rounds: int = ROUNDS) -> dict[str, float]:
    """Median seconds of each method, after one warm-up round."""
    times: dict[str, list[float]] = {name: [] for name in methods}
    for turn in range(rounds + 1):
        for name, method in methods.items():
            start = time.perf_counter()
            method()
            if turn:
                times[name].append(time.perf_counter() - start)
    return {name: float(np.median(seconds)) for name, seconds in times.items()}


def data(n: int, M: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, M))
    return X, X @ rng.standard_normal(M) / np.sqrt(M) + 0.5 * rng.standard_normal(n)


def compare_fits(k: int, n: int = 2000, M: int = 2048, n_ridges: int = 8) -> None:
    X, y = data(n, M)
    X_new, _ = data(500, M, seed=1)
    N = M // k
    ridges = np.logspace(-1, 3, n_ridges)
    options = {"n_estimators": k, "max_features": N, "bootstrap": False, "random_state": 0}
    bagged_cv = BaggingRegressor(RidgeCV(alphas=ridges * N), **options)
    bagged = [BaggingRegressor(Ridge(alpha=ridge * N), **options) for ridge in ridges]
    masks = bagged_cv.fit(X, y).estimators_features_
    own = sr.RidgeEnsembleRegressor(subsets=masks, ridge_scope="member", ridges=ridges)
    common = sr.RidgeEnsembleRegressor(subsets=masks, ridge="auto", ridges=ridges)
    disjoint = sr.RidgeEnsembleRegressor(n_estimators=k, subsets="equal", ridges=ridges, random_state=0)
    single = RidgeCV(alphas=ridges * M)
    seconds = alternating(
        {
            "subridge, ridge per member": lambda: own.fit(X, y),
            "subridge, common ridge": lambda: common.fit(X, y),
            "subridge, disjoint equal": lambda: disjoint.fit(X, y),
            "BaggingRegressor(RidgeCV)": lambda: bagged_cv.fit(X, y),
            f"{n_ridges} x BaggingRegressor(Ridge)": lambda: [model.fit(X, y) for model in bagged],
            "one RidgeCV on all features": lambda: single.fit(X, y),
        }
    )
    print(f"\nfit: n={n}, M={M}, k={k}, N={N}, {n_ridges} ridges, median of {ROUNDS}")
    cv, eight = seconds["BaggingRegressor(RidgeCV)"], seconds[f"{n_ridges} x BaggingRegressor(Ridge)"]
    print(f"{'method':32s} {'seconds':>9s} {'RidgeCV bag/':>13s} {'Ridge bags/':>13s}")
    for name, value in seconds.items():
        print(f"{name:32s} {value:9.4f} {cv / value:13.2f} {eight / value:13.2f}")
    index = int(np.argmin(abs(ridges - common.ridge_)))
    print(f"largest difference of predictions, RidgeCV bag: {gap(own, bagged_cv, X_new):.1e};", end=" ")
    print(f"Ridge bag at the chosen ridge: {gap(common, bagged[index], X_new):.1e}")


def compare_heterogeneous(k: int, n: int = 2000, M: int = 2048, n_ridges: int = 8) -> None:
    """The default subsets, against a loop of RidgeCV over the same masks (bagging cannot draw them)."""
    X, y = data(n, M)
    ridges = np.logspace(-1, 3, n_ridges)
    ours = sr.RidgeEnsembleRegressor(n_estimators=k, ridge_scope="member", ridges=ridges, random_state=0).fit(X, y)
    masks = ours.estimators_features_
    loop = [RidgeCV(alphas=ridges * len(mask)) for mask in masks]
    seconds = alternating(
        {
            "subridge, heterogeneous": lambda: ours.fit(X, y),
            "loop of RidgeCV": lambda: [model.fit(X[:, mask], y) for model, mask in zip(loop, masks, strict=True)],
        }
    )
    sizes = sorted(len(mask) for mask in masks)
    print(f"\nfit, heterogeneous: n={n}, M={M}, k={k}, subsets of {sizes[0]} to {sizes[-1]} features")
    for name, value in seconds.items():
        print(f"{name:32s} {value:9.4f} {seconds['loop of RidgeCV'] / value:13.2f}")
    theirs = np.mean([model.predict(X[:, mask]) for model, mask in zip(loop, masks, strict=True)], axis=0)
    print(f"largest difference of predictions: {abs(ours.predict(X) - theirs).max():.1e}")


def gap(ours: object, theirs: object, X: np.ndarray) -> float:
    return float(abs(ours.predict(X) - theirs.predict(X)).max())


def compare_predictions(k: int = 200, n: int = 2000, M: int = 2048) -> None:
    X, y = data(n, M)
    ours = sr.RidgeEnsembleRegressor(n_estimators=k, ridge=1.0, random_state=0).fit(X, y)
    theirs = Ridge(alpha=float(M)).fit(X, y)
    seconds = alternating({"ours": lambda: ours.predict(X), "Ridge": lambda: theirs.predict(X)}, rounds=101)
    print(f"\npredict: n={n}, M={M}, k={k}, median of 101")
    for name, value in seconds.items():
        print(f"{name:32s} {value * 1e3:9.3f} ms {value / seconds['Ridge']:13.2f} x")


def stream(n: int = 1_000_000, M: int = 512, batch: int = 10_000, k: int = 8) -> None:
    rng = np.random.default_rng(0)
    teacher = rng.standard_normal(M) / np.sqrt(M)
    model = sr.RidgeEnsembleRegressor(n_estimators=k, random_state=0)
    busy = 0.0
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(n // batch):
        X = rng.standard_normal((batch, M))
        y = X @ teacher + rng.standard_normal(batch)
        start = time.perf_counter()
        model.partial_fit(X, y)
        busy += time.perf_counter() - start
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"\nstream: n={n}, M={M}, k={k}, batches of {batch}")
    size = n * M * 8 / 2**20
    print(f"partial_fit {busy:.1f} s in all; peak memory grew by {grown:.0f} MiB (the data: {size:.0f} MiB)")


if __name__ == "__main__":
    wanted = sys.argv[1:] or ["fit", "predict", "stream"]
    if "fit" in wanted:
        compare_fits(8)
        compare_fits(32)
        compare_heterogeneous(8)
        compare_heterogeneous(32)
    if "predict" in wanted:
        compare_predictions()
    if "stream" in wanted:
        stream()
