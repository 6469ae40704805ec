"""Learning curves of classifiers: Figs. 3e and S2 by subsets, 4e and S3 by readout noise."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from subridge.figures.drawing.style import GREY, PAGE, PALETTE, journal, log_samples, name_features, shades

STRATEGY_NAMES = {"equal": "equal subsets", "dirichlet": "heterogeneous subsets"}
_SHOWN = (0.0, 0.3, 0.6, 1.0)


def plot_subset_means(data: xr.Dataset) -> Figure:
    """Fig. 3e: means without a ridge; grey, one classifier with the ridge."""
    with journal():
        figure = Figure(figsize=(PAGE, 2.7))
        panels = figure.subplots(1, 2, sharey=True)
        for axes, strategy in zip(panels, data.strategy.values, strict=True):
            one = data.misclassification.sel(strategy=strategy)
            label = f"k = 1, λ = {float(data.ridge[-1]):g}"
            single = one.isel(ridge=-1).sel(n_members=1).mean("trial")
            axes.plot(data.n_samples, single, color=GREY, linewidth=2.2, alpha=0.7, label=label)
            _add_curves(axes, one.isel(ridge=0), band=False)
            axes.set_title(f"{STRATEGY_NAMES[str(strategy)]}, λ = {float(data.ridge[0]):g}")
        _label(figure, list(panels), data)
    return figure


def plot_subset_spreads(data: xr.Dataset) -> Figure:
    """Fig. S2: both ridges, with the standard deviation over trials shaded."""
    with journal():
        figure = Figure(figsize=(PAGE, 4.8))
        grid = figure.subplots(data.sizes["ridge"], 2, sharey=True, sharex=True, squeeze=False)
        for row, ridge in zip(grid, data.ridge.values, strict=True):
            for axes, strategy in zip(row, data.strategy.values, strict=True):
                _add_curves(axes, data.misclassification.sel(strategy=strategy, ridge=ridge), band=True)
                axes.set_title(f"{STRATEGY_NAMES[str(strategy)]}, λ = {ridge:g}")
        _label(figure, list(grid.ravel()), data)
        for axes in grid[:-1].ravel():
            axes.set_xlabel("")
    return figure


def _add_curves(axes: Axes, shares: xr.DataArray, *, band: bool) -> None:
    for k, colour in zip(shares.n_members.values, PALETTE, strict=False):
        one = shares.sel(n_members=k)
        mean = one.mean("trial")
        axes.plot(one.n_samples, mean, color=colour, marker="o", markersize=2, linewidth=1.1, label=f"k = {k}")
        if band:
            spread = one.std("trial", ddof=1)
            axes.fill_between(one.n_samples, mean - spread, mean + spread, color=colour, alpha=0.2, linewidth=0)


def _label(figure: Figure, panels: list[Axes], data: xr.Dataset) -> None:
    for axes in panels:
        log_samples(axes, data.n_samples)
        axes.set(xlabel="training samples P", ylim=(0, None))
        for k, colour in zip(data.n_members.values, PALETTE, strict=False):
            axes.axvline(int(data.n_features) // k, color=colour, linewidth=0.6, linestyle=":", zorder=0)
    for axes in panels[::2]:
        axes.set_ylabel("test error")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", title="dotted: P = M/k", handlelength=1.4)
    name_features(figure, data)


def plot_noise_without_ridge(data: xr.Dataset) -> Figure:
    """Fig. 4e: one row of learning curves without a ridge."""
    return plot_noise(data.isel(ridge=[0]))


def plot_noise(data: xr.Dataset) -> Figure:
    """Fig. S3: learning curves by readout noise (columns) and ridge (rows)."""
    noises = [eta for eta in _SHOWN if np.isclose(data.readout_noise, eta).any()]
    colours = ScalarMappable(LogNorm(2, max(3, int(data.n_members.max()))), shades("plasma"))
    with journal():
        rows = data.sizes["ridge"]
        figure = Figure(figsize=(PAGE, 0.7 + 1.75 * rows))
        grid = figure.subplots(rows, len(noises), sharex=True, sharey=True, squeeze=False)
        for row, ridge in zip(grid, data.ridge.values, strict=True):
            for axes, eta in zip(row, noises, strict=True):
                mean = data.misclassification.sel(ridge=ridge).sel(readout_noise=eta, method="nearest").mean("trial")
                for k in data.n_members.values:
                    colour = GREY if k == 1 else colours.to_rgba(k)
                    axes.plot(data.n_samples, mean.sel(n_members=k), color=colour, linewidth=1)
                axes.set_title(f"η = {eta:g}, λ = {ridge:g}", fontsize=8)
                log_samples(axes, data.n_samples)
            row[0].set_ylabel("test error")
        for axes in grid[-1]:
            axes.set_xlabel("training samples P")
        bar = figure.colorbar(colours, ax=list(grid.ravel()), label="members k (grey: 1)", aspect=25)
        ticks = [k for k in (2, 5, 10, 30, 100, 200) if k <= int(data.n_members.max())]
        bar.set_ticks(ticks, labels=[str(k) for k in ticks])
        bar.minorticks_off()
        grid[0, 0].set_ylim(0, 1)
        name_features(figure, data)
    return figure
