"""The table of docs/measured/classification.md: equal and heterogeneous classifiers on real data, with standard errors.

python benchmarks/classification_table.py cifar10 --trials 10
python benchmarks/classification_table.py cifar10 --trials 4 --noise      # best k under readout noise instead
"""

import argparse
import time

import numpy as np

import subridge as sr
from subridge.results.schemas import best_ensemble_sizes

_MEMBERS = (1, 4, 8, 16, 32)
_RIDGES = (0.0, 0.1)
_SINGLE = (0.0, 1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0)


def cells(error):
    """Mean ± standard error over trials, along P."""
    mean, spread = error.mean("trial").values, error.std("trial", ddof=1).values / np.sqrt(error.sizes["trial"])
    return [f"{m:.3f} ± {s:.3f}" for m, s in zip(mean, spread, strict=True)]


def line(*words):
    print("| " + " | ".join(map(str, words)) + " |", flush=True)


def _heterogeneous(k):
    return sr.subsets.Dirichlet(k, 0.75)


def voters(strategy, noises=0.0):
    return sr.Ensemble(strategy, readout_noise=noises, aggregation="majority")


def noise_table(data, options):
    """Best k, and the range of k within .01 of its error, by readout noise and P."""
    noises = np.array([0.0, 0.1, 0.3, 0.6, 1.0])[:, None]
    found = sr.simulate_classification(
        *data.with_sizes(None, 1000),
        [voters(sr.subsets.Equal(k), noises) for k in (1, 2, 4, 10, 20, 30, 100)],
        ridges=_RIDGES,
        **options | {"n_samples": [100, 400, 1600, 4000]},
    )
    mean = found.misclassification.mean("trial")
    best = best_ensemble_sizes(mean, 0.01)
    line("λ", "η", *(f"P = {P}" for P in found.n_samples.values))
    line(*["---"] * (2 + found.sizes["n_samples"]))
    for ridge in _RIDGES:
        for eta in found.readout_noise.values:
            at = best.sel(ridge=ridge, readout_noise=eta)
            alone = mean.sel(ridge=ridge, readout_noise=eta, n_members=1).values
            rows = zip(
                at.optimal_n_members.values,
                at.smallest.values,
                at.largest.values,
                at.best_error.values,
                alone,
                strict=True,
            )
            cells_of_row = [f"{k:.0f} ({a:.0f} to {b:.0f}): {e:.3f}, k = 1 {o:.3f}" for k, a, b, e, o in rows]
            line(f"{ridge:g}", f"{eta:g}", *cells_of_row)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="bundled, cifar10, fashion or a features store")
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--noise", action="store_true", help="the best number of members under readout noise")
    arguments = parser.parse_args()
    data, run, start = sr.datasets.load_set(arguments.data), sr.Run(device=arguments.device), time.perf_counter()
    M, largest = data.n_features, min(4000, len(data.X))
    # Half of the smallest threshold stands to the left of the last spike.
    sizes = np.unique([M // (2 * max(_MEMBERS)), *(M // k for k in _MEMBERS), 400, 565, 800, 1130, 1600, 2800, largest])
    options = {"n_samples": sizes[sizes <= largest], "n_trials": arguments.trials, "run": run, "progress": False}
    print(f"{data.name}: {len(data.X)} training and {len(data.X_test)} test images, M = {M}\n")
    if arguments.noise:
        noise_table(data, options)
        return
    line("subsets", "k", "ridge", *(f"P = {P}" for P in options["n_samples"]))
    line(*["---"] * (3 + len(options["n_samples"])))
    single = sr.simulate_classification(*data, voters(sr.subsets.Equal(1)), ridges=_SINGLE, **options)
    single = single.misclassification.squeeze()
    best = single.mean("trial").argmin("ridge")
    line("all", 1, "0", *cells(single.isel(ridge=0)))
    line("all", 1, "best", *cells(single.isel(ridge=best)))
    line("", "", "best λ", *(f"{float(single.ridge[int(i)]):g}" for i in best.values))
    for strategy, name in ((sr.subsets.Equal, "equal"), (_heterogeneous, "heterogeneous")):
        ensembles = [voters(strategy(k)) for k in _MEMBERS[1:]]
        found = sr.simulate_classification(*data, ensembles, ridges=_RIDGES, **options)
        for k in _MEMBERS[1:]:
            for ridge in _RIDGES:
                line(name, k, f"{ridge:g}", *cells(found.misclassification.sel(n_members=k, ridge=ridge).squeeze()))
    print("\nP = 1000, one classifier on a fraction of the features:\n")
    line("ν", *(f"λ = {ridge:g}" for ridge in _SINGLE))
    line(*["---"] * (1 + len(_SINGLE)))
    for nu in (1.0, 0.1):
        found = sr.simulate_classification(
            *data, voters(sr.subsets.Overlapping((round(nu * M),))), ridges=_SINGLE, **options | {"n_samples": 1000}
        )
        line(nu, *cells(found.misclassification.squeeze()))
    print(f"\n{arguments.trials} trials, {time.perf_counter() - start:.0f} s on {arguments.device}")


if __name__ == "__main__":
    main()
