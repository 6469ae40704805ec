"""Figs. 4a and S9 to S14: reduced learning curves of equal ensembles, coloured by their size k."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter

from subridge.figures.drawing.style import GREY, NOISE_SYMBOLS, PAGE, journal, shades


def plot_reduced_curves(data: xr.Dataset) -> Figure:
    """Panels of noise (columns) by alignment or ridge (rows), one colour bar for k."""
    noise = next(name for name in NOISE_SYMBOLS if name in data.dims)
    row = "reduced_ridge" if data.sizes["reduced_ridge"] > 1 else "alignment"
    finite = data.n_members.values[np.isfinite(data.n_members.values)]
    scale = ScalarMappable(LogNorm(2, finite.max()), shades("plasma"))
    shape = (data.sizes[row], data.sizes[noise])
    with journal():
        figure = Figure(figsize=(PAGE * min(1, 0.2 + 0.27 * shape[1]), 0.5 + 1.55 * shape[0]))
        grid = figure.subplots(*shape, sharex=True, sharey="row", squeeze=False)
        for (i, j), axes in np.ndenumerate(grid):
            one = data.isel({row: i, noise: j}).squeeze(drop=False)
            _add_panel(axes, one, scale)
            ridge = "λ = 0" if str(one.reduced_ridge.values) == "0" else "λ = λ*"
            axes.set_title(
                f"ρ = {float(one.alignment):g}, {NOISE_SYMBOLS[noise]} = {float(one[noise]):g}, {ridge}", fontsize=8
            )
        for i, axes in enumerate(grid[:, 0]):
            highest = float(data.reduced_risk.isel({row: i}).max())
            axes.set_ylim(0, 2.2 if highest > 1.15 else 1.15)  # divergences are cut, bounded curves fill their panel
        for axes in grid[-1]:
            axes.set_xlabel("sample ratio α")
        for axes in grid[:, 0]:
            axes.set_ylabel(r"$E_g\,/\,s(1-c)$")
        bar = figure.colorbar(scale, ax=grid, label="ensemble size k", shrink=0.8, aspect=30)
        bar.set_ticks([2, 5, 10, 20, 60], labels=["2", "5", "10", "20", "60"])
        bar.minorticks_off()
        handles = [Line2D([], [], color=GREY), Line2D([], [], color="black", linestyle="--")]
        grid[0, 0].legend(handles, ["k = 1", "k → ∞"], loc="lower left", handlelength=1.5, fontsize=7)
    return figure


def _add_panel(axes: Axes, data: xr.Dataset, scale: ScalarMappable) -> None:
    curves = data.reduced_risk.transpose("n_members", "sample_ratio").values
    for k, curve in zip(data.n_members.values, curves, strict=True):
        if np.isinf(k):
            axes.plot(data.sample_ratio, curve, color="black", linestyle="--", zorder=3)
        else:
            colour = GREY if k == 1 else scale.to_rgba(k)
            axes.plot(data.sample_ratio, curve, color=colour, linewidth=1.6 if k == 1 else 0.9)
    axes.set(xscale="log", xlim=(0.01, 5))
    axes.xaxis.set_minor_locator(LogLocator(subs=(2, 5)))  # nine panels of every minor tick take seconds to lay out
    axes.xaxis.set_minor_formatter(NullFormatter())
