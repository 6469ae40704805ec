"""`subridge advise`: which ensemble for these data, and why."""

import textwrap
from collections.abc import Iterable
from typing import Unpack

import click
import numpy as np
import xarray as xr

import subridge as sr
from subridge.cli import options as shared
from subridge.cli.busy import Busy
from subridge.cli.numbers import member_counts, numbers
from subridge.cli.show import WIDTH, deliver, print_table, say
from subridge.cli.table_options import TableOptions, labels_of, table_of, table_options, task_of
from subridge.forecasting.advice.code import SCALER, code_of
from subridge.model.checks import counted
from subridge.model.errors import ParameterError
from subridge.results.numbers import percent, plain, short_interval, unit_of

_MANY = 10.0  # a candidate that errs so many times more than one ridge has no gain worth a number
_ROWS = 12  # of the printed table; files and JSON hold every candidate


class AdviseOptions(TableOptions, shared.ResultOptions):
    n_samples: int | None
    n_members: tuple[int, ...]
    fraction_spreads: tuple[float, ...]
    readout_noise: float
    weighted: bool


@click.command()
@table_options
@click.option("--n-samples", type=click.IntRange(2, 10**14), help="planned number of samples; default the rows of DATA")
@click.option("--n-members", type=member_counts, default="2,4,8,16,32", help="k to try")
@click.option("--fraction-spreads", type=numbers, default="0,0.75,1.5", help="0: equal subsets")
@shared.number_option("--readout-noise", 0.0, "η of every member")
@click.option("--weighted/--no-weighted", default=True, help="also try fitted weights of members, or equal ones alone")
@shared.result_options()
def advise(**options: Unpack[AdviseOptions]) -> None:
    """Rank ridge ensembles for the rows of DATA by forecast, and say in two sentences why.

    DATA is .csv, .tsv, .parquet, .npz or .zarr. Nothing is held out and nothing is refitted; the answer may be not to
    ensemble.

    \b
    subridge advise data.parquet --target y
    subridge advise data.csv --target y --n-samples 5000 --out advice.png
    """
    if options["groups"] is not None:
        raise ParameterError(
            "groups has no ranking: advise takes rows for independent draws; compare the ensembles that you "
            "consider with subridge forecast and the same groups"
        )
    table = table_of(options)
    with Busy("comparing ensembles"):
        advice = sr.advise(
            table.X,
            labels_of(table),
            options["n_samples"],
            n_members=options["n_members"],
            fraction_spreads=options["fraction_spreads"],
            ridges="auto" if options["ridges"] is None else options["ridges"],
            readout_noise=options["readout_noise"],
            level=options["level"],
            task=task_of(table),
            weighted=options["weighted"],
            seed=options["seed"],
        )
    ranking = advice.table.assign(reasons=("sentence", list(advice.reasons)))
    ranking = ranking.assign_attrs(standardised=int(options["standardise"]))
    deliver(ranking, options, draw=lambda data: sr.figures.plot_advice(data), show=_show)


def _show(ranking: xr.Dataset) -> None:
    first, attributes = ranking.isel(candidate=slice(_ROWS)), ranking.attrs
    unit, told = unit_of(float(first.prediction_error_upper.max()))
    bounds = (first[f"prediction_error{end}"].values / unit for end in ("", "_lower", "_upper"))
    gains = zip(first.gain.values, first.gain_standard_error.values, strict=True)
    columns: dict[str, Iterable[str]] = {
        "ensemble": first.candidate.values,
        "λ": (plain(ridge, 2) for ridge in first.ridge.values),
        "squared error": map(short_interval, *bounds),
        "gain": (percent(gain, error) if gain > -_MANY else "-" for gain, error in gains),
    }
    if attributes["n_samples"] != attributes["n_pilot"]:
        columns["now"] = (plain(error) for error in first.pilot_prediction_error.values / unit)
    if "misclassification" in first:
        columns["wrong"] = ("" if np.isnan(share) else f"{share:.1%}" for share in first.misclassification.values)
    if not bool(first.in_reach.all()):
        columns["reach"] = ("yes" if inside else "no" for inside in first.in_reach.values)
    size = counted(round(attributes["n_samples"]), "sample")
    shown = print_table(
        f"forecast with {size}, best first{told and f'; errors{told}'}",
        list(columns),
        zip(*columns.values(), strict=True),
        names=True,
        optional=("reach", "now", "λ"),
    )
    more = ranking.sizes["candidate"] - first.sizes["candidate"]
    for sentence in ranking.reasons.values:
        say(str(sentence))
    say(
        f"The table: what each ensemble would err on new rows, squared, with its {attributes['level']:.0%} interval, "
        "and how much less that is than of one ridge (gain); weighted: members weigh by what they are worth."
        + (" now: with the rows at hand." if "now" in shown else "")
        + (" wrong: misclassified by votes." if "wrong" in shown else "")
        + (f" {counted(more, 'further candidate')} with --json or --out." if more > 0 else "")
    )
    code = code_of(ranking)
    if code is not None:
        click.echo(f"\nTo use it:\n{_pasted(code)}")


def _pasted(code: str) -> str:
    """Lines to paste, no wider than a page.

    >>> print(_pasted("RidgeEnsembleRegressor(1)  # chooses λ by the rows; this pilot says 0.1"))
    from subridge import RidgeEnsembleRegressor
    model = RidgeEnsembleRegressor(1)
    # chooses λ by the rows; this pilot says 0.1
    """
    line, _, remark = code.partition("  # ")
    scaled = line.startswith("make_pipeline")
    imports = f"from subridge import {line.removeprefix(f'make_pipeline({SCALER}, ').partition('(')[0]}"
    if scaled:
        imports = (
            f"from sklearn.pipeline import make_pipeline\nfrom sklearn.preprocessing import StandardScaler\n{imports}"
        )
    line = f"model = {line}"
    if len(line) > WIDTH:
        inside = line.removesuffix(")").partition("(")
        words = textwrap.fill(inside[2], WIDTH, initial_indent="    ", subsequent_indent="    ")
        line = f"{inside[0]}(\n{words}\n)"
    said = textwrap.wrap(remark, WIDTH, initial_indent="# ", subsequent_indent="# ")
    return "\n".join([imports, line, *said])
