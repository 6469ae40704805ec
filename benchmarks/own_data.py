"""Theory from the moments of real features beside trained ensembles: bundled Fashion-MNIST × EfficientNet-lite0.

Moments come from all 4,000 training rows by ``sr.Problem.from_data``. Ensembles are trained on draws of n′ of them,
with an intercept, and judged on the 2,000 test rows. The error is squared, summed over the ten one-hot classes.

    python benchmarks/own_data.py [--draws 12] [--raw] [--cost] [--json FILE]

``--raw`` takes the sample's own covariance and least-squares weights instead of the estimates. ``--cost`` shows the
time of an estimate over the number of features instead.
"""

import argparse
import json
import time
import warnings

import numpy as np

import subridge as sr

SIZES = np.array([100, 200, 400, 800, 1600])


def ensembles(n_features: int, unit: float) -> dict[str, sr.Ensemble]:
    """Ten ensembles; ridges are given in units of the mean variance of a feature."""
    equal, unequal, overlapping = sr.subsets.equal, sr.subsets.dirichlet, sr.subsets.overlapping
    plans = {
        "one ridge, λ .3": (equal(1, n_features, 0), 0.3),
        "one ridge, λ .03": (equal(1, n_features, 0), 0.03),
        "2 equal, λ .1": (equal(2, n_features, 1), 0.1),
        "4 equal, λ .01": (equal(4, n_features, 2), 0.01),
        "8 equal, λ .1": (equal(8, n_features, 3), 0.1),
        "8 equal, λ .001": (equal(8, n_features, 3), 0.001),
        "16 equal, λ .03": (equal(16, n_features, 4), 0.03),
        "8 unequal, λ .03": (unequal(8, n_features, 0.75, 5), 0.03),
        "4 unequal, λ .3": (unequal(4, n_features, 0.75, 6), 0.3),
        "6 overlapping of 400, λ .1": (overlapping([400] * 6, n_features, 7), 0.1),
    }
    return {name: sr.Ensemble(plan, ridge=ridge * unit) for name, (plan, ridge) in plans.items()}


def trained_error(ensemble: sr.Ensemble, X, Y, X_test, Y_test) -> float:
    """Squared error on the test rows of an ensemble with an intercept, trained by the plain reference."""
    x, y = X.mean(axis=0), Y.mean(axis=0)
    weights = sr.fit_members(X - x, Y - y, ensemble)
    plan = ensemble.plan
    outputs = [plan.measure(r, X_test - x) @ w / np.sqrt(len(w)) for r, w in enumerate(weights)]
    return float(((np.mean(outputs, axis=0) + y - Y_test) ** 2).sum(axis=1).mean())


def predicted_errors(problems, ensemble: sr.Ensemble) -> np.ndarray:
    """Squared error on new rows: risk and label noise of all targets, and one row for the intercept."""
    ratios = (SIZES - 1) / problems[0].n_features
    risks = sum(sr.risk(each, ensemble, ratios).total + each.label_noise**2 for each in problems)
    return risks * (1 + 1 / SIZES)


def raw_problems(X, Y):
    """The sample's moments as they are."""
    X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    weights = np.linalg.lstsq(X, Y, rcond=None)[0]
    noises = np.sqrt(((Y - X @ weights) ** 2).mean(axis=0))
    covariance = sr.covariance.dense(X.T @ X / len(X))
    scale = np.sqrt(X.shape[1])
    return [sr.Problem(covariance, scale * w, label_noise=z) for w, z in zip(weights.T, noises, strict=True)]


def cost() -> None:
    print("features  rows  targets  seconds (processor)")
    for M in (100, 200, 400, 800, 1600):
        rng = np.random.default_rng(M)
        X, Y = rng.standard_normal((3 * M, M)), rng.standard_normal((3 * M, 3))
        begun = time.process_time()
        sr.Problem.from_data(X, Y)
        print(f"{M:8} {3 * M:5} {3:8} {time.process_time() - begun:8.2f}")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--draws", type=int, default=12)
    options.add_argument("--raw", action="store_true")
    options.add_argument("--cost", action="store_true")
    options.add_argument("--json")
    chosen = options.parse_args()
    if chosen.cost:
        cost()
        return
    data = sr.datasets.load_fashion_features()
    X, X_test = np.asarray(data.X, dtype=np.float64), np.asarray(data.X_test, dtype=np.float64)
    Y, Y_test = np.eye(10)[data.y], np.eye(10)[data.y_test]
    problems = raw_problems(X, Y) if chosen.raw else sr.Problem.from_data(X, Y)
    warnings.simplefilter("ignore", sr.errors.AccuracyWarning)  # raw covariances may be all but singular
    rows, off = {}, []
    for name, ensemble in ensembles(X.shape[1], X.var(axis=0).mean()).items():
        theory, errors = predicted_errors(problems, ensemble), np.empty((len(SIZES), 2))
        for i, size in enumerate(SIZES):
            draws = max(3, chosen.draws * 400 // max(size, 400))
            picked = [np.random.default_rng((size, draw)).permutation(len(X))[:size] for draw in range(draws)]
            each = [trained_error(ensemble, X[p], Y[p], X_test, Y_test) for p in picked]
            errors[i] = np.mean(each), np.std(each, ddof=1) / np.sqrt(draws)
        rows[name] = {
            "theory": theory.tolist(),
            "trained": errors[:, 0].tolist(),
            "standard_error": errors[:, 1].tolist(),
        }
        off.append(theory / errors[:, 0] - 1)
        cells = " ".join(f"{t:.3f}/{e:.3f}" for t, e in zip(theory, errors[:, 0], strict=True))
        print(f"{name:28} {cells}   median off {np.median(np.abs(off[-1])):.1%}", flush=True)
    share = np.abs(off)
    print(
        f"all: median {np.median(share):.2%}, mean {share.mean():.2%}, worst {share.max():.1%}; sizes {SIZES.tolist()}"
    )
    print("by size, median:", [f"{each:.1%}" for each in np.median(share, axis=0)])
    if chosen.json:
        with open(chosen.json, "w", encoding="utf-8") as file:
            json.dump({"sizes": SIZES.tolist(), "raw": chosen.raw, "curves": rows}, file, indent=1)


if __name__ == "__main__":
    main()
