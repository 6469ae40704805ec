"""A reproduced figure on disk: ``<id>.png``, ``<id>.svg`` and ``<id>.nc``, the last written last."""

import time
from pathlib import Path

import xarray as xr

from subridge.figures.drawing.pictures import write_pictures
from subridge.figures.paper.reproduction import plot_figure
from subridge.model.errors import StoreError
from subridge.results.files import part_of, read_result, write_result

_PICTURES = (".png", ".svg")


def plot_and_write(dataset: xr.Dataset, folder: Path) -> float:
    """Draw a computed figure, write its files, and return the seconds it took in all.

    Every file appears whole or not at all, the data last: where ``<id>.nc`` is, all three are there, of one making.
    """
    start = time.perf_counter()
    name = str(dataset.attrs["figure"])
    figure = plot_figure(dataset)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.nc").unlink(missing_ok=True)  # of other settings, or to be made anew
    write_pictures(figure, [folder / f"{name}{suffix}" for suffix in _PICTURES], str(dataset.attrs["command"]))
    seconds = float(dataset.attrs["seconds"]) + time.perf_counter() - start
    write_result(dataset.assign_attrs(seconds=seconds), folder / f"{name}.nc")
    return seconds


def forget_parts(figure: str, folder: Path) -> None:
    """Remove what someone left who was killed while writing a figure."""
    for suffix in (*_PICTURES, ".nc"):
        part_of(folder / f"{figure}{suffix}").unlink(missing_ok=True)


def read_figure(figure: str, folder: Path) -> xr.Dataset | None:
    """The data of a figure; None where it is not there whole, `StoreError` where the file is no such figure."""
    if not all((folder / f"{figure}{suffix}").is_file() for suffix in (*_PICTURES, ".nc")):
        return None
    try:
        return read_result(folder / f"{figure}.nc")
    except StoreError as error:
        raise StoreError(f"{error}, or add --force") from error
