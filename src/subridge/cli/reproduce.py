"""`subridge reproduce`: the paper, figure by figure."""

import json
import os
import time
from collections import Counter
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from subridge.cli import options as shared
from subridge.cli.show import print_table
from subridge.figures.paper.registry import figure_ids
from subridge.model.errors import InterruptedRun

if TYPE_CHECKING:
    from collections.abc import Sequence

    import xarray as xr

    from subridge.figures.paper.batch import Outcome


_FIGURES = ("all", *figure_ids())


def _complete(_context: click.Context, _argument: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in _FIGURES if name.startswith(incomplete)]  # capitals as they are written


def _checked_place(_context: click.Context, _option: click.Parameter, out: Path) -> Path:
    folder = shared.writable(out).with_suffix("") if out.suffix.lower() == ".html" else out.expanduser()
    nearest = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    if not (nearest.is_dir() and os.access(nearest, os.W_OK)):
        raise click.BadParameter(
            f"{nearest} is {'read-only' if nearest.is_dir() else 'a file'}; give a folder for the figures, or a page "
            "that ends in .html, whose folder has the same name"
        )
    return out.expanduser()


@click.command(short_help="Remake the paper's figures, with data and a report page.")
@click.argument(
    "figures",
    nargs=-1,
    required=True,
    type=click.Choice(_FIGURES, case_sensitive=False),
    shell_complete=_complete,
    metavar="FIGURE...",
)
@click.option("--quick", is_flag=True, help="Smaller and coarser: seconds a figure.")
@click.option(
    "--settings",
    type=click.Choice(["published", "caption"]),
    default="published",
    help="Settings of the published picture, or of its caption.",
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
@click.option("--force", is_flag=True, help="Also remake figures that are in the folder.")
@shared.spec_option
@shared.json_option
def reproduce(**options: Any) -> None:
    """Remake figures of the paper: FIGURE.png, .svg and .nc for each, and report.html for all.

    FIGURE is an id such as fig1a or figS6, or "all". Figures that are in the folder with the same settings are kept,
    and an interrupted simulation goes on where it stopped: run the same command again.

    \b
    subridge reproduce all --quick --out figures
    subridge reproduce fig1b fig2 --device cuda
    subridge reproduce fig3c --settings caption
    """
    from subridge.explorer.figures import write_figures
    from subridge.figures.paper.batch import FAILED, earlier_figures, run_batch
    from subridge.figures.paper.reproduction import FigureRequest
    from subridge.simulation.executors import ChildPool
    from subridge.store.progress import ProgressBar

    figures = options["figures"]
    out = options["out"]
    page, out = (out, out.with_suffix("")) if out.suffix.lower() == ".html" else (out / "report.html", out)
    wanted = figure_ids() if "all" in figures else tuple(dict.fromkeys(figures))
    requests = [FigureRequest(figure, options["quick"], options["settings"], options["data"]) for figure in wanted]
    start = time.perf_counter()
    outcomes = []
    expected = {request.figure: request.seconds for request in requests}  # roughly
    # With --processes or --scheduler the figures are made one after the other, and their trials run in parallel.
    alone = options["processes"] is not None or options["scheduler"] is not None
    n_processes = 1 if alone else min(os.cpu_count() or 1, len(requests))
    try:
        processes = ChildPool(n_processes) if n_processes > 1 else nullcontext()
        with processes as pool, ProgressBar("", sum(expected.values())) as bar:
            begin, run = partial(bar.move, 0), shared.run_of(options)  # the bar shows the id of the figure
            for outcome in run_batch(requests, out, run, force=options["force"], pool=pool, begin=begin):
                outcomes.append(outcome)
                bar.move(expected[outcome.figure])
                if bar.disable:
                    told = f"{outcome.figure} {outcome.status} in {outcome.seconds:.1f} s"
                    click.echo(f"{told}, {len(outcomes)} of {len(requests)}", err=True)
            if pool is not None:
                pool.shutdown(wait=False)  # its processes end while the report is written
    except KeyboardInterrupt as error:
        # Replaces the message of the simulation: its tasks are kept where this command finds them.
        raise InterruptedRun("interrupted: what is done is kept, and the same command goes on from here") from error
    outcomes.sort(key=lambda outcome: _FIGURES.index(outcome.figure))
    failures = [(outcome.figure, str(outcome.error)) for outcome in outcomes if outcome.status == FAILED]
    datasets = [outcome.dataset for outcome in outcomes if outcome.dataset is not None]
    out.mkdir(parents=True, exist_ok=True)
    shown = [*datasets, *earlier_figures(out, wanted)]
    write_figures(sorted(shown, key=lambda data: _FIGURES.index(data.attrs["figure"])), page, out, failures)
    elapsed = time.perf_counter() - start
    if options["as_json"]:
        summary = {"report": str(page), "seconds": round(elapsed, 3), "figures": [_summary(each) for each in outcomes]}
        click.echo(json.dumps(summary, ensure_ascii=False))
    else:
        _show_agreement(datasets)
        counts = Counter(outcome.status for outcome in outcomes)
        click.echo(f"{', '.join(f'{n} {status}' for status, n in counts.items())} in {elapsed:.1f} s; {page}")
    if failures:
        if click.get_current_context().find_root().params.get("debug"):
            raise next(outcome.error for outcome in outcomes if outcome.error is not None)
        raise click.ClickException("; ".join(f"{figure}: {message}" for figure, message in failures))


def _summary(outcome: "Outcome") -> dict[str, Any]:
    return {
        "figure": outcome.figure,
        "status": outcome.status,
        "seconds": round(outcome.seconds, 3),
        "error": None if outcome.error is None else str(outcome.error),
        "agreement": [] if outcome.dataset is None else json.loads(outcome.dataset.attrs["agreement"]),
    }


def _show_agreement(datasets: "Sequence[xr.Dataset]") -> None:
    rows = [
        [row["name"], f"{row['judged']}", f"{row['outside']}", f"{row['largest_deviation']:.2f}", row["verdict"]]
        for data in datasets
        for row in json.loads(data.attrs["agreement"])
    ]
    if rows:
        print_table(
            "theory and experiment", ["", "judged", "outside", "largest\n|Δ|/allowance", "verdict"], rows, names=True
        )
