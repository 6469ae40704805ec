"""Many figures into one folder: ``<id>.png``, ``<id>.svg`` and ``<id>.nc`` for each.

A figure that exists with the same settings is kept, and a failure does not stop the others. The data are written last:
if ``<id>.nc`` exists, all three files exist and come from the same run.
"""

import json
import os
import shutil
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import BrokenExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import xarray as xr

from subridge.arrays.machine import blas_threads, free_memory
from subridge.figures.drawing.style import write_pictures
from subridge.figures.paper.recipe import FigureSettings
from subridge.figures.paper.registry import figure_ids
from subridge.figures.paper.reproduction import FigureRequest, compute_figure, plot_figure
from subridge.model.errors import ClusterError, StoreError, SubridgeError
from subridge.results.files import read_result, write_result
from subridge.simulation.executors import ChildPool
from subridge.simulation.run import Run

FAILED = "failed"
_PICTURES = (".png", ".svg")
_FILES = (*_PICTURES, ".nc")


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
    run: Run,
    *,
    force: bool = False,
    pool: ChildPool | None = None,
    begin: Callable[[str], None] = lambda figure: None,
) -> Iterator[Outcome]:
    """Make the figures, and yield each when it is finished; with `force` also those that exist.

    The store of `run` is replaced by a folder inside `folder`, which is removed after the figure is written. `begin` is
    called with the id of each figure before it is computed. With a `pool` figures are made in parallel, the slowest
    first; the same process makes figures that show the same experiment.
    """
    if pool is None:
        for request in requests:
            begin(request.figure)
            yield _made(request, folder, folder, run, force)
        return
    groups: dict[FigureSettings, list[FigureRequest]] = {}
    for request in requests:
        groups.setdefault(request.settings.experiment, []).append(request)
    # Only experiments need much memory. They share nine tenths of what is free.
    n_experiments = max(1, sum(hasattr(settings, "n_trials") for settings in groups))
    part = replace(
        run,
        memory=run.memory or max(1, 9 * free_memory(run.device) // (10 * n_experiments)),
        threads=run.threads or max(1, (os.cpu_count() or 1) // pool.n_processes),
    )
    folder.mkdir(parents=True, exist_ok=True)
    try:
        # A process that is killed while it writes leaves no partial file in the folder of the figures.
        with TemporaryDirectory(dir=folder, prefix=".making-") as place:
            longest = sorted(groups.values(), key=lambda group: max(request.seconds for request in group), reverse=True)
            work = [pool.submit(_made_together, group, folder, Path(place), part, force) for group in longest]
            for future in as_completed(work):
                yield from future.result()
    except BrokenExecutor as error:
        raise ClusterError(
            "a process that made figures died; if memory ran out, use --processes 1. What is done is kept: run the "
            "same command again"
        ) from error


def _made_together(
    requests: Sequence[FigureRequest], folder: Path, place: Path, run: Run, force: bool
) -> list[Outcome]:
    with blas_threads(run.threads or 1):
        return [_made(request, folder, place, run, force) for request in requests]


def _made(request: FigureRequest, folder: Path, place: Path, run: Run, force: bool) -> Outcome:
    """Make a figure of `folder`, unless it exists; its files are completed in `place` before they are moved."""
    start = time.perf_counter()
    figure = request.figure
    # The store of the experiments of the figure.
    tasks = folder / ".tasks" / f"{figure}-{run.device.replace(':', '-')}-{request.identity}"
    try:
        status = "kept"
        dataset = None if force else read_figure(figure, folder)
        if dataset is None or dataset.attrs.get("fingerprint") != request.identity:
            status = "made"
            if force:
                shutil.rmtree(tasks, ignore_errors=True)
            dataset = compute_figure(request, replace(run, store=tasks))
            picture = plot_figure(dataset)
            place.mkdir(parents=True, exist_ok=True)
            (folder / f"{figure}.nc").unlink(missing_ok=True)  # it may have other settings
            write_pictures(picture, [place / f"{figure}{suffix}" for suffix in _PICTURES], dataset.attrs["command"])
            dataset.attrs["seconds"] = time.perf_counter() - start
            write_result(dataset, place / f"{figure}.nc")
            for suffix in _FILES:
                (place / f"{figure}{suffix}").replace(folder / f"{figure}{suffix}")
    except (SubridgeError, OSError) as error:
        return Outcome(figure, FAILED, time.perf_counter() - start, error=error)
    shutil.rmtree(tasks, ignore_errors=True)  # the data hold every trial
    with suppress(OSError):  # other figures have tasks
        tasks.parent.rmdir()
    return Outcome(figure, status, time.perf_counter() - start, dataset)


def read_figure(figure: str, folder: Path) -> xr.Dataset | None:
    """The data of a figure; None if a file is missing, `StoreError` if its data cannot be read."""
    if not all((folder / f"{figure}{suffix}").is_file() for suffix in _FILES):
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
        with suppress(StoreError, KeyError, TypeError, ValueError):
            dataset = read_figure(figure, folder)
            if dataset is not None and dataset.attrs.get("figure") == figure:
                for name in ("notes", "errata", "settings", "agreement"):  # the report unpacks them
                    json.loads(dataset.attrs[name])
                found.append(dataset)
    return found
