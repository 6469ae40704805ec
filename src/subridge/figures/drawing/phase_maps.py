"""Phase diagrams: maps of the best ensemble size over sample ratio and noise."""

from typing import Any

import matplotlib as mpl
import numpy as np
import xarray as xr
from matplotlib.artist import setp
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from subridge.arrays.types import FloatArray
from subridge.figures.drawing.style import (
    GREY,
    NOISE_SYMBOLS,
    PAGE,
    PALETTE,
    RIDGE_NAMES,
    colour_bar,
    label_edges,
    noise_of,
    panel_letters,
    panels,
    size_scale,
)

_MOST = 100  # members at the top of the colour scale; larger finite k* share its colour
_SIZES = "best ensemble size $k^*$"
_SIZE_TICKS = {2: "2", 5: "5", 10: "10", 20: "20", 50: "50", _MOST: "≥100"}


def plot_maps(data: xr.Dataset, *, errors: bool) -> Figure:
    """Map k*, ridges on the rows and alignments on the columns; with `errors`, also the error at k* below.

    A bar beside each map shows infinite data.
    """
    n = data.sizes["ridge"]
    columns = data.sizes["alignment"]
    sizes = size_scale(1.5, _MOST)
    reduced = ScalarMappable(Normalize(0, data.reduced_risk.max()), mpl.colormaps["viridis"])
    rows = [("optimal_n_members", sizes, ridge) for ridge in range(n)]
    rows += [("reduced_risk", reduced, ridge) for ridge in range(n) if errors]
    size = (PAGE * (0.22 + 0.26 * columns), 0.6 + 1.72 * len(rows))
    widths = [15, 1] * columns
    with panels(size, len(rows), len(widths), width_ratios=widths, framed=True) as (figure, grid):
        for i, (name, scale, ridge) in enumerate(rows):
            for j in range(columns):
                panel, bar = grid[i, 2 * j : 2 * j + 2]
                _add_pair(panel, bar, data.isel(ridge=ridge, alignment=j), name, scale)
        label_edges(grid[:, ::2], "sample ratio α", NOISE_SYMBOLS[noise_of(data)])
        colour_bar(figure, sizes, grid[:n], _SIZES, _SIZE_TICKS, extend="min", aspect=30, shrink=0.8)
        if errors:
            figure.colorbar(reduced, ax=grid[n:], label=r"$E_{k^*}\,/\,s(1-c)$", aspect=30, shrink=0.8)
        keys = [
            Patch(facecolor=GREY, edgecolor="0.3", linewidth=0.5, label="$k^* = 1$"),
            Patch(facecolor="white", edgecolor="0.3", linewidth=0.5, label="$k^* = \\infty$"),
            Line2D([], [], color="black", linestyle=":", linewidth=1.4, label="analytic boundary"),
        ]
        figure.legend(handles=keys, loc="outside upper center", ncols=3, handlelength=1.6)
    return figure


def _add_map(
    axes: Axes, values: xr.DataArray, scale: ScalarMappable, title: str = "", *, infinite: bool = False
) -> None:
    """A map over noise and finite sample ratios or, as a bar, over noise at infinite data."""
    noise = noise_of(values)
    values = values.isel(sample_ratio=np.isfinite(values.sample_ratio) != infinite).transpose(noise, "sample_ratio")
    alpha = values.sample_ratio.values
    height = values[noise].values
    x = (0.0, 1.0) if infinite else _edges(alpha)
    # Colours are applied first, because pixels of four bytes are faster to resample than numbers.
    image = scale.to_rgba(np.ma.masked_invalid(values), bytes=True)
    axes.imshow(image, extent=(*x, *_edges(height)), origin="lower", aspect="auto", interpolation="nearest")
    axes.set(xlim=(0, 1 if infinite else alpha.max()), ylim=(0, height.max()), title=title)


def _edges(centres: FloatArray) -> tuple[float, float]:
    """Outer edges of equally spaced pixels."""
    half = (centres[1] - centres[0]) / 2
    return centres[0] - half, centres[-1] + half


def _add_pair(panel: Axes, bar: Axes, data: xr.Dataset, name: str, scale: ScalarMappable) -> None:
    """The map over finite sample ratios and, beside it, infinite data."""
    _add_map(panel, data[name], scale)
    bar.set(xticks=[0.5], xticklabels=["∞"], yticks=[])
    if np.isinf(data.sample_ratio).any():
        _add_map(bar, data[name], scale, infinite=True)
    else:
        bar.set_visible(False)
    panel.set_title(f"ρ = {data.alignment:g}, {RIDGE_NAMES[data.ridge.item()]}", fontsize=8)
    if name == "optimal_n_members":
        _add_boundary(panel, data)


def _add_boundary(axes: Axes, data: xr.Dataset) -> None:
    """The analytic boundary of the noise-dominated phase, dotted, on rows that have such a phase."""
    alpha = data.sample_ratio.values
    height = data[noise_of(data)].values
    rows = np.isinf(data.optimal_n_members).any("sample_ratio")
    beyond = 2 * alpha[np.isfinite(alpha)].max()  # outside the axes, so that the line reaches the right edge
    place = np.where(rows, np.minimum(data.boundary, beyond), np.nan)
    end = float(data.boundary_end)
    if np.isfinite(end):
        # The boundary goes to infinity at a noise between two rows.
        last = min(float(data.boundary_before_end), beyond)
        below = height < end
        place = np.concatenate([place[below], [last, beyond]])
        height = np.concatenate([height[below], [end, end]])
    axes.plot(place, height, ":", color="black", linewidth=1.4, zorder=4)


def plot_scaled_phases(data: xr.Dataset) -> Figure:
    """Fig. 4-scaled: maps of k* for the mean and the scaled mean, and of the ratio of their risks.

    Each ridge has a row of maps. The last row has risks over the ensemble size.
    """
    colours = {"mean": GREY, "scaled": PALETTE[0]}
    sizes = size_scale(1.5, _MOST)
    ratios = ScalarMappable(Normalize(0, 1), mpl.colormaps["viridis"])
    with panels((PAGE, 6.4), 3, 3, framed=True) as (figure, grid):
        *curves, at_size = grid[2]
        for row, axes, (ridge, title) in zip(grid, curves, {"0": "λ = 0", "optimal": "best λ"}.items(), strict=False):
            one = data.sel(ridge=ridge)
            *maps, ratio = row
            for panel, (name, colour) in zip(maps, colours.items(), strict=True):
                _add_map(panel, one.optimal_n_members.sel(aggregation=name), sizes, f"{name}, {title}")
                axes.plot(data.n_members, one.risk_by_size.sel(aggregation=name), "o-", color=colour, label=name)
            # Without noise and with enough data both errors are zero; their ratio is then set to one.
            mean, scaled = (one.reduced_risk.sel(aggregation=name) for name in colours)
            _add_map(ratio, (scaled / mean).where(mean > 1e-12, 1.0), ratios, title)
            axes.set(ylabel=r"$E_g\,/\,s(1-c)$", ylim=(0, 2), title=f"ρ = 0, {title}")
            axes.legend(loc="upper right", handlelength=1.5)
        label_edges(grid[:2], "sample ratio α", "H")
        below: dict[str, Any] = {"location": "bottom", "shrink": 0.9, "pad": 0.02}
        colour_bar(figure, sizes, grid[:2, :2], _SIZES, _SIZE_TICKS, extend="min", aspect=40, **below)
        figure.colorbar(ratios, ax=grid[:2, 2], label="risk at $k^*$, scaled / mean", aspect=20, **below)
        for M, style in zip(data.n_features.values, ("-", "--", ":"), strict=False):
            for name, colour in colours.items():
                risks = data.risk_at_size.sel(aggregation=name, n_features=M)
                at_size.plot(data.n_members, risks, style, color=colour)
            at_size.plot([], [], style, color="black", label=f"M = {M:g}" if np.isfinite(M) else "M → ∞")
        at_size.legend(loc="upper left", handlelength=1.8)
        at_size.set(ylabel="$E_g$", ylim=(0, None))
        at_size.set_title("ρ = 0.3, c = 0.6, best λ > 0", fontsize=8)
        setp(grid[2], xscale="log", xlabel="ensemble size k")
        panel_letters(*grid.ravel())
    return figure
