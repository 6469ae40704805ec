"""One look for every figure: a palette safe for colour-blind readers, sizes of columns, text of labels."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise

import matplotlib as mpl
import numpy as np
import xarray as xr
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

# Okabe & Ito (2008), in the order blue, vermillion, green, purple, orange, sky; their yellow cannot be seen on white,
# and a dark wine (Tol, "muted") stands in its place.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255")
GREY = "#7F7F7F"
COLUMN = 3.4  # inches
PAGE = 2 * COLUMN
# Noise ratios in the order of the paper, and the letters of its axes.
NOISE_SYMBOLS = {"readout_nsr": "H", "feature_nsr": "W", "label_nsr": "Z"}


@contextmanager
def journal(*, framed: bool = False) -> Iterator[None]:
    """Sizes and lines as journals want them, for the duration of one figure; maps are framed on all sides."""
    with mpl.rc_context(
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
    ):
        yield


def shades(name: str) -> LinearSegmentedColormap:
    """A colour map of matplotlib for lines on white: without its yellow end, of which little is seen.

    >>> shades("plasma")(1.0)[:3] == mpl.colormaps["plasma"](0.75)[:3]
    True
    """
    colours = mpl.colormaps[name](np.linspace(0, 0.75, 256))
    return LinearSegmentedColormap.from_list(f"{name}_on_white", [tuple(colour) for colour in colours])


def number(value: float) -> str:
    """A number as text for a label: powers of ten as such, the rest plain.

    >>> number(1e-6), number(0.3), number(1.0), number(0.0)
    ('10$^{-6}$', '0.3', '1', '0')
    """
    if value > 0 and (value < 0.01 or value >= 1000):
        exponent = float(np.log10(value))
        if abs(exponent - round(exponent)) < 1e-9:
            return f"10$^{{{round(exponent)}}}$"
    return f"{value:g}"


def panel_letter(axes: Axes, letter: str) -> None:
    """Put a panel's letter at its upper left, outside the axes."""
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


def name_line(axes: Axes, name: str, place: tuple[float, float], offset: tuple[float, float]) -> None:
    """Name a vertical line in grey; of its place the height is a share of the axes, and the offset is in points."""
    where = ("data", "axes fraction")
    axes.annotate(name, place, xycoords=where, xytext=offset, textcoords="offset points", color="0.5")


def log_samples(axes: Axes, n_samples: xr.DataArray) -> None:
    """A logarithmic axis of training-set sizes, labelled in plain numbers: as many as stand apart."""
    sizes = n_samples.values[np.isfinite(n_samples.values)]
    axes.set_xscale("log")
    low, high = float(sizes.min()), float(sizes.max())
    width = 0.9 * axes.bbox.width / axes.figure.dpi  # inches, before labels and legends are laid out
    for digits in _LADDERS:
        shown = [digit * 10**power for power in range(16) for digit in digits if low <= digit * 10**power <= high]
        if len(shown) > 1 and _stand_apart(shown, width / np.log(1.1 * high / low)):
            axes.set_xticks(shown, labels=[f"{P:,}" for P in shown])
            axes.xaxis.set_minor_formatter(NullFormatter())
            return  # an axis without room for two of them keeps matplotlib's own ticks


_LADDERS = ((1, 2, 5), (1, 3), (1,))
_CHARACTER = 0.068  # inches of a character of a label


def _stand_apart(ticks: list[int], inches: float) -> bool:
    """Whether labels of neighbouring ticks leave a gap, at so many inches for a factor of e."""
    return all(
        np.log(after / before) * inches > _CHARACTER * ((len(f"{before:,}") + len(f"{after:,}")) / 2 + 1)
        for before, after in pairwise(ticks)
    )


def log_errors(axes: Axes, values: xr.DataArray) -> None:
    """A logarithmic axis of errors; over less than two decades it is labelled in plain numbers."""
    finite = values.values[np.isfinite(values.values) & (values.values > 0)]
    axes.set_yscale("log")
    if finite.size and finite.max() < 100 * finite.min():
        few = finite.max() < 10 * finite.min()
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 3, 4, 6) if few else (1, 2, 5)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())


def name_features(figure: Figure, data: xr.Dataset) -> None:
    """Say above a figure which features it was made from, and how many of them."""
    name = str(data.data.values).replace(" x ", " × ")
    figure.suptitle(f"{name}, {int(data.n_features):,} features", fontsize=8, color="0.4")


def note(figure: Figure, text: str) -> None:
    """A line in small grey print below a figure, under what is there."""
    above = figure.get_supxlabel()
    figure.supxlabel(f"{above}\n{text}" if above else text, fontsize=7, color="0.4")
