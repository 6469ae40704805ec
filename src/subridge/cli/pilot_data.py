"""Options of the commands that start from a table of data, and how its rows are read."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

_OPTIONS = (
    click.option("--target", help="column with the labels; for .npz and .zarr the array, y by default"),
    click.option("--drop", multiple=True, help="column to leave out; may be repeated"),
    click.option(
        "--missing",
        type=click.Choice(["error", "drop", "mean"]),
        default="error",
        show_default=True,
        help="rows with missing values: refuse, drop, or fill with column means",
    ),
    click.option(
        "--task",
        type=click.Choice(["auto", "regression", "classification"]),
        default="auto",
        show_default=True,
        help="auto: text and booleans are classes, numbers are numbers",
    ),
    click.option("--standardise", is_flag=True, help="divide every column by its standard deviation"),
    click.option("--level", type=float, default=0.9, show_default=True, help="probability of the intervals"),
    click.option("--readout-noise", type=float, default=0.0, show_default=True, help="η of every member"),
    click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="draws the subsets"),
    click.option(
        "--out", type=click.Path(path_type=Path), help="write a picture (.png, .svg, .pdf) or data (.nc, .csv, .json)"
    ),
)


def data_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the argument DATA and the options above."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return click.argument("data", type=click.Path(exists=True, path_type=Path))(command)


def read_data(options: dict[str, Any]) -> Any:
    """Read the table that the options name; what was done to it is said on standard error."""
    from subridge.datasets.tables.table import read_table

    names = ("target", "drop", "missing", "task", "standardise")
    table = read_table(options["data"], **{name: options[name] for name in names})
    click.echo(f"{table.n_samples} rows, {table.n_features} features", err=True)
    for note in table.notes:
        click.echo(f"note: {note}", err=True)
    return table


def labels_of(table: Any) -> Any:
    """Labels as ``forecast`` and ``advise`` take them: names of classes, or numbers."""
    return table.y if table.class_names is None else [table.class_names[code] for code in table.y]
