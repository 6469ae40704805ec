"""The paper's second and third classification experiments at full size: time and errors, one table.

python benchmarks/classification_gpu.py features.npz --device cuda                 # full settings
python benchmarks/classification_gpu.py features.npz --device torch --shrink 8     # a small trial run without a card

The .npz holds X, y, X_test, y_test; the file bundled with the package works too (quantised, see its loader). Needs
numpy, scipy, scikit-learn, xarray, torch and array_api_compat; where the package is not installed, PYTHONPATH=src.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
from subridge.results.schemas import best_ensemble_sizes

import subridge as sr

_MEMBERS_OF_NOISE = (1, 2, 3, 4, 5, 10, 15, 20, 25, 30, 100, 200)
_MEMBERS_OF_SUBSETS = (1, 4, 8, 16, 32)


def load(path):
    """X, y, X_test, y_test, of a plain or a quantised file, without features that hardly vary."""
    with np.load(path) as file:
        if "scale" in file:
            tables = [file[name] * file["scale"] + file["offset"] for name in ("train", "test")]
            return tables[0], file["train_labels"], tables[1], file["test_labels"]
        X, y, X_test, y_test = (file[name] for name in ("X", "y", "X_test", "y_test"))
    spread = X.std(axis=0)
    kept = spread > 0.05 * np.median(spread)
    return X[:, kept], y, X_test[:, kept], y_test


def sizes_between(low, high, count, extra=()):
    grid = np.round(np.geomspace(low, high, count)).astype(int)
    return np.unique(np.concatenate([grid, np.asarray(extra, dtype=int)]))


def experiments(data, arguments):
    """Name, number of runs' keyword arguments; the P grid ends where the training set does."""
    n, M = data[0].shape
    s, top = arguments.shrink, min(4000, n)
    thresholds = [M // k for k in _MEMBERS_OF_SUBSETS if n * k >= M]
    sizes = sizes_between(400, top, 50 // s, thresholds)
    second = {"ridges": [0.0, 0.1], "n_samples": sizes}
    trials = max(2, 100 // s**2)
    for name, strategy in (("equal", sr.subsets.Equal), ("heterogeneous", lambda k: sr.subsets.Dirichlet(k, 0.75))):
        ensembles = [sr.Ensemble(strategy(k), aggregation="majority") for k in _MEMBERS_OF_SUBSETS]
        yield f"second, {name}", second | {"ensemble": ensembles, "n_trials": trials}
    noises = np.round(np.linspace(0, 1, 11), 1)[:, None]
    third = {
        "ensemble": [
            sr.Ensemble(sr.subsets.Equal(k), readout_noise=noises, aggregation="majority") for k in _MEMBERS_OF_NOISE
        ],
        "ridges": [0.0, 0.1],
        "n_samples": sizes_between(50, top, 40 // s),
        "n_trials": max(2, 50 // s**2),
    }
    yield "third", third


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("features", type=Path)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--shrink", type=int, default=1, help="divide grids by this and trials by its square")
    parser.add_argument("--out", type=Path, help="folder for results as JSON and .npz")
    parser.add_argument("--only", help="run the experiments whose name starts so")
    arguments = parser.parse_args()
    data = load(arguments.features)
    print(f"{arguments.features.name}: {data[0].shape} train, {data[2].shape} test, device {arguments.device}")
    summary = []
    for name, options in experiments(data, arguments):
        if arguments.only and not name.startswith(arguments.only):
            continue
        run = sr.Run(device=arguments.device)
        warm = options | {"n_trials": 1}
        sr.simulate_classification(*data, **warm, run=run, progress=False)  # libraries load their kernels
        start = time.perf_counter()
        result = sr.simulate_classification(*data, **options, run=run, progress=False)
        seconds = time.perf_counter() - start
        fits = np.prod(result.misclassification.shape[2:]) * result.sizes["trial"] * sum(result.n_members.values)
        print(f"\n## {name}: {seconds:.1f} s, {result.sizes['trial']} trials, {fits:.3g} fits of a member", flush=True)
        report(result)
        if name == "third":
            report_best(result)
        else:
            report_spikes(result, data[0].shape[1])
        row = {"name": name, "seconds": seconds, "trials": result.sizes["trial"], "fits": float(fits)}
        summary.append(row | {"n_features": data[0].shape[1], "n_test": len(data[3])})
        if arguments.out:
            arguments.out.mkdir(parents=True, exist_ok=True)
            coordinates = {key: result[key].values for key in result.misclassification.dims}
            stem = name.replace(", ", "_")
            np.savez_compressed(arguments.out / f"{stem}.npz", error=result.misclassification.values, **coordinates)
            (arguments.out / "classification.json").write_text(json.dumps(summary, indent=1))
    print("\n| experiment | trials | fits | seconds |\n|---|---|---|---|")
    for row in summary:
        print(f"| {row['name']} | {row['trials']} | {row['fits']:.3g} | {row['seconds']:.1f} |")


def report(result):
    """Mean ± standard error over trials, at a few sizes and the first and last noise."""
    sizes = result.n_samples.values
    shown = sizes[np.unique(np.linspace(0, len(sizes) - 1, 8).astype(int))]
    error = 1 / np.sqrt(max(result.sizes["trial"] - 1, 1))
    print("| k | ridge | noise | " + " | ".join(f"P={P}" for P in shown) + " |\n" + "|---" * (3 + len(shown)) + "|")
    for k in result.n_members.values:
        for ridge in result.ridge.values:
            for noise in {result.readout_noise.values[0], result.readout_noise.values[-1]}:
                curve = result.misclassification.sel(n_members=k, ridge=ridge, readout_noise=noise, n_samples=shown)
                mean, spread = curve.mean("trial").values, curve.std("trial").values * error
                cells = " | ".join(f"{m:.3f} ± {s:.3f}" for m, s in zip(mean, spread, strict=True))
                print(f"| {k} | {ridge:g} | {noise:g} | {cells} |")


def report_spikes(result, n_features):
    """Without a ridge: the error around P = M/k, and the largest rise from one size to the next, paired by trial."""
    error, sizes = result.misclassification.sel(ridge=0).isel(readout_noise=0), result.n_samples.values
    print("\n| k | P = M/k | size before | error there | error at M/k | size after | error there | largest rise |")
    print("|---" * 8 + "|")
    for k in result.n_members.values:
        curve = error.sel(n_members=k).transpose("trial", "n_samples").values
        mean, rises = curve.mean(axis=0), np.diff(curve, axis=1)
        top = int(rises.mean(axis=0).argmax())
        spread = rises[:, top].std(ddof=1) / np.sqrt(len(rises)) if len(rises) > 1 else 0.0
        rise = f"{rises[:, top].mean():+.4f} ± {spread:.4f}, P = {sizes[top]} to {sizes[top + 1]}"
        at = int(np.searchsorted(sizes, n_features // k))
        if at == len(sizes) or sizes[at] != n_features // k:
            continue
        before = [sizes[at - 1], f"{mean[at - 1]:.3f}"] if at else ["–", "–"]
        after = [sizes[at + 1], f"{mean[at + 1]:.3f}"] if at + 1 < len(sizes) else ["–", "–"]
        cells = [k, sizes[at], *before, f"{mean[at]:.3f}", *after, rise]
        print("| " + " | ".join(map(str, cells)) + " |")


def report_best(result, tolerance=0.01):
    """Best k, in brackets the range within the tolerance of its error, then its error and that of one classifier."""
    mean = result.misclassification.mean("trial")
    best, sizes = best_ensemble_sizes(mean, tolerance), result.n_samples.values
    shown = [int(sizes[np.abs(sizes - P).argmin()]) for P in (100, 400, 1000, 1600, 4000)]
    print("\n| λ | η | " + " | ".join(f"P = {P}" for P in shown) + " |\n" + "|---" * (2 + len(shown)) + "|")
    for ridge in result.ridge.values:
        for eta in result.readout_noise.values:
            cells = []
            for P in shown:
                at = {"ridge": ridge, "readout_noise": eta, "n_samples": P}
                k, low, high, lowest = (
                    float(best[name].sel(at)) for name in ("optimal_n_members", "smallest", "largest", "best_error")
                )
                alone = float(mean.sel(at).sel(n_members=1))
                cells.append(f"{k:.0f} ({low:.0f} to {high:.0f}): {lowest:.3f}, k = 1 {alone:.3f}")
            print(f"| {ridge:g} | {eta:g} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
