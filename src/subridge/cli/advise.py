"""`subridge advise`: which ensemble for these data, and why."""

from typing import TYPE_CHECKING, Unpack

import click
import xarray as xr

import subridge as sr
from subridge.cli.numbers import numbers, sizes
from subridge.cli.options import ResultOptions, number_option, result_options
from subridge.cli.show import deliver, print_table
from subridge.cli.table_options import TableOptions, labels_of, table_of, table_options

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ROWS = 12  # of the printed table; files and JSON hold every candidate


class AdviseOptions(TableOptions, ResultOptions):
    """What ``subridge advise`` receives."""

    n_samples: int | None
    n_members: tuple[int, ...]
    fraction_spreads: tuple[float, ...]
    readout_noise: float


@click.command()
@table_options
@click.option("--n-samples", type=click.IntRange(2), help="planned number of samples; default the rows of DATA")
@click.option("--n-members", type=sizes, default="2,4,8,16,32", show_default=True, help="k to try")
@click.option("--fraction-spreads", type=numbers, default="0,0.75,1.5", show_default=True, help="0: equal subsets")
@number_option("--readout-noise", 0.0, "η of every member")
@result_options()
def advise(**options: Unpack[AdviseOptions]) -> None:
    """Rank ridge ensembles for the rows of DATA by forecast, and say in two sentences why.

    DATA is .csv, .tsv, .parquet, .npz or .zarr. Nothing is held out and nothing is refitted; the answer may be not to
    ensemble.

    \b
    subridge advise data.parquet --target y
    subridge advise data.csv --target y --n-samples 5000 --out advice.png
    """
    table = table_of(options)
    advice = sr.advise(
        table.X,
        labels_of(table),
        options["n_samples"],
        n_members=options["n_members"],
        fraction_spreads=options["fraction_spreads"],
        ridges="auto" if options["ridges"] is None else options["ridges"],
        readout_noise=options["readout_noise"],
        level=options["level"],
        seed=options["seed"],
    )
    ranking = advice.table.assign(reasons=("sentence", list(advice.reasons)))
    deliver(ranking, options, draw=_draw, show=_show)


def _draw(ranking: xr.Dataset) -> "Figure":
    from subridge.figures.drawing.forecast import plot_advice

    return plot_advice(ranking)


def _show(ranking: xr.Dataset) -> None:
    votes = "misclassification" in ranking
    rows = [ranking.isel(candidate=position) for position in range(min(_ROWS, ranking.sizes["candidate"]))]
    print_table(
        f"forecast with {ranking.attrs['n_samples']:.0f} samples, best first",
        ["ensemble", "λ", "squared error", "now", "gain in %", *["wrong"] * votes],
        ([*_cells(row), *([_share(float(row.misclassification))] if votes else [])] for row in rows),
    )
    for sentence in ranking.reasons.values:
        click.echo(sentence)


def _cells(row: xr.Dataset) -> list[str]:
    value, low, high = (float(row[f"prediction_error{end}"]) for end in ("", "_lower", "_upper"))
    return [
        str(row.candidate.values),
        f"{float(row.ridge):.2g}",
        f"{value:.3g}{'' if bool(row.in_reach) else '*'} ({low:.3g} to {high:.3g})",
        f"{float(row.pilot_prediction_error):.3g}",
        f"{100 * float(row.gain):+.1f} ± {100 * float(row.gain_standard_error):.1f}",
    ]


def _share(wrong: float) -> str:
    return "" if wrong != wrong else f"{wrong:.1%}"
