"""`subridge reproduce`: the paper, figure by figure."""

import json
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Unpack

import click
import xarray as xr

from subridge.arrays.machine import cores
from subridge.arrays.types import Json
from subridge.cli import options as shared
from subridge.cli.progress import BatchProgress
from subridge.cli.show import print_table
from subridge.cli.specification import spec_option
from subridge.figures.paper.registry import figure_ids

if TYPE_CHECKING:
    from subridge.figures.paper.batch import Outcome


class ReproduceOptions(shared.RunOptions):
    figures: tuple[str, ...]
    quick: bool
    settings: Literal["published", "caption"]
    data: str | None
    out: Path
    force: bool
    as_json: bool


def _figure_id(text: str) -> str:
    """An id of a figure, or "all"."""
    known = ("all", *figure_ids())
    found = {name.lower(): name for name in known}.get(text.lower())
    if found is None:
        raise click.BadParameter(f"there is no figure {text!r}; choose from {', '.join(known)}")
    return found


def _checked_place(_context: click.Context, _option: click.Parameter, out: Path) -> Path:
    if out.suffix.lower() == ".html":
        return shared.writable(out)
    if out.exists() and not out.is_dir():
        raise click.BadParameter(f"{out} is a file; give a folder for the figures, or a page that ends in .html")
    return out.expanduser()


def _complete(_context: click.Context, _argument: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in ("all", *figure_ids()) if name.startswith(incomplete)]


@click.command()
@click.argument("figures", nargs=-1, required=True, type=_figure_id, shell_complete=_complete, metavar="FIGURE...")
@click.option("--quick", is_flag=True, help="Smaller and coarser: seconds a figure.")
@click.option(
    "--settings",
    type=click.Choice(["published", "caption"]),
    default="published",
    help="Those behind the published picture, or the caption's.",
)
@click.option("--data", help="Features of the classification figures: bundled, cifar10, fashion, or a features store.")
@shared.run_options
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("figures"),
    callback=_checked_place,
    help="Folder, or a page: PAGE.html.",
)
@click.option("--force", is_flag=True, help="Make also what is there.")
@spec_option
@shared.json_option
def reproduce(**options: Unpack[ReproduceOptions]) -> None:
    """Remake figures of the paper: FIGURE.png, .svg and .nc for each, and report.html for all.

    FIGURE is an id such as fig1a or figS6, or "all". Figures that are in the folder with the same settings are kept,
    and an interrupted simulation goes on where it stopped (with zarr installed): run the same command again.

    \b
    subridge reproduce all --quick --out figures
    subridge reproduce fig1b fig2 --device cuda
    subridge reproduce fig3c --settings caption
    """
    from subridge.explorer.figures import write_figures
    from subridge.figures.paper.batch import FAILED, earlier_figures, run_batch
    from subridge.figures.paper.reproduction import FigureRequest

    figures, out = options["figures"], options["out"]
    page = out / "report.html"
    if out.suffix.lower() == ".html":
        page, out = out, out.with_suffix("")
    wanted = figure_ids() if "all" in figures else tuple(dict.fromkeys(figures))
    requests = [FigureRequest(figure, options["quick"], options["settings"], options["data"]) for figure in wanted]
    start = time.perf_counter()
    outcomes = []
    with BatchProgress({request.figure: request.seconds for request in requests}) as progress:
        for outcome in run_batch(
            requests,
            out,
            shared.run_of(options),
            force=options["force"],
            n_plotters=_plotters(len(wanted)),
            begin=progress.begin,
        ):
            progress.finish(outcome.figure, outcome.status, outcome.seconds)
            outcomes.append(outcome)
    outcomes.sort(key=lambda outcome: wanted.index(outcome.figure))
    failures = [(outcome.figure, str(outcome.error)) for outcome in outcomes if outcome.status == FAILED]
    datasets = [outcome.dataset for outcome in outcomes if outcome.dataset is not None]
    out.mkdir(parents=True, exist_ok=True)
    order = figure_ids()
    shown = [*datasets, *earlier_figures(out, wanted)]
    write_figures(sorted(shown, key=lambda data: order.index(data.attrs["figure"])), page, out, failures)
    elapsed = time.perf_counter() - start
    if options["as_json"]:
        click.echo(json.dumps(_summary(outcomes, page, elapsed), ensure_ascii=False))
    else:
        _show_agreement(datasets)
        counts = Counter(outcome.status for outcome in outcomes)
        told = ", ".join(f"{count} {status}" for status, count in counts.items())
        click.echo(f"{told} in {elapsed:.1f} s; {page}")
    for outcome in outcomes:
        if outcome.error is not None and click.get_current_context().find_root().params.get("debug"):
            raise outcome.error
    if failures:
        raise click.ClickException("; ".join(f"{figure}: {message}" for figure, message in failures))


def _plotters(n_figures: int) -> int:
    """Processes that draw beside the one that computes; not worth their start for a few figures."""
    return min(4, cores() // 2) if n_figures > 3 else 0


def _summary(outcomes: Sequence["Outcome"], page: Path, elapsed: float) -> Json:
    return {
        "report": str(page),
        "seconds": round(elapsed, 3),
        "figures": [
            {
                "figure": outcome.figure,
                "status": outcome.status,
                "seconds": round(outcome.seconds, 3),
                "error": None if outcome.error is None else str(outcome.error),
                "agreement": [] if outcome.dataset is None else json.loads(outcome.dataset.attrs["agreement"]),
            }
            for outcome in outcomes
        ],
    }


def _show_agreement(datasets: Sequence[xr.Dataset]) -> None:
    columns = ["", "judged", "outside", "largest |Δ|/allowance", "verdict"]
    rows = [
        [row["name"], f"{row['judged']}", f"{row['outside']}", f"{row['largest_deviation']:.2f}", row["verdict"]]
        for data in datasets
        for row in json.loads(data.attrs["agreement"])
    ]
    if rows:
        print_table("theory and experiment", columns, rows, names=True)
