"""One look for every figure: a palette safe for colour-blind readers, sizes of columns, text of labels."""

from collections.abc import Iterator
from contextlib import contextmanager

import matplotlib as mpl
import numpy as np
import xarray as xr
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

# Okabe & Ito (2008), in the order blue, vermillion, green, purple, orange, sky, yellow.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442")
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


def log_samples(axes: Axes, n_samples: xr.DataArray, ticks: tuple[int, ...]) -> None:
    """A logarithmic axis of training-set sizes, labelled in plain numbers at those ticks that lie on it."""
    sizes = n_samples.values[np.isfinite(n_samples.values)]
    shown = [P for P in ticks if (sizes <= P).any() and (sizes >= P).any()]
    axes.set_xscale("log")
    if len(shown) > 1:  # a shorter axis keeps matplotlib's own ticks
        axes.set_xticks(shown, labels=[str(P) for P in shown])
        axes.xaxis.set_minor_formatter(NullFormatter())


def name_features(figure: Figure, data: xr.Dataset) -> None:
    """Say above a figure which features it was made from."""
    figure.suptitle(str(data.data.values), fontsize=8, color="0.4")
