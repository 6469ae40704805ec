"""What a candidate of advice truly errs at n′, trained in two ways.

Pasted: as `Advice.estimator().fit` does, with ridge and weights chosen anew by left-out errors of the n′ rows. Held:
with the ridge and the weights that the pilot gave. Decompositions and left-out errors are plain ones; only the weights
of members come from the package, which is asked for them with these errors. To compare with the estimators themselves:
python benchmarks/tournament/trained.py SET ...
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"

import sys
import warnings

import numpy as np
from subridge.model.aggregation import Free, Mean, Scaled, Simplex
from tables import load, split

import subridge as sr
from subridge.ridge.rows.path import are_few
from subridge.ridge.search_path import default_ridges

AGGREGATIONS = {each.name: each for each in (Mean(), Simplex(), Scaled(), Free())}
_LEAST_SHARE = 0.05  # of the rows, that the errors of a member are worth


def member_path(F, G, Y, penalties):
    """Left-out errors (L, C, n) and outputs (L, C, m) of a member, and the rows that its errors are worth (L,)."""
    n, mean, centre = len(F), Y.mean(axis=0), F.mean(axis=0)
    A, B, y = F - centre, G - centre, Y - mean
    wide = A.shape[1] >= n
    d, V = np.linalg.eigh(A @ A.T if wide else A.T @ A)
    d = np.maximum(d, 0)
    left, across, right = (V * d, (B @ A.T) @ V, V.T @ y) if wide else (A @ V, B @ V, V.T @ (A.T @ y))
    gains = 1 / (d + penalties[:, None])  # (L, r)
    leverages = ((gains * d) @ (V**2).T if wide else gains @ (left**2).T) + 1 / n
    scaled = (gains[:, :, None] * right).transpose(1, 0, 2).reshape(len(d), -1)
    fits, outputs = (
        (part @ scaled).reshape(len(part), len(penalties), y.shape[1]).transpose(1, 2, 0) for part in (left, across)
    )
    errors = (y.T - fits) / np.maximum(1 - leverages, 1e-12)[:, None, :]
    few = are_few(leverages[np.argmin(penalties)] - 1 / n)
    return errors, outputs, np.zeros(len(penalties)) if few else _worth(d[1:] if wide else d, n, wide, penalties)


def _worth(d, n, wide, penalties):
    """Rows that left-out errors are worth, n (1 - 2/m) with m = (tr R²)²/tr R⁴; centring takes a direction."""
    p = penalties[:, None]
    squares, untouched = ((d.min() + p if wide else p) / (d + p)) ** 2, 0 if wide else max(n - 1 - len(d), 0)
    m = (squares.sum(axis=1) + untouched) ** 2 / ((squares**2).sum(axis=1) + untouched)
    return np.minimum(np.maximum(1 - 2 / m, _LEAST_SHARE) * n, n - 1)


def errors_of(table, train, test, plan, held):
    """Errors on the test rows (pasted, held) of every aggregation that `held` names, with ridge and weights there."""
    F, G, Y, k, n = table.X[train], table.X[test], table.targets[train], plan.n_members, len(train)
    truth, deviations = (table.targets[test] - Y.mean(axis=0)).T, (Y - Y.mean(axis=0)).T * n / (n - 1)
    ridges = default_ridges(F.var(axis=0), n, int(max(plan.subset_sizes)))
    every = np.append(ridges, [ridge for ridge, _ in held.values()])
    members = []
    for r in range(k):
        subset = plan.measurements[r]
        members.append(member_path(F[:, subset], G[:, subset], Y, every * len(subset)))

    def error(place, weights):
        output = sum(w * outputs[place] for w, (_, outputs, _) in zip(weights, members, strict=True))
        return float(((output - truth) ** 2).sum(axis=0).mean())

    found = {}
    for index, (name, (_, given)) in enumerate(held.items()):
        losses, weights = zip(
            *(_fitted(AGGREGATIONS[name], members, place, deviations) for place in range(len(ridges))), strict=True
        )
        place = len(losses) - 1 - int(np.argmin(losses[::-1]))
        found[name] = error(place, weights[place]), error(len(ridges) + index, np.asarray(given))
    return found


def _fitted(aggregation, members, place, deviations):
    """What an aggregation expects to err at a place of the path, and its weights (k,)."""
    errors = np.stack([each[place] for each, _, _ in members])
    if not aggregation.fits_weights:
        return float((errors.mean(axis=0) ** 2).sum(axis=0).mean()), np.full(len(members), 1 / len(members))
    worth = np.array([each[place] for _, _, each in members])
    settled = aggregation.settle(aggregation.moments(errors, deviations, np.ones(errors.shape[-1]), worth))
    return float(settled.expected.sum()), np.asarray(settled.weights)


def main(names, size=600):
    warnings.simplefilter("ignore")
    for name in names:
        table = load(name)
        train, test = split(table, size, 100)
        M = table.X.shape[1]
        for title, plan in {**table.plans(), "4 overlapping": sr.subsets.overlapping([M // 2] * 4, M, seed=0)}.items():
            held = {each: (1.0, np.full(plan.n_members, 1 / plan.n_members)) for each in AGGREGATIONS}
            found, ratios = errors_of(table, train, test, plan, held), []
            for each in AGGREGATIONS:
                model = sr.RidgeEnsembleRegressor(subsets=plan, aggregation=each).fit(
                    table.X[train], table.targets[train]
                )
                output = model.predict(table.X[test]).reshape(len(test), -1)
                ratios.append(((output - table.targets[test]) ** 2).sum(axis=1).mean() / found[each][0])
            print(f"{name}, {title}: " + ", ".join(f"{a} {r:.6f}" for a, r in zip(AGGREGATIONS, ratios, strict=True)))


if __name__ == "__main__":
    main(sys.argv[1:])
