"""`subridge forecast`: the learning curve a data set will have, from its first rows."""

from typing import Unpack

import click
import xarray as xr

import subridge as sr
from subridge.cli import options as shared
from subridge.cli.busy import Busy
from subridge.cli.numbers import sizes
from subridge.cli.show import deliver, print_table, say
from subridge.cli.table_options import TableOptions, labels_of, table_of, table_options, task_of
from subridge.datasets.tables.table import Table
from subridge.model.checks import counted
from subridge.model.errors import ParameterError
from subridge.results.numbers import interval, plain, short_interval, unit_of


class ForecastOptions(TableOptions, shared.EnsembleOptions, shared.ResultOptions):
    n_samples: tuple[float, ...] | None
    n_groups: tuple[float, ...] | None
    extrapolate: bool
    target_error: float | None


@click.command()
@table_options
@click.option("--n-samples", type=sizes, help="sizes to forecast, such as 400:20000; default n to 16 n")
@click.option("--n-groups", type=sizes, help="sizes as numbers of groups, such as 30:120; needs --groups")
@shared.ensemble_options(n_members=8, fraction_spread=0.75)
@click.option("--extrapolate", is_flag=True, help="also beyond the pilot's reach, by power-law tails")
@click.option("--target-error", type=click.FloatRange(0, min_open=True), help="also say how many rows reach this error")
@shared.result_options()
def forecast(**options: Unpack[ForecastOptions]) -> None:
    """Forecast the learning curves of one ridge, an equal ensemble and the one described, from the rows of DATA.

    DATA is .csv, .tsv, .parquet, .npz or .zarr. Every ridge is the best for its size. Lists are written a,b,c,
    start:stop:count, log:start:stop:count or start:stop, which is twelve sizes with equal factors.

    \b
    subridge forecast data.parquet --target y --n-samples 400:20000
    subridge forecast data.csv --target species --n-members 16 --out forecast.png
    subridge forecast visits.csv --target y --groups subject --n-groups 30:240
    """
    if options["groups"] is not None and options["target_error"] is not None:
        raise ParameterError(
            "target_error is searched for independent rows only; leave out --groups, or --target-error"
        )
    table = table_of(options)
    with Busy("forecasting"):
        curves = _forecast(options, table)
    deliver(curves, options, draw=lambda data: sr.figures.plot_forecast(data), show=lambda data: _show(data, options))
    if options["target_error"] is not None:
        _say_samples_needed(options, table, options["target_error"])


def _say_samples_needed(options: ForecastOptions, table: Table, wanted: float) -> None:
    with Busy("searching"):
        needed = sr.samples_needed(
            table.X,
            labels_of(table),
            wanted,
            _ensembles(options, table),
            ridges="auto" if options["ridges"] is None else options["ridges"],
            level=options["level"],
            task=task_of(table),
            seed=options["seed"],
        )
    for name, answer in zip(needed.ensemble.values, needed.answer.values, strict=True):
        takes = "is" if str(answer).startswith("not") else "takes"
        say(f"With {name} an error of {plain(wanted)} {takes} {answer}.")


def _ensembles(options: ForecastOptions, table: Table) -> dict[str, sr.Ensemble]:
    k = min(options["n_members"], table.n_features)
    options["n_members"] = k
    named = "heterogeneous" if options["subsets"] == "dirichlet" else options["subsets"]
    strategies = {
        "one ridge": sr.subsets.Equal(1),
        f"{k} equal": sr.subsets.Equal(k),
        f"{k} {named}": shared.strategy_of(options, table.n_features),
    }
    strategies = {name: each for name, each in strategies.items() if name not in ("1 equal", "1 heterogeneous")}
    return {name: shared.ensemble_of(options, strategy) for name, strategy in strategies.items()}


def _forecast(options: ForecastOptions, table: Table) -> xr.Dataset:
    n, wanted = table.n_samples, options["n_samples"]
    if wanted is None and options["n_groups"] is None:
        wanted = sizes(f"{n}:{16 * n}")
    return sr.forecast(
        table.X,
        labels_of(table),
        wanted,
        _ensembles(options, table),
        ridges="auto" if options["ridges"] is None else options["ridges"],
        extrapolate=options["extrapolate"],
        level=options["level"],
        task=task_of(table),
        seed=options["seed"],
        groups=table.groups,
        n_groups=options["n_groups"],
    )


def _show(curves: xr.Dataset, options: ForecastOptions) -> None:
    attributes = curves.attrs
    what = f"forecast from {counted(attributes['n_pilot'], 'row')}"
    for metric in (name for name in curves if f"{name}_upper" in curves):
        _show_plane(f"{what}: {metric} ({attributes['level']:.0%} interval)".replace("_", " "), curves, str(metric))
    if "n_groups" in curves.coords:
        _say_of_groups(curves)
    else:
        _say_noise_and_test(curves)
    # Forecasts of groups and of weights with any sum are never extrapolated.
    of_any_sum = options["aggregation"] in ("scaled", "free")
    remedy = "" if "n_groups" in curves.coords or of_any_sum or options["extrapolate"] else " (use --extrapolate)"
    if not bool(curves.in_reach.all()):
        say(f"-: out of this pilot's reach{remedy}.{' *: extrapolated.' if options['extrapolate'] else ''}")
    if bool(curves.is_bound.any()):
        say(f"≤: the best ridge is smaller than this pilot can judge{remedy}.")


def _say_noise_and_test(curves: xr.Dataset) -> None:
    attributes = curves.attrs
    variance = attributes["target_variance"]
    noise, low, high = (min(attributes[f"label_noise{end}"] ** 2, variance) for end in ("", "_lower", "_upper"))
    noise, low = (share if share > 1e-6 * variance else 0.0 for share in (noise, low))
    say(
        f"The labels vary by {plain(variance)}; noise of the labels, label noise ζ², is "
        f"{interval(noise, low, high)} of that, and nothing errs less."
    )
    misses = abs(curves.self_test_forecast / curves.self_test_shown - 1)
    if bool(misses.notnull().any()):
        worst = float(misses.max("part").median())
        say(
            f"Self-test: from halves and quarters of these rows their own error was forecast within "
            f"{float(misses.median()):.0%} in the median, {worst:.0%} at worst."
        )


def _say_of_groups(curves: xr.Dataset) -> None:
    n, varying = curves.attrs["n_pilot"], plain(curves.attrs["target_variance"])
    say(
        f"Errors are those on new groups. The labels vary by {varying}; the {n} rows are worth about "
        f"{float(curves.effective_samples.median()):.0f} independent ones."
    )


def _show_plane(title: str, curves: xr.Dataset, variable: str) -> None:
    largest = float(curves[f"{variable}_upper"].max())
    unit, told = (0.01, ", in %") if variable == "misclassification" else unit_of(largest)
    counts = curves.n_groups.values if "n_groups" in curves.coords else None
    print_table(
        title + told,
        ["samples", *(["groups"] if "n_groups" in curves.coords else []), *map(str, curves.ensemble.values)],
        (
            [
                *(_count(value) for value in ([size] if counts is None else [size, counts[s]])),
                *(_cell(curves.isel(ensemble=e, n_samples=s), variable, unit) for e in range(curves.sizes["ensemble"])),
            ]
            for s, size in enumerate(curves.n_samples.values)
        ),
    )


def _count(number: float) -> str:
    return "∞" if number == float("inf") else f"{number:,.0f}"


def _cell(point: xr.Dataset, variable: str, unit: float) -> str:
    if bool(point[variable].isnull()):
        return "-"
    value, lower, upper = (float(point[variable + end]) / unit for end in ("", "_lower", "_upper"))
    marks = "≤ " * bool(point.is_bound), "*" * (not point.in_reach)
    return short_interval(value, lower, upper).join(marks)
