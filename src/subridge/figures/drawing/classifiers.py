"""Classifiers on deep features: statistics of the features, learning curves, and the best number of members."""

from typing import Any

import matplotlib as mpl
import numpy as np
import xarray as xr
from matplotlib.artist import setp
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import BoundaryNorm, ListedColormap, LogNorm, Normalize, TwoSlopeNorm
from matplotlib.figure import Figure

from subridge.figures.drawing.style import (
    COLUMN,
    GREY,
    PAGE,
    PALETTE,
    colour_bar,
    coloured,
    label_edges,
    log_samples,
    panel_letters,
    panels,
    shades,
    size_scale,
)
from subridge.results.schemas import mean_and_error

STRATEGY_NAMES = {"equal": "equal subsets", "dirichlet": "heterogeneous subsets"}


def plot_subsets(data: xr.Dataset, *, spread: bool) -> Figure:
    """Fig. 3e: means without a ridge, and one classifier with the ridge in grey.

    With `spread`, Fig. S2: both ridges, with the standard deviation over trials shaded.
    """
    ridges = data.ridge.values if spread else data.ridge.values[:1]
    with panels((PAGE, 4.8 if spread else 2.7), len(ridges), 2, sharey=True, sharex=True, named=data) as (figure, grid):
        for (i, j), axes in np.ndenumerate(grid):
            strategy = data.strategy.values[j]
            shares = data.misclassification.sel(strategy=strategy)
            if not spread:
                single = shares.isel(ridge=-1).sel(n_members=1).mean("trial")
                axes.plot(data.n_samples, single, GREY, lw=2.2, alpha=0.7, label=f"k = 1, λ = {single.ridge:g}")
            for k, colour in coloured(data.n_members.values):
                one = shares.sel(ridge=ridges[i], n_members=k)
                mean = one.mean("trial")
                axes.plot(one.n_samples, mean, color=colour, marker="o", markersize=2, linewidth=1.1, label=f"k = {k}")
                if spread:
                    error = one.std("trial", ddof=1)
                    axes.fill_between(one.n_samples, mean - error, mean + error, color=colour, alpha=0.2, linewidth=0)
                axes.axvline(data.n_features // k, color=colour, linewidth=0.6, linestyle=":", zorder=0)
            axes.set(title=f"{STRATEGY_NAMES[strategy]}, λ = {ridges[i]:g}", ylim=(0, None))
            log_samples(axes, data.n_samples)
        label_edges(grid, "training samples P", "test error")
        handles, labels = grid[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside right center", title="dotted: P = M/k", handlelength=1.4)
    return figure


def plot_noise(data: xr.Dataset) -> Figure:
    """Figs. 4e and S3: learning curves by readout noise (columns) and ridge (rows)."""
    noises = [eta for eta in (0.0, 0.3, 0.6, 1.0) if np.isclose(data.readout_noise, eta).any()]
    most = int(data.n_members.max())
    rows = data.sizes["ridge"]
    colours = size_scale(2, max(3, most))
    with panels((PAGE, 0.7 + 1.75 * rows), rows, len(noises), sharex=True, sharey=True, named=data) as (figure, grid):
        for row, ridge in zip(grid, data.ridge.values, strict=True):
            for axes, eta in zip(row, noises, strict=True):
                mean = data.misclassification.sel(ridge=ridge).sel(readout_noise=eta, method="nearest").mean("trial")
                for k in data.n_members.values:
                    axes.plot(data.n_samples, mean.sel(n_members=k), color=colours.to_rgba(k), linewidth=1)
                axes.set_title(f"η = {eta:g}, λ = {ridge:g}", fontsize=8)
                log_samples(axes, data.n_samples)
        label_edges(grid, "training samples P", "test error")
        ticks = {k: str(k) for k in (2, 5, 10, 30, 100, 200) if k <= most}
        colour_bar(figure, colours, grid, "members k (grey: 1)", ticks, aspect=25)
        grid[0, 0].set_ylim(0, 1)
    return figure


def plot_best_sizes(data: xr.Dataset) -> Figure:
    """Fig. 4f: k* over P and η, at both ridges."""
    with panels((PAGE, 2.6), 1, data.sizes["ridge"], sharey=True, framed=True, named=data) as (figure, grid):
        for axes, ridge in zip(grid[0], data.ridge.values, strict=True):
            _add_map(axes, data.optimal_n_members.sel(ridge=ridge), _sizes_scale(data), f"λ = {ridge:g}")
        label_edges(grid, "training samples P", "readout noise η")
        _add_sizes_bar(figure, grid, data, "best ensemble size $k^*$", "right")
    return figure


def plot_nearly_best_sizes(data: xr.Dataset) -> Figure:
    """Figs. S4 and S5: k*, the smallest and largest k within ε, the best error, and its difference between ridges."""
    eps = f"ε = {data.tolerance:g}"
    names = {"optimal_n_members": "best $k^*$", "smallest": f"least k, {eps}", "largest": f"most k, {eps}"}
    errors = ScalarMappable(Normalize(0, data.best_error.max()), mpl.colormaps["viridis"])
    rows = data.sizes["ridge"]
    with panels((PAGE, 1.2 + 1.6 * rows), rows, 5, sharex=True, sharey=True, framed=True, named=data) as (figure, grid):
        for row, ridge in zip(grid, data.ridge.values, strict=True):
            one = data.sel(ridge=ridge)
            for axes, (name, title) in zip(row, names.items(), strict=False):
                _add_map(axes, one[name], _sizes_scale(data), title, fontsize=7.5)
            _add_map(row[3], one.best_error, errors, "error at $k^*$", fontsize=7.5)
            row[0].set_ylabel(f"λ = {ridge:g}\nreadout noise η")
        setp(grid[-1, :4], xlabel="P")
        _add_sizes_bar(figure, grid[:, :3], data, "members k", "bottom")
        figure.colorbar(errors, ax=grid[:, 3], label="error", location="bottom", aspect=10)
        _add_difference(figure, grid[:, 4], data)
    return figure


def _add_difference(figure: Figure, column: Any, data: xr.Dataset) -> None:
    """How much the ridge changes the best error, in the first of a column of panels; the others stay empty."""
    first, *others = column
    difference = data.best_error.isel(ridge=-1) - data.best_error.isel(ridge=0)
    reach = max(abs(difference).max().item(), 1e-6)
    scale = ScalarMappable(TwoSlopeNorm(0, -reach, reach), mpl.colormaps["RdBu_r"])
    _add_map(first, difference, scale, f"λ = {data.ridge[-1]:g} less λ = {data.ridge[0]:g}", fontsize=7.5)
    first.set_xlabel("P")
    first.tick_params(labelbottom=True)
    setp(others, visible=False)
    end = float(f"{0.7 * reach:.0e}")  # three ticks with few digits, because more would overlap
    ticks = {-end: f"{-end:g}", 0: "0", end: f"{end:+g}"}
    colour_bar(figure, scale, column, "difference", ticks, location="bottom", aspect=10)


def _sizes_scale(data: xr.Dataset) -> ScalarMappable:
    """One colour per number of members that was tried; grey for one."""
    tried = data.n_members.values
    colours = shades("plasma")(np.linspace(0.05, 0.95, len(tried) - 1))
    edges = np.concatenate([[0.5], np.sqrt(tried[:-1] * tried[1:]), [tried[-1] * 1.5]])
    return ScalarMappable(BoundaryNorm(edges, len(tried)), ListedColormap([GREY, *colours]))


def _add_sizes_bar(figure: Figure, grid: Any, data: xr.Dataset, label: str, location: str) -> None:
    scale = _sizes_scale(data)
    norm: Any = scale.norm
    middles = (norm.boundaries[:-1] + norm.boundaries[1:]) / 2
    ticks = dict(zip(middles, map(str, data.n_members.values), strict=True))
    bar = colour_bar(figure, scale, grid, label, ticks, aspect=25, spacing="uniform", location=location)
    bar.ax.tick_params(labelsize=6, length=0)


def _add_map(axes: Axes, values: xr.DataArray, scale: ScalarMappable, title: str, *, fontsize: float = 9) -> None:
    """A map over P (logarithmic) and η."""
    P = values.n_samples.values
    eta = values.readout_noise.values
    height = np.concatenate([eta[:1], (eta[1:] + eta[:-1]) / 2, eta[-1:]])
    width = np.concatenate([P[:1], np.sqrt(P[1:] * P[:-1]), P[-1:]])
    norm: Any = scale.norm
    axes.pcolormesh(
        width, height, values.transpose("readout_noise", "n_samples"), cmap=scale.cmap, norm=norm, rasterized=True
    )
    log_samples(axes, values.n_samples)
    axes.set_xlim(P[0], P[-1])
    axes.set_title(title, fontsize=fontsize)


def plot_statistics(data: xr.Dataset) -> Figure:
    """Fig. S1: Gram matrix, covariance, spectrum, error against the fraction of features."""
    with panels((PAGE, 5.4), 2, 2, named=data) as (figure, grid):
        (gram, covariance), (spectrum, fractions) = grid
        matrices = ((gram, data.gram, "images, sorted by class"), (covariance, data.covariance, "features"))
        for axes, values, label in matrices:
            # The colour scale ends at the 99th percentile, so that the diagonal does not hide the rest.
            reach = np.quantile(abs(values), 0.99)
            shown = axes.imshow(values, cmap="RdBu_r", vmin=-reach, vmax=reach, interpolation="nearest")
            axes.set(xlabel=label, ylabel=label)
            figure.colorbar(shown, ax=axes, shrink=0.85)
            axes.spines[["top", "right"]].set_visible(True)
        borders = np.flatnonzero(np.diff(data.label.values)) + 0.5
        gram.set(xticks=borders, yticks=borders, xticklabels=[], yticklabels=[])
        covariance.set(xticks=[], yticks=[])
        spectrum.loglog(data["rank"], data.eigenvalue, color=PALETTE[0], label="of the covariance")
        fitted = data["rank"][: int(data.n_fitted)]
        label = f"{data.prefactor:.3g} $n^{{{data.power:.2f}}}$, top {len(fitted)}"
        spectrum.loglog(fitted, data.prefactor * fitted**data.power, "--", color=PALETTE[1], label=label)
        spectrum.set(xlabel="rank n", ylabel="eigenvalue")
        spectrum.legend(loc="lower left")
        _add_fractions(fractions, data)
        panel_letters(*grid.ravel())
    return figure


def plot_redundancy(data: xr.Dataset) -> Figure:
    """Fig. 3d: error against the fraction of features, one line per ridge."""
    with panels((1.25 * COLUMN, 2.8), named=data) as (figure, ((axes,),)):
        _add_fractions(axes, data)
    return figure


def _add_fractions(axes: Axes, data: xr.Dataset) -> None:
    """Add the curves: black without a ridge, and coloured by ridge otherwise."""
    positive = data.ridge[data.ridge > 0]
    scale = ScalarMappable(LogNorm(positive.min(), positive.max()), shades("viridis"))
    for ridge in data.ridge.values:
        one = data.misclassification.sel(ridge=ridge)
        colour = "black" if ridge == 0 else scale.to_rgba(ridge)
        mean, error = mean_and_error(one)
        axes.plot(one.subset_fraction, mean, color=colour, label="λ = 0" if ridge == 0 else None)
        axes.fill_between(one.subset_fraction, mean - error, mean + error, color=colour, alpha=0.25, linewidth=0)
    axes.axvline(data.n_samples / data.n_features, color="0.7", linewidth=0.7, linestyle=":", zorder=0)
    axes.set(xscale="log", yscale="log", xlabel="fraction of features ν", ylabel="test error")
    axes.set_yticks([0.1, 0.2, 0.5, 1.0], labels=["0.1", "0.2", "0.5", "1"])
    axes.minorticks_off()
    axes.legend(loc="lower left", title=f"P = {data.n_samples:g}; dotted: N = P", title_fontsize=7)
    axes.figure.colorbar(scale, ax=axes, label="ridge λ")
