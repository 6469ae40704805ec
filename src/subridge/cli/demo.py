"""``subridge demo``: one learning curve, theory beside experiment."""

from pathlib import Path

import click
import numpy as np
import xarray as xr
from rich.console import Console
from rich.table import Table

import subridge as sr
from subridge.cli.options import json_option, spec_option
from subridge.results.demo import demo_curves
from subridge.results.files import to_json

_N_FEATURES, _N_MEMBERS, _N_TRIALS, _RIDGE = 400, 10, 40, 1e-3
_N_SAMPLES = (10, 20, 28, 34, 37, 43, 48, 56, 70, 100, 140, 190, 250, 320, 400)


@click.command()
@click.option("--out", type=click.Path(path_type=Path), default=Path("subridge-demo.png"), show_default=True)
@click.option("--seed", type=int, default=0, show_default=True)
@spec_option
@json_option
def demo(out: Path, seed: int, as_json: bool) -> None:
    """Draw one learning curve: an equal and a heterogeneous ensemble, theory and trained members."""
    from subridge.figures.drawing.demo import plot_demo

    console = Console()
    curves = _curves(seed)
    plot_demo(curves).savefig(out, dpi=200)
    if as_json:
        click.echo(to_json(curves))
        return
    console.print(_table(curves))
    console.print(f"[bold]{out}[/]: equal members peak together at P = M/k; unequal ones spread the peak out.")


def _curves(seed: int) -> xr.Dataset:
    """Theory and experiment of both ensembles on one problem."""
    problem = sr.EquicorrelatedProblem(correlation=0.2, feature_noise=0.1, label_noise=0.2).realise(_N_FEATURES, seed)
    plans = {
        "equal": sr.subsets.equal(_N_MEMBERS, _N_FEATURES, seed),
        "heterogeneous": sr.subsets.dirichlet(_N_MEMBERS, _N_FEATURES, 0.75, seed),
    }
    dense = np.arange(8, _N_FEATURES + 1)
    data: dict[str, list[np.ndarray]] = {"theory": [], "theory_at_points": [], "experiment": [], "subset_sizes": []}
    for plan in plans.values():
        ensemble = sr.Ensemble(plan, ridge=_RIDGE)
        data["theory"].append(sr.risk(problem, ensemble, dense / _N_FEATURES).total)
        data["theory_at_points"].append(sr.risk(problem, ensemble, np.array(_N_SAMPLES) / _N_FEATURES).total)
        data["experiment"].append(sr.simulate(problem, ensemble, _N_SAMPLES, _N_TRIALS, seed=seed).risk.values)
        data["subset_sizes"].append(plan.subset_sizes)
    return demo_curves(
        data, list(plans), dense, _N_SAMPLES, n_features=_N_FEATURES, command=f"subridge demo --seed {seed}"
    )


def _table(curves: xr.Dataset) -> Table:
    table = Table(title=f"Generalization error, M = {_N_FEATURES} features, k = {_N_MEMBERS} members, ridge {_RIDGE}")
    table.add_column("P", justify="right")
    for name in curves.ensemble.values:
        table.add_column(f"{name}\ntheory", justify="right")
        table.add_column(f"{name}\ntrained", justify="right")
    mean = curves.experiment.mean("trial")
    error = curves.experiment.std("trial", ddof=1) / np.sqrt(curves.sizes["trial"])
    for P in curves.n_samples.values:
        cells = [str(P)]
        for name in curves.ensemble.values:
            here = {"ensemble": name, "n_samples": P}
            cells.append(f"{float(curves.theory_at_points.sel(here)):.3f}")
            cells.append(f"{float(mean.sel(here)):.3f} ± {float(error.sel(here)):.3f}")
        table.add_row(*cells)
    return table
