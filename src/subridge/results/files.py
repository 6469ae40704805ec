"""Results on disk: netCDF (``.nc``), comma-separated values (``.csv``) or JSON (``.json``); the suffix decides."""

import csv
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import xarray as xr

from subridge.arrays.types import Json
from subridge.model.errors import ParameterError, StoreError

# Files that hold a drawing; whoever draws writes them, and data never go under such a name.
PICTURES = (".png", ".svg", ".pdf")
PAGES = (".html",)


def write_result(dataset: xr.Dataset, place: Path) -> None:
    """Write a result as ``.nc``, ``.csv`` or ``.json``; `ParameterError` for any other suffix.

    The file appears whole or not at all. A ``.csv`` has one line per point of the grid and no attributes.
    """
    writer = _WRITERS[checked_suffix(place, tuple(_WRITERS))]
    with whole_file(place) as beside:
        writer(dataset, beside)


def read_result(place: Path) -> xr.Dataset:
    """Read a result that was written as ``.nc``; `StoreError` when the file is missing, or holds something else.

    Any other suffix is a `ParameterError`: only netCDF keeps dimensions, types and attributes.
    """
    checked_suffix(place, (".nc",))
    try:
        with xr.open_dataset(place, engine="scipy") as opened:
            return opened.load()
    except (OSError, TypeError, ValueError) as error:
        raise StoreError(
            f"{place} cannot be read: it is missing, broken or no result of subridge; write it anew "
            "(a figure of the paper with --force)"
        ) from error


def checked_suffix(place: Path, allowed: tuple[str, ...] | None = None) -> str:
    """The suffix of a file in lower case, when it is one of those allowed (by default data or pictures).

    >>> checked_suffix(Path("curve.PNG"))
    '.png'
    """
    allowed = (*PICTURES, *PAGES, *_WRITERS) if allowed is None else allowed
    if place.suffix.lower() not in allowed:
        raise ParameterError(
            f"the name {place} must end in one of {', '.join(allowed)}; the suffix decides what is written"
        )
    return place.suffix.lower()


def part_of(place: Path) -> Path:
    """Where a file is that is not whole yet.

    >>> part_of(Path("curve.png")).name
    '.curve.part.png'
    """
    return place.with_name(f".{place.stem}.part{place.suffix}")


@contextmanager
def whole_file(place: Path) -> Iterator[Path]:
    """Give a path beside ``place``, with its suffix, to write to; the file moves to its place once it is whole."""
    beside = part_of(place)
    try:
        yield beside
        os.replace(beside, place)
    finally:
        beside.unlink(missing_ok=True)


def to_json(dataset: xr.Dataset) -> str:
    """A result as one line of strict JSON: infinite numbers are the strings "inf" and "-inf", NaN is null."""
    document: Json = {
        "coordinates": {str(name): _variable(values) for name, values in dataset.coords.items()},
        "variables": {str(name): _variable(values) for name, values in dataset.data_vars.items()},
        "attributes": {str(name): _plain(value) for name, value in dataset.attrs.items()},
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False)


def _variable(array: xr.DataArray) -> dict[str, Json]:
    return {"dimensions": [str(name) for name in array.dims], "values": _plain(array.values.tolist())}


def _plain(value: Json | np.generic) -> Json:
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        return None if np.isnan(value) else ("inf" if value > 0 else "-inf")
    return value


def _write_json(dataset: xr.Dataset, place: Path) -> None:
    place.write_text(to_json(dataset), encoding="utf-8")


def _write_netcdf(dataset: xr.Dataset, place: Path) -> None:
    dataset.to_netcdf(place, engine="scipy")  # netCDF 3: read by everything, needs nothing more


def _write_csv(dataset: xr.Dataset, place: Path) -> None:
    """One line per point of the grid: coordinates, then variables.

    A variable with a dimension that the first has not, such as what each member reaches, would repeat every line and is
    left out.
    """
    names = next(iter(dataset.data_vars.values())).dims
    dataset = dataset.drop_dims(set(dataset.dims) - set(names))
    points = [*xr.broadcast(*(dataset[name] for name in names)), *dataset.data_vars.values()]
    columns = [values.broadcast_like(dataset).transpose(*names).values.ravel() for values in points]
    with place.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*names, *dataset.data_vars])
        writer.writerows([_cell(value) for value in row] for row in zip(*columns, strict=True))


def _cell(value: np.generic | str) -> str:
    return format(value, ".10g") if isinstance(value, np.number) else str(value)


_WRITERS: dict[str, Callable[[xr.Dataset, Path], None]] = {
    ".nc": _write_netcdf,
    ".csv": _write_csv,
    ".json": _write_json,
}
