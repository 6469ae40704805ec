"""Drawings of predictors that see subsets of features: circles for features, a square for each readout."""

import numpy as np
from matplotlib.axes import Axes

from subridge.arrays.streams import stream
from subridge.figures.style import PALETTE

_SHOWN = 20  # features in the drawing of one predictor


def draw_predictor(axes: Axes, fraction: float, colour: str) -> None:
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


def draw_ensemble(axes: Axes, subset_sizes: np.ndarray) -> None:
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
