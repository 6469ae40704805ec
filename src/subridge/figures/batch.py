"""Many figures into one folder: what is there with the same settings is kept, failures do not stop the rest."""

import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import xarray as xr

from subridge.figures.files import read_figure, write_figure
from subridge.figures.registry import recipe_of
from subridge.figures.reproduction import identity, reproduce, settings_of
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
    """

    figures: Sequence[str]
    folder: Path
    quick: bool = False
    variant: str = "published"
    run: Run | None = None
    force: bool = False

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
    """Make the figures one by one.

    Parameters
    ----------
    batch : Batch
    begin : callable
        Called with the id before a figure is started.

    Yields
    ------
    Outcome
    """
    for figure in batch.figures:
        begin(figure)
        start = time.perf_counter()
        try:
            there = None if batch.force else _there(batch, figure)
            dataset = _make(batch, figure) if there is None else there
        except (SubridgeError, OSError) as error:
            yield Outcome(figure, FAILED, time.perf_counter() - start, error=error)
        else:
            yield Outcome(figure, MADE if there is None else KEPT, time.perf_counter() - start, dataset)


def _there(batch: Batch, figure: str) -> xr.Dataset | None:
    """The figure as it is in the folder, if it was made from the same settings by the same version."""
    found = read_figure(figure, batch.folder)
    wanted = identity(figure, settings_of(figure, batch.quick, batch.variant))
    return found if found is not None and found.attrs.get("fingerprint") == wanted else None


def _make(batch: Batch, figure: str) -> xr.Dataset:
    run = Run() if batch.run is None else batch.run
    digest = identity(figure, settings_of(figure, batch.quick, batch.variant))
    place = batch.folder / ".tasks" / f"{figure}-{run.device.replace(':', '-')}-{digest}"
    if batch.force:
        shutil.rmtree(place, ignore_errors=True)
    if find_spec("zarr") is not None:  # without it a figure that was interrupted starts anew
        batch.folder.mkdir(parents=True, exist_ok=True)
        run = replace(run, store=place)
    start = time.perf_counter()
    made = reproduce(figure, batch.quick, batch.variant, run)
    made.dataset.attrs["seconds"] = time.perf_counter() - start
    write_figure(made, batch.folder)
    shutil.rmtree(place, ignore_errors=True)  # the data hold every trial; the tasks have served
    if place.parent.is_dir() and not any(place.parent.iterdir()):
        place.parent.rmdir()
    return made.dataset
