"""One page about remade figures: pictures, interactive curves, settings, agreement, errata, versions, timing."""

import base64
import json
import platform
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from itertools import islice
from pathlib import Path

import numpy as np
import xarray as xr

from subridge import __version__
from subridge.arrays.types import ArrayLike, Json
from subridge.explorer.page import REPORT_SCRIPTS, write_page
from subridge.explorer.parts import Described, exceeds, line, map_panel, panel, thinned_along, with_trials
from subridge.results.numbers import plain

_SHOWN = {
    "theory": "generalization error E",
    "risk": "generalization error E",
    "reduced_risk": "reduced error",
    "misclassification": "share misclassified",
    "density": "density",
}
_ACROSS = {
    "sample_ratio": "samples per feature α = P/M",
    "n_samples": "training samples P",
    "subset_fraction": "subset fraction ν",
}
_BY = ("ridge", "n_members", "fraction_spread", "subset_fraction", "strategy")
_WORDS = {
    "ridge": "λ",
    "reduced_ridge": "ridge",
    "n_members": "k",
    "fraction_spread": "kσ",
    "subset_fraction": "ν",
    "alignment": "ρ",
    "readout_nsr": "H",
    "feature_nsr": "W",
    "label_nsr": "Z",
    "readout_noise": "η",
}
_MOST_PANELS = 12
_MOST_POINTS = 250
_MOST_CELLS = 80


def write_figures(
    datasets: Sequence[xr.Dataset], place: Path, folder: Path, failures: Sequence[tuple[str, str]] = ()
) -> None:
    """Write a page on figures as `reproduce` returns them.

    Parameters
    ----------
    datasets : sequence of xarray.Dataset
    place : Path
        The page.
    folder : Path
        The folder of their pictures.
    failures : sequence of pairs of str
        Figures that could not be made, and why.
    """
    panels: list[Json] = []
    entries = []
    for data in datasets:
        made = figure_panels(data)
        entry = dict(data.attrs)
        entry |= {name: json.loads(entry[name]) for name in ("notes", "errata")}
        settings = json.loads(entry["settings"])
        entry["settings"] = {name: json.dumps(value) for name, value in settings.items() if name != "type"}
        entry["panels"] = [{"number": len(panels) + i, "title": each["title"]} for i, each in enumerate(made)]
        # As an image and not inline, because inline pictures would share the names of clip paths.
        entry["picture"] = base64.b64encode((folder / f"{entry['figure']}.svg").read_bytes()).decode("ascii")
        panels.extend(made)
        entries.append(entry)
    write_page(
        place,
        "figures.html",
        REPORT_SCRIPTS,
        agreement=[row for data in datasets for row in json.loads(data.attrs["agreement"])],
        figures=entries,
        failures=failures,
        panels=panels,
        versions={
            "python": platform.python_version(),
            "subridge": __version__,
            **{name: version(name) for name in ("numpy", "scipy", "xarray", "matplotlib")},
        },
    )


def figure_panels(data: xr.Dataset) -> list[Described]:
    """Panels of the data of a figure: maps of ensemble sizes, or lines over samples or fractions; none for drawings."""
    if "optimal_n_members" in data and "sample_ratio" in data.optimal_n_members.dims:
        sizes = data.optimal_n_members
        noise = next(dim for dim in ("readout_nsr", "feature_nsr", "label_nsr") if dim in sizes.dims)
        labels = (_ACROSS["sample_ratio"], f"noise ratio {_WORDS[noise]}")
        return [
            map_panel(f"best ensemble size k*, {title}", one, "sample_ratio", noise, labels, _MOST_CELLS)
            for title, one in _facets(sizes, (noise, "sample_ratio"))
        ]
    name = next((name for name in _SHOWN if name in data), None)
    if name is None:
        return []
    values = data[name].mean("trial") if "trial" in data[name].dims else data[name]
    across = next((dim for dim in _ACROSS if dim in values.dims), None)
    by = next((dim for dim in _BY if dim in values.dims and dim != across and values.sizes[dim] > 1), None)
    if across is None or by is None:
        return []
    return [_curves(data, one, across, by, title) for title, one in _facets(values, (across, by))]


def _facets(values: xr.DataArray, kept: tuple[str, ...]) -> Iterator[tuple[str, xr.DataArray]]:
    """Slices of the other dimensions, each with a title; twelve at most."""
    others = [str(dim) for dim in values.dims if dim not in kept]
    values = values.assign_coords({dim: values[dim] for dim in others})  # positions, if they have no coordinates
    for place in islice(np.ndindex(*(values.sizes[dim] for dim in others)), _MOST_PANELS):
        chosen = values.isel(dict(zip(others, place, strict=True)))
        yield ", ".join(_said(dim, chosen[dim]) for dim in others) or "curves", chosen


def _said(dim: str, place: ArrayLike) -> str:
    value = np.asarray(place).item()
    return f"{_WORDS.get(dim, dim.replace('_', ' '))} = {plain(value) if isinstance(value, float) else value}"


def _curves(data: xr.Dataset, values: xr.DataArray, across: str, by: str, title: str) -> Described:
    """Lines over `across`, one for each value of `by`, with the points of an experiment if the figure has them."""
    values = thinned_along(values, across, _MOST_POINTS).transpose(by, across)
    at = values[across].values.astype(float)
    table = values.values
    names = [_said(by, value) for value in values[by]]
    if across == "sample_ratio" and "mean" in data and "standard_error" in data:
        same = {dim: values[dim] for dim in data["mean"].dims if dim in values.coords and values[dim].ndim == 0}
        mean, error = (data[name].sel(same).transpose(by, "n_samples").values for name in ("mean", "standard_error"))
        sizes = data.n_samples.values.astype(float)
        at, lines = with_trials(names, at, table, sizes / sizes.max(), mean, error)
    else:
        lines = [line(name, row) for name, row in zip(names, table, strict=True)]
    x = {"label": _ACROSS[across], "log": bool(at.min() > 0 and at.max() > 30 * at.min())}
    return panel(title, x, {"label": _SHOWN[str(values.name)], "log": exceeds(table, 10)}, at, lines)
