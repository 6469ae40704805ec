"""What a page about a result consists of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from subridge.arrays.types import ArrayLike, BoolArray, FloatArray, Json
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

    def at(self, chosen: BoolArray) -> "Line":
        """The same curve at some of its places."""
        lower, upper = (None if end is None else end[chosen] for end in (self.lower, self.upper))
        return Line(self.name, self.values[chosen], lower, upper, self.dots, self.dashed)

    def as_json(self, colour: str) -> dict[str, Json]:
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
        """The panel for the page's script."""
        curves = [line.name for line in self.lines if not line.dots]
        colours = [self._colour(i, line, curves) for i, line in enumerate(self.lines)]
        described: dict[str, Json] = {
            "title": self.title,
            "x": {"label": self.x.label, "log": self.x.log, "texts": self.x.texts and list(self.x.texts)},
            "y": {"label": self.y.label, "log": self.y.log},
            "at": numbers(self.at),
            "lines": [line.as_json(colour) for line, colour in zip(self.lines, colours, strict=True)],
            "joined": any(line.dots for line in self.lines),  # curves pass over the places of points
            "marks": {name: float(value) for name, value in self.marks.items()},
        }
        if self.heights is not None and self.sizes is not None:
            described |= {"heights": numbers(self.heights), "sizes": [numbers(row) for row in self.sizes]}
        return described

    @staticmethod
    def _colour(place: int, line: Line, curves: list[str]) -> str:
        """Points have the colour of the curve that they belong to."""
        own = line.name.removesuffix(TRAINED)
        return PALETTE[(curves.index(own) if own in curves else place) % len(PALETTE)]


@dataclass(frozen=True, eq=False)
class Report:
    """A page: title, sentences, panels, a table (column names, rows of texts) and settings."""

    title: str
    sentences: Sequence[str]
    panels: Sequence[Panel]
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    settings: Mapping[str, str]


def numbers(values: ArrayLike) -> list[Json]:
    """Numbers as JSON has them: six digits, NaN as null, infinity as text.

    Examples
    --------
    >>> numbers([1 / 3, float("nan"), float("inf")])
    [0.333333, None, 'inf']
    """
    return [_number(float(value)) for value in np.asarray(values, dtype=np.float64)]


def _number(value: float) -> Json:
    if np.isnan(value):
        return None
    return float(f"{value:.6g}") if np.isfinite(value) else ("inf" if value > 0 else "-inf")


def brief(value: float) -> str:
    """A number for the eye.

    Examples
    --------
    >>> brief(0.12345), brief(3012.3), brief(float("inf")), brief(float("nan"))
    ('0.123', '3,010', '∞', '–')
    """
    if np.isnan(value):
        return "–"
    return plain(value)


def thinned(length: int, most: int) -> list[int]:
    """Evenly spread positions, at most so many.

    Examples
    --------
    >>> thinned(5, 3)
    [0, 2, 4]
    """
    return [int(place) for place in np.unique(np.linspace(0, length - 1, min(most, length)).round())]
