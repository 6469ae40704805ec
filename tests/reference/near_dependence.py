"""Rows whose columns, or rows, others explain exactly, up to rounding, or up to a few units in the last place."""

import numpy as np


def near_dependent_rows(rng: np.random.Generator) -> tuple:
    """X (n, N), y, penalty, weights or None, whether there is an intercept, and groups to leave out or None."""
    n = int(rng.integers(4, 13))
    N = max(2, n + int(rng.integers(-5, 4)))
    X, style = rng.standard_normal((n, N)), rng.random()
    if style < 0.35:
        X = (rng.random((n, N)) < 0.4).astype(float)
    elif style < 0.5:
        X = rng.integers(-3, 4, (n, N)).astype(float)
    if rng.random() < 0.4:
        X = X + 10 ** rng.uniform(-1, 4) * rng.choice([-1, 1], N) * (rng.random() if rng.random() < 0.7 else 1)
    for _ in range(int(rng.integers(0, 4))):
        _explain(rng, X)
    if rng.random() < 0.4:
        X = X * 10 ** rng.uniform(-6, 6, N)
    if rng.random() < 0.2:
        a, b = rng.choice(n, 2, replace=False)
        X[a] = X[b]
        if rng.random() < 0.5:
            X[a] += rng.choice([0.5, 1, 10]) * np.spacing(X[a]) * rng.integers(-1, 2, N)
    if rng.random() < 0.1:
        X[:, int(rng.integers(N))] = rng.choice([0.1, rng.standard_normal()])
    y = rng.standard_normal(n)
    weights = rng.uniform(0.2, 3, n) if rng.random() < 0.3 else None
    penalty = float(rng.choice([0, 0, 0, 0, 1e-34, 1e-28, 1e-20, 1e-12]) * X.var() * n)
    groups = None
    if rng.random() < 0.35:
        groups = rng.integers(0, max(2, n // 2), n)
        groups[:2] = 0, 1
    return X, y, penalty, weights, bool(rng.random() < 0.6), groups


def _explain(rng: np.random.Generator, X: np.ndarray) -> None:
    """Make a column the sum of others up to some units in the last place, and one row or two tell them apart."""
    n, N = X.shape
    j = int(rng.integers(N))
    others = np.delete(np.arange(N), j)
    some = rng.choice(others, min(len(others), int(rng.choice([1, 1, 1, 2, 3]))), replace=False)
    shares = rng.choice([1.0, 1.0, -1.0, 0.5, 2.0, 1 / 3, rng.standard_normal()], len(some))
    X[:, j] = X[:, some] @ shares + (rng.random() < 0.3) * rng.standard_normal()
    ulps = rng.choice([0, 0, 0.5, 1, 3, 10, 100]) * rng.uniform(-1, 1, n) * (rng.random(n) < rng.choice([0.3, 1]))
    X[:, j] += ulps * np.spacing(abs(X[:, j]))
    if rng.random() < 0.5:
        special = rng.choice(n, int(rng.choice([1, 1, 2])), replace=False)
        X[special, j] += rng.choice([1.0, rng.standard_normal()], len(special))
