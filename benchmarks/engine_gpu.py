"""Figs. 1a and 1b on a GPU: time, achieved rate against the card's matrix rate, and where the time goes.

python benchmarks/engine_gpu.py --device cuda --out results        # full size, 100 trials
python benchmarks/engine_gpu.py --device cuda --tune               # block sizes of the Cholesky factorisation
python benchmarks/engine_gpu.py --device torch --shrink 10 --trials 4   # a small trial run without a card

Needs numpy, scipy, torch, xarray, threadpoolctl and array_api_compat; without the package installed, PYTHONPATH=src.
"""

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from settings import fig1a, fig1b

from subridge.arrays import cholesky
from subridge.arrays.namespace import to_numpy
from subridge.ridge.curves import plan_curve
from subridge.simulation.memory import bytes_per_trial
from subridge.simulation.run import Job
from subridge.simulation.simulate import GAUSSIAN
from subridge.simulation.training import Batch, curves_of_batch, draw_batch, train_member


def operations_per_trial(experiment):
    """Operations by kind; symmetric products and factors count their lower half."""
    M, L = experiment.n_features, len(experiment.ridge_table)
    counts = {"gram": 0.0, "factor": 0.0, "whiten": 0.0, "solve": 0.0}
    for r, N in enumerate(int(N) for N in experiment.plan_of(0).subset_sizes):
        ridges = [float(lam) for lam in experiment.ridge_table[:, r]]
        sizes = experiment.n_samples
        ordinary, n_dual, segments = plan_curve(sizes, N, ridges, scale=experiment.feature_scale)
        d, l = (sizes[n_dual - 1] if n_dual else 0), len(ordinary)
        counts["gram"] += d * d * N + (sizes[segments[-1][0]] * N * N if segments else 0)
        counts["factor"] += l * (d**3 + len(segments) * N**3) / 3
        counts["solve"] += l * (d * d + sum(p * p + 2 * d * N for p in sizes[:n_dual]))
        for start, stop in segments:
            m = sizes[stop - 1] - sizes[start]
            counts["gram"] += l * m * m * N
            counts["factor"] += l * m**3 / 3
            counts["whiten"] += l * N * N * m
            counts["solve"] += l * (2 * N * N + sum((p - sizes[start]) ** 2 for p in sizes[start + 1 : stop]))
            counts["solve"] += l * (stop - start - 1) * (2 * m * N + N * N)
    counts["training error"] = 2.0 * M * L * sum(experiment.n_samples)
    return counts


def clock(device, call, repeats=1):
    """Seconds of a call, the best of some repeats, with the card idle before and after."""
    best = np.inf
    for _ in range(repeats):
        synchronise(device)
        start = time.perf_counter()
        result = call()
        synchronise(device)
        best = min(best, time.perf_counter() - start)
        del result
    return best


def synchronise(device):
    if device.startswith("cuda"):
        torch.cuda.synchronize()


def matrix_rate(place, n, batch=1):
    """FLOP/s of float64 products of n × n matrices."""
    a, b = (torch.randn(batch, n, n, dtype=torch.float64, device=place) for _ in range(2))
    torch.bmm(a, b)
    return 2.0 * batch * n**3 / clock(place, lambda: torch.bmm(a, b), 5)


def stages(experiment, batch_size):
    """Seconds of the parts of one batch, each with the card idle in between, scaled to all trials."""
    device, trials = experiment.device, list(range(batch_size))
    scale = experiment.n_trials / batch_size
    sizes = experiment.n_samples
    parts = {"sampling": clock(device, lambda: draw_batch(experiment, trials, sizes[-1]))}
    batch = draw_batch(experiment, trials, sizes[-1])
    members = 0.0
    for r, N in enumerate(experiment.plan_of(0).subset_sizes):
        seconds = clock(device, lambda r=r: train_member(experiment, batch, sizes, r))
        parts[f"training member of {N}"] = seconds
        members += seconds
    whole = clock(device, lambda: curves_of_batch(experiment, batch, sizes))
    parts["exact risk and training error"] = max(whole - members, 0.0)
    return {name: seconds * scale for name, seconds in parts.items()}


def deviation_from_lapack(experiment):
    """Largest relative difference of the risks of one trial, the card against LAPACK on the same data."""
    batch = draw_batch(experiment, [0], experiment.n_samples[-1])
    here = Batch(*(to_numpy(a) for a in (batch.features, batch.labels, batch.readout, batch.teachers)), batch.plans)
    ours, plain = (curves_of_batch(experiment, b, experiment.n_samples)["risk"] for b in (batch, here))
    return np.abs(ours / plain - 1).max(axis=(0, 2, 3))


def measure(name, make, arguments):
    experiment = make(arguments.trials, arguments.device, arguments.shrink)
    job = Job(GAUSSIAN, experiment)
    job = replace(job, memory=job.memory_here())
    batch = job.plan()
    # Warm up: libraries load kernels, and the allocator gets its blocks.
    job(range(experiment.n_trials))
    peak = 0
    if arguments.device.startswith("cuda"):
        torch.cuda.reset_peak_memory_stats()
    seconds, curves = [], None
    for _ in range(arguments.repeats):
        synchronise(arguments.device)
        start = time.perf_counter()
        curves = job(range(experiment.n_trials))
        synchronise(arguments.device)
        seconds.append(time.perf_counter() - start)
    if arguments.device.startswith("cuda"):
        peak = torch.cuda.max_memory_allocated()
    counts = operations_per_trial(experiment)
    total = arguments.trials * sum(counts.values())
    mean = curves["risk"].mean(axis=(0, 2))
    return {
        "name": name,
        "n_features": experiment.n_features,
        "trials": arguments.trials,
        "batch": batch,
        "seconds": seconds,
        "operations": {key: arguments.trials * value for key, value in counts.items()},
        "achieved_flops": total / min(seconds),
        "stages": stages(experiment, min(batch, arguments.trials)),
        "predicted_bytes_per_trial": bytes_per_trial(experiment),
        "peak_bytes": peak,
        "deviation_from_lapack_by_ridge": deviation_from_lapack(experiment).tolist(),
        "mean_risk_at_fifth_third_and_last": mean[:, [3, 11, -1]].tolist(),
        "mean_over_ridges": mean.mean(axis=0).tolist(),
    }


def tune(arguments):
    """Time batched Cholesky factorisations by panel, beside the library's own."""
    place = "cpu" if arguments.device == "torch" else arguments.device
    for batch, n in ((300, 400), (300, 800), (300, 2000), (150, 2500), (60, 5000)):
        batch, n = max(2, batch // arguments.shrink), max(16, n // arguments.shrink)
        rows = torch.randn(batch, n, n // 2, dtype=torch.float64, device=place)
        gram = rows @ rows.mT + torch.eye(n, dtype=torch.float64, device=place)
        targets = torch.randn(batch, 1, n, dtype=torch.float64, device=place)
        work, right = torch.empty_like(gram), torch.empty_like(targets)
        operations = batch * n**3 / 3

        def ours(panel, gram=gram, targets=targets, work=work, right=right):
            work.copy_(gram)
            right.copy_(targets)
            return cholesky.factor(work, panel).solve_forward(right)

        line = [f"{batch:4d} x {n:5d}"]
        line.append(f"library {operations / clock(place, lambda g=gram: torch.linalg.cholesky_ex(g), 2) / 1e12:6.2f}")
        for panel in (64, 128, 256):
            ours(panel)
            rate = operations / clock(place, lambda panel=panel: ours(panel), 2) / 1e12
            line.append(f"{panel} {rate:6.2f}")
        print("TFLOP/s  " + "  ".join(line), flush=True)


def report(results, rates):
    lines = ["| experiment | trials | batch | best s | runs s | achieved TFLOP/s | share of matrix rate |"]
    lines.append("|---|---|---|---|---|---|---|")
    top = max(rates.values())
    for r in results:
        runs = ", ".join(f"{s:.2f}" for s in r["seconds"])
        lines.append(
            f"| {r['name']} | {r['trials']} | {r['batch']} | {min(r['seconds']):.2f} | {runs} | "
            f"{r['achieved_flops'] / 1e12:.2f} | {r['achieved_flops'] / top:.0%} |"
        )
    lines.append("\nMatrix rate: " + ", ".join(f"{name} {rate / 1e12:.1f} TFLOP/s" for name, rate in rates.items()))
    for r in results:
        lines.append(f"\n{r['name']}, where the time goes (s, scaled to all trials; parts timed by themselves):")
        lines += [f"- {name}: {seconds:.3f}" for name, seconds in r["stages"].items()]
        lines.append("- operations: " + ", ".join(f"{k} {v:.3g}" for k, v in r["operations"].items()))
        worst = ", ".join(f"{d:.1e}" for d in r["deviation_from_lapack_by_ridge"])
        lines.append(f"- largest deviation from LAPACK on the same data, by ridge: {worst}")
        lines.append(
            f"- peak memory {r['peak_bytes'] / 2**30:.1f} GiB, planned {r['batch']} × "
            f"{r['predicted_bytes_per_trial'] / 2**30:.3f} GiB"
        )
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--shrink", type=int, default=1, help="divide all sizes by this, to try the script")
    parser.add_argument("--figures", nargs="+", default=["fig1a", "fig1b"])
    parser.add_argument("--tune", action="store_true")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    if arguments.tune:
        tune(arguments)
        return
    place = "cpu" if arguments.device == "torch" else arguments.device
    n = 8192 // arguments.shrink
    rates = {f"one product of {n}": matrix_rate(place, n), f"100 products of {n // 8}": matrix_rate(place, n // 8, 100)}
    makers = {"fig1a": fig1a, "fig1b": fig1b}
    results = [measure(name, makers[name], arguments) for name in arguments.figures]
    text = report(results, rates)
    print(text)
    if arguments.out:
        arguments.out.mkdir(parents=True, exist_ok=True)
        (arguments.out / "engine_gpu.md").write_text(text + "\n")
        (arguments.out / "engine_gpu.json").write_text(json.dumps({"rates": rates, "results": results}, indent=1))


if __name__ == "__main__":
    main()
