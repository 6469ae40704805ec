"""Output of results to files and to the terminal, and a progress bar for long work."""

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from subridge.cli.messages import cleaned
from subridge.cli.options import ARGUMENTS, Options
from subridge.model.errors import counted, listed
from subridge.results.suffixes import PAGES, PICTURES, checked_suffix

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

WIDTH = 80  # of a printed table
_NAME = 26  # characters of a name before it wraps
_ROWS = 40  # printed at most


def deliver(
    dataset: "xr.Dataset",
    options: Options,
    *,
    draw: Callable[["xr.Dataset"], "Figure"],
    show: Callable[["xr.Dataset"], None],
) -> None:
    """Write a result to a page, a picture or a data file if one is named, and print it as JSON or as text."""
    from subridge.results.files import to_json, write_result

    out = options["out"]
    if out is not None:
        suffix = checked_suffix(out)
        if suffix in PAGES:
            from subridge.explorer.reports import write_report

            # The metadata are shared by the contexts of one command line.
            write_report(dataset, out, shlex.join(["subridge", *click.get_current_context().meta.get(ARGUMENTS, ())]))
        elif suffix in PICTURES:
            from subridge.figures.drawing.style import write_pictures

            write_pictures(draw(dataset), [out], dataset.attrs.get("command", ""))
        else:
            write_result(dataset, out)
        click.echo(f"wrote {out}", err=True)
    if options["as_json"]:
        click.echo(to_json(dataset))
    else:
        show(dataset)


def show_report(dataset: "xr.Dataset") -> None:
    """Print the table and the sentences of the page of a result; of a long table some rows."""
    from subridge.explorer.parts import thinned
    from subridge.explorer.reports import report_of

    report = report_of(dataset)
    rows = [report.rows[place] for place in thinned(len(report.rows), _ROWS)]
    caption = f"{len(rows)} rows, evenly spread; --json or --out has all"
    print_table(report.title, list(report.table), rows, caption=caption if len(rows) < len(report.rows) else None)
    say(*report.sentences)


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

    Columns that do not fit are left out and listed below: first the `optional` ones, then the last ones. Returns the
    columns that are shown.
    """
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    console = Console()
    cells = [[cleaned(cell) for cell in row] for row in rows]
    kept = list(range(len(columns)))
    left_out = list[str]()
    spare = [columns.index(name) for name in reversed(optional) if name in columns]

    def drawn() -> Table:
        table = Table(box=SIMPLE_HEAD, pad_edge=False)
        for i in kept:
            words = names and i == 0
            table.add_column(
                columns[i], justify="left" if words else "right", no_wrap=not words, max_width=_NAME if words else None
            )
        for row in cells:
            table.add_row(*(row[i] for i in kept))
        return table

    while len(kept) > 2 and console.measure(drawn(), options=console.options.update(width=10_000)).maximum > WIDTH:
        place = spare.pop() if spare else kept[-1]
        kept.remove(place)
        left_out.append(columns[place].replace("\n", " "))
    say(title)
    console.print(drawn(), width=min(console.width, WIDTH) if console.is_terminal else WIDTH)
    more = f"{counted(len(left_out), 'column')} more with --json or --out: {listed(reversed(left_out))}"
    say(*filter(None, [caption, more if left_out else None]))
    return [columns[i] for i in kept]


def say(*sentences: str) -> None:
    """Print sentences. Each starts a new line, and lines are broken between words."""
    from rich.console import Console

    console = Console()
    width = min(console.width, WIDTH) if console.is_terminal else WIDTH
    for sentence in sentences:
        console.print(cleaned(sentence), markup=False, highlight=False, width=width, soft_wrap=False)


@contextmanager
def busy(doing: str) -> Iterator[None]:
    """Show at a terminal what is being done, for how long, and, if it is known, which share is finished.

    Examples
    --------
    >>> with busy("counting"):
    ...     pass
    """
    from subridge.forecasting.pilot import shown_bar
    from subridge.store.progress import ProgressBar

    with ProgressBar(doing, 1) as bar:
        token = shown_bar.set(bar)
        try:
            yield
        finally:
            shown_bar.reset(token)
