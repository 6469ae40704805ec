"""`subridge forecast`: the learning curve a data set will have, from its first rows."""

from pathlib import Path
from typing import Any

import click
import xarray as xr
from rich.console import Console
from rich.table import Table

from subridge.cli.options import NUMBERS, SIZES, json_option, spec_option
from subridge.cli.pilot_data import data_options, labels_of, read_data
from subridge.cli.show import check_out, deliver


@click.command()
@data_options
@click.option("--samples", type=SIZES, help="sizes to forecast: 400:20000, 400:20000:12 or a,b,c; default n to 16 n")
@click.option("--n-members", type=click.IntRange(2), default=8, show_default=True, help="k of the two ensembles")
@click.option("--fraction-spread", type=float, default=0.75, show_default=True, help="kσ of the heterogeneous one")
@click.option("--ridges", type=NUMBERS, help="path to choose the ridge from, at each size; default scaled to the data")
@click.option("--aggregation", type=click.Choice(["mean", "optimal"]), default="mean", show_default=True)
@click.option("--extrapolate", is_flag=True, help="also beyond the pilot's reach, by power-law tails")
@spec_option
@json_option
def forecast(out: Path | None, as_json: bool, **options: Any) -> None:
    """Forecast the learning curves of one ridge, an equal and a heterogeneous ensemble from the rows of DATA.

    DATA is .csv, .tsv, .parquet, .npz or .zarr. Every ridge is the best for its size.

    \b
    subridge forecast data.parquet --target y --samples 400:20000
    subridge forecast data.csv --target species --n-members 16 --out forecast.png
    """
    check_out(out)
    deliver(_forecast(options), out, as_json, draw=_draw, show=_show)


def _forecast(options: dict[str, Any]) -> xr.Dataset:
    import subridge as sr

    table = read_data(options)
    n, k, eta = table.n_samples, min(options["n_members"], table.n_features), options["readout_noise"]
    strategies = {
        "one ridge": sr.subsets.Equal(1),
        f"{k} equal": sr.subsets.Equal(k),
        f"{k} heterogeneous": sr.subsets.Dirichlet(k, options["fraction_spread"]),
    }
    return sr.forecast(
        table.X,
        labels_of(table),
        options["samples"] or SIZES.convert(f"{n}:{16 * n}", None, None),
        {name: sr.Ensemble(strategy, readout_noise=eta) for name, strategy in strategies.items()},
        ridges="auto" if options["ridges"] is None else options["ridges"],
        aggregation=options["aggregation"],
        extrapolate=options["extrapolate"],
        level=options["level"],
        seed=options["seed"],
    )


def _draw(curves: xr.Dataset) -> Any:
    from subridge.figures.drawing.forecast import plot_forecast

    return plot_forecast(curves)


def _show(curves: xr.Dataset) -> None:
    n = curves.attrs["n_pilot"]
    wrong = "misclassification" in curves
    table = Table(
        title=f"forecast from {n} rows: error ({curves.attrs['level']:.0%} interval){', wrong votes' * wrong}"
    )
    table.add_column("samples", justify="right")
    for name in curves.ensemble.values:
        table.add_column(str(name), justify="right")
    for size in curves.n_samples.values:
        cells = [_cell(curves.sel(ensemble=name, n_samples=size), wrong) for name in curves.ensemble.values]
        table.add_row(f"{size:g}", *cells)
    console = Console()
    console.print(table)
    noise, low, high = (curves.attrs[f"label_noise{end}"] ** 2 for end in ("", "_lower", "_upper"))
    console.print(
        f"label noise ζ² {noise:.3g} ({low:.3g} to {high:.3g}); variance of the labels "
        f"{curves.attrs['target_variance']:.3g}"
    )
    if not bool(curves.in_reach.all()):
        console.print("–: out of this pilot's reach (use --extrapolate); *: extrapolated")
    if bool(curves.is_bound.any()):
        console.print("≤: the best ridge is smaller than this pilot can judge (use --extrapolate)")


def _cell(point: xr.Dataset, wrong: bool) -> str:
    error = float(point.error)
    if error != error:
        return "–"
    star = "" if bool(point.in_reach) else "*"
    votes = f", {float(point.misclassification):.1%}" if wrong and bool(point.in_reach) else ""
    at_most = "≤ " if bool(point.is_bound) else ""
    return f"{at_most}{error:.3g}{star} ({float(point.error_lower):.3g} to {float(point.error_upper):.3g}){votes}"
