"""Subsets of the features: schematic drawings, densities of fractions, and learning curves of unequal members.

In the schematic drawings circles are features and a square is a readout.
"""

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from subridge.arrays.types import IntArray
from subridge.figures.drawing.style import (
    COLUMN,
    GREY,
    PAGE,
    coloured,
    label_edges,
    named_line,
    note,
    number,
    panels,
    shades,
)
from subridge.model.checks import stream
from subridge.results.schemas import mean_and_error, require_variables

_SHOWN = 20  # features in the drawing of one predictor
_DASHES = (0, (2.5, 1.5))


def plot_demo(curves: xr.Dataset) -> Figure:
    """Learning curves of an equal and a heterogeneous ensemble, with the sizes of their members.

    Parameters
    ----------
    curves : xarray.Dataset
        ``theory`` (ensemble, dense_samples), ``experiment`` (ensemble, trial, n_samples), ``subset_sizes``
        (ensemble, member).

    Returns
    -------
    matplotlib.figure.Figure
        Two panels: sizes of members, and learning curves.

    Raises
    ------
    ParameterError
        If one of these is missing.

    Examples
    --------
    >>> import subridge as sr
    >>> curves = xr.Dataset(
    ...     {
    ...         "theory": (("ensemble", "dense_samples"), [[0.9, 0.5, 0.2], [0.8, 0.4, 0.2]]),
    ...         "experiment": (("ensemble", "trial", "n_samples"), np.full((2, 3, 2), 0.4)),
    ...         "subset_sizes": (("ensemble", "member"), [[10, 10], [4, 16]]),
    ...     },
    ...     {"ensemble": ["equal", "unequal"], "dense_samples": [1, 10, 20], "n_samples": [5, 15]},
    ...     {"n_features": 20},
    ... )
    >>> len(sr.figures.plot_demo(curves).axes)
    2
    """
    require_variables("curves", curves, "ensemble", "theory", "experiment", "subset_sizes")
    with panels((PAGE, 2.7), 1, 2, width_ratios=(1, 2.2)) as (figure, ((sizes, axes),)):
        for position, (name, colour) in enumerate(coloured(curves.ensemble.values)):
            one = curves.isel(ensemble=position)
            axes.plot(one.dense_samples, one.theory, color=colour, label=f"{name}, theory")
            mean, error = mean_and_error(one.experiment)
            axes.errorbar(one.n_samples, mean, error, color=colour, fmt="o", label=f"{name}, trained", capsize=2)
            # One bar of M features, cut where one member ends and the next begins.
            ordered = np.sort(one.subset_sizes.values)[::-1]
            for end, size, shade in zip(ordered.cumsum(), ordered, np.linspace(1.0, 0.35, len(ordered)), strict=True):
                sizes.barh(-position, size, left=end - size, height=0.5, color=colour, alpha=shade, edgecolor="white")
        M = curves.attrs["n_features"]
        named_line(axes, "P = M/k", (M / curves.sizes["member"], 1), (4, -8), color="0.8", zorder=0)
        axes.set(xlabel="training samples P", ylabel="generalization error", ylim=(0, None), xlim=(0, M + 4))
        axes.legend()
        sizes.set(
            title="features per member",
            xlabel="features",
            xlim=(0, M),
            yticks=[0, -1],
            yticklabels=curves.ensemble.values,
        )
        sizes.spines["left"].set_visible(False)
        sizes.tick_params(left=False)
    return figure


def plot_ensembles(data: xr.Dataset) -> Figure:
    """Fig. 3a: an equal and a heterogeneous ensemble, one above the other."""
    titles = (
        "(i) equal subsets, $\\nu_{rr} = 1/k$",
        "(ii) heterogeneous subsets, $\\nu_{rr}$ drawn from $\\Gamma_{k,\\sigma}$",
    )
    with panels((COLUMN, 2.4), 2, 1) as (figure, grid):
        for axes, title, sizes in zip(grid[:, 0], titles, data.subset_sizes.values, strict=True):
            # k readouts above a row of features, each linked to its own disjoint subset.
            M = sizes.sum()
            places = np.linspace(0.05 * M, 0.95 * M, len(sizes))
            for (end, size, place), colour in coloured(zip(sizes.cumsum(), sizes, places, strict=True)):
                features = np.arange(end - size, end)
                _add_readout(axes, features, place, colour, linewidth=0.5, size=30)
                axes.scatter(features, np.zeros(size), s=5, c=colour, edgecolors="0.35", linewidths=0.3, zorder=2)
            axes.set(xlim=(-2, M + 1), ylim=(-0.2, 1.2))
            axes.set_title(title, fontsize=8)
    return figure


def plot_densities(data: xr.Dataset) -> Figure:
    """Fig. 3b: densities on a logarithmic scale, coloured by standard deviation."""
    sigma = data.deviation.values
    scale = ScalarMappable(Normalize(sigma.min(), sigma.max()), shades("plasma"))
    with panels((COLUMN, 2.5)) as (figure, ((axes,),)):
        for row, one in zip(data.density.values, sigma, strict=True):
            axes.plot(data.subset_fraction, row, color=scale.to_rgba(one))
        axes.set(
            yscale="log",
            xlim=(0, 0.3),
            ylim=(0.09, 25),
            xlabel="subset fraction ν",
            ylabel="probability density $\\Gamma_{k,\\sigma}(\\nu)$",
        )
        figure.colorbar(scale, ax=axes, label="standard deviation σ")
    return figure


def add_predictor(axes: Axes, fraction: float, colour: str) -> None:
    """One readout above a row of features, linked to the share it sees."""
    seen = np.sort(stream(0, round(1000 * fraction)).permutation(_SHOWN)[: round(fraction * _SHOWN)])
    _add_readout(axes, seen, (_SHOWN - 1) / 2, colour, linewidth=0.7, size=36)
    face = [colour if feature in seen else "white" for feature in range(_SHOWN)]
    axes.scatter(range(_SHOWN), np.zeros(_SHOWN), s=14, c=face, edgecolors="0.35", linewidths=0.6, zorder=2)
    axes.set(xlim=(-1, _SHOWN), ylim=(-0.25, 1.3))
    axes.set_title(f"ν = {fraction:g}", fontsize=8, color="0.2")


def _add_readout(axes: Axes, features: IntArray, place: float, colour: str, *, linewidth: float, size: float) -> None:
    """A readout, linked to the features it sees."""
    axes.plot([features, np.full(len(features), place)], [0, 1], color=colour, linewidth=linewidth, zorder=1)
    axes.scatter([place], [1], s=size, c=colour, edgecolors="0.35", linewidths=0.6, marker="s", zorder=2)
    axes.set_axis_off()


def plot_heterogeneity(data: xr.Dataset) -> Figure:
    """Fig. 3c: learning curves over draws of the subset fractions; ridges on the rows, (c, η) on the columns."""
    with panels((PAGE, 4.0), data.sizes["ridge"], data.sizes["panel"], sharex=True) as (figure, grid):
        for (row, column), axes in np.ndenumerate(grid):
            _add_heterogeneous(axes, data.isel(ridge=row, panel=column))
        label_edges(grid, "α = P/M", "generalization error $E_g$")
        styles: dict[str, dict[str, Any]] = {
            "equal" if spread == 0 else f"σ = {spread:g}/k": {"color": colour}
            for spread, colour in coloured(data.fraction_spread.values)
        }
        mark = {"color": "0.3", "linestyle": "none", "markersize": 5}
        styles |= {
            "single draws": {"color": "0.3", "linewidth": 0.6, "linestyle": _DASHES},
            "one full model at λ*": {"color": GREY},
            "α → ∞": {**mark, "marker": "<"},
            "zero there": {**mark, "marker": "v", "markerfacecolor": "white"},
        }
        keys = [Line2D([], [], label=label, **style) for label, style in styles.items()]
        figure.legend(
            handles=keys, loc="outside upper center", ncols=8, handlelength=1.4, columnspacing=0.9, fontsize=7
        )
        if not data.average_exists.all():
            note(figure, "ρ ≠ 0: for σ = 1/k and c > 0 the average over draws does not exist; the median is drawn")
    return figure


def _add_heterogeneous(axes: Axes, data: xr.Dataset) -> None:
    limit = data.sel(sample_ratio=np.inf)
    data = data.drop_sel(sample_ratio=np.inf)
    alpha = data.sample_ratio
    edge = 1.09 * alpha.max()  # of the marks for infinite data
    for position, colour in coloured(range(data.sizes["fraction_spread"])):
        one = data.isel(fraction_spread=position)
        if one.fraction_spread > 0:
            axes.plot(alpha, one.shown.T, color=colour, linewidth=0.6, linestyle=_DASHES, alpha=0.8)
        axes.plot(alpha, one.risk, color=colour, zorder=3)
        # Markers get smaller, so that all are visible at one position.
        axes.plot(edge, limit.risk[position], "<", color=colour, markersize=6.5 - 1.1 * position, clip_on=False)
    axes.plot(alpha, data.full_model, color=GREY)
    # The axis fits the curves. An asymptote of zero is far below, and a hollow mark at the bottom shows it.
    asymptote = limit.full_model.where(limit.full_model > 1e-9)
    values = [data.risk, limit.risk, data.shown, data.full_model, asymptote]
    low = np.nanmin([part.min() for part in values])
    high = np.nanmax([part.max() for part in values])
    pad = 0.06 * (high - low)
    axes.set(xlim=(0, 1.02 * alpha.max()), ylim=(low - 1.5 * pad, high + pad))
    axes.plot(edge, asymptote, "<", color=GREY, markersize=5, clip_on=False)
    if asymptote.isnull():
        axes.plot(edge, low - pad, "v", color=GREY, markersize=5, markerfacecolor="white", clip_on=False)
    panel = f"c = {data.correlation:g}, η = {data.readout_noise:g}"
    axes.set_title(f"λ = {number(float(data.ridge))}, {panel}", fontsize=7.5)
