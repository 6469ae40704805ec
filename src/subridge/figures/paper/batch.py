"""Many figures into one folder: ``<id>.png``, ``<id>.svg`` and ``<id>.nc`` for each.

A figure that is there with the same settings is kept, and a failure does not stop the rest. The data are written last:
if ``<id>.nc`` is there, all three files are, from the same run.
"""

import json
import shutil
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import xarray as xr

from subridge.figures.drawing.style import write_pictures
from subridge.figures.paper.registry import figure_ids
from subridge.figures.paper.reproduction import FigureRequest, compute_figure, plot_figure
from subridge.model.errors import StoreError, SubridgeError
from subridge.results.files import read_result, write_result
from subridge.simulation.run import Run

MADE, KEPT, FAILED = "made", "kept", "failed"
_PICTURES = (".png", ".svg")


@dataclass(frozen=True, eq=False)
class Outcome:
    """The result for one figure: ``status`` is "made", "kept" or "failed"."""

    figure: str
    status: str
    seconds: float
    dataset: xr.Dataset | None = None
    error: Exception | None = None


def run_batch(
    requests: Sequence[FigureRequest],
    folder: Path,
    run: Run | None = None,
    *,
    force: bool = False,
    begin: Callable[[str], None] = lambda figure: None,
) -> Iterator[Outcome]:
    """Make the figures, and yield each as it is done; with `force` also those that are there.

    The store of `run` is set here: a folder inside `folder`, removed once the figure is written. `begin` is called with
    the id of each figure before it is computed.
    """
    run = Run() if run is None else run
    for request in requests:
        figure, start = request.figure, time.perf_counter()
        begin(figure)
        try:
            tasks = folder / ".tasks" / f"{figure}-{run.device.replace(':', '-')}-{request.identity}"
            dataset, status = None if force else read_figure(figure, folder), KEPT
            if dataset is None or dataset.attrs.get("fingerprint") != request.identity:
                if force:
                    _remove_tasks(tasks)
                folder.mkdir(parents=True, exist_ok=True)
                dataset, status = compute_figure(request, replace(run, store=tasks)), MADE
                dataset.attrs["seconds"] = write_figure(dataset, folder)
            _remove_tasks(tasks)  # the data hold every trial
            yield Outcome(figure, status, time.perf_counter() - start, dataset)
        except (SubridgeError, OSError) as error:
            yield Outcome(figure, FAILED, time.perf_counter() - start, error=error)


def write_figure(dataset: xr.Dataset, folder: Path) -> float:
    """Draw a computed figure, write its files, and return the seconds it took in all."""
    start, name = time.perf_counter(), str(dataset.attrs["figure"])
    figure = plot_figure(dataset)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.nc").unlink(missing_ok=True)  # it may belong to other settings
    write_pictures(figure, [folder / f"{name}{suffix}" for suffix in _PICTURES], str(dataset.attrs["command"]))
    seconds = float(dataset.attrs["seconds"]) + time.perf_counter() - start
    write_result(dataset.assign_attrs(seconds=seconds), folder / f"{name}.nc")
    return seconds


def read_figure(figure: str, folder: Path) -> xr.Dataset | None:
    """The data of a figure; None if a file is missing, `StoreError` if its data cannot be read."""
    if not all((folder / f"{figure}{suffix}").is_file() for suffix in (*_PICTURES, ".nc")):
        return None
    try:
        return read_result(folder / f"{figure}.nc")
    except StoreError as error:
        raise StoreError(f"{error}, or add --force") from error


def earlier_figures(folder: Path, made: Collection[str]) -> list[xr.Dataset]:
    """Complete figures in a folder other than those just made, in the order of the paper; other files are ignored.

    >>> earlier_figures(Path("no such folder"), ())
    []
    """
    found = []
    for figure in (figure for figure in figure_ids() if figure not in made):
        try:
            dataset = read_figure(figure, folder)
            if dataset is not None and dataset.attrs.get("figure") == figure:
                for name in ("notes", "errata", "settings", "agreement"):  # the report unpacks them
                    json.loads(dataset.attrs[name])
                found.append(dataset)
        except (StoreError, KeyError, TypeError, ValueError):
            continue
    return found


def _remove_tasks(place: Path) -> None:
    shutil.rmtree(place, ignore_errors=True)
    if place.parent.is_dir() and not any(place.parent.iterdir()):
        place.parent.rmdir()
