"""Options of the commands that start from a table of data, and how its rows are read."""

import csv
from pathlib import Path
from typing import TypedDict

import click

from subridge.arrays.types import ArrayLike
from subridge.cli import options as shared
from subridge.cli.busy import Busy
from subridge.cli.messages import cleaned, with_flags
from subridge.cli.numbers import finite, numbers
from subridge.datasets.tables.reading_form import Categories, Dates
from subridge.datasets.tables.table import Table, read_table
from subridge.datasets.tables.target_rows import Task
from subridge.datasets.tables.treatments import Missing, Unlabelled
from subridge.model.checks import counted


class TableOptions(TypedDict):
    """A table, and what is forecast from it."""

    data: Path
    target: str | None
    drop: tuple[str, ...]
    missing: Missing
    task: Task
    standardise: bool
    unlabelled: Unlabelled
    categories: Categories
    dates: Dates
    separator: str | None
    decimal: str
    encoding: str
    missing_values: tuple[str, ...]
    groups: str | None
    ridges: tuple[float, ...] | None
    level: float
    seed: int


def column_names(
    _context: click.Context, _option: click.Parameter, written: tuple[str, ...] | list[str]
) -> tuple[str, ...]:
    """Names of columns, several of them parted by commas; one with a comma in it stands in double quotes."""
    return tuple(name.strip() for row in csv.reader(written, skipinitialspace=True) for name in row if name.strip())


table_options = shared.option_group(
    click.argument("data", type=click.Path(exists=True, path_type=Path)),
    click.option("--target", help="column with the labels; for .npz and .zarr the array, y by default"),
    click.option(
        "--drop",
        multiple=True,
        callback=column_names,
        help="columns to leave out, a,b; may be repeated; a name with a comma in quotes: '\"a,b\"'",
    ),
    click.option(
        "--missing",
        type=click.Choice(["error", "drop", "mean"]),
        default="error",
        help="rows with missing values: refuse, drop, or fill with column means",
    ),
    click.option(
        "--task",
        type=click.Choice(["auto", "regression", "classification"]),
        default="auto",
        help="auto: text and booleans are classes, numbers are numbers",
    ),
    click.option(
        "--unlabelled",
        type=click.Choice(["error", "drop"]),
        default="error",
        help="rows without target: refuse, or drop",
    ),
    click.option(
        "--categories",
        type=click.Choice(["error", "one-hot"]),
        default="error",
        help="columns of text: refuse, or a column of 0 and 1 for every value",
    ),
    click.option(
        "--dates",
        type=click.Choice(["error", "days"]),
        default="error",
        help="columns of dates: refuse, or days since the first",
    ),
    click.option("--sep", "separator", help="what stands between cells of text, such as ';' or tab"),
    click.option("--decimal", type=click.Choice([".", ","]), default=".", help="decimal sign of text"),
    click.option("--encoding", default="utf-8", help="of text, such as latin-1"),
    click.option("--na", "missing_values", multiple=True, help="text of a missing value, such as '?'; may be repeated"),
    click.option(
        "--groups", help="column that says whose row it is, such as a subject: errors are those on new groups"
    ),
    click.option(
        "--standardise/--no-standardise",
        default=True,
        help="divide every column by its standard deviation, or leave it; default: divide",
    ),
    click.option("--ridges", type=numbers, help="λ to choose from; default scaled to the data"),
    click.option("--level", type=finite, default=0.9, help="probability of the intervals"),
    click.option("--seed", type=click.IntRange(0), default=0, help="draws the subsets"),
)


def table_of(options: TableOptions) -> Table:
    """Read the table that the options name; what was done to it is said on standard error."""
    with Busy(f"reading {cleaned(str(options['data']))}"):
        table = _read(options)
    held = "" if table.groups is None else f" in {counted(int(table.groups.max()) + 1, 'group')}"
    click.echo(f"{counted(table.n_samples, 'row')}{held}, {counted(table.n_features, 'feature')}", err=True)
    for note in table.notes:
        click.echo(f"note: {with_flags(note, click.get_current_context().command)}", err=True)
    return table


def _read(options: TableOptions) -> Table:
    return read_table(
        options["data"],
        options["target"],
        drop=options["drop"],
        missing=options["missing"],
        task=options["task"],
        standardise=options["standardise"],
        unlabelled=options["unlabelled"],
        categories=options["categories"],
        dates=options["dates"],
        separator=options["separator"],
        decimal=options["decimal"],
        encoding=options["encoding"],
        missing_values=options["missing_values"],
        groups=options["groups"],
    )


def task_of(table: Table) -> Task:
    """What the table's target was taken for."""
    return "regression" if table.class_names is None else "classification"


def labels_of(table: Table) -> ArrayLike:
    """Labels as ``forecast`` and ``advise`` take them: names of classes, or numbers."""
    return table.y if table.class_names is None else [table.class_names[code] for code in table.y]
