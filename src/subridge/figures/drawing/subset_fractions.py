"""Who sees how many features: schematic drawings of predictors and ensembles, and the densities of fractions.

In the schematic drawings circles are features and a square is a readout.
"""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from subridge.arrays.streams import stream
from subridge.arrays.types import IntArray
from subridge.figures.drawing.style import COLUMN, PALETTE, journal, shades

_SHOWN = 20  # features in the drawing of one predictor


def plot_ensembles(data: xr.Dataset) -> Figure:
    """Fig. 3a: an equal and a heterogeneous ensemble, one above the other."""
    titles = (
        "(i) equal subsets, $\\nu_{rr} = 1/k$",
        "(ii) heterogeneous subsets, $\\nu_{rr}$ drawn from $\\Gamma_{k,\\sigma}$",
    )
    with journal():
        figure = Figure(figsize=(COLUMN, 2.4))
        for axes, title, sizes in zip(figure.subplots(2, 1), titles, data.subset_sizes.values, strict=True):
            _add_ensemble(axes, sizes)
            axes.set_title(title, fontsize=8)
    return figure


def plot_densities(data: xr.Dataset) -> Figure:
    """Fig. 3b: densities on a logarithmic scale, coloured by standard deviation."""
    sigma = data.deviation.values
    scale = ScalarMappable(Normalize(sigma.min(), sigma.max()), shades("plasma"))
    with journal():
        figure = Figure(figsize=(COLUMN, 2.5))
        axes = figure.subplots()
        for row, one in zip(data.density.values, sigma, strict=True):
            axes.plot(data.subset_fraction, row, color=scale.to_rgba(one))
        axes.set(yscale="log", xlim=(0, 0.3), ylim=(0.09, 25))
        axes.set(xlabel="subset fraction ν", ylabel="probability density $\\Gamma_{k,\\sigma}(\\nu)$")
        figure.colorbar(scale, ax=axes, label="standard deviation σ")
    return figure


def add_predictor(axes: Axes, fraction: float, colour: str) -> None:
    """One readout above a row of features, linked to the share it sees."""
    seen = np.sort(stream(0, round(1000 * fraction)).permutation(_SHOWN)[: round(fraction * _SHOWN)])
    for feature in seen:
        axes.plot([feature, (_SHOWN - 1) / 2], [0, 1], color=colour, linewidth=0.7, zorder=1)
    face = [colour if feature in seen else "white" for feature in range(_SHOWN)]
    axes.scatter(range(_SHOWN), np.zeros(_SHOWN), s=14, c=face, edgecolors="0.35", linewidths=0.6, zorder=2)
    axes.scatter([(_SHOWN - 1) / 2], [1], s=36, c=colour, edgecolors="0.35", linewidths=0.6, marker="s", zorder=2)
    axes.set(xlim=(-1, _SHOWN), ylim=(-0.25, 1.3))
    axes.set_axis_off()
    axes.set_title(f"ν = {fraction:g}", fontsize=8, color="0.2")


def _add_ensemble(axes: Axes, subset_sizes: IntArray) -> None:
    """k readouts above a row of features, each linked to its own disjoint subset."""
    M, k = int(np.sum(subset_sizes)), len(subset_sizes)
    places = np.linspace(0.05 * M, 0.95 * M, k)
    first = 0
    for member, size in enumerate(subset_sizes):
        colour = PALETTE[member % len(PALETTE)]
        features = np.arange(first, first + int(size))
        for feature in features:
            axes.plot([feature, places[member]], [0, 1], color=colour, linewidth=0.5, zorder=1)
        axes.scatter(features, np.zeros(len(features)), s=5, c=colour, edgecolors="0.35", linewidths=0.3, zorder=2)
        axes.scatter([places[member]], [1], s=30, c=colour, edgecolors="0.35", linewidths=0.6, marker="s", zorder=2)
        first += int(size)
    axes.set(xlim=(-2, M + 1), ylim=(-0.2, 1.2))
    axes.set_axis_off()
