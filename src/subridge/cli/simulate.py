"""`subridge simulate`: a learning curve from the command line."""

import re
from pathlib import Path
from typing import Unpack

import click
import xarray as xr

import subridge as sr
from subridge.cli import options as shared
from subridge.cli.numbers import numbers, sizes
from subridge.cli.show import deliver, print_table
from subridge.model.checks import counted
from subridge.results.numbers import plain


class SimulateOptions(shared.EnsembleOptions, shared.ProblemOptions, shared.RunOptions, shared.ResultOptions):
    n_features: int
    n_samples: tuple[float, ...]
    n_trials: int
    ridges: tuple[float, ...]
    weights_from: str
    redraw: str
    nested: bool
    seed: int
    store: Path | None
    resume: bool
    memory: int | None


@click.command()
@click.option("--n-features", type=click.IntRange(1, 10**7), default=500, help="M")
@shared.ensemble_options(n_members=4, fraction_spread=0.0)
@click.option("--n-samples", type=sizes, default="50:1000:20", help="P")
@click.option("--n-trials", type=click.IntRange(2, 10**7), default=20)
@click.option("--ridges", type=numbers, default="0.001,0.1", help="λ")
@shared.problem_options
@click.option(
    "--weights-from",
    type=click.Choice(("theory", "left_out")),
    default="theory",
    help="weights of --aggregation scaled, simplex or free: fixed by theory, or chosen in every trial",
)
@click.option("--redraw", default="data,teacher", help="of data, teacher, subsets")
@click.option("--nested/--independent", default=True, help="training sets")
@click.option("--seed", type=click.IntRange(0), default=0)
@shared.run_options
@click.option("--store", type=click.Path(path_type=Path), help="zarr directory that keeps finished tasks")
@click.option("--resume", is_flag=True, help="go on with what is in --store")
@click.option("--memory", type=click.IntRange(1), help="bytes the run may use; default half of what is free")
@shared.result_options()
def simulate(**options: Unpack[SimulateOptions]) -> None:
    """Train ridge ensembles on equicorrelated data and print their exact risk along the learning curve.

    Lists are written a,b,c or start:stop:count or log:start:stop:count.

    \b
    subridge simulate --n-members 10 --n-samples 20:400:20 --out curves.png
    subridge simulate --n-features 2000 --n-trials 100 --store run.zarr --out curves.nc
    """
    _check_store(options["store"], options["resume"])
    curves = sr.simulate(
        shared.problem_of(options),
        shared.ensemble_of(options, shared.strategy_of(options, options["n_features"])),
        options["n_samples"],
        options["n_trials"],
        ridges=options["ridges"],
        n_features=options["n_features"],
        weights_from=options["weights_from"],
        redraw=tuple(word.strip() for word in options["redraw"].split(",") if word.strip()),
        nested=options["nested"],
        seed=options["seed"],
        run=shared.run_of(options, store=options["store"], memory=options["memory"]),
    )
    deliver(curves, options, draw=lambda data: sr.figures.plot_simulated(data), show=_show)


def _check_store(store: Path | None, resume: bool) -> None:
    """A run goes on with a store only when told to."""
    if store is None:
        if resume:
            raise click.UsageError("--resume needs --store: the directory to go on with")
        return
    if re.match(r"\w+:/", str(store)):
        raise click.UsageError(f"--store {store} is an address, but a store is a directory of this machine")
    from subridge.store.resumable import is_store

    if is_store(store) and not resume:
        raise click.UsageError(f"{store} exists; add --resume to go on with it, or give another --store")
    if resume and not is_store(store):
        raise click.UsageError(f"{store} does not exist, so there is nothing to resume; leave out --resume")


def _show(curves: xr.Dataset) -> None:
    n = curves.sizes["trial"]
    mean, error = curves.risk.mean("trial"), curves.risk.std("trial", ddof=1) / n**0.5
    columns = list(zip(mean.values, error.values, strict=True))
    print_table(
        f"risk, mean ± standard error of {counted(n, 'trial')}",
        ["n_samples", *(f"ridge {ridge:g}" for ridge in curves.ridge.values)],
        (
            [f"{P:,}", *(f"{plain(means[p], 4)} ± {plain(errors[p], 1)}" for means, errors in columns)]
            for p, P in enumerate(curves.n_samples.values)
        ),
    )
