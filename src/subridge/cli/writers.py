"""`subridge explore` and `subridge features`: a page, and a store of image features."""

import os
import sys
import webbrowser
from pathlib import Path
from typing import Any

import click

from subridge.cli.options import writable
from subridge.model.errors import counted


def _page(_context: click.Context, _parameter: click.Parameter, out: Path) -> Path:
    if out.suffix.lower() == ".html":
        return writable(out)
    raise click.BadParameter(f"{out} must end in .html: it is a page")


@click.command(short_help="A page with sliders: curves, phases, risk matrices; no server.")
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
    # Without a display a text browser would take over the terminal.
    has_display = sys.platform in ("win32", "darwin") or "DISPLAY" in os.environ or "WAYLAND_DISPLAY" in os.environ
    if show and has_display:
        webbrowser.open(out.resolve().as_uri())


@click.command(short_help="Deep features of a folder of images, into a store.")
@click.argument("images", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), required=True, help="store to write, features.zarr")
@click.option("--network", default="efficientnet-lite0", help="see above")
@click.option("--weights", type=click.Path(exists=True), help="file of weights, for resnext50_32x4d")
@click.option("--size", type=click.IntRange(16), help="pixels the network sees; default its own preprocessing")
@click.option("--device", default="cpu", help="cpu, cuda, cuda:1")
@click.option("--skip-unreadable", is_flag=True, help="leave out images that do not decode")
def features(images: Path, out: Path, network: str, **options: Any) -> None:
    """Extract deep features of IMAGES, a folder with one subfolder per class (or train/ and val/ of such).

    Networks: efficientnet-lite0, efficientnet-lite1, augnet-resnet50, resnext50_32x4d. An interrupted extraction goes
    on when the command is given again.
    """
    from subridge.datasets.images.extraction import extract_folder
    from subridge.datasets.images.sets import load_store

    skipped = extract_folder(images, out, network, **options)
    data = load_store(out)
    for path in skipped:
        click.echo(f"left out, does not decode: {path}", err=True)
    click.echo(
        f"{out}: {len(data.X):,} training and {counted(len(data.X_test), 'test image')}, "
        f"{counted(data.n_features, 'feature')}, {counted(len(data.class_names), 'class', 'classes')}"
        + (f", {counted(len(skipped), 'image')} left out" if skipped else "")
    )
