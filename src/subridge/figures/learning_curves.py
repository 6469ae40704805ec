"""Ink shared by Figs. 1a and 1b: learning curves by ridge, lines of theory and points of experiment."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from subridge.figures.style import COLUMN, PALETTE, journal, number


def draw_ridges(data: xr.Dataset) -> Figure:
    """Draw ``theory``, ``mean`` ± ``standard_error`` and, where there, ``infinite_theory`` (thin, dashed)."""
    with journal():
        figure = Figure(figsize=(COLUMN * 1.25, 2.7))
        axes = figure.subplots()
        ridge_lines(axes, data)
    return figure


def ridge_lines(axes: Axes, data: xr.Dataset) -> None:
    """Draw the learning curves of every ridge into axes."""
    M = int(data.n_samples.max())  # the last training set of Fig. 1 has as many samples as features
    for position, (ridge, colour) in enumerate(zip(data.ridge.values, PALETTE, strict=False)):
        one = data.isel(ridge=position)
        axes.plot(one.sample_ratio, one.theory, color=colour, linewidth=1.1)
        if "infinite_theory" in one:
            axes.plot(one.sample_ratio, one.infinite_theory, color=colour, linewidth=0.9, linestyle=(0, (3, 2)))
        points = {"fmt": "o", "color": colour, "markersize": 3, "capsize": 1.5, "elinewidth": 0.8, "zorder": 3}
        axes.errorbar(one.n_samples / M, one["mean"], one.standard_error, label=f"λ = {number(ridge)}", **points)
    for threshold in np.unique(data.subset_fraction.values):
        axes.axvline(threshold, color="0.85", linewidth=0.7, zorder=0)
    axes.set(yscale="log", xlim=(0, 1.02), xlabel="sample ratio α = P/M", ylabel="generalization error $E_g$")
    handles, labels = axes.get_legend_handles_labels()
    handles.append(Line2D([], [], color="0.3", linewidth=1.1))
    labels.append(f"theory, M = {M}" if "infinite_theory" in data else "theory")
    if "infinite_theory" in data:
        handles.append(Line2D([], [], color="0.3", linewidth=0.9, linestyle=(0, (3, 2))))
        labels.append("theory, M → ∞")
    axes.legend(handles, labels, loc="upper right", handlelength=1.6)
