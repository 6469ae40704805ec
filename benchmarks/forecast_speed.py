"""Time of forecasts: 30 ensembles at 40 sample sizes from 5,000 rows of 2,000 features.

python benchmarks/forecast_speed.py        # two cores; do not set OMP_NUM_THREADS

The floor is the matrix products that the method cannot do without, at the rate this machine multiplies matrices with
all its cores, measured in the same run: the Gram matrix of all features once; then for every ensemble the eigenvectors
of its members (9 N³), their images in the samples (n N²), the overlaps of pairs (n M²/2), and for each of 40 sizes the
left-out errors and ten products of the jackknife (24 n M). Writes results/forecast_speed.md.
"""

import argparse
import os
import time
from pathlib import Path

import numpy as np

import subridge as sr
from subridge.arrays.machine import cores

RESULTS = Path(__file__).parent / "results"


def ensembles(M):
    known = {"one": sr.subsets.equal(1, M, 0)}
    for k in (2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 32, 40, 50, 64):
        known[f"equal {k}"] = sr.subsets.equal(k, M, 0)
        known[f"unequal {k}"] = sr.subsets.dirichlet(k, M, 0.75, 0)
    known["overlapping 4"] = sr.subsets.overlapping([M // 4] * 4, M, 0)
    return known


def operations(plans, n, M, sizes):
    """Multiplications and additions of the floor."""
    total = 2 * n * M**2 / 2
    for plan in plans.values():
        N = plan.subset_sizes.astype(float)
        total += (2 * 9 * N**3 / 2 + 2 * n * N**2).sum() + 2 * n * (N.sum() ** 2 - (N**2).sum()) / 2
        total += 2 * sizes * 12 * n * N.sum()
    return total


def matrix_rate(side=3000):
    A = np.random.default_rng(0).standard_normal((side, side))
    A @ A
    best = np.inf
    for _ in range(5):
        start = time.perf_counter()
        A @ A
        best = min(best, time.perf_counter() - start)
    return 2 * side**3 / best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--features", type=int, default=2000)
    arguments = parser.parse_args()
    n, M = arguments.rows, arguments.features
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, M)) * np.arange(1, M + 1.0) ** -0.4
    y = X @ rng.standard_normal(M) / 10 + rng.standard_normal(n)
    plans = ensembles(M)
    sizes = np.unique(np.geomspace(n / 10, 20 * n, 40).astype(int))
    rate = matrix_rate()
    start = time.perf_counter()
    curves = sr.forecast(X, y, sizes, {name: sr.Ensemble(plan, 0.01) for name, plan in plans.items()})
    seconds = time.perf_counter() - start
    again = matrix_rate()
    floor = operations(plans, n, M, len(sizes)) / max(rate, again)
    load = os.getloadavg()[0]
    lines = [
        "`python benchmarks/forecast_speed.py`",
        "",
        f"{len(plans)} ensembles, {len(sizes)} sizes, n = {n}, M = {M}, {cores()} cores: "
        f"{seconds:.1f} s; floor "
        f"{floor:.1f} s at {max(rate, again) / 1e9:.0f} GFlop/s ({seconds / floor:.1f} times). Matrix rate before and "
        f"after {rate / 1e9:.0f} and {again / 1e9:.0f} GFlop/s, load average at the end {load:.1f}. "
        f"{float(curves.in_reach.mean()):.0%} of the points in reach.",
    ]
    print("\n".join(lines))
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "forecast_speed.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
