"""Panels of a remade figure, whatever it shows: lines over samples or fractions, or maps of ensemble sizes."""

from collections.abc import Iterator
from itertools import product

import numpy as np
import xarray as xr

from subridge.arrays.types import ArrayLike
from subridge.explorer.reports.parts import Axis, Line, Panel, brief, thinned
from subridge.explorer.reports.theory_and_trials import Trials, joined

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
_MOST_PANELS, _MOST_POINTS, _MOST_CELLS = 12, 250, 80


def figure_panels(data: xr.Dataset) -> list[Panel]:
    """Panels of the figure's numbers; none for drawings."""
    if "optimal_n_members" in data and "sample_ratio" in data.optimal_n_members.dims:
        return list(_maps(data.optimal_n_members))
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
    """Every slice of the other dimensions, with the words that name it; a dozen at most."""
    others = [dim for dim in values.dims if dim not in kept]
    places = list(product(*(range(values.sizes[dim]) for dim in others)))
    for place in places[:_MOST_PANELS]:
        at = dict(zip(others, place, strict=True))
        chosen = values.isel(at)
        values_there = {str(dim): chosen[dim].values if dim in chosen.coords else i for dim, i in at.items()}
        words = [_said(dim, value) for dim, value in values_there.items()]
        yield ", ".join(words) or "curves", chosen


def _said(dim: str, place: ArrayLike) -> str:
    value = np.asarray(place).item()
    return f"{_WORDS.get(dim, dim.replace('_', ' '))} = {brief(value) if isinstance(value, float) else value}"


def _curves(data: xr.Dataset, values: xr.DataArray, across: str, by: str, title: str) -> Panel:
    at = values[across].values.astype(np.float64)
    places = np.flatnonzero(np.isfinite(at))
    places = places[thinned(len(places), _MOST_POINTS)]
    table = values.isel({across: places}).transpose(by, across).values
    names = [_said(by, value) for value in values[by].values]
    at, trials = at[places], _trials(data, values, across, by)
    lines: list[Line] = []
    if trials is not None:
        at, table, lines = joined(names, at, table, trials)
    theory = [Line(name, row) for name, row in zip(names, table, strict=True)]
    finite = table[np.isfinite(table)]
    wide = bool(finite.size and finite.min() > 0 and finite.max() > 10 * finite.min())
    log_x = bool(at.min() > 0 and at.max() > 30 * at.min())
    x, y = Axis(_ACROSS[across], log_x), Axis(_SHOWN[str(values.name)], wide)
    return Panel(title, x, y, at, [*theory, *lines])


def _trials(data: xr.Dataset, values: xr.DataArray, across: str, by: str) -> Trials | None:
    """Means of trained ensembles with standard errors at their sample ratios, where the figure has them."""
    if across != "sample_ratio" or "mean" not in data or "standard_error" not in data:
        return None
    same = {dim: values[dim] for dim in data["mean"].dims if dim in values.coords and values[dim].ndim == 0}
    mean, error = (data[name].sel(same).transpose(by, "n_samples").values for name in ("mean", "standard_error"))
    sizes = data.n_samples.values.astype(np.float64)
    return Trials(sizes / sizes.max(), mean, error)


def _maps(sizes: xr.DataArray) -> Iterator[Panel]:
    noise = next(dim for dim in ("readout_nsr", "feature_nsr", "label_nsr") if dim in sizes.dims)
    chosen = {}
    for dim in (noise, "sample_ratio"):
        places = np.flatnonzero(np.isfinite(sizes[dim].values))
        chosen[dim] = places[thinned(len(places), _MOST_CELLS)]
    for title, one in _facets(sizes.isel(chosen), (noise, "sample_ratio")):
        table = one.transpose(noise, "sample_ratio")
        yield Panel(
            f"best ensemble size k*, {title}",
            Axis(_ACROSS["sample_ratio"]),
            Axis(f"noise ratio {_WORDS[noise]}"),
            table.sample_ratio.values,
            heights=table[noise].values,
            sizes=table.values,
        )
