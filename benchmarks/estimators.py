"""Speed of `predict` beside one Ridge, and time and memory of a stream of a million rows.

Run on a quiet machine: ``python benchmarks/estimators.py [predict] [stream]`` (both by default). Methods alternate
within each round, and medians are printed. `make bench` times fits.
"""

import resource
import sys
import time

import numpy as np
from sklearn.linear_model import Ridge

import subridge as sr

ROUNDS = 101


def data(n: int, M: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, M))
    return X, X @ rng.standard_normal(M) / np.sqrt(M) + 0.5 * rng.standard_normal(n)


def compare_predictions(k: int = 200, n: int = 2000, M: int = 2048) -> None:
    X, y = data(n, M)
    ours = sr.RidgeEnsembleRegressor(n_estimators=k, ridge=1.0, random_state=0).fit(X, y)
    theirs = Ridge(alpha=float(M)).fit(X, y)
    times: dict[str, list[float]] = {"ours": [], "Ridge": []}
    for _ in range(ROUNDS):
        for name, model in (("ours", ours), ("Ridge", theirs)):
            start = time.perf_counter()
            model.predict(X)
            times[name].append(time.perf_counter() - start)
    seconds = {name: float(np.median(each)) for name, each in times.items()}
    print(f"\npredict: n={n}, M={M}, k={k}, median of {ROUNDS}")
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
    wanted = sys.argv[1:] or ["predict", "stream"]
    if "predict" in wanted:
        compare_predictions()
    if "stream" in wanted:
        stream()
