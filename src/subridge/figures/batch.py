"""Many figures into one folder: what is there with the same settings is kept, failures do not stop the rest."""

import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import xarray as xr

from subridge.figures.files import draw_and_write, read_figure
from subridge.figures.registry import recipe_of
from subridge.figures.reproduction import compute_figure, identity, settings_of
from subridge.simulation.run import Run
from subridge.spec.errors import SubridgeError

MADE, KEPT, FAILED = "made", "kept", "failed"


@dataclass(frozen=True, eq=False)
class Batch:
    """What to make and where.

    Attributes
    ----------
    figures : sequence of str
    folder : Path
    quick : bool
    variant : str
        "published" or "caption".
    run : Run
        Its store is chosen here: a folder inside `folder`, removed once the figure is written.
    force : bool
        Make also what is there.
    drawers : int
        Processes that draw and write while the next figure is computed; 0 draws in this one.
    data : str or None
        Features behind the classification figures; None for the bundled set.
    """

    figures: Sequence[str]
    folder: Path
    quick: bool = False
    variant: str = "published"
    run: Run | None = None
    force: bool = False
    drawers: int = 0
    data: str | None = None

    def seconds(self, figure: str) -> float:
        """Rough time of one figure, for the time left."""
        return recipe_of(figure).seconds[int(self.quick)]


@dataclass(frozen=True, eq=False)
class Outcome:
    """What became of one figure: ``status`` is "made", "kept" or "failed"."""

    figure: str
    status: str
    seconds: float
    dataset: xr.Dataset | None = None
    error: Exception | None = None


def run_batch(batch: Batch, begin: Callable[[str], Any] = lambda figure: None) -> Iterator[Outcome]:
    """Make the figures one by one; those being drawn by other processes are yielded as they are done.

    Parameters
    ----------
    batch : Batch
    begin : callable
        Called with the id before a figure is started.

    Yields
    ------
    Outcome
    """
    drawn: dict[Future[float], xr.Dataset] = {}
    with _drawers(batch) as pool:
        for figure in batch.figures:
            begin(figure)
            start = time.perf_counter()
            try:
                there = None if batch.force else _there(batch, figure)
                if there is None:
                    dataset = compute_figure(figure, batch.quick, batch.variant, _with_store(batch, figure), batch.data)
                    drawn[pool.submit(draw_and_write, dataset, batch.folder)] = dataset
            except (SubridgeError, OSError) as error:
                yield Outcome(figure, FAILED, time.perf_counter() - start, error=error)
            else:
                if there is not None:
                    _forget_tasks(_place(batch, figure))  # left by a batch that was stopped while it was being drawn
                    yield Outcome(figure, KEPT, time.perf_counter() - start, there)
            yield from (_outcome(batch, future, drawn.pop(future)) for future in list(drawn) if future.done())
        yield from (_outcome(batch, future, drawn[future]) for future in as_completed(drawn))


class _Here(Executor):
    """Draw in this process."""

    def submit(self, work: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(work(*arguments, **named))
        except (SubridgeError, OSError) as error:
            future.set_exception(error)
        return future


def _drawers(batch: Batch) -> Executor:
    # Spawned, never forked: a fork would inherit the threads of BLAS in an unusable state.
    return ProcessPoolExecutor(batch.drawers, get_context("spawn")) if batch.drawers else _Here()


def _outcome(batch: Batch, future: Future[float], dataset: xr.Dataset) -> Outcome:
    figure = str(dataset.attrs["figure"])
    try:
        dataset.attrs["seconds"] = future.result()
    except (SubridgeError, OSError, BrokenProcessPool) as error:
        return Outcome(figure, FAILED, float(dataset.attrs["seconds"]), error=error)
    _forget_tasks(_place(batch, figure))  # the data hold every trial; the tasks have served
    return Outcome(figure, MADE, float(dataset.attrs["seconds"]), dataset)


def _there(batch: Batch, figure: str) -> xr.Dataset | None:
    """The figure as it is in the folder, if it was made from the same settings by the same version."""
    found = read_figure(figure, batch.folder)
    wanted = identity(figure, settings_of(figure, batch.quick, batch.variant, batch.data))
    return found if found is not None and found.attrs.get("fingerprint") == wanted else None


def _with_store(batch: Batch, figure: str) -> Run:
    """The run with a store for this figure's tasks; without zarr, an interrupted figure starts anew."""
    run, place = batch.run or Run(), _place(batch, figure)
    if batch.force:
        _forget_tasks(place)
    if find_spec("zarr") is None:
        return run
    batch.folder.mkdir(parents=True, exist_ok=True)
    return replace(run, store=place)


def _place(batch: Batch, figure: str) -> Path:
    digest = identity(figure, settings_of(figure, batch.quick, batch.variant, batch.data))
    device = (batch.run or Run()).device.replace(":", "-")
    return batch.folder / ".tasks" / f"{figure}-{device}-{digest}"


def _forget_tasks(place: Path) -> None:
    shutil.rmtree(place, ignore_errors=True)
    if place.parent.is_dir() and not any(place.parent.iterdir()):
        place.parent.rmdir()
