"""`subridge forecast` and `subridge advise`: predictions for larger samples from a table of data."""

import csv
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import subridge as sr
from subridge.cli import options as shared
from subridge.cli.messages import cleaned, with_flags
from subridge.cli.options import Options, member_counts, numbers, sizes
from subridge.cli.show import WIDTH, busy, deliver, print_table, say
from subridge.model.errors import ParameterError, counted, require
from subridge.results.numbers import plain, unit_of

if TYPE_CHECKING:
    import xarray as xr

    from subridge.datasets.tables.table import Table

_ROWS = 12  # of the printed ranking; files and JSON hold every candidate


def _column_names(_context: click.Context, _option: click.Parameter, written: tuple[str, ...]) -> tuple[str, ...]:
    """Names of columns, separated by commas; a name with a comma is in double quotes."""
    return tuple(name.strip() for row in csv.reader(written, skipinitialspace=True) for name in row if name.strip())


def _choice(flag: str, choices: str, help: str) -> shared.Decorator:
    return click.option(flag, type=click.Choice(choices.split()), default=choices.split()[0], help=help)


table_options = shared.option_group(
    click.argument("data", type=click.Path(exists=True, path_type=Path)),
    click.option("--target", help="column with the labels; for .npz and .zarr the array, y by default"),
    click.option(
        "--drop",
        multiple=True,
        callback=_column_names,
        help="columns to leave out, a,b; may be repeated; a name with a comma in quotes: '\"a,b\"'",
    ),
    _choice("--missing", "error drop mean", "rows with missing values: refuse, drop, or fill with column means"),
    _choice("--task", "auto regression classification", "auto: text and booleans are classes, numbers are numbers"),
    _choice("--unlabelled", "error drop", "rows without target: refuse, or drop"),
    _choice("--categories", "error one-hot", "columns of text: refuse, or a column of 0 and 1 for every value"),
    _choice("--dates", "error days", "columns of dates: refuse, or days since the first"),
    click.option("--sep", "separator", help="separator of cells of text, such as ';' or tab"),
    _choice("--decimal", ". ,", "decimal sign of text"),
    click.option("--encoding", default="utf-8", help="of text, such as latin-1"),
    click.option("--na", "missing_values", multiple=True, help="text of a missing value, such as '?'; may be repeated"),
    click.option("--groups", help="column with the group of every row, such as a subject: errors are for new groups"),
    click.option(
        "--standardise/--no-standardise",
        default=False,
        help="divide every column by its standard deviation, or leave it; default: leave",
    ),
    click.option("--ridges", type=numbers, help="λ to choose from; default scaled to the data"),
    click.option("--level", type=click.FloatRange(0.5, 0.999), default=0.9, help="probability of the intervals"),
    click.option("--seed", type=click.IntRange(0), default=0, help="draws the subsets"),
)
_READING = (
    *("target", "drop", "missing", "task", "standardise", "unlabelled", "categories", "dates"),
    *("separator", "decimal", "encoding", "missing_values", "groups"),
)


def _read(options: Options) -> tuple["Table", Any, dict[str, Any]]:
    """The table that the options name, its labels, and arguments for a forecast or advice.

    Notes on what was done to the table go to the error stream.
    """
    out = options["out"]
    require(
        out is None or not out.exists() or not out.samefile(options["data"]),
        f"--out {out} is the file of the table, which would be lost; give another name",
        ParameterError,
    )
    with busy(f"reading {cleaned(str(options['data']))}"):
        table = sr.datasets.read_table(options["data"], **shared.some_of(options, *_READING))
    held = "" if table.groups is None else f" in {counted(len(set(table.groups.tolist())), 'group')}"
    click.echo(f"{counted(table.n_samples, 'row')}{held}, {counted(table.n_features, 'feature')}", err=True)
    for note in table.notes:
        click.echo(f"note: {with_flags(note, click.get_current_context().command)}", err=True)
    names = table.class_names
    arguments = shared.some_of(options, "level", "seed") | {
        "ridges": "auto" if options["ridges"] is None else options["ridges"],
        "task": "regression" if names is None else "classification",
    }
    return table, table.y if names is None else [names[code] for code in table.y], arguments


def _compare_scales(table: "Table", ridges: tuple[float, ...] | None) -> None:
    """Print the left-out errors with and without standardising, if they differ by more than two standard errors."""
    from subridge.estimators.base import errors_by_scale

    X = table.X if table.scales is None else table.X * table.scales
    with busy("comparing scales"):
        *errors, noise = errors_by_scale(X, table.targets, table.groups, ridges)
    given, scaled = map(plain, errors)
    if abs(errors[0] - errors[1]) > 2 * noise and given != scaled:  # by more than rounding
        click.echo(
            f"note: the squared error of one ridge on left-out {'rows' if table.groups is None else 'groups'} is "
            f"{given} with columns as they are (--no-standardise) and {scaled} with columns divided by their standard "
            "deviations (--standardise)",
            err=True,
        )


@click.command(short_help="The learning curve your data will have, from its first rows.")
@table_options
@click.option("--n-samples", type=sizes, help="sizes to forecast, such as 400:20000; default n to 16 n")
@click.option("--n-groups", type=sizes, help="sizes as numbers of groups, such as 30:120; needs --groups")
@shared.ensemble_options(n_members=8, fraction_spread=0.75, subsets=None)
@click.option("--target-error", type=click.FloatRange(0, min_open=True), help="also say how many rows reach this error")
@shared.result_options()
def forecast(**options: Any) -> None:
    """Forecast the learning curves of one ridge, an equal ensemble and the one described, from the rows of DATA.

    DATA is .csv, .tsv, .parquet, .npz or .zarr. Every ridge is the best for its size. Lists are written a,b,c,
    start:stop:count, log:start:stop:count or start:stop, which is twelve sizes with equal factors.

    \b
    subridge forecast data.parquet --target y --n-samples 400:20000
    subridge forecast data.csv --target species --n-members 16 --out forecast.png
    subridge forecast visits.csv --target y --groups subject --n-groups 30:240
    """
    wanted = options["target_error"]
    require(
        options["groups"] is None or wanted is None,
        "target_error is searched for independent rows only; leave out --groups, or --target-error",
        ParameterError,
    )
    require(
        options["groups"] is not None or options["n_groups"] is None,
        "n_groups needs --groups, the column with the group of every row; or give --n-samples",
        ParameterError,
    )
    from subridge.forecasting.forecast import default_strategies

    table, labels, arguments = _read(options)
    strategies = default_strategies(table.n_features, options["n_members"])
    if options["subsets"] is not None:
        k = min(options["n_members"], table.n_features)
        named = "heterogeneous" if options["subsets"] == "dirichlet" else options["subsets"]
        described = shared.strategy_of({**options, "n_members": k}, table.n_features)
        strategies = {"one ridge": sr.subsets.Equal(1), f"{k} equal": sr.subsets.Equal(k), f"{k} {named}": described}
    ensembles = {
        name: shared.ensemble_of(options, strategy)
        for name, strategy in strategies.items()
        if name not in ("1 equal", "1 heterogeneous")
    }
    wanted_sizes = shared.some_of(options, "n_samples", "n_groups")
    with busy("forecasting"):
        curves = sr.forecast(table.X, labels, ensembles=ensembles, groups=table.groups, **wanted_sizes, **arguments)
    _compare_scales(table, options["ridges"])
    deliver(curves, options, draw=sr.figures.plot_forecast, show=_show_forecast)
    if wanted is not None:
        with busy("searching"):
            needed = sr.samples_needed(table.X, labels, wanted, ensembles, **arguments)
        for name, answer in zip(needed.ensemble.values, needed.answer.values, strict=True):
            takes = {"not": "is ", "may": ""}.get(answer.split()[0], "takes ")
            say(f"With {name} an error of {plain(wanted)} {takes}{answer}.")


def _show_forecast(curves: "xr.Dataset") -> None:
    from subridge.explorer.reports import forecast_cells, forecast_sentences, metrics_in

    rows = counted(curves.attrs["n_pilot"], "row")
    for metric in metrics_in(curves):
        largest = float(curves[f"{metric}_upper"].max())
        unit, told = (0.01, ", in %") if curves[metric].units == "share" else unit_of(largest)
        title = f"forecast from {rows}: {metric.replace('_', ' ')} ({curves.attrs['level']:.0%} interval){told}"
        cells = {
            name: ["∞" if number == float("inf") else f"{number:,.0f}" for number in curves[f"n_{name}"].values]
            for name in ("samples", "groups")
            if f"n_{name}" in curves.coords
        }
        for name in curves.ensemble.values:
            cells[name] = forecast_cells(curves.sel(ensemble=name), metric, unit)
        # What does not fit is left out, the worst first, and one ridge last.
        last = curves[metric].isel(n_samples=curves.n_samples.argmax("n_samples"))
        worst = last.sortby(last, ascending=False).ensemble.values[:-1]
        worst = [name for name in worst if name != curves.ensemble.values[0]]
        print_table(title, list(cells), zip(*cells.values(), strict=True), optional=worst)
    say(*forecast_sentences(curves))


@click.command(short_help="Which ensemble for your data, at a planned size, and why.")
@table_options
@click.option("--n-samples", type=click.IntRange(2, 10**14), help="planned number of samples; default the rows of DATA")
@click.option("--n-members", type=member_counts, default="2,4,8,16", help="k to try")
@click.option("--fraction-spreads", type=numbers, default="0,0.75", help="0: equal subsets")
@shared.number_option("--readout-noise", 0.0, "η of every member")
@click.option("--weighted/--no-weighted", default=True, help="also try fitted weights of members, or equal ones alone")
@shared.result_options()
def advise(**options: Any) -> None:
    """Rank ridge ensembles for the rows of DATA by forecast, and say in two sentences why.

    DATA is .csv, .tsv, .parquet, .npz or .zarr. Nothing is held out and nothing is refitted; the answer may be not to
    ensemble.

    \b
    subridge advise data.parquet --target y
    subridge advise data.csv --target y --n-samples 5000 --out advice.png
    subridge advise visits.csv --target y --groups subject
    """
    table, labels, arguments = _read(options)
    arguments |= shared.some_of(options, "n_samples", "n_members", "fraction_spreads", "readout_noise", "weighted")
    with busy("comparing ensembles"):
        advice = sr.advise(table.X, labels, groups=table.groups, **arguments)
    _compare_scales(table, options["ridges"])
    ranking = advice.table.assign_attrs(standardised=int(options["standardise"])).assign(
        reasons=("sentence", list(advice.reasons))
    )
    deliver(ranking, options, draw=sr.figures.plot_advice, show=_show_ranking)


def _show_ranking(ranking: "xr.Dataset") -> None:
    from subridge.explorer.reports import further_metrics, report_of
    from subridge.forecasting.advise import code_of

    report = report_of(ranking)
    rows = report.rows
    others = further_metrics(ranking)
    optional = ("reach", "now", "λ", "R²", *others)
    shown = print_table(report.title, list(report.table), rows[:_ROWS], names=True, optional=optional)
    more = len(rows) - _ROWS
    say(
        *report.sentences,
        f"The table: expected squared error on new {'groups' if 'n_groups' in ranking.attrs else 'rows'} with its "
        f"{ranking.attrs['level']:.0%} interval, and the improvement over {ranking.attrs['reference']} (gain); "
        "scaled, free: the weights of members are fitted."
        + (" now: with the rows at hand." if "now" in shown else "")
        + "".join(f" {heading}: {each.long_name}." for heading, each in others.items() if heading in shown)
        + (" A dash: a loss beyond 1,000 %, or not forecast." if any("-" in row for row in rows[:_ROWS]) else "")
        + (f" {counted(more, 'further candidate')} with --json or --out." if more > 0 else ""),
    )
    code = code_of(ranking)
    if code is not None:
        click.echo(f"\nTo use it:\n{pasted(code)}")


def pasted(code: str) -> str:
    """Lines to paste, no wider than a page.

    >>> print(pasted("RidgeEnsembleRegressor(1)  # chooses λ by the rows; this pilot says 0.1"))
    from subridge import RidgeEnsembleRegressor
    model = RidgeEnsembleRegressor(1)
    # chooses λ by the rows; this pilot says 0.1
    """
    line, _, remark = code.partition("  # ")
    estimator = "RidgeEnsembleClassifier" if "RidgeEnsembleClassifier(" in line else "RidgeEnsembleRegressor"
    imports = [f"from subridge import {estimator}"]
    if line.startswith("make_pipeline"):
        imports[:0] = ["from sklearn.pipeline import make_pipeline", "from sklearn.preprocessing import StandardScaler"]
    line = f"model = {line}"
    if len(line) > WIDTH:
        call, _, inside = line.removesuffix(")").partition("(")
        line = f"{call}(\n{textwrap.fill(inside, WIDTH, initial_indent='    ', subsequent_indent='    ')}\n)"
    return "\n".join([*imports, line, *textwrap.wrap(remark, WIDTH, initial_indent="# ", subsequent_indent="# ")])
