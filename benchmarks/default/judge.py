"""The default estimators beside scikit-learn's tuned ones, on the tables that had no part in choosing their constants.

    python benchmarks/default/judge.py DATA --jobs 16 --kind numbers
    python benchmarks/default/judge.py DATA --jobs 16 --kind classes
    python benchmarks/default/judge.py FRESH --jobs 16 --part fresh      # the tables of fresh.py; also --kind classes
    python benchmarks/default/judge.py FRESH --jobs 16 --part fresh --kind scores    # classes as one-hot targets
    python benchmarks/default/judge.py LATER --jobs 16 --part later      # the tables of later.py, numbers alone

RidgeCV and RidgeClassifierCV search half decades from 1e-3 to 1e5 times the mean square of a feature, as the default
path does. RidgeCV is also given the path that the default went on to, where that is longer. Errors are on new rows,
means of five draws.
"""

import argparse
import os
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from tables import DRAWS, GENERATED, TABLES, generate_draw, read_draw

ALPHAS = 10.0 ** (np.arange(-6, 11) / 2)


def numbers(task):
    from sklearn.linear_model import RidgeCV

    import subridge as sr

    data, part, name, draw, is_real = task
    warnings.simplefilter("ignore")
    X, y, X_test, y_test = read_draw(data, name, draw) if is_real else generate_draw(part, name, draw)
    if y.dtype.kind in "iu":  # classes, as one-hot targets
        y, y_test = (np.eye(max(y.max(), y_test.max()) + 1)[each] for each in (y, y_test))

    def error(model):
        return ((y_test - model.predict(X_test)) ** 2).sum() / len(y_test)

    rival = RidgeCV(alphas=X.shape[1] * X.var(axis=0).mean() * ALPHAS).fit(X, y)
    model = sr.RidgeEnsembleRegressor(random_state=draw).fit(X, y)
    longer = RidgeCV(alphas=X.shape[1] * model.ridge_path_).fit(X, y)
    return name, is_real, X.shape, (error(model), error(rival), model.loo_error_, error(longer), model.choice_.name)


def classes(task):
    from sklearn.linear_model import LogisticRegressionCV, RidgeClassifierCV
    from sklearn.metrics import log_loss

    import subridge as sr

    data, _, name, draw, is_real = task
    warnings.simplefilter("ignore")
    X, y, X_test, y_test = read_draw(data, name, draw)
    known = np.isin(y_test, y)  # a class may be missing among the rows to train on
    X_test, y_test = X_test[known], y_test[known]
    rival = RidgeClassifierCV(alphas=X.shape[1] * X.var(axis=0).mean() * ALPHAS).fit(X, y)
    model = sr.RidgeEnsembleClassifier(random_state=draw).fit(X, y)
    found = [model.score(X_test, y_test), rival.score(X_test, y_test), 1 - model.loo_error_]
    found.append(log_loss(y_test, model.predict_proba(X_test), labels=model.classes_))
    if draw < 2 and len(X) <= 1000 and len(model.classes_) <= 20:  # the slow one
        least = np.unique(y, return_counts=True)[1].min()
        logistic = LogisticRegressionCV(Cs=6, cv=max(2, min(3, least)), max_iter=200).fit(X, y)
        proba = logistic.predict_proba(X_test)
        found += [logistic.score(X_test, y_test), log_loss(y_test, proba, labels=logistic.classes_)]
    return name, is_real, X.shape, (*found, *[np.nan] * (6 - len(found)), model.choice_.name)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--kind", choices=("numbers", "classes", "scores"), default="numbers")
    parser.add_argument("--part", choices=("develop", "judge", "fresh", "later"), default="judge")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    has_classes = options.kind == "classes"
    parts = TABLES["classes" if options.kind == "scores" else options.kind]
    if options.part not in parts:
        parser.error(f"part {options.part} has no tables of kind {options.kind}: take --kind numbers")
    names = [(name, True) for name in parts[options.part]]
    if options.kind == "numbers":
        names += [(name, False) for name in GENERATED[options.part]]
    tasks = [(options.data, options.part, name, draw, is_real) for name, is_real in names for draw in range(DRAWS)]
    tables = {}
    with ProcessPoolExecutor(options.jobs) as pool:
        for name, is_real, shape, found in pool.map(classes if has_classes else numbers, tasks):
            tables.setdefault((name, is_real, shape), []).append(found)
    if not has_classes:
        print("| table | rows × columns | error / RidgeCV's | / RidgeCV's on our path | reported / fresh | taken |")
        print("|---|---|---|---|---|---|")
        ratios = {}
        for (name, is_real, shape), found in tables.items():
            ours, theirs, said, longer = (np.mean([each[i] for each in found]) for i in range(4))
            ratios[name] = ours / theirs, is_real
            picks = ", ".join(dict.fromkeys(each[4] for each in found))
            size = f"{shape[0]} × {shape[1]}"
            print(f"| {name} | {size} | {ours / theirs:.3f} | {ours / longer:.3f} | {said / ours:.2f} | {picks} |")
        for words, kept in (("all", (True, False)), ("real", (True,)), ("generated", (False,))):
            values = np.array([ratio for ratio, is_real in ratios.values() if is_real in kept])
            if len(values):
                print(
                    f"\n{words} ({len(values)}): mean {values.mean():.4f}, largest {values.max():.3f}, "
                    f"below .95: {(values < 0.95).sum()}, above 1.03: {(values > 1.03).sum()}"
                )
    else:
        print(
            "| table | rows × columns | accuracy | RidgeClassifierCV | difference | left-out accuracy | log loss |",
            end="",
        )
        print(" LogisticRegressionCV: accuracy | its log loss | ours there | taken |\n" + "|---" * 11 + "|")
        apart, log_wins = [], []
        for (name, _, shape), found in tables.items():
            values = np.array([each[:6] for each in found], dtype=float)
            ours, theirs, said, loss = values[:, :4].mean(axis=0)
            with_logistic = values[~np.isnan(values[:, 4])]
            other, other_loss, loss_there = (
                with_logistic[:, [4, 5, 3]].mean(axis=0) if len(with_logistic) else [np.nan] * 3
            )
            accuracy_there = with_logistic[:, 0].mean() if len(with_logistic) else np.nan
            apart.append(ours - theirs)
            if len(with_logistic):
                log_wins.append((accuracy_there - other, other_loss - loss_there))
            picks = ", ".join(dict.fromkeys(each[6] for each in found))
            print(
                f"| {name} | {shape[0]} × {shape[1]} | {ours:.4f} | {theirs:.4f} | {ours - theirs:+.4f} | {said:.4f} | "
                f"{loss:.3f} | {other:.4f} | {other_loss:.3f} | {accuracy_there:.4f}, {loss_there:.3f} | {picks} |"
            )
        print(f"\n{len(apart)} tables: mean difference {np.mean(apart):+.4f}, worst {min(apart):+.4f}")
        wins = np.array(log_wins)
        print(
            f"Beside LogisticRegressionCV ({len(wins)} tables): more accurate {(wins[:, 0] > 0).sum()}, less "
            f"{(wins[:, 0] < 0).sum()}; smaller log loss {(wins[:, 1] > 0).sum()}, larger {(wins[:, 1] < 0).sum()}"
        )
