"""`subridge advise`: which ensemble for these data, and why."""

from collections.abc import Iterable
from typing import Unpack

import click
import numpy as np
import xarray as xr

import subridge as sr
from subridge.cli import options as shared
from subridge.cli.numbers import member_counts, numbers
from subridge.cli.show import deliver, interval, print_table, say
from subridge.cli.table_options import TableOptions, labels_of, table_of, table_options

_ROWS = 12  # of the printed table; files and JSON hold every candidate


class AdviseOptions(TableOptions, shared.ResultOptions):
    n_samples: int | None
    n_members: tuple[int, ...]
    fraction_spreads: tuple[float, ...]
    readout_noise: float


@click.command()
@table_options
@click.option("--n-samples", type=click.IntRange(2, 10**14), help="planned number of samples; default the rows of DATA")
@click.option("--n-members", type=member_counts, default="2,4,8,16,32", help="k to try")
@click.option("--fraction-spreads", type=numbers, default="0,0.75,1.5", help="0: equal subsets")
@shared.number_option("--readout-noise", 0.0, "η of every member")
@shared.result_options()
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
    deliver(ranking, options, draw=lambda data: sr.figures.plot_advice(data), show=_show)


def _show(ranking: xr.Dataset) -> None:
    first = ranking.isel(candidate=slice(_ROWS))
    columns: dict[str, Iterable[str]] = {
        "ensemble": first.candidate.values,
        "λ": (f"{ridge:.2g}" for ridge in first.ridge.values),
        "prediction error": map(
            interval, *(first[f"prediction_error{end}"].values for end in ("", "_lower", "_upper"))
        ),
        "gain in %": (
            f"{100 * gain:+.1f} ± {100 * error:.1f}"
            for gain, error in zip(first.gain.values, first.gain_standard_error.values, strict=True)
        ),
    }
    if ranking.attrs["n_samples"] != ranking.attrs["n_pilot"]:
        columns["now"] = (f"{error:.3g}" for error in first.pilot_prediction_error.values)
    if "misclassification" in first:
        columns["wrong"] = ("" if np.isnan(share) else f"{share:.1%}" for share in first.misclassification.values)
    if not bool(first.in_reach.all()):
        columns["reach"] = ("yes" if inside else "no" for inside in first.in_reach.values)
    print_table(
        f"forecast with {ranking.attrs['n_samples']:.0f} samples, best first",
        list(columns),
        zip(*columns.values(), strict=True),
        names=True,
    )
    for sentence in ranking.reasons.values:
        say(str(sentence))
