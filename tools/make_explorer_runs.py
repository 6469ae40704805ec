"""Train the ensembles whose errors the explorer shows as dots on its curves, and store their means.

    python tools/make_explorer_runs.py

Data and teacher are new in every trial. Features are exchangeable, so consecutive blocks stand for random subsets.
"""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np

import subridge as sr
from subridge.explorer.page import asset

TARGET = Path(__file__).parents[1] / "src/subridge/explorer/assets/runs.json"
DATA = ("correlation", "alignment", "feature_noise", "label_noise")
OPENING = {"correlation": 0.6, "label_noise": 0.1, "readout_noise": 0.5, "ridge": 0.001}  # as in assets/state.js
UNEQUAL = (0.06, 0.12, 0.18, 0.26, 0.38)  # of the tour
UP_TO_ONE = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def equal(k):
    return (1 / k,) * k


def cases():
    """A state of the explorer, fractions and ridge of an ensemble, sample ratios, M and the number of trials."""
    for fractions, ridge in (
        (equal(1), 0.001),
        (equal(1), "optimal"),
        (equal(5), 0.001),
        (equal(10), 0.001),
        (UNEQUAL, 0.001),
    ):
        yield OPENING, fractions, ridge, (*UP_TO_ONE, 1.2, 1.4, 1.6, 1.8, 2.0), 600, 20
    of = {figure: preset["state"] for figure, preset in asset("presets.json").items()}
    given = tuple(float(part) for part in of["fig1b"]["fractions"].split(","))
    # An aligned teacher nears the limit M → ∞ slowly, hence more features.
    yield of["fig1b"], given, of["fig1b"]["ridge"], UP_TO_ONE, 2000, 10
    yield of["fig1b"], equal(1), "optimal", UP_TO_ONE, 2000, 10
    yield of["fig2"], (of["fig2"]["coverage"],), of["fig2"]["ridge"], UP_TO_ONE, 600, 20
    few = (0.02, 0.04, 0.06, 0.08, 0.1, 0.12, 0.15, 0.2, 0.25, 0.3)
    yield of["fig3c"], equal(10), of["fig3c"]["ridge"], few, 1000, 20
    yield of["fig3c"], equal(1), "optimal", few, 1000, 20


def trained(state, fractions, ridge, ratios, n_features, n_trials):
    """A case as the page takes it: what was trained, and mean and standard error of its risks."""
    noise = state["readout_noise"]
    data = {name: state.get(name, 0.0) for name in DATA}
    problem = sr.EquicorrelatedProblem(**data)
    cuts = np.round(np.cumsum([0.0, *fractions]) * n_features).astype(int)
    plan = sr.SubsetPlan.from_indices([np.arange(low, high) for low, high in pairwise(cuts)], n_features)
    best = sr.optimal_ridge(problem, sr.Ensemble(list(fractions), 0.0, noise)) if ridge == "optimal" else ridge
    sizes = np.round(np.array(ratios) * n_features).astype(int)
    ensemble = sr.Ensemble(plan, best, noise)
    found = sr.simulate(problem, ensemble, sizes, n_trials, redraw=("data", "teacher"), seed=0, progress=False)
    mean, error = found.risk.mean("trial").values, found.risk.std("trial", ddof=1).values / n_trials**0.5
    return {
        "problem": {**data, "readout_noise": noise},
        "fractions": list(fractions),
        "ridge": ridge,
        "n_features": n_features,
        "n_trials": n_trials,
        "sample_ratio": (sizes / n_features).tolist(),
        "mean": [float(f"{value:.4g}") for value in mean],
        "error": [float(f"{value:.2g}") for value in error],
    }


def main():
    runs = [json.dumps(trained(*case)) for case in cases()]
    head = f'{{"command": "python tools/{Path(__file__).name}", "version": "{sr.__version__}", "seed": 0, "runs": [\n'
    TARGET.write_text(head + ",\n".join(runs) + "\n]}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
