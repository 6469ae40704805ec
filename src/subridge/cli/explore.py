"""`subridge explore`: the interactive page."""

import os
import sys
import webbrowser
from pathlib import Path

import click

from subridge.cli.options import writable
from subridge.results.files import PAGES


def _page(context: click.Context, parameter: click.Parameter, out: Path) -> Path:
    if out.suffix.lower() not in PAGES:
        raise click.BadParameter(f"{out} must end in .html: it is a page")
    return writable(out)


@click.command()
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("subridge.html"),
    callback=_page,
    help="The page.",
)
@click.option("--open/--no-open", "show", default=True, help="Show it in a browser.")
def explore(out: Path, show: bool) -> None:
    """Write the explorer, one HTML file, and open it: learning curves, phase diagrams and risk matrices by sliders.

    The page works offline and from anywhere; nothing listens on a port and no request leaves it.

    \b
    subridge explore
    subridge explore --out page.html --no-open
    """
    from subridge.explorer.page import write_explorer

    write_explorer(out)
    click.echo(out)
    if show and _has_display():
        webbrowser.open(out.resolve().as_uri())


def _has_display() -> bool:
    """Whether a browser can be seen; without a display a text browser would take over the terminal."""
    return sys.platform in ("win32", "darwin") or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
