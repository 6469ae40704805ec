"""The parts of a report page: panels of lines or maps, sentences, a table and settings."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import xarray as xr

from subridge.arrays.types import ArrayLike, FloatArray, Json
from subridge.results.numbers import plain

PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a8a00", "#7f7f7f")
TRAINED = ", trained"  # the end of the name of points that belong to a curve


@dataclass(frozen=True, eq=False)
class Line:
    """One curve of a panel.

    Attributes
    ----------
    name : str
    values : ndarray, shape (n,)
        NaN where there is none.
    lower, upper : ndarray, shape (n,), or None
        Ends of its intervals, drawn as a band or, with `dots`, as bars.
    dots, dashed : bool
    """

    name: str
    values: FloatArray
    lower: FloatArray | None = None
    upper: FloatArray | None = None
    dots: bool = False
    dashed: bool = False

    def as_json(self, colour: str) -> dict[str, Json]:
        """The line for the page's script."""
        line: dict[str, Json] = {"name": self.name, "colour": colour, "values": numbers(self.values), "dots": self.dots}
        if self.dashed:
            line["dash"] = [5, 3]
        if self.lower is not None and self.upper is not None:
            line |= {"lower": numbers(self.lower), "upper": numbers(self.upper), "band": not self.dots}
        if self.dots:
            line["width"] = 0
        return line


@dataclass(frozen=True, eq=False)
class Axis:
    """A label, whether it is logarithmic, and texts in place of numbers."""

    label: str
    log: bool = False
    texts: Sequence[str] | None = None


@dataclass(frozen=True, eq=False)
class Panel:
    """A picture: curves over common horizontal positions, or a map of ensemble sizes.

    Attributes
    ----------
    title : str
    x, y : Axis
    at : ndarray, shape (n,)
    lines : sequence of Line
    marks : mapping
        Vertical lines: text to position.
    heights, sizes : ndarray, shapes (m,) and (m, n), or None
        For a map: vertical positions and k*.
    """

    title: str
    x: Axis
    y: Axis
    at: FloatArray
    lines: Sequence[Line] = ()
    marks: Mapping[str, float] = field(default_factory=dict)
    heights: FloatArray | None = None
    sizes: FloatArray | None = None

    def as_json(self) -> dict[str, Json]:
        """The panel for the page's script; points have the colour of the curve that they belong to."""
        curves = [line.name for line in self.lines if not line.dots]
        lines = []
        for i, line in enumerate(self.lines):
            own = line.name.removesuffix(TRAINED)
            lines.append(line.as_json(PALETTE[(curves.index(own) if own in curves else i) % len(PALETTE)]))
        described: dict[str, Json] = {
            "title": self.title,
            "x": {"label": self.x.label, "log": self.x.log, "texts": self.x.texts and list(self.x.texts)},
            "y": {"label": self.y.label, "log": self.y.log},
            "at": numbers(self.at),
            "lines": lines,
            "joined": any(line.dots for line in self.lines),  # curves pass over the places of points
            "marks": {name: float(value) for name, value in self.marks.items()},
        }
        if self.heights is not None and self.sizes is not None:
            described |= {"heights": numbers(self.heights), "sizes": [numbers(row) for row in self.sizes]}
        return described


# A page: title, sentences, panels, and a table (column names, rows of texts).
Report: TypeAlias = tuple[str, Sequence[str], Sequence[Panel], Sequence[str], Sequence[Sequence[str]]]


def with_trials(
    names: Sequence[str], at: FloatArray, theory: FloatArray, points: FloatArray, mean: FloatArray, error: FloatArray
) -> tuple[FloatArray, list[Line]]:
    """Curves of theory (curves, n) at `at`, and means of trials with standard errors (curves, m) at `points`.

    Returns all positions in order, and the lines over them, NaN where there is no value.
    """
    order = np.argsort(np.concatenate([at, points]), kind="stable")
    blank, empty = np.full((len(theory), len(points)), np.nan), np.full((len(mean), len(at)), np.nan)
    curves = np.concatenate([theory, blank], axis=1)[:, order]
    middle, low, high = (np.concatenate([empty, part], axis=1)[:, order] for part in (mean, mean - error, mean + error))
    lines = [Line(name, row) for name, row in zip(names, curves, strict=True)]
    lines += [
        Line(name + TRAINED, one, lower, upper, dots=True)
        for name, one, lower, upper in zip(names, middle, low, high, strict=True)
    ]
    return np.concatenate([at, points])[order], lines


def map_panel(title: str, sizes: xr.DataArray, x: str, y: str, labels: Sequence[str], most: int) -> Panel:
    """A map of ensemble sizes over the finite coordinates `x` and `y`, thinned to at most so many cells a side."""
    chosen = {}
    for name in (x, y):
        places = np.flatnonzero(np.isfinite(sizes[name].values))
        chosen[name] = places[thinned(len(places), most)]
    cut = sizes.isel(chosen).transpose(y, x)
    across, down = map(Axis, labels)
    return Panel(title, across, down, cut[x].values, heights=cut[y].values, sizes=cut.values)


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
        for value in np.asarray(values, dtype=np.float64).tolist()
    ]


def brief(value: float) -> str:
    """A number to read.

    Examples
    --------
    >>> brief(0.12345), brief(3012.3), brief(float("inf")), brief(float("nan"))
    ('0.123', '3,010', '∞', '–')
    """
    return "–" if np.isnan(value) else plain(float(value))


def thinned(length: int, most: int) -> list[int]:
    """Evenly spread positions, at most so many.

    Examples
    --------
    >>> thinned(5, 3)
    [0, 2, 4]
    """
    return [int(place) for place in np.unique(np.linspace(0, length - 1, min(most, length)).round())]


def settings_of(dataset: xr.Dataset) -> dict[str, str]:
    """Attributes of a result as texts, nested ones unfolded.

    Examples
    --------
    >>> settings_of(xr.Dataset(attrs={"schema": "x", "level": 0.9, "plan": '{"seed": 1, "sizes": [2, 3]}'}))
    {'level': '0.9', 'plan: seed': '1', 'plan: sizes': '2, 3'}
    """
    found: dict[str, str] = {}
    for name, value in dataset.attrs.items():
        if isinstance(value, str) and value[:1] in ("{", "["):
            with suppress(json.JSONDecodeError):  # text that only looks like JSON
                value = json.loads(value)
        if name not in ("schema", "schema_version", "description", "fingerprint", "command"):
            found |= _unfolded(str(name), value)
    return found


def _unfolded(name: str, value: Json) -> dict[str, str]:
    if isinstance(value, dict):
        parts = [_unfolded(f"{name}: {key}", part) for key, part in value.items() if key != "type"]
        return {key: text for part in parts for key, text in part.items()}
    if isinstance(value, list):
        return {name: ", ".join(map(str, value))}
    return {name: f"{value:g}" if isinstance(value, float) else str(value)}
