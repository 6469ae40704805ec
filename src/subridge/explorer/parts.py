"""The parts of a report page: panels of lines or maps, sentences, a table and settings."""

import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
import xarray as xr

from subridge.arrays.types import ArrayLike, FloatArray, Json

PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a8a00", "#7f7f7f")
_HIDDEN = ("schema", "schema_version", "description", "fingerprint", "command")  # of the settings
TRAINED = ", trained"  # suffix of the name of points that belong to a curve


# Input of the script of the page: a line, an axis (label, log, texts instead of numbers) or a panel.
Described: TypeAlias = dict[str, Any]


def line(
    name: str,
    values: ArrayLike,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    *,
    dots: bool = False,
    dashed: bool = False,
) -> Described:
    """A curve of a panel, NaN where it has no value; `lower` and `upper` become a band or, with `dots`, bars."""
    described = {"name": name, "values": numbers(values), "dots": dots, "width": 0 if dots else None}
    if dashed:
        described["dash"] = [5, 3]
    if lower is not None and upper is not None:
        described |= {"lower": numbers(lower), "upper": numbers(upper), "band": not dots}
    return described


def panel(
    title: str, x: Described, y: Described, at: ArrayLike, lines: Sequence[Described] = (), **marks: float
) -> Described:
    """A picture of curves over common positions `at`, with vertical lines at `marks`.

    Points have the colour of the curve that they belong to.
    """
    curves = [each["name"] for each in lines if not each["dots"]]
    for i, each in enumerate(lines):
        own = each["name"].removesuffix(TRAINED)
        each["colour"] = PALETTE[(curves.index(own) if own in curves else i) % len(PALETTE)]
    joined = any(each["dots"] for each in lines)  # curves are drawn across the positions of points, where they are NaN
    return {"title": title, "x": x, "y": y, "at": numbers(at), "lines": list(lines), "joined": joined, "marks": marks}


class Report(NamedTuple):
    """The contents of the page of a result, which the terminal shows too."""

    title: str
    sentences: Sequence[str]
    panels: Sequence[Described]
    table: dict[str, list[str]]  # cells of every column

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The cells of the table, row by row."""
        return list(zip(*self.table.values(), strict=True))


def with_trials(
    names: Sequence[str], at: FloatArray, theory: FloatArray, points: FloatArray, mean: FloatArray, error: FloatArray
) -> tuple[FloatArray, list[Described]]:
    """Curves of theory (curves, n) at `at`, and means of trials with standard errors (curves, m) at `points`.

    Returns all positions in order, and the lines over them, NaN where there is no value.
    """
    trained = [name + TRAINED for name in names]
    curves = pd.DataFrame(theory.T, at, names)
    middle, lower, upper = (
        pd.concat([curves, pd.DataFrame(part.T, points, trained)]).sort_index(kind="stable")
        for part in (mean, mean - error, mean + error)
    )
    lines = [line(name, middle[name]) for name in names]
    lines += [line(name, middle[name], lower[name], upper[name], dots=True) for name in trained]
    return middle.index.to_numpy(), lines


def map_panel(title: str, sizes: xr.DataArray, x: str, y: str, labels: Sequence[str], most: int) -> Described:
    """A map of ensemble sizes over the finite coordinates `x` and `y`, thinned to at most `most` cells a side."""
    cut = thinned_along(thinned_along(sizes.transpose(y, x), x, most), y, most)
    across, down = ({"label": label} for label in labels)
    return panel(title, across, down, cut[x]) | {"heights": numbers(cut[y]), "sizes": [numbers(row) for row in cut]}


def exceeds(values: FloatArray, factor: float) -> bool:
    """Whether finite values are positive and differ by more than a factor, so that they need a logarithmic axis."""
    finite = values[np.isfinite(values)]
    return bool(finite.size and finite.min() > 0 and finite.max() > factor * finite.min())


def numbers(values: ArrayLike) -> list[Json]:
    """Numbers as JSON has them: six digits, NaN as null, infinity as text.

    Examples
    --------
    >>> numbers([1 / 3, float("nan"), float("inf")])
    [0.333333, None, 'inf']
    """
    return [
        float(f"{value:.6g}") if np.isfinite(value) else None if np.isnan(value) else str(value)
        for value in np.asarray(values, dtype=float).tolist()
    ]


def thinned(length: int, most: int) -> list[int]:
    """At most `most` evenly spread positions.

    Examples
    --------
    >>> thinned(5, 3)
    [0, 2, 4]
    """
    return list(map(int, np.unique(np.linspace(0, length - 1, min(most, length)).round())))


def thinned_along(values: xr.DataArray, name: str, most: int) -> xr.DataArray:
    """Values at no more than `most` evenly spread places among the finite coordinates of a dimension."""
    finite = values.isel({name: np.isfinite(values[name])})
    return finite.isel({name: thinned(finite.sizes[name], most)})


def settings_of(dataset: xr.Dataset) -> dict[str, str]:
    """Attributes of a result as texts, nested ones unfolded.

    Examples
    --------
    >>> settings_of(xr.Dataset(attrs={"schema": "x", "level": 0.9, "plan": '{"seed": 1, "sizes": [2, 3]}'}))
    {'level': '0.9', 'plan: seed': '1', 'plan: sizes': '[2, 3]'}
    """
    found = {name: value for name, value in dataset.attrs.items() if name not in _HIDDEN}
    for name, value in found.items():
        with suppress(ValueError, TypeError):  # values that are not JSON stay as they are
            found[name] = json.loads(value)
    flat = pd.json_normalize(found, sep=": ").T[0]
    return {str(name): str(value) for name, value in flat.items() if not str(name).endswith(": type")}
