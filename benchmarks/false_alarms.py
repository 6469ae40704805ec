"""How often clean data are warned of: 200 random data sets without trouble, and the share that got any warning.

Run ``python benchmarks/false_alarms.py [--sets 200]``; one core, about a minute. Data sets vary in size, number of
features, noise, kind of features (normal, uniform, whole numbers, few values) and task.
"""

import argparse
import warnings
from collections import Counter

import numpy as np

import subridge as sr


def clean_set(seed):
    """Independent rows: features of several kinds and scales up to 30, a linear target with noise."""
    rng = np.random.default_rng(seed)
    n, M = int(rng.integers(40, 400)), int(rng.integers(2, 120))
    kind = seed % 4
    if kind == 0:
        X = rng.standard_normal((n, M))
    elif kind == 1:
        X = rng.uniform(-1, 1, (n, M))
    elif kind == 2:
        X = rng.integers(0, 10, (n, M)).astype(float)
    else:
        X = rng.standard_normal((n, M)) @ rng.standard_normal((M, M)) / np.sqrt(M)
    X = X * 10 ** rng.uniform(-0.75, 0.75, M)
    signal = (X - X.mean(axis=0)) / (X.std(axis=0) + 1e-12) @ rng.standard_normal(M) / np.sqrt(M)
    y = signal + rng.uniform(0.1, 2.0) * rng.standard_normal(n)
    return X, y


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=200)
    sets = parser.parse_args().sets
    found, alarmed = Counter(), 0
    for seed in range(sets):
        X, y = clean_set(seed)
        classify = seed % 8 >= 4
        model = sr.RidgeEnsembleClassifier if classify else sr.RidgeEnsembleRegressor
        groups = np.arange(len(y)) // 5 if seed % 3 == 0 else None
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            model(4, random_state=seed).fit(X, y > 0 if classify else y, groups=groups)
        kinds = {type(each.message).__name__ for each in heard}
        found.update(kinds)
        alarmed += bool(kinds)
    print(f"{alarmed} of {sets} clean sets were warned of ({alarmed / sets:.1%}): {dict(found)}")


if __name__ == "__main__":
    main()
