"""Results to files and to the terminal, and signs of life from work that takes long."""

import shlex
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING

import click

from subridge.cli.messages import cleaned
from subridge.cli.options import ARGUMENTS, Options
from subridge.model.errors import counted, listed

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

WIDTH = 80  # of a printed table
_NAME = 26  # characters of a name before it wraps
_PATIENCE = 2.0  # seconds before work says that it goes on
_PERIOD = 0.5  # between signs at a terminal


def deliver(
    dataset: "xr.Dataset",
    options: Options,
    *,
    draw: Callable[["xr.Dataset"], "Figure"],
    show: Callable[["xr.Dataset"], None],
) -> None:
    """Write a result to a file if one was named, as a page, a picture or data, and print it as JSON or as text."""
    from subridge.results.files import PAGES, PICTURES, checked_suffix, to_json, write_result

    out = options["out"]
    if out is not None:
        if checked_suffix(out) in PAGES:
            from subridge.explorer.reports import write_report

            meta = click.get_current_context().meta  # shared by the contexts of one command line
            write_report(dataset, out, shlex.join(["subridge", *meta.get(ARGUMENTS, ())]))
        elif checked_suffix(out) in PICTURES:
            from subridge.figures.drawing.style import write_pictures

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
    optional: Sequence[str] = (),
) -> list[str]:
    """Print a table of numbers that fits into 80 columns; with `names` the first column holds words, which may wrap.

    Columns that do not fit are left out and listed below: first the `optional` ones, then the last ones. Returns those
    that are shown.
    """
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    cells = [list(row) for row in rows]
    # The longest cell of every column and three characters for its borders; names may wrap.
    widths = [
        3 + max(len(Text.from_markup(line)) for cell in column for line in cell.split("\n"))
        for column in ([name, *(row[i] for row in cells)] for i, name in enumerate(columns))
    ]
    if names:
        widths[0] = min(widths[0], _NAME + 3)
    kept, left_out = list(range(len(columns))), list[str]()
    spare = [columns.index(name) for name in optional if name in columns]
    while len(kept) > 2 and sum(widths[i] for i in kept) > WIDTH:
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


def say(sentence: str) -> None:
    """Print a sentence, broken between words."""
    from rich.console import Console

    console = Console()
    width = min(console.width, WIDTH) if console.is_terminal else WIDTH
    console.print(cleaned(sentence), markup=False, highlight=False, width=width, soft_wrap=False)


def thinned(length: int, most: int) -> list[int]:
    """Evenly spread positions in a list, at most so many; files and JSON hold every point.

    Examples
    --------
    >>> thinned(9, 3)
    [0, 4, 8]
    """
    return sorted({round(place * (length - 1) / max(min(most, length) - 1, 1)) for place in range(min(most, length))})


@contextmanager
def busy(doing: str) -> Iterator[None]:
    """Say on the error stream what is being done if it takes more than two seconds.

    At a terminal one line is kept up to date, with the share that is done where the work knows it; elsewhere it is said
    once.

    Examples
    --------
    >>> with busy("counting"):
    ...     pass
    """
    from subridge.forecasting.pilot import told_of_progress

    done, at_terminal, share, started = Event(), sys.stderr.isatty(), "", time.perf_counter()

    def count(n_done: int, total: int) -> None:
        nonlocal share
        share = f", {n_done} of {total} done ({n_done / total:.0%})"

    def speak() -> None:
        if done.wait(_PATIENCE):
            return
        if not at_terminal:
            click.echo(f"{doing} ...", err=True)
            return
        while not done.wait(_PERIOD):
            told = f"{doing}{share}, {time.perf_counter() - started:.0f} s so far"
            click.echo(f"\r{told}\033[K", err=True, nl=False)
        click.echo("\r\033[K", err=True, nl=False)

    speaker = Thread(target=speak, daemon=True)
    speaker.start()
    try:
        with told_of_progress(count):
            yield
    finally:
        done.set()
        speaker.join()
