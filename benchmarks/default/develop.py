"""Every candidate of the default on a table: left-out errors at hand, and the error on new rows; what chooses c.

    python benchmarks/default/develop.py DATA OUT --part develop --jobs 16

Writes one npz per table and draw: `names`, `squares` (A, n), `fresh` (A,), `seconds` (A,), `ridgecv`.
"""

import argparse
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from sklearn.linear_model import RidgeCV
from tables import DRAWS, GENERATED, WITH_NUMBERS, digest, generate_draw, read_draw, split

import subridge as sr

KINDS = ("equal", "dirichlet", "overlapping")


def candidates(M, seed):
    yield "one ridge", [np.arange(M)], "mean"
    yield "one ridge, scaled", [np.arange(M)], "scaled"
    rng = np.random.default_rng(seed)
    halves = [np.sort(rng.permutation(M)[: max(1, (M + 1) // 2)]) for _ in range(16)]
    for kind in KINDS:
        for k in (2, 4, 8, 16):
            if k > M:
                continue
            if kind == "overlapping":
                subsets = halves[:k]
            else:
                draw = (
                    sr.subsets.equal(k, M, seed=seed)
                    if kind == "equal"
                    else sr.subsets.dirichlet(k, M, 0.75, seed=seed)
                )
                subsets = list(draw.measurements)
            for aggregation in ("mean", "scaled", "free"):
                yield f"{k} {kind}, {aggregation}", subsets, aggregation


def run(task):
    data, out, part, name, draw, is_real = task
    warnings.simplefilter("ignore")
    X, y, X_test, y_test = read_draw(data, name, draw) if is_real else generate_draw(part, name, draw)
    M, names, squares, fresh, seconds, errors = X.shape[1], [], [], [], [], []
    scale = np.mean(X.var(axis=0)) or 1.0
    alphas = M * scale * 10.0 ** (np.arange(-6, 11) / 2)
    plain = RidgeCV(alphas=alphas).fit(X, y)
    ridgecv = np.mean((y_test - plain.predict(X_test)) ** 2) * (1 if y.ndim == 1 else y.shape[1])
    for label, subsets, aggregation in candidates(M, digest(name) % 2**31 + draw):
        start = time.perf_counter()
        model = sr.RidgeEnsembleRegressor(subsets=subsets, aggregation=aggregation).fit(X, y)
        seconds.append(time.perf_counter() - start)
        left = np.atleast_2d((y - model.loo_predictions_).T ** 2).sum(axis=0)
        errors.append(left.mean())
        squares.append(left * max(model.loo_error_ / left.mean(), 1.0) if left.mean() > 0 else left)
        fresh.append(np.atleast_2d(((y_test - model.predict(X_test)) ** 2).T).sum(axis=0).mean())
        names.append(label)
    file = f"{name.replace(' ', '_').replace(',', '')}.{draw}.npz"
    np.savez(out / file, names=names, squares=squares, fresh=fresh, seconds=seconds, ridgecv=ridgecv, apparent=errors)
    return name, X.shape, draw


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--part", default="develop")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--draws", type=int, default=DRAWS)
    options = parser.parse_args()
    options.out.mkdir(exist_ok=True, parents=True)
    tasks = [
        (options.data, options.out, options.part, name, draw, is_real)
        for is_real, names in ((True, split(WITH_NUMBERS)[options.part]), (False, list(GENERATED[options.part])))
        for name in names
        for draw in range(options.draws)
    ]
    with ProcessPoolExecutor(options.jobs) as pool:
        for name, shape, draw in pool.map(run, tasks):
            print(name, shape, draw, flush=True)
