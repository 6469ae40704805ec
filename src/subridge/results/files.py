"""Results on disk: netCDF (``.nc``), comma-separated values (``.csv``) or JSON (``.json``); the suffix decides."""

import json
import os
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import xarray as xr

from subridge.arrays.types import Json
from subridge.model.errors import StoreError
from subridge.results.suffixes import DATA, checked_suffix


def write_result(dataset: xr.Dataset, place: Path) -> None:
    """Write a result as ``.nc``, ``.csv`` or ``.json``; `ParameterError` for any other suffix.

    The file appears complete or not at all. A ``.csv`` has one line per point of the grid and no attributes.
    """
    writer = _WRITERS[checked_suffix(place, DATA)]
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
            f"{place} cannot be read: it is missing, broken or not a result of subridge; write it again "
            "(a figure of the paper with --force)"
        ) from error


@contextmanager
def whole_file(place: Path) -> Iterator[Path]:
    """Give a temporary path beside ``place`` to write to; the file is renamed once it is complete."""
    beside = place.with_name(f".{place.stem}.part{place.suffix}")
    try:
        yield beside
        os.replace(beside, place)
    finally:
        beside.unlink(missing_ok=True)


def to_json(dataset: xr.Dataset) -> str:
    """A result as one line of strict JSON: infinite numbers are the strings "inf" and "-inf", NaN is null."""

    def variables(named: Mapping[Hashable, xr.DataArray]) -> Json:
        return {
            str(name): {"dimensions": [str(each) for each in array.dims], "values": _plain(array.values.tolist())}
            for name, array in named.items()
        }

    document = {
        "coordinates": variables(dataset.coords),
        "variables": variables(dataset.data_vars),
        "attributes": {str(name): _plain(value) for name, value in dataset.attrs.items()},
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False, default=np.generic.item)


def _plain(value: Json) -> Json:
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not np.isfinite(value):
        return None if np.isnan(value) else ("inf" if value > 0 else "-inf")
    return value


def _write_csv(dataset: xr.Dataset, place: Path) -> None:
    """One line per point of the grid: coordinates, then variables.

    The first variable has the dimensions of the grid. Variables with another dimension, such as the member, would
    repeat every line and are left out.
    """
    names = next(iter(dataset.data_vars.values())).dims
    grid = dataset.drop_dims(set(dataset.dims) - set(names)).reset_coords(drop=True)
    table = grid.to_dataframe(dim_order=list(names)) if names else grid.expand_dims("point").to_dataframe()
    table.to_csv(place, index=bool(names), float_format="%.10g", na_rep="nan", lineterminator="\n", encoding="utf-8")


# How a dataset is written, by suffix. All netCDF readers read version 3, and SciPy writes it.
_WRITERS: dict[str, Callable[[xr.Dataset, Path], object]] = {
    ".nc": lambda dataset, place: dataset.to_netcdf(place, engine="scipy"),
    ".csv": _write_csv,
    ".json": lambda dataset, place: place.write_text(to_json(dataset), encoding="utf-8"),
}
