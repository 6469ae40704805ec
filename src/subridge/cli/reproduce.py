"""`subridge reproduce`: the paper, figure by figure."""

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from subridge.arrays.machine import cores
from subridge.cli.options import json_option, spec_option
from subridge.cli.progress import BatchProgress
from subridge.figures.paper.registry import figure_ids


class _FigureId(click.ParamType):
    """An id of a figure, or "all"; the shell completes it."""

    name = "figure"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        known = ("all", *figure_ids())
        found = {name.lower(): name for name in known}.get(str(value).lower())
        if found is None:
            self.fail(f"there is no figure {value!r}; choose from {', '.join(known)}", param, ctx)
        return found

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        return [CompletionItem(name) for name in ("all", *figure_ids()) if name.startswith(incomplete)]


@click.command()
@click.argument("figures", nargs=-1, required=True, type=_FigureId(), metavar="FIGURE...")
@click.option("--quick", is_flag=True, help="Smaller and coarser: seconds a figure.")
@click.option(
    "--settings",
    type=click.Choice(["published", "caption"]),
    default="published",
    show_default=True,
    help="Those behind the published picture, or the caption's.",
)
@click.option("--data", help="Features of the classification figures: bundled, cifar10, fashion, or a features store.")
@click.option("--device", default="cpu", show_default=True, help="cpu, cuda, cuda:1, torch")
@click.option("--processes", type=click.IntRange(1), help="Simulate in that many processes.")
@click.option("--scheduler", help="Address of a Dask scheduler, tcp://host:port.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("figures"), show_default=True, help="Folder.")
@click.option("--force", is_flag=True, help="Make also what is there.")
@spec_option
@json_option
def reproduce(figures: Sequence[str], quick: bool, out: Path, force: bool, as_json: bool, **options: Any) -> None:
    """Remake figures of the paper: FIGURE.png, .svg and .nc for each, and report.html for all.

    FIGURE is an id such as fig1a or figS6, or "all". Figures that are in the folder with the same settings are kept,
    and an interrupted simulation goes on where it stopped (with zarr installed): run the same command again.

    \b
    subridge reproduce all --quick --out figures
    subridge reproduce fig1b fig2 --device cuda
    subridge reproduce fig3c --settings caption
    """
    from subridge.figures.paper.batch import FAILED, FigureBatch, run_batch
    from subridge.figures.paper.report import write_report
    from subridge.figures.paper.reproduction import FigureRequest
    from subridge.simulation.run import Run

    wanted = figure_ids() if "all" in figures else tuple(dict.fromkeys(figures))
    run = Run(device=options["device"], executor=options["processes"], scheduler=options["scheduler"])
    requests = [FigureRequest(figure, quick, options["settings"], options["data"]) for figure in wanted]
    batch = FigureBatch(requests, out, run, force, _plotters(len(wanted)))
    start = time.perf_counter()
    outcomes = []
    with BatchProgress({request.figure: request.seconds for request in requests}) as progress:
        for outcome in run_batch(batch, progress.begin):
            progress.finish(outcome.figure, outcome.status, outcome.seconds)
            outcomes.append(outcome)
    outcomes.sort(key=lambda outcome: wanted.index(outcome.figure))
    failures = [(outcome.figure, str(outcome.error)) for outcome in outcomes if outcome.status == FAILED]
    datasets = [outcome.dataset for outcome in outcomes if outcome.dataset is not None]
    out.mkdir(parents=True, exist_ok=True)
    page = write_report(datasets, out, failures)
    elapsed = time.perf_counter() - start
    if as_json:
        click.echo(json.dumps(_summary(outcomes, page, elapsed), ensure_ascii=False))
    else:
        _show(outcomes, page, elapsed)
    for outcome in outcomes:
        if outcome.error is not None and click.get_current_context().find_root().params.get("debug"):
            raise outcome.error
    if failures:
        raise click.ClickException("; ".join(f"{figure}: {message}" for figure, message in failures))


def _plotters(n_figures: int) -> int:
    """Processes that draw beside the one that computes; not worth their start for a few figures."""
    return min(4, cores() // 2) if n_figures > 3 else 0


def _summary(outcomes: Sequence[Any], page: Path, elapsed: float) -> dict[str, Any]:
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


def _show(outcomes: Sequence[Any], page: Path, elapsed: float) -> None:
    from subridge.figures.paper.agreement import agreement_rows

    console = Console()
    rows = agreement_rows([outcome.dataset for outcome in outcomes if outcome.dataset is not None])
    if rows:
        table = Table(title="theory and experiment")
        for name in ("", "judged", "outside", "largest |Δ|/allowance", "verdict"):
            table.add_column(name, justify="left" if not name else "right")
        for row in rows:
            cells = (row["name"], row["judged"], row["outside"], f"{row['largest_deviation']:.2f}", row["verdict"])
            table.add_row(*map(str, cells))
        console.print(table)
    counts = {status: sum(outcome.status == status for outcome in outcomes) for status in ("made", "kept", "failed")}
    told = ", ".join(f"{count} {status}" for status, count in counts.items() if count)
    console.print(f"{told} in {elapsed:.1f} s; [bold]{page}[/]", highlight=False)
