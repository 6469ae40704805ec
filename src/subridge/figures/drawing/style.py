"""The look of every figure (palette, column sizes, labels), and figures as picture files."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import cycle
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import matplotlib as mpl
import numpy as np
import xarray as xr
from cycler import cycler
from matplotlib.artist import setp
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colorbar import Colorbar
from matplotlib.colors import LinearSegmentedColormap, LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, FuncFormatter, LogLocator, NullFormatter

from subridge import __version__
from subridge.results.files import whole_file

# Okabe & Ito (2008), in the order blue, vermillion, green, purple, orange, sky. A dark wine (Tol, "muted") replaces
# their yellow, which is hard to see on white.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255")
GREY = "#7F7F7F"
COLUMN = 3.4  # inches
PAGE = 2 * COLUMN
# Noise ratios in the order of the paper, and the letters of its axes.
NOISE_SYMBOLS = {"readout_nsr": "H", "feature_nsr": "W", "label_nsr": "Z"}
RIDGE_NAMES = {"0": "λ = 0", "optimal": "λ = λ*"}


def noise_of(data: xr.Dataset | xr.DataArray) -> str:
    """The noise ratio that a figure varies."""
    return next(name for name in NOISE_SYMBOLS if name in data.dims)


def journal(*, framed: bool = False) -> AbstractContextManager[None]:
    """Style of journals while a figure is drawn; `framed` axes (maps) have all four sides."""
    return mpl.rc_context(
        {
            "axes.prop_cycle": cycler(color=PALETTE),
            "axes.spines.top": framed,
            "axes.spines.right": framed,
            "axes.labelsize": 9,
            "axes.titlesize": 9,
            "font.size": 8,
            "legend.frameon": False,
            "legend.fontsize": 8,
            "lines.linewidth": 1.3,
            "lines.markersize": 3.5,
            "figure.constrained_layout.use": True,
            "savefig.dpi": 300,
            "svg.hashsalt": "subridge",
        }
    )


@contextmanager
def panels(
    size: tuple[float, float],
    rows: int = 1,
    columns: int = 1,
    *,
    framed: bool = False,
    named: xr.Dataset | None = None,
    **layout: Any,
) -> Iterator[tuple[Figure, Any]]:
    """A figure of a size in inches with a grid of axes, shape (rows, columns), in the style of journals.

    With an experiment `named`, the name and number of its features are above the figure.
    """
    with journal(framed=framed):
        figure = Figure(figsize=size)
        yield figure, figure.subplots(rows, columns, squeeze=False, **layout)
        if named is not None:
            name = str(named.data.values).replace(" x ", " × ")
            figure.suptitle(f"{name}, {named.n_features:,} features", fontsize=8, color="0.4")


def label_edges(grid: Any, xlabel: str, ylabel: str) -> None:
    """Label the horizontal axes of the lowest row and the vertical axes of the first column."""
    setp(grid[-1], xlabel=xlabel)
    setp(grid[:, 0], ylabel=ylabel)


def colour_bar(
    figure: Figure, scale: ScalarMappable, grid: Any, label: str, ticks: Mapping[Any, str], **layout: Any
) -> Colorbar:
    """A colour bar for some axes, with ticks at these places only."""
    bar = figure.colorbar(scale, ax=grid, label=label, **layout)
    bar.set_ticks(list(ticks), labels=list(ticks.values()))
    bar.minorticks_off()
    return bar


def coloured(values: Iterable[Any]) -> Iterator[tuple[Any, str]]:
    """Values, each with a colour of the palette, which is repeated if it is too short."""
    return zip(values, cycle(PALETTE), strict=False)


def shades(name: str) -> LinearSegmentedColormap:
    """A colour map of matplotlib for lines on white, without its yellow end, which is hard to see.

    >>> shades("plasma")(1.0)[:3] == mpl.colormaps["plasma"](0.75)[:3]
    True
    """
    colours = mpl.colormaps[name](np.linspace(0, 0.75, 256))
    return LinearSegmentedColormap.from_list(f"{name}_on_white", colours)


def size_scale(low: float, high: float) -> ScalarMappable:
    """Colours of ensemble sizes between two bounds: grey for one member, white for infinitely many (masked)."""
    return ScalarMappable(LogNorm(low, high), shades("plasma").with_extremes(under=GREY, bad="white"))


def number(value: float) -> str:
    """A number as text for a label: powers of ten as powers, other numbers plainly.

    >>> number(1e-6), number(0.3), number(1.0), number(0.0)
    ('10$^{-6}$', '0.3', '1', '0')
    """
    exponent = np.log10(value) if value > 0 else 0.0
    is_power = not -2 <= exponent < 3 and abs(exponent - round(exponent)) < 1e-9
    return f"10$^{{{round(exponent)}}}$" if is_power else f"{value:g}"


def panel_letters(*panels: Axes) -> None:
    """Put a, b, c, ... at the upper left of the panels, outside the axes."""
    for axes, letter in zip(panels, ascii_lowercase, strict=False):
        axes.annotate(
            letter,
            (0, 1),
            xycoords="axes fraction",
            xytext=(-26, 6),
            textcoords="offset points",
            fontweight="bold",
            fontsize=10,
            annotation_clip=False,
        )


def named_line(axes: Axes, name: str, place: tuple[float, float], offset: tuple[float, float], **line: Any) -> None:
    """A thin vertical line with a grey name, at (data, fraction of the axes) plus an offset in points."""
    axes.axvline(place[0], linewidth=0.8, **line)
    axes.annotate(
        name, place, xycoords=("data", "axes fraction"), xytext=offset, textcoords="offset points", color="0.5"
    )


def log_samples(axes: Axes, n_samples: xr.DataArray) -> None:
    """A logarithmic axis of training-set sizes, with labels such as 500, 1k and 2k, fewer on a longer axis."""
    sizes = n_samples[np.isfinite(n_samples)]
    axes.set_xscale("log")
    if sizes.size:
        decades = np.log10(sizes.max() / sizes.min())
        digits = (1, 2, 5) if decades < 1.5 else (1, 3) if decades < 2.5 else (1,)
        axes.xaxis.set(
            major_locator=LogLocator(subs=digits), major_formatter=EngFormatter(sep=""), minor_formatter=NullFormatter()
        )


def log_errors(axes: Axes, values: xr.DataArray) -> None:
    """A logarithmic axis of errors; over less than two decades it is labelled in plain numbers."""
    finite = values.where((values > 0) & (values < np.inf))
    axes.set_yscale("log")
    if finite.max() < 100 * finite.min():
        few = finite.max() < 10 * finite.min()
        axes.yaxis.set(
            major_locator=LogLocator(subs=(1, 2, 3, 4, 6) if few else (1, 2, 5)),
            major_formatter=FuncFormatter(lambda value, _: f"{value:g}"),
            minor_formatter=NullFormatter(),
        )


def note(figure: Figure, text: str) -> None:
    """Add a line in small grey letters below a figure."""
    above = figure.get_supxlabel()
    figure.supxlabel(f"{above}\n{text}" if above else text, fontsize=7, color="0.4")


def write_pictures(figure: Figure, places: Sequence[Path], command: str = "") -> None:
    """Write a figure under every name, as ``.png``, ``.svg`` or ``.pdf`` by its suffix.

    Each file appears complete or not at all. It holds the version and the command that made it, and no date: equal
    numbers give equal bytes.
    """
    maker = f"subridge {__version__}"
    metadata = {
        ".png": {"Software": maker, "Description": command},
        ".svg": {"Creator": maker, "Description": command, "Date": None},
        ".pdf": {"Creator": maker, "Subject": command, "CreationDate": None},
    }
    with journal():
        # The layout takes half the time of a picture, so it is computed once for all files.
        engine: Any = figure.get_layout_engine()
        engine.execute(figure)
        figure.set_layout_engine("none")
        for place in places:
            with whole_file(place) as beside:
                figure.savefig(beside, metadata=metadata[place.suffix.lower()])
