"""Features that fail at test time, on real data: which ensemble and which ridge err least.

    python benchmarks/dead_features.py [--out FILE] [--jobs N]

Ensembles of k disjoint members ("scaled" mean) and of eight overlapping halves are trained on complete rows. In test
rows every feature fails with probability f and reads as its training mean. Errors are squared errors of one-hot labels
over the variance of the labels, averaged over draws of training rows. The ridge is that of least left-out error on
complete rows ("as fitted"), or of least error on validation rows in which features fail at the same rate ("for f").
"Theory" is what ``sr.risk(problem, ensemble, n/M, test=sr.DeadFeatures(f))`` says of the ensembles as fitted, with
problems from the moments of all rows (``sr.Problem.from_data``) and the scale that complete data ask for.

A second table has sensors: groups of features that fail together, with a member for each. One ridge reads failed
features as their mean; members drop out where their sensor fails (missing="drop-members").
"""

import argparse
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits

import subridge as sr
from subridge.model.aggregation import MemberMoments

RATES, MEMBERS, FACTORS = (0.0, 0.05, 0.1, 0.2), (1, 2, 4, 8, 16), 10.0 ** np.arange(4)


def tables():
    """Standardised features, classes, and the number of rows to train on."""
    digits, cancer, fashion = load_digits(), load_breast_cancer(), sr.datasets.load_fashion_features()
    for name, X, y, n in (
        ("digits", digits.data, digits.target, 200),
        ("breast cancer", cancer.data, cancer.target, 150),
        ("deep Fashion features, every eighth", fashion.X[:, ::8], fashion.y, 200),
    ):
        varying = X.std(axis=0) > 0
        yield name, (X / np.where(varying, X.std(axis=0), 1.0))[:, varying], np.eye(y.max() + 1)[y], n


def candidates(M, seed):
    found = {f"{k} equal" if k > 1 else "one ridge": sr.subsets.equal(k, M, seed) for k in MEMBERS}
    return found | {"8 halves": sr.subsets.overlapping([M // 2] * 8, M, seed)}


def errors(model, X, Y, means, masks):
    """Squared error over the labels' variance, over draws of which features fail."""
    spread = ((Y - Y.mean(axis=0)) ** 2).sum()
    return np.mean([((model.predict(np.where(dead, means, X)) - Y) ** 2).sum() for dead in masks]) / spread


def summed(problems, ensemble, ratio, test=None):
    """Moments of members and target, summed over the columns of the labels."""
    found = [sr.risk(each, ensemble, ratio, test=test).moments for each in problems]
    return MemberMoments(*(sum(getattr(each, name) for each in found) for name in ("pairs", "missed", "v")))


def predicted(problems, plan, ridge, n, Y):
    """Error by rate, shape (rates,), of an ensemble with the best scale on complete data; an intercept costs a row."""
    ensemble, ratio = sr.Ensemble(plan, ridge), (n - 1) / plan.n_features
    weights = sr.aggregation.Scaled().weights(summed(problems, ensemble, ratio))
    risks = [float(summed(problems, ensemble, ratio, sr.DeadFeatures(rate)).risk_of(weights)) for rate in RATES]
    noise = sum(float(each.label_noise) ** 2 for each in problems)
    return (np.array(risks) + noise) * (1 + 1 / n) / Y.var(axis=0).sum()


def one_draw(X, Y, n, draws, problems, seed):
    """Error by rate, candidate and way (ridge as fitted, ridge for f, theory), shape (rates, candidates, 3)."""
    warnings.simplefilter("ignore", sr.errors.SubridgeWarning)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(X))
    train, check, test = np.split(order, [n, n + min(300, (len(X) - n) // 2)])
    test, means = test[:400], X[train].mean(axis=0)
    found = np.empty((len(RATES), len(MEMBERS) + 1, 3))
    for place, plan in enumerate(candidates(X.shape[1], seed).values()):
        fitted = sr.RidgeEnsembleRegressor(subsets=plan, aggregation="scaled", random_state=0).fit(X[train], Y[train])
        larger = [
            sr.RidgeEnsembleRegressor(subsets=plan, aggregation="scaled", ridge=fitted.ridge_ * factor).fit(
                X[train], Y[train]
            )
            for factor in FACTORS
        ]
        found[:, place, 2] = predicted(problems, plan, fitted.ridge_, n, Y)
        for at, rate in enumerate(RATES):
            masks = [rng.random((len(test), X.shape[1])) < rate for _ in range(draws)]
            checked = [rng.random((len(check), X.shape[1])) < rate for _ in range(draws)]
            worth = [errors(model, X[check], Y[check], means, checked) for model in larger]
            for way, model in enumerate((fitted, larger[int(np.argmin(worth))])):
                found[at, place, way] = errors(model, X[test], Y[test], means, masks)
    return found


def sensors(X, Y, n, draws, seed, k=8):
    """One ridge, and a member per sensor that drops out with it, shape (rates, 2)."""
    rng = np.random.default_rng(seed)
    order, plan = rng.permutation(len(X)), sr.subsets.equal(k, X.shape[1], seed)
    train, test = order[:n], order[n : n + 600]
    means, spread = X[train].mean(axis=0), ((Y[test] - Y[test].mean(axis=0)) ** 2).sum()
    one = sr.RidgeEnsembleRegressor(1, aggregation="scaled", random_state=0).fit(X[train], Y[train])
    own = sr.RidgeEnsembleRegressor(subsets=plan, aggregation="free", missing="drop-members", random_state=0)
    own.fit(X[train], Y[train])
    found = np.zeros((len(RATES), 2))
    for at, rate in enumerate(RATES):
        for _ in range(draws):
            failed = rng.random((len(test), k)) < rate
            failed[failed.all(axis=1), 0] = False  # at least one sensor works
            dead = np.zeros((len(test), X.shape[1]), dtype=bool)
            for r, index in enumerate(plan.measurements):
                dead[:, index] = failed[:, r, None]
            outputs = one.predict(np.where(dead, means, X[test])), own.predict(np.where(dead, np.nan, X[test]))
            found[at] += [((each - Y[test]) ** 2).sum() / spread / draws for each in outputs]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="write the tables here as well")
    parser.add_argument("--repeats", type=int, default=12, help="draws of training rows")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    given = parser.parse_args()
    lines = ["# Features that fail at test time", "", __doc__.split("\n\n", 2)[2].strip(), ""]
    names = list(candidates(64, 0))
    lines += [f"| table | f | ridge | {' | '.join(names)} |", "|---|---|---|" + "---|" * len(names)]
    together = ["", "| table | f | one ridge, mean read | 8 members, one per sensor, dropped |", "|---|---|---|---|"]
    for name, X, Y, n in tables():
        problems, seeds = sr.Problem.from_data(X, Y), range(given.repeats)
        with ProcessPoolExecutor(given.jobs) as pool:
            found = np.array(list(pool.map(partial(one_draw, X, Y, n, 3, problems), seeds))).mean(axis=0)
            groups = np.array(list(pool.map(partial(sensors, X, Y, n, 3), seeds))).mean(axis=0)
        for at, rate in enumerate(RATES):
            for way, word in enumerate(("as fitted", "for f", "theory")):
                least = found[at, :, :2].min()
                cells = [f"**{value:.3f}**" if value == least else f"{value:.3f}" for value in found[at, :, way]]
                lines.append(f"| {name} | {rate:.0%} | {word} | {' | '.join(cells)} |")
        off = np.abs(found[..., 2] / found[..., 0] - 1)
        print(f"{name}: theory off by {np.median(off):.1%} in the median, {off.max():.1%} at worst")
        together += [f"| {name} | {r:.0%} | {a:.3f} | {b:.3f} |" for r, (a, b) in zip(RATES, groups, strict=True)]
        print("\n".join(lines[-12:]), "\n".join(together[-4:]), sep="\n", flush=True)
    if given.out:
        given.out.write_text("\n".join([*lines, *together, ""]), encoding="utf-8")


if __name__ == "__main__":
    warnings.simplefilter("ignore", sr.errors.SubridgeWarning)
    main()
