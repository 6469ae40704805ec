"""What the default costs, in fits with one member: CPU time in interleaved rounds, on one thread.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/default/cost.py --rounds 5

Three laws of the labels: all features relevant, none, and the features of one half alone, at a hundredth of the scale
of the others, where ensembles may win and more of them are tried.
"""

import argparse
import time
import warnings

import numpy as np

import subridge as sr

SHAPES, LAWS = ((2000, 512), (300, 6000)), ("all relevant", "noise", "small half")


def table(n, M, law):
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, M))
    signal = X.sum(axis=1) / M**0.5 if law == "all relevant" else np.zeros(n)
    if law == "small half":
        signal = X[:, : M // 2].sum(axis=1) / (M / 2) ** 0.5
        X[:, : M // 2] /= 100
    return X, signal + rng.standard_normal(n)


def seconds(model, X, y):
    start = time.process_time()
    model.fit(X, y)
    return time.process_time() - start


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| rows × columns | law | one member, s | default, s | ratio | tried | taken |\n" + "|---" * 7 + "|")
    for n, M in SHAPES:
        for law in LAWS:
            X, y = table(n, M, law)
            one, default = sr.RidgeEnsembleRegressor(1, random_state=0), sr.RidgeEnsembleRegressor(random_state=0)
            times = np.array([[seconds(each, X, y) for each in (one, default)] for _ in range(options.rounds)])
            single, whole = np.median(times, axis=0)
            choice = default.choice_
            print(
                f"| {n} × {M} | {law} | {single:.2f} | {whole:.2f} | {np.median(times[:, 1] / times[:, 0]):.2f} | "
                f"{len(choice.trials)} | {choice.name} |",
                flush=True,
            )
