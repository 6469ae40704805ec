"""One look for every figure: a palette safe for colour-blind readers, column-width sizes."""

from collections.abc import Iterator
from contextlib import contextmanager

import matplotlib as mpl

# Okabe & Ito (2008), in the order blue, vermillion, green, purple, orange, sky, yellow.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442")
GREY = "#7F7F7F"
COLUMN = 3.4  # inches


@contextmanager
def journal() -> Iterator[None]:
    """Drawing settings at the level of a journal, for the duration of one figure."""
    settings = {
        "axes.prop_cycle": mpl.cycler(color=PALETTE),
        "axes.spines.top": False,
        "axes.spines.right": False,
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
    with mpl.rc_context(settings):
        yield
