"""Fig. 1a on CPU cores, and the same curves by a loop of scikit-learn fits, in one run.

    python benchmarks/engine_cpu.py --out results                   # 100 trials, then both comparisons at full size
    python benchmarks/engine_cpu.py --trials 4 --shrink 5 --dense-sizes 20     # a quick try

The loop is given the samples and only its fits are timed. The engine is timed three ways: on the same given samples,
exact risks included; with the drawing of the samples as well; and per trial of a run of many on two processes of one
thread each. Numbers of both are compared through the exact risk of the trained weights.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
from operations import operations_per_trial
from settings import fig1a
from sklearn.linear_model import Ridge

import subridge as sr
from subridge.simulation.run import Job, Run, conduct
from subridge.simulation.simulate import GAUSSIAN
from subridge.simulation.training import curves_of_batch, draw_batch


def by_scikit_learn(experiment, trial):
    """Seconds of the fits alone, and the exact risks of what they found."""
    batch, plan, seconds = draw_batch(experiment, [trial], experiment.n_samples[-1]), experiment.plan_of(0), 0.0
    X, y, xi = batch.features[0], batch.labels[0], batch.readout[0]
    eta = experiment.noise_table[0]
    data = [np.ascontiguousarray(plan.measure(r, X)) for r in range(plan.n_members)]
    risks = np.empty((len(experiment.ridge_table), len(experiment.n_samples)))
    for l, p in np.ndindex(*risks.shape):
        P, weights = experiment.n_samples[p], []
        for r, N in enumerate(plan.subset_sizes):
            model = Ridge(alpha=experiment.ridge_table[l, r] * N, fit_intercept=False)
            targets = y[:P] - eta[r] * xi[r, :P]
            start = time.perf_counter()
            model.fit(data[r][:P], targets)
            seconds += time.perf_counter() - start
            weights.append(model.coef_ * np.sqrt(N))
        ensemble = sr.Ensemble(plan, readout_noise=eta)
        risks[l, p] = sr.risk_of_weights(experiment.finite_problem, ensemble, weights).total
    return seconds, risks


def by_engine(experiment, trial):
    """Seconds of drawing, training and exact risks of one trial."""
    start = time.perf_counter()
    risks = Job(GAUSSIAN, experiment)([trial])["risk"][0, :, 0]
    return time.perf_counter() - start, risks


def on_given_samples(experiment, trial):
    """Seconds of training and exact risks, on samples drawn before."""
    batch = draw_batch(experiment, [trial], experiment.n_samples[-1])
    start = time.perf_counter()
    curves_of_batch(experiment, batch, experiment.n_samples)
    return time.perf_counter() - start


def side_by_side(name, experiment, n_trials, processes_s):
    by_engine(experiment, 0)  # warm up
    pairs = [(by_engine(experiment, t), by_scikit_learn(experiment, t)) for t in range(n_trials)]
    ours, theirs = (sum(pair[i][0] for pair in pairs) / n_trials for i in range(2))
    given = sum(on_given_samples(experiment, t) for t in range(n_trials)) / n_trials
    deviation = max(float(np.abs(a[1] / b[1] - 1).max()) for a, b in pairs)
    return {
        "name": name,
        "trials": n_trials,
        "given_samples_s": given,
        "engine_s": ours,
        "two_processes_s": processes_s,
        "scikit_learn_s": theirs,
        "largest_deviation": deviation,
    }


def whole_run(experiment, run, name):
    start = time.perf_counter()
    conduct(GAUSSIAN, experiment, run, progress=False)
    seconds = time.perf_counter() - start
    operations = experiment.n_trials * sum(operations_per_trial(experiment).values())
    return {"name": name, "trials": experiment.n_trials, "seconds": seconds, "gflops": operations / seconds / 1e9}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--compared-trials", type=int, default=2)
    parser.add_argument("--dense-sizes", type=int, default=200)
    parser.add_argument("--shrink", type=int, default=1, help="divide all sizes by this, to try the script")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    grid = fig1a(arguments.trials, shrink=arguments.shrink)
    M = grid.n_features
    sizes = np.unique(np.linspace(M // arguments.dense_sizes, M, arguments.dense_sizes).astype(int))
    dense = fig1a(1, shrink=arguments.shrink, n_samples=sizes, ridges=np.logspace(-6, 0, 10))
    lines = []

    def show(line):
        print(line, flush=True)
        lines.append(line)

    runs = []
    show("| Fig. 1a, whole run | trials | s | GFLOP/s |\n|---|---|---|---|")
    for name, run in (("one process, its BLAS threaded", Run()), ("two processes of one thread", Run(executor=2))):
        runs.append(whole_run(grid, run, name))
        show(f"| {name} | {runs[-1]['trials']} | {runs[-1]['seconds']:.1f} | {runs[-1]['gflops']:.1f} |")
    many = fig1a(8, shrink=arguments.shrink, n_samples=sizes, ridges=np.logspace(-6, 0, 10))
    crowd = whole_run(many, Run(executor=2), "dense grid, two processes of one thread")
    show(f"| {crowd['name']} | {crowd['trials']} | {crowd['seconds']:.1f} | {crowd['gflops']:.1f} |")
    show("\nSeconds a trial, and in brackets how many times faster than the loop:\n")
    show("| grid | trials | scikit-learn fits | engine, given samples | with drawing | many trials, two processes "
         "| largest deviation |\n|---|---|---|---|---|---|---|")  # fmt: skip
    both = []
    for name, experiment, n, pool in (
        ("Fig. 1a, 20 sizes, 3 ridges", grid, min(arguments.compared_trials, arguments.trials), runs[1]),
        (f"dense, {len(sizes)} sizes, 10 ridges", dense, 1, crowd),
    ):
        row = side_by_side(name, experiment, n, pool["seconds"] / pool["trials"])
        both.append(row)
        loop = row["scikit_learn_s"]
        cells = [
            f"{row[key]:.2f} ({loop / row[key]:.1f}×)" for key in ("given_samples_s", "engine_s", "two_processes_s")
        ]
        show(f"| {name} | {n} | {loop:.1f} | {' | '.join(cells)} | {row['largest_deviation']:.1e} |")
    if arguments.out:
        arguments.out.mkdir(parents=True, exist_ok=True)
        (arguments.out / "engine_cpu.md").write_text("\n".join(lines) + "\n")
        (arguments.out / "engine_cpu.json").write_text(json.dumps({"runs": runs, "compared": both}, indent=1))


if __name__ == "__main__":
    main()
