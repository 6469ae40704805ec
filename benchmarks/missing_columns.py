"""NaN at prediction time: members that drop out, against mean imputation and against refitting for each pattern.

``python benchmarks/missing_columns.py [--splits 10]`` kills some columns of the test rows, the same for all rows of a
split, on three real sets, and prints mean squared errors in units of the target's variance. One core, half a minute.
"""

import argparse
import warnings

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits

import subridge as sr


def real_sets():
    cancer, digits = load_breast_cancer().data, load_digits().data
    yield "diabetes", *load_diabetes(return_X_y=True)
    yield "breast cancer: area", np.delete(cancer, 3, axis=1), cancer[:, 3]
    yield "digits: a pixel", np.delete(digits, 36, axis=1), digits[:, 36]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=10)
    splits = parser.parse_args().splits
    warnings.simplefilter("ignore", sr.errors.SubridgeWarning)
    print(
        "set | dead columns | drop members, k = 10 | its mean imputed | one ridge, mean imputed | one ridge, refitted"
    )
    for name, X, y in real_sets():
        X = X[:, X.std(axis=0) > 1e-6]
        M = X.shape[1]
        for dead in (0, 1, max(2, M // 10)):
            found = []
            for split in range(splits):
                rng = np.random.default_rng(split)
                order = rng.permutation(len(y))
                train, test = order[: len(y) // 2], order[len(y) // 2 :]
                mean, scale = X[train].mean(axis=0), X[train].std(axis=0) + 1e-9
                A, B = (X[train] - mean) / scale, (X[test] - mean) / scale
                gone = rng.permutation(M)[:dead]
                kept = np.setdiff1d(np.arange(M), gone)
                lacking, imputed = B.copy(), B.copy()
                lacking[:, gone], imputed[:, gone] = np.nan, 0.0
                members = sr.RidgeEnsembleRegressor(
                    10, subsets="equal", ridge=1.0, aggregation="free", missing="drop-members", random_state=split
                ).fit(A, y[train])
                one = sr.RidgeEnsembleRegressor(1).fit(A, y[train])
                again = sr.RidgeEnsembleRegressor(1).fit(A[:, kept], y[train])
                outputs = members.predict(lacking), members.predict(imputed), one.predict(imputed)
                errors = [y[test] - output for output in (*outputs, again.predict(B[:, kept]))]
                found.append([(error**2).mean() / y[test].var() for error in errors])
            print(
                f"{name} | {dead} of {M} | " + " | ".join(f"{value:.3f}" for value in np.mean(found, axis=0)),
                flush=True,
            )


if __name__ == "__main__":
    main()
