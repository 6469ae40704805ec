"""The most that weights of members could gain: weights fitted to the very rows that judge them, at their best ridge.

    python benchmarks/aggregation_ceiling.py [--sets bundled digits fashion] [--members 32] [--draws 3]

No aggregation can do better than this with the same members. Beside it is what the mean has at the ridge it chooses.
"""

import argparse
import warnings

import numpy as np
from aggregation import load
from scipy.optimize import nnls

import subridge as sr

RIDGES = np.logspace(-6, 3, 19)


def outputs(X, Y, fresh, subset, ridge):
    """What a member adds to the mean of the labels on fresh rows, shape (rows, C)."""
    mean = X[:, subset].mean(axis=0)
    A = X[:, subset] - mean
    coef = np.linalg.solve(A.T @ A + ridge * len(subset) * np.eye(len(subset)), A.T @ (Y - Y.mean(axis=0)))
    return (fresh[:, subset] - mean) @ coef


def best_errors(members, R):
    """Errors of the mean, the best scale, the best non-negative and the best signed weights."""
    n = len(R)
    flat, wanted = members.reshape(len(members), -1).T, R.ravel()
    mean = flat.mean(axis=1)
    scale = mean @ wanted / max(mean @ mean, 1e-300)
    lower = np.linalg.cholesky(flat.T @ flat + 1e-12 * np.trace(flat.T @ flat) * np.eye(len(members)))
    positive, _ = nnls(lower.T, np.linalg.solve(lower, flat.T @ wanted))
    signed, *_ = np.linalg.lstsq(flat, wanted, rcond=None)
    sums = (mean, scale * mean, flat @ positive, flat @ signed)
    return np.array([((each - wanted) ** 2).sum() / n for each in sums])


def one_draw(name, k, seed):
    X, y, n = load(name)
    X, order = np.asarray(X, float), np.random.default_rng(seed).permutation(len(X))
    Y = np.eye(int(y.max()) + 1)[y]
    kept, fresh = order[:n], order[n:]
    model = sr.RidgeEnsembleRegressor(k, subsets="equal", random_state=seed).fit(X[kept], Y[kept])
    chosen = ((model.predict(X[fresh]) - Y[fresh]) ** 2).sum(axis=1).mean()
    R, least = Y[fresh] - Y[kept].mean(axis=0), np.full(4, np.inf)
    for ridge in RIDGES:
        members = np.stack([outputs(X[kept], Y[kept], X[fresh], s, ridge) for s in model.estimators_features_])
        least = np.minimum(least, best_errors(members, R))
    return chosen, 100 * (1 - least / chosen)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=["bundled", "digits"])
    parser.add_argument("--members", type=int, default=32)
    parser.add_argument("--draws", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in options.sets:
        draws = [one_draw(name, options.members, seed) for seed in range(options.draws)]
        gains = np.mean([gain for _, gain in draws], axis=0)
        words = ("mean", "scaled", "non-negative", "signed")
        chosen = np.mean([error for error, _ in draws])
        print(
            f"{name}, k={options.members}: the mean errs by {chosen:.4f}; at most better by",
            ", ".join(f"{word} {gain:.1f} %" for word, gain in zip(words, gains, strict=True)),
            flush=True,
        )


if __name__ == "__main__":
    main()
