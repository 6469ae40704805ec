"""`subridge advise`: which ensemble for these data, and why."""

from pathlib import Path
from typing import Any

import click
import xarray as xr
from rich.console import Console
from rich.table import Table

from subridge.cli.options import NUMBERS, json_option, spec_option
from subridge.cli.pilot_data import data_options, labels_of, read_data
from subridge.cli.show import check_out, deliver

_ROWS = 12  # of the printed table; files and JSON hold every candidate


@click.command()
@data_options
@click.option("--samples", type=click.IntRange(2), help="planned number of samples; default the rows of DATA")
@click.option("--n-members", type=NUMBERS, default="2,4,8,16,32", show_default=True, help="k to try")
@click.option("--fraction-spreads", type=NUMBERS, default="0,0.75,1.5", show_default=True, help="0: equal subsets")
@click.option("--ridges", type=NUMBERS, help="path to choose ridges from; default scaled to the data")
@spec_option
@json_option
def advise(out: Path | None, as_json: bool, **options: Any) -> None:
    """Rank ridge ensembles for the rows of DATA by forecast, and say in two sentences why.

    DATA is .csv, .tsv, .parquet, .npz or .zarr. Nothing is held out and nothing is refitted; the answer may be not to
    ensemble.

    \b
    subridge advise data.parquet --target y
    subridge advise data.csv --target y --samples 5000 --out advice.png
    """
    import subridge as sr

    check_out(out)
    table = read_data(options)
    advice = sr.advise(
        table.X,
        labels_of(table),
        options["samples"],
        n_members=options["n_members"],
        fraction_spreads=options["fraction_spreads"],
        ridges="auto" if options["ridges"] is None else options["ridges"],
        readout_noise=options["readout_noise"],
        level=options["level"],
        seed=options["seed"],
    )
    deliver(advice.table.assign_attrs(reasons=list(advice.reasons)), out, as_json, draw=_draw, show=_show)


def _draw(ranking: xr.Dataset) -> Any:
    from subridge.figures.drawing.forecast import plot_advice

    return plot_advice(ranking)


def _show(ranking: xr.Dataset) -> None:
    table = Table(title=f"forecast with {ranking.attrs['n_samples']:.0f} samples, best first")
    columns = ["ensemble", "λ", "error", "interval", "now", "gain over one ridge"]
    columns += ["wrong votes"] * ("misclassification" in ranking)
    for column in columns:
        table.add_column(column, justify="left" if column == "ensemble" else "right")
    for position in range(min(_ROWS, ranking.sizes["candidate"])):
        row = ranking.isel(candidate=position)
        cells = [
            str(row.candidate.values),
            f"{float(row.ridge):.2g}",
            f"{float(row.error):.4g}{'' if bool(row.in_reach) else '*'}",
            f"{float(row.error_lower):.3g} to {float(row.error_upper):.3g}",
            f"{float(row.error_now):.4g}",
            f"{float(row.gain):+.1%} ± {float(row.gain_error):.1%}",
        ]
        if "misclassification" in ranking:
            share = float(row.misclassification)
            cells.append("" if share != share else f"{share:.1%}")
        table.add_row(*cells)
    console = Console()
    console.print(table)
    for sentence in ranking.attrs["reasons"]:
        console.print(sentence)
