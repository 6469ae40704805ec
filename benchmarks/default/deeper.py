"""Ridges below the default path: when is one that left-out errors prefer better on new rows too?

    python benchmarks/default/deeper.py DATA --jobs 16

One ridge on development tables, real and generated. The path has half decades from 1e-15 to 1e5 times the mean square
of a feature; the plain one begins at 1e-3. Where the best ridge of the long path lies below, it is printed by how much
it lowers the left-out error, by how many standard errors, and its error on new rows over that of the plain path's best.
"""

import argparse
import os
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from sure import drawn
from tables import GENERATED, WITH_CLASSES, WITH_NUMBERS, split

PATH, PLAIN = 10.0 ** (np.arange(-30, 11) / 2), 24
SIZES = (60, 120, 250, 500)


def crowd(rng, n, dirty):
    """Sizes of things, lognormal, with their squares and products; labels are a power of their volume.

    Of 500 new rows one has a wrong entry, ten times too large, if the table is dirty.
    """
    total = n + 3000
    size = np.exp(0.4 * rng.standard_normal((total, 1)))
    sides = size * np.exp(0.02 * rng.standard_normal((total, 3)))
    weight = sides.prod(axis=1, keepdims=True) * np.exp(0.02 * rng.standard_normal((total, 1)))
    y = np.log(weight[:, 0]) + 0.3 * weight[:, 0] ** 0.5 + 0.2 * rng.standard_normal(total)
    if dirty:
        wrong = n + np.flatnonzero(rng.random(total - n) < 1 / 500)
        sides[wrong, rng.integers(0, 3, len(wrong))] *= 10
    parts = np.hstack([weight, sides, rng.random((total, 3))])
    pairs = [parts[:, i] * parts[:, j] for i in range(7) for j in range(i, 7)]
    rare = rng.random((total, 10)) < 0.01
    X = np.hstack([parts, np.stack(pairs, axis=1), rare])
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X[:n], y[:n, None], X[n:], y[n:, None]


def units(rng, n, exponent):
    """Columns in units that differ by powers of ten; all matter alike."""
    Z = rng.standard_normal((n + 3000, 20))
    X, y = Z * 10.0 ** rng.uniform(-exponent, exponent, 20), Z.sum(axis=1) / 20**0.5
    y = y + rng.standard_normal(len(y))
    return X[:n], y[:n, None], X[n:], y[n:, None]


def twins(rng, n, apart):
    """Ten pairs of columns that all but agree; differences matter as much as sums."""
    A, B = rng.standard_normal((2, n + 3000, 10))
    X, y = np.hstack([A + apart * B, A - apart * B]), (A + B).sum(axis=1) / 20**0.5 + rng.standard_normal(n + 3000)
    return X[:n], y[:n, None], X[n:], y[n:, None]


def exact(rng, n):
    """Labels without noise."""
    X = rng.standard_normal((n + 3000, 20))
    y = X @ rng.standard_normal(20)
    return X[:n], y[:n, None], X[n:], y[n:, None]


LAWS = {
    "sizes": lambda rng, n: crowd(rng, n, False),
    "sizes, dirty": lambda rng, n: crowd(rng, n, True),
    "units 1e2": lambda rng, n: units(rng, n, 1),
    "units 1e4": lambda rng, n: units(rng, n, 2),
    "units 1e8": lambda rng, n: units(rng, n, 4),
    "twins .1": lambda rng, n: twins(rng, n, 0.1),
    "twins .01": lambda rng, n: twins(rng, n, 0.01),
    "twins 1e-4": lambda rng, n: twins(rng, n, 1e-4),
    "exact": exact,
}


def compared(task):
    data, name, n, draw = task
    try:
        rng = np.random.default_rng([draw, n])
        X, y, X_test, y_test = LAWS[name](rng, n) if name in LAWS else drawn(data, name, n, draw)
    except (FileNotFoundError, ValueError):
        return None
    n, M = X.shape
    if len(X) + 100 > len(X) + len(X_test):
        return None
    centre, mean = X.mean(axis=0), y.mean(axis=0)
    U, s, V = np.linalg.svd(X - centre, full_matrices=False)
    keep = s > 1e-10 * s[0]
    U, s, V = U[:, keep], s[keep], V[keep]
    d, Uy, Z = s**2, U.T @ (y - mean), (X_test - centre) @ V.T
    beyond, spare = y - mean - U @ Uy, 1 - 1 / n - (U**2).sum(axis=1)  # what no member says, and its leverages
    if len(d) >= n - 1:
        beyond, spare = 0 * beyond, 0 * spare
    squares, fresh, cautious = [], [], []
    for ridge in PATH * X.var(axis=0).mean():
        p = ridge * M
        gain, rest = p / (d + p), max(n - 1 - len(d), 0)
        residual, left = beyond + U @ (gain[:, None] * Uy), spare + (U**2) @ gain
        own = ((residual / left[:, None]) ** 2).sum(axis=1)
        m = ((gain**2).sum() + rest) ** 2 / max((gain**4).sum() + rest, 1e-300)
        squares.append(own)
        cautious.append(own.mean() * (1 + np.sqrt(2 / max(m, 1e-9))))
        fresh.append(((Z @ ((s / (d + p))[:, None] * Uy) + mean - y_test) ** 2).sum(axis=1).mean())
    cautious = np.array(cautious)
    deep = len(PATH) - 1 - int(np.argmin(cautious[::-1]))
    plain = len(PATH) - 1 - int(np.argmin(cautious[PLAIN:][::-1]))
    if deep >= PLAIN:
        return name, n, M, draw, None
    apart = squares[plain] - squares[deep]
    sure = apart.mean() / max(apart.std(ddof=1) / n**0.5, 1e-300)
    smallest = X.var(axis=0)[X.var(axis=0) > 0].min() / X.var(axis=0).mean()
    return (
        name,
        n,
        M,
        draw,
        (PATH[deep], np.mean(squares[deep]) / np.mean(squares[plain]), sure, fresh[deep] / fresh[plain], smallest),
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--draws", type=int, default=4)
    options = parser.parse_args()
    real = [each for names in (WITH_NUMBERS, WITH_CLASSES) for each in split(names)["develop"]]
    tasks = [(options.data, name, n, draw) for name in [*LAWS, *real] for n in SIZES for draw in range(options.draws)]
    tasks += [(options.data, name, 0, draw) for name in GENERATED["develop"] for draw in range(options.draws)]
    plain = {}
    print("| table | rows × columns | draw | ridge | left out / plain | s.e. | new rows / plain | least column |")
    print("|---" * 8 + "|")
    with ProcessPoolExecutor(options.jobs) as pool:
        for each in pool.map(compared, tasks, chunksize=4):
            if each is None:
                continue
            name, n, M, draw, found = each
            if found is None:
                plain[name] = plain.get(name, 0) + 1
                continue
            ridge, left, sure, new, least = found
            print(
                f"| {name} | {n} × {M} | {draw} | {ridge:.0e} | {left:.3f} | {sure:.1f} | {new:.3f} | {least:.0e} |",
                flush=True,
            )
    print("\nbest on the plain path: " + ", ".join(f"{name} {count}" for name, count in plain.items()))
