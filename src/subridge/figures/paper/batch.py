"""Many figures into one folder: ``<id>.png``, ``<id>.svg`` and ``<id>.nc`` for each.

A figure that is there with the same settings is kept, and a failure does not stop the rest. The data are written last:
if ``<id>.nc`` is there, all three files are, from the same run.
"""

import json
import shutil
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Executor, Future, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

import xarray as xr

from subridge.figures.drawing.style import write_pictures
from subridge.figures.paper.registry import figure_ids
from subridge.figures.paper.reproduction import FigureRequest, compute_figure, plot_figure
from subridge.model.errors import StoreError, SubridgeError
from subridge.results.files import part_of, read_result, write_result
from subridge.simulation.executors import ChildPool
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
    n_plotters: int = 0,
    begin: Callable[[str], None] = lambda figure: None,
) -> Iterator[Outcome]:
    """Make the figures, and yield each as it is done; with `force` also those that are there.

    The store of `run` is set here: a folder inside `folder`, removed once the figure is written. `n_plotters`
    processes draw and write while the next figure is computed; with 0 this process draws. `begin` is called with the
    id of each figure before it is computed.
    """
    run = Run() if run is None else run
    drawn: dict[Future[float], tuple[str, Path, xr.Dataset]] = {}
    pool = ChildPool(n_plotters) if n_plotters else None
    try:
        with pool or nullcontext():
            for request in requests:
                figure, start = request.figure, time.perf_counter()
                begin(figure)
                try:
                    tasks = folder / ".tasks" / f"{figure}-{run.device.replace(':', '-')}-{request.identity}"
                    found = None if force else read_figure(figure, folder)
                    if found is not None and found.attrs.get("fingerprint") == request.identity:
                        _remove_tasks(tasks)  # left by a batch that was stopped while it drew
                        yield Outcome(figure, KEPT, time.perf_counter() - start, found)
                    else:
                        if force:
                            _remove_tasks(tasks)
                        folder.mkdir(parents=True, exist_ok=True)
                        dataset = compute_figure(request, replace(run, store=tasks))
                        drawn[_draw(pool, dataset, folder)] = figure, tasks, dataset
                except (SubridgeError, OSError) as error:
                    yield Outcome(figure, FAILED, time.perf_counter() - start, error=error)
                yield from (_outcome(done, folder, *drawn.pop(done)) for done in list(drawn) if done.done())
            yield from (_outcome(done, folder, *drawn[done]) for done in as_completed(drawn))
    finally:
        for figure, _, _ in drawn.values():
            _remove_parts(figure, folder)  # of workers that were killed while they drew


def _draw(pool: Executor | None, dataset: xr.Dataset, folder: Path) -> Future[float]:
    if pool is not None:
        try:
            return pool.submit(write_figure, dataset, folder)
        except BrokenProcessPool:
            pass  # a worker crashed, perhaps for want of memory: draw here
    future: Future[float] = Future()
    try:
        future.set_result(write_figure(dataset, folder))
    except (SubridgeError, OSError) as error:
        future.set_exception(error)
    return future


def _outcome(done: Future[float], folder: Path, figure: str, tasks: Path, dataset: xr.Dataset) -> Outcome:
    try:
        dataset.attrs["seconds"] = done.result()
    except (SubridgeError, OSError, BrokenProcessPool) as error:
        _remove_parts(figure, folder)
        return Outcome(figure, FAILED, float(dataset.attrs["seconds"]), error=error)
    _remove_tasks(tasks)  # the data hold every trial
    return Outcome(figure, MADE, float(dataset.attrs["seconds"]), dataset)


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


def _remove_parts(figure: str, folder: Path) -> None:
    """Remove the unfinished files of a worker that was killed while it wrote."""
    for suffix in (*_PICTURES, ".nc"):
        part_of(folder / f"{figure}{suffix}").unlink(missing_ok=True)


def _remove_tasks(place: Path) -> None:
    shutil.rmtree(place, ignore_errors=True)
    if place.parent.is_dir() and not any(place.parent.iterdir()):
        place.parent.rmdir()
