"""`subridge simulate`: a learning curve from the command line."""

from pathlib import Path
from typing import Any

import click

from subridge.cli.options import json_option, spec_option


def _numbers(kind: type) -> Any:
    """Parse "1,2,3" or "start:stop:count" into a list."""

    def parse(_context: click.Context, option: click.Parameter, text: str | None) -> list[Any] | None:
        if text is None:
            return None
        try:
            if ":" in text:
                start, stop, count = text.split(":")
                low, high, n = float(start), float(stop), int(count)
                steps = [low + (high - low) * i / max(n - 1, 1) for i in range(n)]
            else:
                steps = [float(word) for word in text.split(",")]
        except ValueError:
            raise click.BadParameter(f"{text!r} is neither a,b,c nor start:stop:count", param=option) from None
        return [round(step) if kind is int else step for step in steps]

    return parse


@click.command()
@click.option("--n-features", type=click.IntRange(1), default=500, show_default=True, help="M")
@click.option("--n-members", type=click.IntRange(1), default=4, show_default=True, help="k")
@click.option("--fraction-spread", type=float, default=0.0, show_default=True, help="0: equal subsets")
@click.option("--n-samples", default="50:1000:20", show_default=True, callback=_numbers(int), help="P")
@click.option("--n-trials", type=click.IntRange(2), default=20, show_default=True)
@click.option("--ridges", default="0.001,0.1", show_default=True, callback=_numbers(float), help="λ")
@click.option("--readout-noise", type=float, default=0.0, show_default=True, help="η")
@click.option("--data-scale", type=float, default=1.0, show_default=True, help="s")
@click.option("--correlation", type=float, default=0.0, show_default=True, help="c")
@click.option("--feature-noise", type=float, default=0.0, show_default=True, help="ω")
@click.option("--alignment", type=float, default=0.0, show_default=True, help="ρ")
@click.option("--label-noise", type=float, default=0.0, show_default=True, help="ζ")
@click.option("--redraw", default="data,teacher", show_default=True, help="of data, teacher, subsets")
@click.option("--nested/--independent", default=True, show_default=True, help="training sets")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--device", default="cpu", show_default=True, help="cpu, cuda, cuda:1, torch")
@click.option("--processes", type=click.IntRange(1), help="run in that many processes")
@click.option("--scheduler", help="address of a Dask scheduler, tcp://host:port")
@click.option("--store", type=click.Path(path_type=Path), help="zarr directory that keeps finished tasks")
@click.option("--resume", is_flag=True, help="go on with what is in --store")
@click.option("--memory", type=int, help="bytes the run may use; default half of what is free")
@click.option("--out", type=click.Path(path_type=Path), help="write the curves as netCDF (.nc) or CSV (.csv)")
@spec_option
@json_option
def simulate(as_json: bool, **options: Any) -> None:
    """Train ridge ensembles on equicorrelated data and print their exact risk along the learning curve.

    Lists are written a,b,c or start:stop:count.
    """
    from subridge.spec.errors import SubridgeError

    try:
        curves = _run(options)
    except SubridgeError as error:
        raise click.ClickException(str(error)) from error
    if options["out"] is not None:
        _write(curves, options["out"])
    if as_json:
        from subridge.results.files import to_json

        click.echo(to_json(curves))
    else:
        _show(curves)


def _run(options: dict[str, Any]) -> Any:
    import subridge as sr

    store = options["store"]
    if options["resume"] and store is None:
        raise click.UsageError("--resume needs --store: the directory to go on with")
    if store is not None:
        from subridge.store.resumable import is_store

        if is_store(store) and not options["resume"]:
            raise click.UsageError(f"{store} exists; add --resume to go on with it, or give another --store")
        if options["resume"] and not is_store(store):
            raise click.UsageError(f"{store} does not exist, so there is nothing to resume; leave out --resume")
    redraw = tuple(word.strip() for word in options["redraw"].split(",") if word.strip())
    fields = ("data_scale", "correlation", "feature_noise", "alignment", "label_noise")
    problem = sr.EquicorrelatedProblem(**{name: options[name] for name in fields})
    strategy = sr.subsets.Dirichlet(options["n_members"], options["fraction_spread"])
    run = sr.Run(
        device=options["device"],
        executor=options["processes"],
        scheduler=options["scheduler"],
        store=store,
        memory=options["memory"],
    )
    return sr.simulate(
        problem,
        sr.Ensemble(strategy, readout_noise=options["readout_noise"]),
        options["n_samples"],
        options["n_trials"],
        ridges=options["ridges"],
        n_features=options["n_features"],
        redraw=redraw,
        nested=options["nested"],
        seed=options["seed"],
        run=run,
    )


def _write(curves: Any, out: Path) -> None:
    if out.suffix == ".csv":
        curves.risk.to_dataframe().to_csv(out)
    else:
        curves.to_netcdf(out)
    click.echo(f"wrote {out}", err=True)


def _show(curves: Any) -> None:
    from rich.console import Console
    from rich.table import Table

    mean = curves.risk.mean("trial").values
    error = (curves.risk.std("trial", ddof=1) / curves.sizes["trial"] ** 0.5).values
    table = Table(title=f"risk, mean ± standard error of {curves.sizes['trial']} trials")
    table.add_column("n_samples", justify="right")
    for ridge in curves.ridge.values:
        table.add_column(f"ridge {ridge:g}", justify="right")
    for p, P in enumerate(curves.n_samples.values):
        cells = (f"{mean[i, p]:.4g} ± {error[i, p]:.1g}" for i in range(len(mean)))
        table.add_row(str(P), *cells)
    Console().print(table)
