"""Cost of the theory beyond the paper against size, in one interleaved run.

    python benchmarks/beyond.py

Row fractions and other test data are compared with the plain risk of the same ensemble, and so is the best ridge on
other test data with that on data like those of training. The closed form is timed for growing ensembles, maps of the
best size of the mean and the scaled mean for growing numbers of cells, projections for up to a million features, and
fits of members that see half of the rows beside members that see all. CPU seconds, least of three rounds.
"""

import time
import warnings

import numpy as np

import subridge as sr


def seconds(calls, rounds=3):
    """Least CPU time of each call, in turns."""
    found = dict.fromkeys(calls, np.inf)
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.process_time()
            call()
            found[name] = min(found[name], time.process_time() - start)
    return found


def theory(M):
    """A grid of 60 points of four members; sample ratios differ by rounding, so that nothing is kept but tables."""
    rng = np.random.default_rng(M)
    problem = sr.Problem(sr.covariance.autoregressive(M, 0.8), rng.standard_normal(M), 0.1 * np.eye(M), 0.1)
    plan, ratios = sr.subsets.overlapping([M // 2] * 4, M, 0), np.linspace(0.1, 3, 20)
    given = {"ridges": [0.01, 0.1, 1.0]}
    plain, partial = sr.Ensemble(plan), sr.Ensemble(plan, row_fractions=[0.5] * 4)
    sr.risk(problem, plain, ratios, **given)  # tables, which all share
    return seconds({
        "plain": lambda: sr.risk(problem, plain, ratios, **given),
        "rows": lambda: sr.risk(problem, partial, ratios, **given),
        "test": lambda: sr.risk(problem, plain, ratios, test=sr.DeadFeatures(0.1), **given),
        "best ridge": lambda: sr.optimal_ridge(problem, plain, ratios, scope="ensemble"),
        "best ridge, test": lambda: sr.optimal_ridge(
            problem, plain, ratios, scope="ensemble", test=sr.DeadFeatures(0.1)
        ),
    })  # fmt: skip


def closed_form(k):
    """A thousand sample ratios of k members in Prop. 2, and the best ridges at twenty."""
    problem = sr.EquicorrelatedProblem(correlation=0.5, feature_noise=0.2, label_noise=0.1)
    ratios, few, law = np.linspace(0.1, 3, 1000), np.linspace(0.1, 3, 20), sr.DeadFeatures(0.1)
    plain, partial = (sr.Ensemble([1 / k] * k, 0.1, row_fractions=rows) for rows in (None, [0.5] * k))
    return seconds({
        "plain": lambda: sr.risk(problem, plain, ratios),
        "rows": lambda: sr.risk(problem, partial, ratios),
        "dead": lambda: sr.risk(problem, plain, ratios, test=law),
        "best ridge": lambda: sr.optimal_ridge(problem, plain, few, scope="ensemble"),
        "best ridge, dead": lambda: sr.optimal_ridge(problem, plain, few, scope="ensemble", test=law),
    })  # fmt: skip


def maps(cells):
    """The best ensemble size over sample ratio and readout noise."""
    noises = np.linspace(0, 2, round(np.sqrt(cells)))
    return seconds({
        f"{aggregation}, ridge {ridge}": lambda aggregation=aggregation, ridge=ridge: sr.optimal_n_members(
            noises[:, None] + 0.01, 0.0, noises, ridge=ridge, aggregation=aggregation
        )
        for aggregation in ("mean", "scaled") for ridge in (0, "optimal")
    })  # fmt: skip


def projections(M):
    problem = sr.Problem(sr.covariance.diagonal(np.arange(1, M + 1) ** -1.3), np.ones(M), label_noise=0.1)
    several = sr.Ensemble(sr.subsets.Projection((M // 40,) * 10), 0.1)
    different = sr.Ensemble(sr.subsets.Projection(tuple(M // 40 + 7 * r for r in range(4))), 0.1)
    ratios = np.array([0.01, 0.1, 1.0])
    return seconds({
        "10 equal": lambda: sr.risk(problem, several, ratios),
        "4 unequal": lambda: sr.risk(problem, different, ratios),
    })  # fmt: skip


def fits(n):
    rng = np.random.default_rng(n)
    X, y = rng.standard_normal((n, 400)), rng.standard_normal(n)
    given = {"subsets": sr.subsets.overlapping([200] * 8, 400, 0), "aggregation": "free", "random_state": 0}
    return seconds({
        f"max_samples={share}": lambda share=share: sr.RidgeEnsembleRegressor(max_samples=share, **given).fit(X, y)
        for share in (1.0, 0.5)
    })  # fmt: skip


def main():
    warnings.simplefilter("ignore", sr.errors.SubridgeWarning)
    for title, work, sizes in (
        ("theory, M features", theory, (100, 200, 400, 800)),
        ("closed form, k members", closed_form, (2, 8, 32)),
        ("maps of the best size, cells", maps, (10**2, 10**3, 10**4)),
        ("averaged projections, M features, 3 points", projections, (10**4, 10**5, 10**6)),
        ("fit of 8 members, 17 ridges, n rows", fits, (250, 500, 1000)),
    ):
        print(f"\n{title}")
        for size in sizes:
            row = work(size)
            print(f"{size:>9,}  " + "  ".join(f"{name} {value:8.3f} s" for name, value in row.items()), flush=True)


if __name__ == "__main__":
    main()
