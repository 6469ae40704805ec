"""Forecasts on Gaussian data against trained ensembles: mean error and coverage of the intervals.

OMP_NUM_THREADS=1 python benchmarks/forecast_gaussian.py [--pilots 400] [--processes 2] [--only NAME]

For every setting the truth is the mean exact risk of ensembles trained by the simulation engine, plus label noise, at
n′ = n/2 to 8n; the pilots are drawn independently of them. Writes results/forecast_gaussian.{md,json}.
"""

import argparse
import json
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

import subridge as sr

RESULTS = Path(__file__).parent / "results"
FACTORS = (0.5, 1, 2, 4, 8)
C = sr.covariance
# name: features, rows of the pilot, covariance, label noise, strategy, ridge
SETTINGS = {
    "one, n/M .3, AR .5": (400, 120, C.autoregressive(400, 0.5), 0.5, sr.subsets.Equal(1), 4.0),
    "one, n/M .5, power law": (300, 150, C.power_law(300, 1.2), 0.3, sr.subsets.Equal(1), 0.02),
    "one, n/M 1, AR .8": (200, 200, C.autoregressive(200, 0.8), 0.3, sr.subsets.Equal(1), 0.3),
    "one, n/M 1.5, isotropic": (200, 300, C.isotropic(200), 1.0, sr.subsets.Equal(1), 1.0),
    "one, n/M 3, AR .5, no ridge": (150, 450, C.autoregressive(150, 0.5), 0.5, sr.subsets.Equal(1), 0.0),
    "equal 4, n/M .3, AR .8": (400, 120, C.autoregressive(400, 0.8), 0.3, sr.subsets.Equal(4), 0.3),
    "equal 4, n/M .5, isotropic": (300, 150, C.isotropic(300), 0.5, sr.subsets.Equal(4), 0.2),
    "equal 4, n/M 1, AR .5": (200, 200, C.autoregressive(200, 0.5), 0.5, sr.subsets.Equal(4), 0.1),
    "equal 8, n/M 1.5, AR .8, no ridge": (200, 300, C.autoregressive(200, 0.8), 0.5, sr.subsets.Equal(8), 0.0),
    "equal 3, n/M 3, equicorrelated .3": (120, 360, C.equicorrelated(120, 1.0, 0.3), 0.3, sr.subsets.Equal(3), 0.05),
    "unequal 4, n/M .3, AR .8": (400, 120, C.autoregressive(400, 0.8), 0.3, sr.subsets.Dirichlet(4, 0.75), 0.5),
    "unequal 8, n/M .5, power law": (300, 150, C.power_law(300, 1.0), 0.3, sr.subsets.Dirichlet(8, 0.75), 0.003),
    "unequal 4, n/M 1, AR .5": (200, 200, C.autoregressive(200, 0.5), 0.5, sr.subsets.Dirichlet(4, 0.75), 0.1),
    "unequal 6, n/M 1.5, isotropic": (200, 300, C.isotropic(200), 1.0, sr.subsets.Dirichlet(6, 0.75), 0.1),
    "unequal 5, n/M 3, AR .8, no ridge": (
        150,
        450,
        C.autoregressive(150, 0.8),
        0.3,
        sr.subsets.Dirichlet(5, 0.75),
        0.0,
    ),
    "overlapping 3, n/M 1.5, AR .7": (
        200,
        300,
        C.autoregressive(200, 0.7),
        0.3,
        sr.subsets.Overlapping((100,) * 3),
        0.05,
    ),
    "overlapping 6, n/M .5, AR .5": (
        300,
        150,
        C.autoregressive(300, 0.5),
        0.5,
        sr.subsets.Overlapping((120,) * 6),
        0.5,
    ),
}


WEIGHTED = ", weighted, with intercept"
ALSO_WEIGHTED = (
    "equal 4, n/M 1, AR .5",
    "unequal 6, n/M 1.5, isotropic",
    "unequal 8, n/M .5, power law",
    "overlapping 6, n/M .5, AR .5",
)


def weighted_risks(problem, plan, ridge, size, n_trials, rng):
    """Exact risks of estimators with fitted weights and an intercept."""
    covariance, M = problem.signal_covariance.dense(), problem.n_features
    root, beta = np.linalg.cholesky(covariance), problem.teacher_weights / np.sqrt(M)
    found = []
    for _ in range(n_trials // 4):
        X = rng.standard_normal((size, M)) @ root.T
        y = X @ beta + float(problem.label_noise) * rng.standard_normal(size)
        model = sr.RidgeEnsembleRegressor(subsets=plan, ridge=ridge, aggregation="simplex").fit(X, y)
        difference = model.coef_ - beta
        found.append(difference @ covariance @ difference + model.intercept_**2)
    return np.array(found)


def measure(name, n_pilots, n_trials, seed):
    weighted = name.endswith(WEIGHTED)
    name = name.removesuffix(WEIGHTED)
    M, n, covariance, zeta, strategy, ridge = SETTINGS[name]
    rng = np.random.default_rng((seed, list(SETTINGS).index(name)))
    plan = strategy.draw(M, rng)
    problem = sr.Problem(
        covariance, rng.standard_normal(M) * np.sqrt(M / np.trace(covariance.dense())), label_noise=zeta
    )
    ensemble = sr.Ensemble(plan, ridge, aggregation="simplex" if weighted else "mean")
    sizes = np.array([int(factor * n) for factor in FACTORS])
    if weighted:
        risks = np.stack([weighted_risks(problem, plan, ridge, size, n_trials, rng) for size in sizes], axis=1)
    else:
        risks = sr.simulate(problem, ensemble, sizes, n_trials, nested=False, seed=seed, progress=False).risk.values
    risks = risks + zeta**2
    truth, doubt = risks.mean(axis=0), risks.std(axis=0) / np.sqrt(n_trials)
    root = np.linalg.cholesky(covariance.dense())
    weights = problem.teacher_weights
    forecasts, lower, upper, reach, seconds = [], [], [], [], 0.0
    for _ in range(n_pilots):
        X = rng.standard_normal((n, M)) @ root.T
        y = X @ weights / np.sqrt(M) + zeta * rng.standard_normal(n)
        start = time.perf_counter()
        curve = sr.forecast(X, y, sizes, {"it": ensemble}, fit_intercept=weighted).isel(ensemble=0)
        seconds += time.perf_counter() - start
        forecasts.append(curve.prediction_error.values)
        lower.append(curve.prediction_error_lower.values)
        upper.append(curve.prediction_error_upper.values)
        reach.append(curve.in_reach.values)
    forecasts, lower, upper, reach = map(np.array, (forecasts, lower, upper, reach))
    whole = reach.all(axis=0)
    return {
        "name": name + WEIGHTED * weighted,
        "sizes": sizes.tolist(),
        "truth": truth.tolist(),
        "truth_error": (doubt / truth).tolist(),
        "in_reach": whole.tolist(),
        "deviation": [float(forecasts[:, i].mean() / truth[i] - 1) if whole[i] else None for i in range(len(sizes))],
        "deviation_error": [
            float(forecasts[:, i].std() / truth[i] / np.sqrt(n_pilots)) if whole[i] else None for i in range(len(sizes))
        ],
        "spread": [float(forecasts[:, i].std() / truth[i]) if whole[i] else None for i in range(len(sizes))],
        "coverage": [
            float(((lower[:, i] <= truth[i]) & (truth[i] <= upper[:, i])).mean()) if whole[i] else None
            for i in range(len(sizes))
        ],
        "seconds_per_forecast": seconds / n_pilots,
    }


def table(rows):
    lines = ["| setting | n | " + " | ".join(f"n′ = {factor:g} n" for factor in FACTORS) + " | s per forecast |"]
    lines.append("|---" * (len(FACTORS) + 3) + "|")
    for row in rows:
        cells = [
            "out of reach" if deviation is None else f"{deviation:+.1%} ± {doubt:.1%}, {coverage:.0%}"
            for deviation, doubt, coverage in zip(
                row["deviation"], row["deviation_error"], row["coverage"], strict=True
            )
        ]
        lines.append(f"| {row['name']} | {row['sizes'][1]} | {' | '.join(cells)} | {row['seconds_per_forecast']:.2f} |")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pilots", type=int, default=400)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--trials", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1, help="other teachers, subsets and pilots")
    parser.add_argument("--only", help="settings whose name starts so")
    arguments = parser.parse_args()
    every = [*SETTINGS, *(name + WEIGHTED for name in ALSO_WEIGHTED)]
    names = [name for name in every if not arguments.only or name.startswith(arguments.only)]
    rows = []
    with ProcessPoolExecutor(arguments.processes) as pool:
        for row in pool.map(
            partial(measure, n_pilots=arguments.pilots, n_trials=arguments.trials, seed=arguments.seed), names
        ):
            rows.append(row)
            print(table(rows)[-1], flush=True)
    plain = [row for row in rows if not row["name"].endswith(WEIGHTED)]
    points = [(d, c) for row in plain for d, c in zip(row["deviation"], row["coverage"], strict=True) if d is not None]
    deviations, coverages = np.array(points).T
    summary = (
        f"{len(plain)} settings (the weighted ones apart), {len(points)} points in reach, {arguments.pilots} pilots "
        f"and {arguments.trials} "
        f"trained ensembles each: largest mean deviation {np.abs(deviations).max():.1%}, "
        f"{(np.abs(deviations) > 0.03).sum()} beyond 3 %; coverage of 90 % intervals {coverages.min():.0%} to "
        f"{coverages.max():.0%}, mean {coverages.mean():.1%}, "
        f"{((coverages < 0.85) | (coverages > 0.97)).sum()} outside 85 to 97 %"
    )
    print(summary)
    if arguments.only is None:
        RESULTS.mkdir(exist_ok=True)
        head = [
            f"`OMP_NUM_THREADS=1 python benchmarks/forecast_gaussian.py --pilots {arguments.pilots} "
            f"--trials {arguments.trials} --seed {arguments.seed}`",
            "",
            summary,
            "",
            "Cells: mean of the forecasts over that of trained ensembles, ± standard error; coverage.",
            "",
        ]
        (RESULTS / "forecast_gaussian.md").write_text("\n".join(head + table(rows)) + "\n")
        (RESULTS / "forecast_gaussian.json").write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
