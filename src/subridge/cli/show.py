"""Results to files and to the terminal, for every command."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import click
import numpy as np
import xarray as xr
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from subridge.cli.options import ResultOptions
from subridge.results.files import PICTURES, checked_suffix, to_json, write_result

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def deliver(
    dataset: xr.Dataset,
    options: ResultOptions,
    *,
    draw: Callable[[xr.Dataset], "Figure"],
    show: Callable[[xr.Dataset], None],
) -> None:
    """Write a result to a file if one was named, as a picture or as data, and print it as JSON or for the eye."""
    out = options["out"]
    if out is not None:
        if checked_suffix(out) in PICTURES:
            from subridge.figures.drawing.pictures import write_pictures

            write_pictures(draw(dataset), [out], str(dataset.attrs.get("command", "")))
        else:
            write_result(dataset, out)
        click.echo(f"wrote {out}", err=True)
    if options["as_json"]:
        click.echo(to_json(dataset))
    else:
        show(dataset)


def print_table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    names: bool = False,
    caption: str | None = None,
) -> None:
    """Print a table of numbers; with `names` the first column holds words, which may wrap."""
    table = Table(title=title, caption=caption, box=SIMPLE_HEAD, pad_edge=False)
    for position, column in enumerate(columns):
        words = names and position == 0
        table.add_column(column, justify="left" if words else "right", no_wrap=not words)
    for row in rows:
        table.add_row(*row)
    Console().print(table)


def say(sentence: str) -> None:
    """Print a sentence, broken between words."""
    Console().print(sentence, markup=False, highlight=False)


def interval(value: float, lower: float, upper: float) -> str:
    """A number with its bounds.

    >>> interval(0.264, 0.2215, 0.31)
    '0.264 (0.222–0.31)'
    """
    return f"{value:.3g} ({lower:.3g}–{upper:.3g})"


def thinned(length: int, most: int) -> list[int]:
    """Evenly spread positions in a list, at most so many; files and JSON hold every point.

    >>> thinned(9, 3)
    [0, 4, 8]
    """
    return [int(place) for place in np.unique(np.linspace(0, length - 1, min(most, length)).round())]
