"""Training cost against the number of members at a fixed total number of features: is it k⁻²?

    python benchmarks/ensemble_size_cost.py --out results
    python benchmarks/ensemble_size_cost.py --shrink 8       # a quick try

The paper says that k members of M/k features train k² times as fast as one of M, because a factorisation costs N³:
k (M/k)³ = M³/k². Measured here is all of it, at one size and one ridge: with P = 2M the Gram matrices cost P M²/k,
which falls as 1/k only and soon dominates; with P = M/16 < N the problem is solved on the dual side, at P² M + k P³/3,
and more members cost more.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np

from subridge.ridge.curves import CurvePlan, solve_curve


def seconds_of_training(M, P, k, n_factors, repeats, primal):
    """Seconds to train k members of M/k features on P samples with `n_factors` ridges."""
    rng = np.random.default_rng(0)
    N = M // k
    F, targets = rng.standard_normal((k, P, N)) / np.sqrt(N), rng.standard_normal((1, P))
    ridges = tuple(0.1 + 0.1 * i for i in range(n_factors))
    plan = CurvePlan((P,), ridges, tuple(range(n_factors)), 0 if primal else 1, ((0, 1),) if primal else (), False)
    into, best = np.empty((1, n_factors, 1, 1, N)), np.inf
    for _ in range(repeats + 1):
        start = time.perf_counter()
        for r in range(k):
            solve_curve(F[r : r + 1], targets[None], plan, into)
        best = min(best, time.perf_counter() - start)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shrink", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    M = 4096 // arguments.shrink
    members = [1, 2, 4, 8, 16]
    table = {}
    for name, P, primal in (("P = 2M, primal", 2 * M, True), ("P = M/16, dual", M // 16, False)):
        one, five = (
            np.array([seconds_of_training(M, P, k, n, arguments.repeats, primal) for k in members]) for n in (1, 5)
        )
        # Each further ridge adds one factorisation and its solves; what is left is the Gram matrix.
        factor = (five - one) / 4
        table[name] = {"total": one.tolist(), "factor": factor.tolist(), "gram": (one - factor).tolist()}
        print(f"{name} (M={M}, P={P})\n    k  total s  Gram s  factor s")
        for row in zip(members, one, one - factor, factor, strict=True):
            print("{:5d} {:8.4f} {:7.4f} {:9.4f}".format(*row))
        slopes = {
            part: np.polyfit(np.log(members), np.log(np.maximum(v, 1e-9)), 1)[0] for part, v in table[name].items()
        }
        table[name]["slopes"] = slopes
        print("    exponent of k: " + ", ".join(f"{part} {slope:.2f}" for part, slope in slopes.items()), flush=True)
    if arguments.out:
        arguments.out.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"n_features": M, "n_members": members, "seconds": table}, indent=1)
        (arguments.out / "ensemble_size_cost.json").write_text(text)
        draw(members, table, arguments.out / "ensemble_size_cost.png")


def draw(members, table, path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(table), figsize=(4.5 * len(table), 3.5), layout="constrained")
    k = np.array(members, dtype=float)
    for axis, (name, parts) in zip(axes, table.items(), strict=True):
        for part in ("total", "gram", "factor"):
            axis.loglog(k, parts[part], "o-", label=part)
        axis.loglog(k, parts["factor"][0] / k**2, "k:", label="k⁻²")
        axis.set(title=name, xlabel="number of members")
        axis.legend()
    axes[0].set_ylabel("seconds")
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main()
