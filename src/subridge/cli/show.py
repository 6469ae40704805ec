"""Results to files and to the terminal, for every command."""

import shlex
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import click
import numpy as np
import xarray as xr
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from subridge.cli.messages import cleaned
from subridge.cli.options import ARGUMENTS, ResultOptions
from subridge.model.checks import counted, listed
from subridge.results.files import PAGES, PICTURES, checked_suffix, to_json, write_result

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
        if checked_suffix(out) in PAGES:
            from subridge.explorer.reports.write import write_report

            write_report(dataset, out, command_line())
        elif checked_suffix(out) in PICTURES:
            from subridge.figures.drawing.pictures import write_pictures

            write_pictures(draw(dataset), [out], str(dataset.attrs.get("command", "")))
        else:
            write_result(dataset, out)
        click.echo(f"wrote {out}", err=True)
    if options["as_json"]:
        click.echo(to_json(dataset))
    else:
        show(dataset)


def command_line() -> str:
    """The command that is being run, as it can be typed again."""
    return shlex.join(["subridge", *click.get_current_context().find_root().meta.get(ARGUMENTS, ())])


WIDTH = 80  # of a printed table
_NAME = 26  # characters of a name before it wraps


def print_table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    names: bool = False,
    caption: str | None = None,
    optional: Sequence[str] = (),
) -> list[str]:
    """Print a table of numbers that fits into 80 columns; with `names` the first column holds words, which may wrap.

    Columns that do not fit are left out and told of: the `optional` ones first, then the last ones. Returns those that
    are shown.
    """
    cells, kept = [list(row) for row in rows], list(range(len(columns)))
    left_out: list[str] = []
    spare = [columns.index(name) for name in optional if name in columns]
    while len(kept) > 2 and _width([[columns[i], *(row[i] for row in cells)] for i in kept], names) > WIDTH:
        place = next((i for i in spare if i in kept), kept[-1])
        kept.remove(place)
        left_out.append(columns[place].replace("\n", " "))
    say(title)
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for position, index in enumerate(kept):
        words = names and position == 0
        table.add_column(columns[index], justify="left" if words else "right", no_wrap=not words)
    for row in cells:
        table.add_row(*(cleaned(row[i]) for i in kept))
    console = Console()
    console.print(table, width=min(console.width, WIDTH) if console.is_terminal else WIDTH)
    if caption:
        say(caption)
    if left_out:
        say(f"{counted(len(left_out), 'column')} more with --json or --out: {listed(reversed(left_out))}")
    return [columns[i] for i in kept]


def _width(columns: Sequence[Sequence[str]], names: bool) -> int:
    """Characters that a table takes: the longest cell of every column and three for its borders; names may wrap."""
    longest = [max(len(Text.from_markup(line)) for cell in column for line in cell.split("\n")) for column in columns]
    if names:
        longest[0] = min(longest[0], _NAME)
    return sum(longest) + 3 * len(longest)


def say(sentence: str) -> None:
    """Print a sentence, broken between words."""
    console = Console()
    width = min(console.width, WIDTH) if console.is_terminal else WIDTH
    console.print(cleaned(sentence), markup=False, highlight=False, width=width, soft_wrap=False)


def peaks(values: Sequence[float]) -> set[int]:
    """Places of the highest value and of every value that is higher than both its neighbours.

    Examples
    --------
    >>> sorted(peaks([1.0, 3.0, 2.0, 2.5, 1.0]))
    [1, 3]
    """
    array = np.nan_to_num(np.asarray(values, dtype=np.float64), nan=-np.inf)
    inner = np.flatnonzero((array[1:-1] > array[:-2]) & (array[1:-1] > array[2:])) + 1
    return {int(np.argmax(array)), *map(int, inner)}


def thinned(length: int, most: int) -> list[int]:
    """Evenly spread positions in a list, at most so many; files and JSON hold every point.

    Examples
    --------
    >>> thinned(9, 3)
    [0, 4, 8]
    """
    return [int(place) for place in np.unique(np.linspace(0, length - 1, min(most, length)).round())]
