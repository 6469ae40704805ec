"""Results as JSON, and results to files, for every command."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np
import xarray as xr


def to_json(dataset: xr.Dataset) -> str:
    """A dataset as one line of strict JSON: infinite numbers are the strings "inf" and "-inf", NaN is null.

    Examples
    --------
    >>> import xarray as xr
    >>> to_json(xr.Dataset({"size": ("ratio", [1.0, float("inf")])}, {"ratio": [0.5, 2.0]}))[:69]
    '{"coordinates": {"ratio": {"dimensions": ["ratio"], "values": [0.5, 2'
    """
    document = {
        "coordinates": {str(name): _variable(values) for name, values in dataset.coords.items()},
        "variables": {str(name): _variable(values) for name, values in dataset.data_vars.items()},
        "attributes": {str(name): _plain(value) for name, value in dataset.attrs.items()},
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False)


def _variable(array: xr.DataArray) -> dict[str, Any]:
    return {"dimensions": list(array.dims), "values": _plain(array.values.tolist())}


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None if np.isnan(value) else ("inf" if value > 0 else "-inf")
    return value


def write_data(dataset: xr.Dataset, out: Path) -> None:
    """Write ``.nc``, ``.csv`` or ``.json`` by the name of the file."""
    if out.suffix.lower() == ".csv":
        _to_csv(dataset, out)
    elif out.suffix.lower() == ".json":
        out.write_text(to_json(dataset), encoding="utf-8")
    elif out.suffix.lower() == ".nc":
        # netCDF has no lists of texts as attributes.
        texts = {name: "\n".join(value) for name, value in dataset.attrs.items() if isinstance(value, list)}
        dataset.assign_attrs(texts).to_netcdf(out, engine="scipy")
    else:
        raise click.UsageError(f"--out {out} must end in .png, .svg, .pdf, .nc, .csv or .json")


def _to_csv(dataset: xr.Dataset, out: Path) -> None:
    """One line per point of the grid: coordinates, then variables.

    A variable with a dimension that no other has, such as what each member reaches, would repeat every line and is left
    out.
    """
    dataset = _without_lone_dimensions(dataset)
    names = [str(name) for name in dataset.dims]
    table = {
        str(name): values.broadcast_like(dataset).transpose(*names).values.ravel() for name, values in dataset.items()
    }
    places = xr.broadcast(*(dataset[name] for name in names))
    columns = {name: p.transpose(*names).values.ravel() for name, p in zip(names, places, strict=True)} | table
    with out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([_cell(value) for value in row] for row in zip(*columns.values(), strict=True))


def _without_lone_dimensions(dataset: xr.Dataset) -> xr.Dataset:
    first = next(iter(dataset.data_vars.values()))
    return dataset.drop_vars([name for name, values in dataset.items() if set(values.dims) - set(first.dims)])


def _cell(value: Any) -> str:
    return format(value, ".10g") if isinstance(value, np.number) else str(value)


def deliver(
    dataset: xr.Dataset,
    out: Path | None,
    as_json: bool,
    *,
    draw: Callable[[xr.Dataset], Any],
    show: Callable[[xr.Dataset], None],
) -> None:
    """Write a result to a file if one was named, as a picture or as data, and print it as JSON or for the eye."""
    if out is not None:
        if is_picture(out):
            draw(dataset).savefig(out, dpi=300)
        else:
            write_data(dataset, out)
        click.echo(f"wrote {out}", err=True)
    if as_json:
        click.echo(to_json(dataset))
    else:
        show(dataset)


def is_picture(out: Path) -> bool:
    """Whether a file's name asks for a drawing."""
    return out.suffix.lower() in (".png", ".svg", ".pdf")


def check_out(out: Path | None) -> None:
    """Refuse a file that cannot be written before the work is done."""
    if out is None:
        return
    if not is_picture(out) and out.suffix.lower() not in (".nc", ".csv", ".json"):
        raise click.UsageError(f"--out {out} must end in .png, .svg, .pdf, .nc, .csv or .json")
    if not out.parent.is_dir():
        raise click.UsageError(f"--out {out}: there is no folder {out.parent}")
