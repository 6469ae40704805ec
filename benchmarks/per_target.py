"""One ridge for all targets beside a ridge for each: R² on 2,000 new rows; and seconds for many targets on a card.

    python benchmarks/per_target.py
    python benchmarks/per_target.py --forecast        500 rows, 200 features, 5,000 targets, 12 sizes
    python benchmarks/per_target.py --members         600 rows, 4 members of 400 features, 1,000 targets, 20 ridges
    python benchmarks/per_target.py --device cuda     n = 3,000 in 10 runs, 8,000 features, 50,000 targets, 20 ridges

300 rows, 100 features and 200 targets. Features explain nine tenths of the variance of half of the targets, and one
tenth of that of the others, whose units are the same or ten times larger.
"""

import argparse
import time

import numpy as np
from banded import RIDGES, draw

import subridge as sr


def many_targets(device, n, p, C):
    """Seconds of three fits, the first of which sets the card up, and R² on new rows, in double precision."""
    import torch

    X, Y, new, labels = (torch.asarray(each, device=device).double() for each in draw(n, p, 4, C, device=device))
    for _ in range(3):
        start = time.perf_counter()
        model = sr.RidgeEnsembleRegressor(1, per_target=True, ridges=RIDGES).fit(X, Y, groups=np.arange(n) // (n // 10))
        if device == "cuda":
            torch.cuda.synchronize()
        seconds, errors = time.perf_counter() - start, labels - model.predict(new)
        r2 = 1 - (errors**2).sum(0) / ((labels - labels.mean(0)) ** 2).sum(0)
        print(f"{seconds:.2f} s, R² {float(r2.mean()):.4f}", flush=True)


def forecasts(n=500, M=200, C=5000):
    """Processor seconds of forecasts of all targets, and what a loop over single targets would take.

    The floor is the time of the products that give left-out errors, at the ridges of the first path, the finer one and
    all sizes.
    """
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, M))
    Y = X @ rng.standard_normal((M, C)) * rng.uniform(size=C) ** 3 / M**0.5 + rng.standard_normal((n, C))
    one, some = {"one ridge": sr.Ensemble(sr.subsets.Equal(1))}, range(0, C, C // 20)
    sr.forecast(X, Y[:, :2], ensembles=one, ridges="auto", per_target=True)  # imports
    A, Q = rng.standard_normal((100, M)), rng.standard_normal((M, n))
    times = [time.process_time()]
    own = sr.forecast(X, Y, ensembles=one, ridges="auto", per_target=True)
    times.append(time.process_time())
    alone = [sr.forecast(X, Y[:, c], ensembles=one, ridges="auto") for c in some]
    times.append(time.process_time())
    for _ in range((17 + 49 + 13) * C // 100):
        A @ Q
    times.append(time.process_time())
    together, loop, floor = np.diff(times) * [1, C / len(alone), 1]
    print(f"{C} targets {together:.1f} s, one by one {loop:.0f} s (from {len(alone)}), floor {floor:.1f} s", flush=True)
    off = [
        abs(own.isel(target=c).prediction_error / each.prediction_error - 1).max()
        for c, each in zip(some, alone, strict=True)
    ]
    print(f"largest difference from single forecasts {float(max(off)):.1e}")


def members(n=600, p=400, C=1000):
    """Processor seconds of four members with a ridge and free weights for each target, by rows and by ten runs."""
    X, Y, *_ = (np.asarray(each, dtype=np.float64) for each in draw(n, p, 4, C, n_new=10))
    for groups in (None, np.arange(n) // (n // 10)):
        start, subsets = time.process_time(), [range(p * s, p * s + p) for s in range(4)]
        model = sr.RidgeEnsembleRegressor(subsets=subsets, per_target=True, ridges=RIDGES, aggregation="free")
        r2 = model.fit(X, Y, groups=groups).loo_r2_.mean()
        print(f"{time.process_time() - start:.1f} s, R² {r2:.4f}", flush=True)


def units(n=300, M=100, C=200):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n + 2000, M))
    signal, share = X @ rng.standard_normal((M, C)) / M**0.5, np.repeat([0.9, 0.1], C // 2)
    print("units of noisy targets, a ridge per target, R² of clean targets, of noisy ones")
    for units in (1, 10):
        Y = signal * share**0.5 + rng.standard_normal(signal.shape) * (1 - share) ** 0.5
        Y[:, C // 2 :] *= units
        for per_target in (False, True):
            ridges = np.logspace(-3, 3, 13)
            model = sr.RidgeEnsembleRegressor(1, per_target=per_target, aggregation="mean", ridges=ridges)
            errors, new = Y[n:] - model.fit(X[:n], Y[:n]).predict(X[n:]), Y[n:] - Y[n:].mean(axis=0)
            r2 = 1 - (errors**2).sum(axis=0) / (new**2).sum(axis=0)
            print(units, per_target, r2[: C // 2].mean().round(3), r2[C // 2 :].mean().round(3))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=["cpu", "cuda"])
    parser.add_argument(
        "--sizes", type=int, nargs=3, default=[3000, 2000, 50_000], help="n, features of 4 spaces, targets"
    )
    parser.add_argument("--forecast", action="store_true")
    parser.add_argument("--members", action="store_true")
    options = parser.parse_args()
    if options.forecast or options.members:
        (forecasts if options.forecast else members)()
    elif options.device:
        many_targets(options.device, *options.sizes)
    else:
        units()
