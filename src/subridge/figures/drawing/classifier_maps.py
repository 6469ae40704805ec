"""Figs. 4f, S4 and S5: how many classifiers are best, over training-set size and readout noise."""

import matplotlib as mpl
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import QuadMesh
from matplotlib.colors import BoundaryNorm, Colormap, ListedColormap, Normalize, TwoSlopeNorm, to_rgba
from matplotlib.figure import Figure

from subridge.figures.drawing.style import GREY, PAGE, journal, log_samples, name_features, shades


def plot_best_sizes(data: xr.Dataset) -> Figure:
    """Fig. 4f: k* over P and η, at both ridges."""
    with journal(framed=True):
        figure = Figure(figsize=(PAGE, 2.6))
        row = figure.subplots(1, data.sizes["ridge"], sharey=True, squeeze=False)[0]
        for axes, ridge in zip(row, data.ridge.values, strict=True):
            _add_map(axes, data.optimal_n_members.sel(ridge=ridge), *_sizes_scale(data))
            axes.set_title(f"λ = {ridge:g}")
            axes.set_xlabel("training samples P")
        row[0].set_ylabel("readout noise η")
        _add_sizes_bar(figure, list(row), data, "best ensemble size $k^*$", "right")
        name_features(figure, data)
    return figure


def plot_nearly_best_sizes(data: xr.Dataset) -> Figure:
    """Figs. S4 and S5: k*, the smallest and largest k within ε, the best error, and its difference between ridges."""
    eps = float(data.tolerance)
    names = {"optimal_n_members": "best $k^*$", "smallest": f"least k, ε = {eps:g}", "largest": f"most k, ε = {eps:g}"}
    with journal(framed=True):
        figure = Figure(figsize=(PAGE, 1.2 + 1.6 * data.sizes["ridge"]))
        grid = figure.subplots(data.sizes["ridge"], 5, sharex=True, sharey=True, squeeze=False)
        errors = Normalize(0, float(data.best_error.max()))
        for row, ridge in zip(grid, data.ridge.values, strict=True):
            one = data.sel(ridge=ridge)
            for axes, (name, title) in zip(row, names.items(), strict=False):
                _add_map(axes, one[name], *_sizes_scale(data))
                axes.set_title(title, fontsize=7.5)
            mesh = _add_map(row[3], one.best_error, errors, mpl.colormaps["viridis"])
            row[3].set_title("error at $k^*$", fontsize=7.5)
            row[0].set_ylabel(f"λ = {ridge:g}\nreadout noise η")
        for axes in grid[-1, :4]:
            axes.set_xlabel("P")
        _add_sizes_bar(figure, list(grid[:, :3].ravel()), data, "members k", "bottom")
        figure.colorbar(mesh, ax=list(grid[:, 3]), label="error", location="bottom", aspect=10)
        _add_difference(figure, list(grid[:, 4]), data)
        name_features(figure, data)
    return figure


def _add_difference(figure: Figure, column: list[Axes], data: xr.Dataset) -> None:
    """How much the ridge changes the best error, in the first of a column of panels; the others stay empty."""
    difference = data.best_error.isel(ridge=-1) - data.best_error.isel(ridge=0)
    reach = max(float(np.abs(difference).max()), 1e-6)
    mesh = _add_map(column[0], difference, TwoSlopeNorm(0, -reach, reach), mpl.colormaps["RdBu_r"])
    column[0].set_title(f"λ = {float(data.ridge[-1]):g} less λ = {float(data.ridge[0]):g}", fontsize=7.5)
    column[0].set_xlabel("P")
    column[0].tick_params(labelbottom=True)
    for axes in column[1:]:
        axes.set_visible(False)
    bar = figure.colorbar(mesh, ax=column, label="difference", location="bottom", aspect=10)
    end = float(f"{0.7 * reach:.0e}")  # three ticks of few digits: more would overlap
    bar.set_ticks([-end, 0, end], labels=[f"{tick:+g}" if tick else "0" for tick in (-end, 0, end)])


def _sizes_scale(data: xr.Dataset) -> tuple[BoundaryNorm, Colormap]:
    """One colour per number of members that was tried; grey for one."""
    tried = data.n_members.values
    colours = shades("plasma")(np.linspace(0.05, 0.95, len(tried) - 1))
    edges = np.concatenate([[0.5], np.sqrt(tried[:-1] * tried[1:]), [tried[-1] * 1.5]])
    return BoundaryNorm(edges, len(tried)), ListedColormap([to_rgba(GREY), *map(tuple, colours)])


def _add_sizes_bar(figure: Figure, axes: list[Axes], data: xr.Dataset, label: str, location: str) -> None:
    norm, colours = _sizes_scale(data)
    scale = ScalarMappable(norm, colours)
    bar = figure.colorbar(scale, ax=axes, label=label, aspect=25, spacing="uniform", location=location)
    middles = (norm.boundaries[:-1] + norm.boundaries[1:]) / 2
    bar.set_ticks(middles, labels=[str(k) for k in data.n_members.values])
    bar.ax.tick_params(labelsize=6, length=0)
    bar.minorticks_off()


def _add_map(axes: Axes, values: xr.DataArray, norm: Normalize, colours: Colormap) -> QuadMesh:
    """A map over P (logarithmic) and η."""
    P, eta = values.n_samples.values, values.readout_noise.values
    height = np.concatenate([[eta[0]], (eta[1:] + eta[:-1]) / 2, [eta[-1]]])
    width = np.concatenate([[P[0]], np.sqrt(P[1:] * P[:-1]), [P[-1]]])
    table = values.transpose("readout_noise", "n_samples").values
    mesh = axes.pcolormesh(width, height, table, cmap=colours, norm=norm, rasterized=True)
    log_samples(axes, values.n_samples)
    axes.set_xlim(P[0], P[-1])
    return mesh
