"""A reproduced figure on disk: ``<id>.png``, ``<id>.svg`` and ``<id>.nc``, the last written last."""

import time
from pathlib import Path

import xarray as xr
from matplotlib.figure import Figure

from subridge.figures.registry import recipe_of
from subridge.figures.reproduction import Reproduction
from subridge.figures.style import journal
from subridge.results.files import read_result, whole_file, write_result

_PICTURES = (".png", ".svg")


def draw_and_write(dataset: xr.Dataset, folder: Path) -> float:
    """Draw a computed figure, write its files, and return the seconds it took in all."""
    start = time.perf_counter()
    figure = recipe_of(str(dataset.attrs["figure"])).draw(dataset)
    dataset.attrs["seconds"] += time.perf_counter() - start
    write_figure(Reproduction(figure, dataset), folder)
    return float(dataset.attrs["seconds"])


def write_figure(made: Reproduction, folder: Path) -> list[Path]:
    """Write picture, vector drawing and data of a figure.

    Every file appears whole or not at all, the data last: where ``<id>.nc`` is, all three are there.

    Returns
    -------
    list of Path
    """
    folder.mkdir(parents=True, exist_ok=True)
    name = str(made.dataset.attrs["figure"])
    places = [folder / f"{name}{suffix}" for suffix in (*_PICTURES, ".nc")]
    start = time.perf_counter()
    _lay_out(made.figure)
    for place in places:
        if place.suffix == ".nc":
            made.dataset.attrs["seconds"] += time.perf_counter() - start
            write_result(made.dataset, place)
        else:
            with whole_file(place) as beside:
                save_picture(made.figure, made.dataset, beside, place.suffix[1:])
    return places


def _lay_out(figure: Figure) -> None:
    """Place the axes once: the layout is half the work of a drawing, and each picture would do it again."""
    engine = figure.get_layout_engine()
    if engine is not None:
        with journal():
            engine.execute(figure)
        figure.set_layout_engine("none")


def save_picture(figure: Figure, dataset: xr.Dataset, place: Path, kind: str) -> None:
    """Save a drawing that carries the command and version that made it, and no date: equal numbers, equal bytes."""
    maker = f"subridge {dataset.attrs['version']}"
    command = str(dataset.attrs["command"])
    metadata = (
        {"Software": maker, "Description": command}
        if kind == "png"
        else {"Creator": maker, "Description": command, "Date": None}
    )
    with journal():
        figure.savefig(place, format=kind, metadata=metadata)


def read_figure(figure: str, folder: Path) -> xr.Dataset | None:
    """Return the data of a figure in a folder; None where it is not there whole.

    Raises
    ------
    StoreError
        A file of that name is there but is no figure of this package.
    """
    place = folder / f"{figure}.nc"
    if not all((folder / f"{figure}{suffix}").is_file() for suffix in (*_PICTURES, ".nc")):
        return None
    return read_result(place)
