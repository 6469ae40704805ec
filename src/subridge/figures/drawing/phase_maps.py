"""Phase diagrams: maps over sample ratio and noise, with a bar for infinite data."""

import matplotlib as mpl
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from subridge.arrays.types import FloatArray, IntArray
from subridge.figures.drawing.style import GREY, NOISE_SYMBOLS, PAGE, journal, shades

_MOST = 100  # members at the top of the colour scale; larger finite k* share its colour


def plot_maps(data: xr.Dataset, *, errors: bool) -> Figure:
    """Map k*, ridges on the rows and alignments on the columns; below them, on request, the error at k*."""
    rows = [("optimal_n_members", ridge) for ridge in range(data.sizes["ridge"])]
    if errors:
        rows += [("reduced_risk", ridge) for ridge in range(data.sizes["ridge"])]
    sizes = size_scale()
    reduced = ScalarMappable(Normalize(0, float(data.reduced_risk.max())), mpl.colormaps["viridis"])
    with journal(framed=True):
        columns = data.sizes["alignment"]
        figure = Figure(figsize=(PAGE * (0.22 + 0.26 * columns), 0.6 + 1.72 * len(rows)))
        grid = figure.subplots(len(rows), 2 * columns, width_ratios=[15, 1] * columns, squeeze=False)
        for i, (name, ridge) in enumerate(rows):
            for j in range(columns):
                one = data.isel(ridge=ridge, alignment=j)
                _add_pair(grid[i, 2 * j], grid[i, 2 * j + 1], one, name, sizes if name != "reduced_risk" else reduced)
                if i < len(rows) - 1:
                    grid[i, 2 * j].set_xlabel("")
                if j:
                    grid[i, 2 * j].set_ylabel("")
        n = data.sizes["ridge"]
        _size_bar(figure, grid[:n], sizes)
        if errors:
            figure.colorbar(reduced, ax=list(grid[n:].ravel()), label=r"$E_{k^*}\,/\,s(1-c)$", aspect=30, shrink=0.8)
        keys = [
            Patch(facecolor=GREY, edgecolor="0.3", linewidth=0.5, label="$k^* = 1$"),
            Patch(facecolor="white", edgecolor="0.3", linewidth=0.5, label="$k^* = \\infty$"),
            Line2D([], [], color="black", linestyle=":", linewidth=1.4, label="analytic boundary"),
        ]
        figure.legend(handles=keys, loc="outside upper center", ncols=3, handlelength=1.6)
    return figure


def size_scale() -> ScalarMappable:
    """Grey for one member, colour for a finite ensemble, white for an infinite one (masked)."""
    colours = shades("plasma").with_extremes(under=GREY, bad="white")
    return ScalarMappable(LogNorm(1.5, _MOST), colours)


def _size_bar(figure: Figure, grid: np.ndarray, scale: ScalarMappable) -> None:
    bar = figure.colorbar(
        scale, ax=list(grid.ravel()), label="best ensemble size $k^*$", aspect=30, shrink=0.8, extend="min"
    )
    bar.set_ticks([2, 5, 10, 20, 50, 100], labels=["2", "5", "10", "20", "50", "≥100"])
    bar.minorticks_off()


def _add_pair(panel: Axes, bar: Axes, data: xr.Dataset, name: str, scale: ScalarMappable) -> None:
    """The map over finite sample ratios and, beside it, infinite data."""
    noise = next(key for key in NOISE_SYMBOLS if key in data.dims)
    values = data[name].transpose(noise, "sample_ratio").values
    alpha, height = data.sample_ratio.values, data[noise].values
    finite = np.isfinite(alpha)
    # Coloured before it is enlarged: pixels of four bytes are cheaper to resample than numbers.
    shown = scale.to_rgba(np.ma.masked_invalid(values), bytes=True)
    add_image(panel, shown[:, finite], edges(alpha[finite]), edges(height))
    if finite.all():
        bar.set_visible(False)
    else:
        add_image(bar, shown[:, ~finite], (0.0, 1.0), edges(height))
    for axes in (panel, bar):
        axes.set_ylim(0, height.max())
    bar.set(xticks=[0.5], xticklabels=["∞"], yticks=[])
    panel.set(xlim=(0, alpha[finite].max()), xlabel="sample ratio α", ylabel=NOISE_SYMBOLS[noise])
    ridge = "λ = 0" if str(data.ridge.values) == "0" else "λ = λ*"
    panel.set_title(f"ρ = {float(data.alignment):g}, {ridge}", fontsize=8)
    if name == "optimal_n_members":
        _add_boundary(panel, data, noise)


def add_image(axes: Axes, colours: IntArray, x: tuple[float, float], y: tuple[float, float]) -> None:
    axes.imshow(colours, extent=(*x, *y), origin="lower", aspect="auto", interpolation="nearest")


def _add_boundary(axes: Axes, data: xr.Dataset, noise: str) -> None:
    """The analytic boundary of the noise-dominated phase, dotted, on rows that have such a phase."""
    alpha, height = data.sample_ratio.values, data[noise].values
    rows = np.isinf(data.optimal_n_members.transpose(noise, "sample_ratio").values).any(axis=1)
    beyond = 2 * alpha[np.isfinite(alpha)].max()  # outside the axes; joins the last finite point to the right edge
    place = np.where(rows, np.minimum(data.boundary.values, beyond), np.nan)
    end = float(data.boundary_end)
    if np.isfinite(end):
        # The boundary leaves for infinity at a noise of its own, between two rows: there, not from row to row.
        last = min(float(data.boundary_before_end), beyond)
        below = height < end
        place = np.concatenate([place[below], [last, beyond]])
        height = np.concatenate([height[below], [end, end]])
    axes.plot(place, height, ":", color="black", linewidth=1.4, zorder=4)


def edges(centres: FloatArray) -> tuple[float, float]:
    """Outer edges of equally spaced pixels."""
    half = (centres[1] - centres[0]) / 2
    return float(centres[0] - half), float(centres[-1] + half)
