"""Fig. 3c: learning curves of heterogeneous ensembles over draws of their subset fractions."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from subridge.arrays.types import BoolArray
from subridge.figures.drawing.style import GREY, PAGE, PALETTE, journal, note, number

_DASHES = (0, (2.5, 1.5))


def plot_heterogeneity(data: xr.Dataset) -> Figure:
    """Ridges on the rows, (c, η) on the columns."""
    with journal():
        figure = Figure(figsize=(PAGE, 4.0))
        grid = figure.subplots(data.sizes["ridge"], data.sizes["panel"], sharex=True)
        for (row, column), axes in np.ndenumerate(grid):
            _add_panel(axes, data.isel(ridge=row, panel=column))
        for axes in grid[:, 0]:
            axes.set_ylabel("generalization error $E_g$")
        for axes in grid[-1]:
            axes.set_xlabel("α = P/M")
        figure.legend(
            *_legend(data), loc="outside upper center", ncols=8, handlelength=1.4, columnspacing=0.9, fontsize=7
        )
        if not bool(data.average_exists.all()):
            note(figure, "ρ ≠ 0: for σ = 1/k and c > 0 the average over draws does not exist; the median is drawn")
    return figure


def _add_panel(axes: Axes, data: xr.Dataset) -> None:
    finite = np.isfinite(data.sample_ratio.values)
    alpha, edge = data.sample_ratio.values[finite], 1.09 * data.sample_ratio.values[finite].max()
    for position, colour in enumerate(PALETTE[: data.sizes["fraction_spread"]]):
        one = data.isel(fraction_spread=position)
        if float(one.fraction_spread) > 0:
            for shown in one.shown.transpose("draw", "sample_ratio").values:
                axes.plot(alpha, shown[finite], color=colour, linewidth=0.6, linestyle=_DASHES, alpha=0.8)
        axes.plot(alpha, one.risk.values[finite], color=colour, zorder=3)
        # Smaller and smaller, so that markers at one place all show.
        axes.plot(edge, one.risk.values[~finite], "<", color=colour, markersize=6.5 - 1.1 * position, clip_on=False)
    axes.plot(alpha, data.full_model.values[finite], color=GREY)
    _limits(axes, data, finite, edge)
    axes.set_title(
        f"λ = {number(float(data.ridge))}, c = {float(data.correlation):g}, η = {float(data.readout_noise):g}",
        fontsize=7.5,
    )


def _limits(axes: Axes, data: xr.Dataset, finite: BoolArray, edge: float) -> None:
    """Fit the axis to the curves; an asymptote of zero is far below and shown as a hollow mark at the bottom."""
    zero = float(data.full_model.values[~finite][0])
    values = [data.risk.values.ravel(), data.shown.values[..., finite].ravel(), data.full_model.values[finite]]
    low, high = min(part.min() for part in values), max(part.max() for part in values)
    if zero > 1e-9:
        low = min(low, zero)
        axes.plot(edge, zero, "<", color=GREY, markersize=5, clip_on=False)
    pad = 0.06 * (high - low)
    axes.set(xlim=(0, 1.02 * data.sample_ratio.values[finite].max()), ylim=(low - 1.5 * pad, high + pad))
    if zero <= 1e-9:
        axes.plot(edge, low - pad, "v", color=GREY, markersize=5, markerfacecolor="white", clip_on=False)


def _legend(data: xr.Dataset) -> tuple[list[Line2D], list[str]]:
    handles, labels = [], []
    for spread, colour in zip(data.fraction_spread.values, PALETTE, strict=False):
        handles.append(Line2D([], [], color=colour))
        labels.append("equal" if spread == 0 else f"σ = {spread:g}/k")
    handles += [
        Line2D([], [], color="0.3", linewidth=0.6, linestyle=_DASHES),
        Line2D([], [], color=GREY),
        Line2D([], [], color="0.3", marker="<", linestyle="none", markersize=5),
        Line2D([], [], color="0.3", marker="v", linestyle="none", markersize=5, markerfacecolor="white"),
    ]
    return handles, [*labels, "single draws", "one full model at λ*", "α → ∞", "zero there"]
