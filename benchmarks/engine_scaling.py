"""Cost of a trial against M, the largest P, k, the number of ridges and the number of sizes.

    python benchmarks/engine_scaling.py --out results
    python benchmarks/engine_scaling.py --shrink 4        # a quick try

One quantity is varied, the others stay at M=1000, P=1000, k=4 equal disjoint members, 3 ridges, 20 sizes.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
from settings import experiment

import subridge as sr
from subridge.simulation.run import Job
from subridge.simulation.simulate import GAUSSIAN

GRIDS = {
    "n_features": [250, 500, 1000, 2000, 4000],
    "largest n_samples": [250, 500, 1000, 2000, 4000],
    "n_members": [1, 2, 4, 8, 16, 32],
    "number of ridges": [1, 3, 10, 30],
    "number of sizes": [1, 2, 5, 20, 50, 200],
}
BASE = {"n_features": 1000, "largest n_samples": 1000, "n_members": 4, "number of ridges": 3, "number of sizes": 20}


def seconds_per_trial(setting, repeats):
    """Best of some trials, the first one left out."""
    M, P, k = setting["n_features"], setting["largest n_samples"], setting["n_members"]
    sizes = np.unique(np.linspace(P / setting["number of sizes"], P, setting["number of sizes"]).astype(int))
    ridges = np.logspace(-4, 0, setting["number of ridges"])
    problem = sr.Problem(sr.covariance.autoregressive(M, 0.8), np.ones(M), label_noise=0.1)
    ensemble = sr.Ensemble(sr.subsets.equal(k, M, seed=0), readout_noise=0.1)
    what = experiment(problem, ensemble, repeats + 1, "cpu", ("data",), n_samples=sizes, ridges=ridges)
    job = Job(GAUSSIAN, what)
    times = []
    for trial in range(repeats + 1):
        start = time.perf_counter()
        job([trial])
        times.append(time.perf_counter() - start)
    return min(times[1:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--shrink", type=int, default=1)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    base = BASE | {name: BASE[name] // arguments.shrink for name in ("n_features", "largest n_samples")}
    table = {}
    for name, values in GRIDS.items():
        if name in ("n_features", "largest n_samples"):
            values = [value // arguments.shrink for value in values]
        table[name] = [(value, seconds_per_trial(base | {name: value}, arguments.repeats)) for value in values]
        print(f"{name}: " + ", ".join(f"{value} → {1e3 * s:.1f} ms" for value, s in table[name]), flush=True)
    if arguments.out:
        arguments.out.mkdir(parents=True, exist_ok=True)
        (arguments.out / "engine_scaling.json").write_text(json.dumps({"base": base, "seconds": table}, indent=1))
        draw(table, arguments.out / "engine_scaling.png")


def draw(table, path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(table), figsize=(3 * len(table), 3), sharey=True, layout="constrained")
    for axis, (name, points) in zip(axes, table.items(), strict=True):
        axis.loglog(*zip(*points, strict=True), "o-")
        axis.set_xlabel(name)
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("seconds per trial")
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main()
