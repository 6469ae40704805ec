"""Many figures into one folder: what is there with the same settings is kept, failures do not stop the rest."""

import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import ParamSpec, TypeVar

import xarray as xr

from subridge.figures.paper.files import forget_parts, plot_and_write, read_figure
from subridge.figures.paper.reproduction import FigureRequest, compute_figure
from subridge.model.errors import SubridgeError
from subridge.simulation.executors.pool import ChildPool
from subridge.simulation.run import Run

MADE, KEPT, FAILED = "made", "kept", "failed"
_P = ParamSpec("_P")
_T = TypeVar("_T")


@dataclass(frozen=True, eq=False)
class FigureBatch:
    """What to make and where; with `force` also what is there.

    The store of `run` is chosen here: a folder inside `folder`, removed once the figure is written. So many as
    `n_plotters` processes draw and write while the next figure is computed; with 0 this one does.
    """

    requests: Sequence[FigureRequest]
    folder: Path
    run: Run = field(default_factory=Run)
    force: bool = False
    n_plotters: int = 0


@dataclass(frozen=True, eq=False)
class Outcome:
    """What became of one figure: ``status`` is "made", "kept" or "failed"."""

    figure: str
    status: str
    seconds: float
    dataset: xr.Dataset | None = None
    error: Exception | None = None


def run_batch(batch: FigureBatch, begin: Callable[[str], None] = lambda figure: None) -> Iterator[Outcome]:
    """Make the figures, `begin` called with the id of each; those drawn elsewhere are yielded as they are done."""
    plotted: dict[Future[float], tuple[FigureRequest, xr.Dataset]] = {}
    try:
        with ChildPool(batch.n_plotters) if batch.n_plotters else _Here() as pool:
            for request in batch.requests:
                begin(request.figure)
                start = time.perf_counter()
                try:
                    there = None if batch.force else _there(batch, request)
                    if there is None:
                        dataset = compute_figure(request, _with_store(batch, request))
                        plotted[_drawn(pool, dataset, batch.folder)] = request, dataset
                except (SubridgeError, OSError) as error:
                    yield Outcome(request.figure, FAILED, time.perf_counter() - start, error=error)
                else:
                    if there is not None:
                        _forget_tasks(_place(batch, request))  # left by a batch that was stopped while it was drawn
                        yield Outcome(request.figure, KEPT, time.perf_counter() - start, there)
                yield from (_outcome(batch, done, *plotted.pop(done)) for done in list(plotted) if done.done())
            yield from (_outcome(batch, done, *plotted[done]) for done in as_completed(plotted))
    finally:
        for request, _ in plotted.values():
            forget_parts(request.figure, batch.folder)  # of those who were killed while they drew


class _Here(Executor):
    """Work in this process."""

    def submit(self, work: Callable[_P, _T], /, *arguments: _P.args, **named: _P.kwargs) -> Future[_T]:
        future: Future[_T] = Future()
        try:
            future.set_result(work(*arguments, **named))
        except (SubridgeError, OSError) as error:
            future.set_exception(error)
        return future


def _drawn(pool: Executor, dataset: xr.Dataset, folder: Path) -> Future[float]:
    """Let the pool draw; this process does where one of the pool's has died, perhaps for want of memory."""
    try:
        return pool.submit(plot_and_write, dataset, folder)
    except BrokenProcessPool:
        return _Here().submit(plot_and_write, dataset, folder)


def _outcome(batch: FigureBatch, done: Future[float], request: FigureRequest, dataset: xr.Dataset) -> Outcome:
    try:
        dataset.attrs["seconds"] = done.result()
    except (SubridgeError, OSError, BrokenProcessPool) as error:
        forget_parts(request.figure, batch.folder)
        return Outcome(request.figure, FAILED, float(dataset.attrs["seconds"]), error=error)
    _forget_tasks(_place(batch, request))  # the data hold every trial; the tasks have served
    return Outcome(request.figure, MADE, float(dataset.attrs["seconds"]), dataset)


def _there(batch: FigureBatch, request: FigureRequest) -> xr.Dataset | None:
    """The figure as it is in the folder, if it was made from the same settings by the same version."""
    found = read_figure(request.figure, batch.folder)
    return found if found is not None and found.attrs.get("fingerprint") == request.identity else None


def _with_store(batch: FigureBatch, request: FigureRequest) -> Run:
    """The run with a store for this figure's tasks; without zarr, an interrupted figure starts anew."""
    place = _place(batch, request)
    if batch.force:
        _forget_tasks(place)
    if find_spec("zarr") is None:
        return batch.run
    batch.folder.mkdir(parents=True, exist_ok=True)
    return replace(batch.run, store=place)


def _place(batch: FigureBatch, request: FigureRequest) -> Path:
    device = batch.run.device.replace(":", "-")
    return batch.folder / ".tasks" / f"{request.figure}-{device}-{request.identity}"


def _forget_tasks(place: Path) -> None:
    shutil.rmtree(place, ignore_errors=True)
    if place.parent.is_dir() and not any(place.parent.iterdir()):
        place.parent.rmdir()
