"""The table of docs/classification.md: equal and heterogeneous classifiers on real data, with standard errors.

python benchmarks/classification_table.py cifar10 --trials 10
"""

import argparse
import time

import numpy as np

import subridge as sr

_MEMBERS = (1, 4, 8, 16, 32)
_RIDGES = (0.0, 0.1)
_SINGLE = (0.0, 1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0)


def cells(error):
    """Mean ± standard error over trials, along P."""
    mean, spread = error.mean("trial").values, error.std("trial", ddof=1).values / np.sqrt(error.sizes["trial"])
    return [f"{m:.3f} ± {s:.3f}" for m, s in zip(mean, spread, strict=True)]


def line(*words):
    print("| " + " | ".join(map(str, words)) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="bundled, cifar10, fashion or a features store")
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--device", default="cpu")
    arguments = parser.parse_args()
    data, run, start = sr.datasets.load_set(arguments.data), sr.Run(device=arguments.device), time.perf_counter()
    M, largest = data.n_features, min(4000, len(data.X))
    sizes = np.unique([*(M // k for k in _MEMBERS), 400, 565, 800, 1130, 1600, 2800, largest])
    options = {"n_samples": sizes[sizes <= largest], "n_trials": arguments.trials, "run": run, "progress": False}
    print(f"{data.name}: {len(data.X)} training and {len(data.X_test)} test images, M = {M}\n")
    line("subsets", "k", "ridge", *(f"P = {P}" for P in options["n_samples"]))
    line(*["---"] * (3 + len(options["n_samples"])))
    single = sr.simulate_classification(*data, n_members=1, ridges=_SINGLE, **options).error.squeeze()
    best = single.mean("trial").argmin("ridge")
    line("all", 1, "0", *cells(single.isel(ridge=0)))
    line("all", 1, "best", *cells(single.isel(ridge=best)))
    line("", "", "best λ", *(f"{float(single.ridge[int(i)]):g}" for i in best.values))
    for strategy, name in (("equal", "equal"), ("dirichlet", "heterogeneous")):
        found = sr.simulate_classification(*data, strategy=strategy, n_members=_MEMBERS[1:], ridges=_RIDGES, **options)
        for k in _MEMBERS[1:]:
            for ridge in _RIDGES:
                line(name, k, f"{ridge:g}", *cells(found.error.sel(n_members=k, ridge=ridge).squeeze()))
    print("\nP = 1000, one classifier on a fraction of the features:\n")
    line("ν", *(f"λ = {ridge:g}" for ridge in _SINGLE))
    line(*["---"] * (1 + len(_SINGLE)))
    for nu in (1.0, 0.1):
        found = sr.simulate_classification(
            *data,
            strategy=lambda k, nu=nu: sr.subsets.Overlapping((round(nu * M),)),
            n_members=1,
            ridges=_SINGLE,
            **options | {"n_samples": 1000},
        )
        line(nu, *cells(found.error.squeeze()))
    print(f"\n{arguments.trials} trials, {time.perf_counter() - start:.0f} s on {arguments.device}")


if __name__ == "__main__":
    main()
