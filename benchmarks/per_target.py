"""One ridge for all targets beside a ridge for each: R² on 2,000 new rows.

    python benchmarks/per_target.py

300 rows, 100 features and 200 targets. Features explain nine tenths of the variance of half of the targets, and one
tenth of that of the others, whose units are the same or ten times larger.
"""

import numpy as np

import subridge as sr


def main(n=300, M=100, C=200):
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
    main()
