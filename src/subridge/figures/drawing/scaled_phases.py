"""Phases of the mean and of the scaled mean side by side, and risks over the ensemble's size."""

import matplotlib as mpl
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from subridge.figures.drawing.phase_maps import add_image, edges, size_scale
from subridge.figures.drawing.style import GREY, PAGE, PALETTE, journal, panel_letter

_COLOURS = {"mean": GREY, "scaled": PALETTE[0]}
_RIDGES = {"0": "λ = 0", "optimal": "best λ"}


def plot_scaled_phases(data: xr.Dataset) -> Figure:
    """Rows of maps for either ridge: k* of the mean, k* of the scaled mean, their risks' ratio; below, risks over k."""
    sizes = size_scale()
    ratios = ScalarMappable(Normalize(0, 1), mpl.colormaps["viridis"])
    with journal(framed=True):
        figure = Figure(figsize=(PAGE, 6.4))
        grid = figure.subplots(3, 3)
        for i, ridge in enumerate(_RIDGES):
            one = data.sel(ridge=ridge)
            for j, name in enumerate(_COLOURS):
                _add_map(grid[i, j], one, one.optimal_n_members.sel(aggregation=name), sizes)
                grid[i, j].set_title(f"{name}, {_RIDGES[ridge]}")
            # Without noise and with enough data both errors vanish; their ratio is then taken for one.
            mean, scaled = (one.reduced_risk.sel(aggregation=name) for name in ("mean", "scaled"))
            _add_map(grid[i, 2], one, (scaled / mean).where(mean > 1e-12, 1.0), ratios)
            grid[i, 2].set_title(_RIDGES[ridge])
        for axes in grid[:2, 1:].ravel():
            axes.set_ylabel("")
        for axes in grid[0]:
            axes.set_xlabel("")
        left, right = list(grid[:2, :2].ravel()), list(grid[:2, 2])
        bar = figure.colorbar(sizes, ax=left, location="bottom", aspect=40, shrink=0.9, pad=0.02, extend="min")
        bar.set_label("best ensemble size $k^*$")
        bar.set_ticks([2, 5, 10, 20, 50, 100], labels=["2", "5", "10", "20", "50", "≥100"])
        bar.minorticks_off()
        bar = figure.colorbar(ratios, ax=right, location="bottom", aspect=20, shrink=0.9, pad=0.02)
        bar.set_label("risk at $k^*$, scaled / mean")
        for j, ridge in enumerate(_RIDGES):
            _add_curves(grid[2, j], data.risk_by_size.sel(ridge=ridge))
            grid[2, j].set_title(f"ρ = 0, {_RIDGES[ridge]}")
        _add_finite(grid[2, 2], data.risk_at_size)
        for axes, letter in zip(grid.ravel(), "abcdefghi", strict=True):
            panel_letter(axes, letter)
    return figure


def _add_map(axes: Axes, data: xr.Dataset, values: xr.DataArray, scale: ScalarMappable) -> None:
    alpha, height = data.sample_ratio.values, data.readout_nsr.values
    finite = np.isfinite(alpha)
    shown = np.ma.masked_invalid(values.transpose("readout_nsr", "sample_ratio").values[:, finite])
    add_image(axes, scale.to_rgba(shown, bytes=True), edges(alpha[finite]), edges(height))
    axes.set(xlim=(0, alpha[finite].max()), ylim=(0, height.max()), xlabel="sample ratio α", ylabel="H")
    axes.title.set_fontsize(8)


def _add_curves(axes: Axes, risks: xr.DataArray) -> None:
    for name, colour in _COLOURS.items():
        axes.plot(risks.n_members, risks.sel(aggregation=name), "o-", color=colour, label=name)
    axes.set(xscale="log", xlabel="ensemble size k", ylabel=r"$E_g\,/\,s(1-c)$", ylim=(0, 2))
    axes.title.set_fontsize(8)
    axes.legend(loc="upper right", handlelength=1.5)


def _add_finite(axes: Axes, risks: xr.DataArray) -> None:
    styles = dict(zip(risks.n_features.values, ("-", "--", ":"), strict=False))
    for name, colour in _COLOURS.items():
        for M, style in styles.items():
            axes.plot(risks.n_members, risks.sel(aggregation=name, n_features=M), style, color=colour)
    keys = [Line2D([], [], color="black", linestyle=style) for style in styles.values()]
    labels = [f"M = {M:g}" if np.isfinite(M) else "M → ∞" for M in styles]
    axes.legend(keys, labels, loc="upper left", handlelength=1.8)
    axes.set(xscale="log", xlabel="ensemble size k", ylabel="$E_g$", ylim=(0, None))
    axes.set_title("ρ = 0.3, c = 0.6, best λ > 0", fontsize=8)
