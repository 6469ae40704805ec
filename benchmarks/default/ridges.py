"""Rules that choose a ridge: fresh error over that of the least left-out error, on development settings.

    python benchmarks/default/ridges.py DATA --jobs 16

"m" is the rule of the package; with groups "m of rows" counts rows where groups are left out. Settings with groups have
features and noise of which a share (.0, .5 or .99 of the variance) belongs to the group.
"""

import argparse
import itertools
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from tables import GENERATED, WITH_NUMBERS, generate_draw, read_draw, split


def left_out(X, y, X_test, path, groups=None):
    """Left-out errors (L, n), outputs (L, m) and m-values (L, 2), of rows and of groups, of one ridge; one target."""
    n, N = X.shape
    Xc, yc, xm, ym = X - X.mean(0), y - y.mean(), X.mean(0), y.mean()
    U, s, Vt = np.linalg.svd(Xc, full_matrices=False)
    keep = s > 1e-10 * s[0]
    U, s, Vt = U[:, keep], s[keep], Vt[keep]
    d, errors, outputs, worth = s**2, [], [], []
    for ridge in path:
        p = ridge * N
        gain = p / (d + p)
        R = np.eye(n) - 1 / n - (U * (1 - gain)) @ U.T
        if groups is None:
            e = (R @ yc) / np.diag(R)
        else:
            e, r = np.empty(n), R @ yc
            for g in np.unique(groups):
                i = groups == g
                e[i] = np.linalg.solve(R[np.ix_(i, i)], r[i])
        errors.append(e)
        outputs.append((X_test - xm) @ (Vt.T @ ((s / (d + p)) * (U.T @ yc))) + ym)
        Z = np.eye(n) if groups is None else (groups[:, None] == np.unique(groups)) / np.bincount(groups) ** 0.5
        squares = [each @ each for each in (R, Z.T @ R @ Z)]
        worth.append([np.trace(each) ** 2 / (each**2).sum() for each in squares])
    return np.array(errors), np.array(outputs), np.array(worth)


def by_rules(squares, worth, groups=None):
    """Places that the rules choose, from squared errors (L, n) on ascending ridges."""
    if groups is not None:
        squares = np.array([np.bincount(groups, each) / np.bincount(groups) for each in squares])
    means = squares.mean(axis=1)
    best = len(means) - 1 - int(np.argmin(means[::-1]))
    apart = squares - squares[best]
    noise = apart.std(axis=1, ddof=1) / squares.shape[1] ** 0.5
    found = {"least": best}
    for c in (0.25, 0.5, 1.0):
        found[f"{c} se"] = int(np.flatnonzero(apart.mean(axis=1) <= c * noise + 1e-12 * means[best]).max())
    for place, rule in enumerate(("m of rows", "m")):
        found[rule] = int(np.argmin(means * (1 + np.sqrt(2 / worth[:, place]))))
    return found


def subjects(rng, n_subjects=30, per=10, M=40):
    b = rng.standard_normal((n_subjects, M))
    X = np.repeat(b, per, 0) + 0.1 * rng.standard_normal((n_subjects * per, M))
    y = X[:, 0] + np.repeat(rng.standard_normal(n_subjects), per) + 0.1 * rng.standard_normal(n_subjects * per)
    return X, y, np.repeat(np.arange(n_subjects), per)


def shared(rng, n_groups, per, M, of_features, of_noise, r2):
    """Rows of groups, labels and numbers of groups, and rows of other groups with their labels."""
    w = rng.standard_normal(M)
    w *= np.sqrt(r2 / (1 - r2)) / np.linalg.norm(w)

    def rows(count, size):
        own = np.repeat(np.arange(count), size)
        X, noise = (
            share**0.5 * rng.standard_normal((count, m))[own] + (1 - share) ** 0.5 * rng.standard_normal((len(own), m))
            for share, m in ((of_features, M), (of_noise, 1))
        )
        return X, X @ w + noise[:, 0], own

    return *rows(n_groups, per), *rows(2000, 1)[:2]


def run(task):
    kind, name, draw, data = task
    groups = None
    if kind == "subjects":
        rng = np.random.default_rng([draw, 11])
        per = {"30 x 10": (30, 10), "20 x 5": (20, 5), "10 x 20": (10, 20)}[name]
        X, y, groups = subjects(rng, *per)
        X_test, y_test, _ = subjects(rng, 400, 5)
    elif kind == "groups":
        rng = np.random.default_rng([draw, 12, *(int(100 * each) for each in name)])
        X, y, groups, X_test, y_test = shared(rng, *name)
    elif kind == "grid":
        n, ratio, r2 = name
        rng = np.random.default_rng([draw, n, int(10 * ratio), int(100 * r2)])
        M = int(n * ratio)
        w = rng.standard_normal(M)
        w *= np.sqrt(r2 / (1 - r2)) / np.linalg.norm(w)
        X, X_test = rng.standard_normal((n, M)), rng.standard_normal((2000, M))
        y, y_test = X @ w + rng.standard_normal(n), X_test @ w + rng.standard_normal(2000)
    else:
        X, y, X_test, y_test = read_draw(data, name, draw) if kind == "real" else generate_draw("develop", name, draw)
        if y.ndim == 2:
            y, y_test = y[:, 0], y_test[:, 0]
    path = np.mean(X.var(axis=0)) * 10.0 ** (np.arange(-6, 11) / 2)
    M, out = X.shape[1], {}
    order = np.random.default_rng(draw).permutation(M)
    for k in (1, 8):
        if k > M:
            continue
        parts = [left_out(X[:, c], y, X_test[:, c], path, groups) for c in np.array_split(order, k)]
        errors, outputs = (np.mean([p[i] for p in parts], axis=0) for i in (0, 1))
        places = by_rules(errors**2, parts[0][2], groups)
        fresh = ((outputs - y_test) ** 2).mean(axis=1)
        out[k] = {rule: fresh[place] for rule, place in places.items()} | {"hindsight": fresh.min()}
    return kind, str(name), out


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--draws", type=int, default=20)
    options = parser.parse_args()
    grid = [(n, ratio, r2) for n in (20, 50, 100, 200) for ratio in (0.2, 0.5, 1.0, 5.0) for r2 in (0.0, 0.3, 0.6, 0.9)]
    tasks = [("grid", each, draw, None) for each in grid for draw in range(2 * options.draws)]
    tasks += [
        ("subjects", each, d, None) for each in ("30 x 10", "20 x 5", "10 x 20") for d in range(4 * options.draws)
    ]
    laws = itertools.product(
        ((30, 10), (20, 5), (10, 20)), (10, 40, 120), (0.0, 0.5, 0.99), (0.0, 0.5, 0.99), (0.2, 0.5)
    )
    tasks += [("groups", (*sizes, *law), draw, None) for sizes, *law in laws for draw in range(options.draws // 2)]
    tasks += [("generated", each, draw, None) for each in GENERATED["develop"] for draw in range(options.draws)]
    tasks += [("real", each, d, options.data) for each in split(WITH_NUMBERS)["develop"] for d in range(6)]
    with ProcessPoolExecutor(options.jobs) as pool:
        found = list(pool.map(run, tasks, chunksize=4))
    cells = {}
    for kind, name, out in found:
        for k, errors in out.items():
            cells.setdefault((kind, k), {}).setdefault(name, []).append(errors)
    for (kind, k), settings in cells.items():
        print(f"\n{kind}, k = {k}: {len(settings)} settings; geometric mean of setting means over the least, [worst]")
        for rule in next(iter(settings.values()))[0]:
            ratios = [
                np.mean([e[rule] for e in each]) / np.mean([e["least"] for e in each]) for each in settings.values()
            ]
            print(f"  {rule:10s} {np.exp(np.mean(np.log(ratios))):.4f} [{max(ratios):.3f}, {min(ratios):.3f}]")
