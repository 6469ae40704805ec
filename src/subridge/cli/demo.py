"""``subridge demo``: one learning curve, theory beside experiment."""

from pathlib import Path
from typing import Unpack

import click
import numpy as np
import xarray as xr

import subridge as sr
from subridge.arrays.types import ArrayLike
from subridge.cli import options as shared
from subridge.cli.show import deliver, print_table, say
from subridge.results.schemas import demo_curves
from subridge.theory.thresholds import around_thresholds

_N_FEATURES, _N_MEMBERS, _N_TRIALS, _RIDGE = 400, 10, 40, 1e-3
_N_SAMPLES = (10, 20, 28, 34, 37, 43, 48, 56, 70, 100, 140, 190, 250, 320, 400)


class DemoOptions(shared.ResultOptions):
    seed: int


@click.command()
@click.option("--seed", type=click.IntRange(0), default=0)
@shared.result_options(out=Path("subridge-demo.png"))
def demo(**options: Unpack[DemoOptions]) -> None:
    """Draw one learning curve: an equal and a heterogeneous ensemble, theory and trained members."""
    deliver(_curves(options["seed"]), options, draw=lambda data: sr.figures.plot_demo(data), show=_show)


def _curves(seed: int) -> xr.Dataset:
    """Theory and experiment of both ensembles on one problem."""
    problem = sr.EquicorrelatedProblem(correlation=0.2, feature_noise=0.1, label_noise=0.2).realise(_N_FEATURES, seed)
    plans = {
        "equal": sr.subsets.equal(_N_MEMBERS, _N_FEATURES, seed),
        "heterogeneous": sr.subsets.dirichlet(_N_MEMBERS, _N_FEATURES, 0.75, seed),
    }
    fractions = np.concatenate([plan.subset_sizes for plan in plans.values()]) / _N_FEATURES
    dense = around_thresholds(np.arange(8, _N_FEATURES + 1) / _N_FEATURES, fractions)
    points = np.array(_N_SAMPLES)
    data: dict[str, list[ArrayLike]] = {"theory": [], "theory_at_points": [], "experiment": [], "subset_sizes": []}
    for plan in plans.values():
        ensemble = sr.Ensemble(plan, ridge=_RIDGE)
        data["theory"].append(sr.risk(problem, ensemble, dense).total)
        data["theory_at_points"].append(sr.risk(problem, ensemble, points / _N_FEATURES).total)
        data["experiment"].append(sr.simulate(problem, ensemble, points, _N_TRIALS, seed=seed).risk.values)
        data["subset_sizes"].append(plan.subset_sizes)
    command = f"subridge demo --seed {seed}"
    coordinates: dict[str, ArrayLike] = {
        "ensemble": list(plans),
        "dense_samples": dense * _N_FEATURES,
        "n_samples": points,
    }
    return demo_curves(data, coordinates, n_features=_N_FEATURES, command=command)


def _show(curves: xr.Dataset) -> None:
    mean = curves.experiment.mean("trial")
    error = curves.experiment.std("trial", ddof=1) / np.sqrt(curves.sizes["trial"])
    columns, cells = ["P"], [[str(P) for P in curves.n_samples.values]]
    for name in curves.ensemble.values:
        theory, trained, spread = (part.sel(ensemble=name).values for part in (curves.theory_at_points, mean, error))
        columns += [f"{name}\ntheory", f"{name}\ntrained"]
        cells.append([f"{value:.3f}" for value in theory])
        cells.append([f"{value:.3f} ± {width:.3f}" for value, width in zip(trained, spread, strict=True)])
    title = f"risk with M = {_N_FEATURES} features, k = {_N_MEMBERS} members, ridge {_RIDGE}"
    print_table(title, columns, zip(*cells, strict=True))
    say("Equal members peak together at P = M/k; unequal ones spread the peak out.")
