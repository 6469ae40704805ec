"""Learning curves: lines of theory and, if there was an experiment, its points with error bars."""

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter

from subridge.figures.drawing.style import (
    COLUMN,
    GREY,
    NOISE_SYMBOLS,
    PAGE,
    PALETTE,
    RIDGE_NAMES,
    colour_bar,
    coloured,
    journal,
    label_edges,
    log_errors,
    noise_of,
    number,
    panel_letters,
    panels,
    size_scale,
)
from subridge.figures.drawing.subsets import add_predictor
from subridge.results.schemas import mean_and_error, require_variables


def plot_curve(curves: xr.Dataset) -> Figure:
    """Predicted learning curves, the picture of ``subridge curve``.

    Parameters
    ----------
    curves : xarray.Dataset
        ``risk`` (ridge, sample_ratio) and, optionally, ``risk_at_optimal_ridge`` (sample_ratio).

    Returns
    -------
    matplotlib.figure.Figure
        One line per ridge.

    Raises
    ------
    ParameterError
        If the dataset lacks one of its variables.

    Examples
    --------
    >>> import subridge as sr
    >>> ridges, ratios = [0.01, 1.0], [0.2, 0.6, 1.0]
    >>> ensemble = sr.Ensemble([0.5, 0.5], ridge=np.array(ridges)[:, None, None])
    >>> risk = sr.risk(sr.EquicorrelatedProblem(), ensemble, ratios).total
    >>> curves = xr.Dataset(
    ...     {"risk": (("ridge", "sample_ratio"), risk)}, {"ridge": ridges, "sample_ratio": ratios})
    >>> len(sr.figures.plot_curve(curves).axes[0].lines)
    2
    """
    require_variables("curves", curves, "risk", "ridge", "sample_ratio")
    with panels((COLUMN, 2.5)) as (figure, ((axes,),)):
        for risk, colour in coloured(curves.risk):
            axes.plot(curves.sample_ratio, risk, color=colour, label=f"λ = {number(float(risk.ridge))}")
        if "risk_at_optimal_ridge" in curves:
            axes.plot(curves.sample_ratio, curves.risk_at_optimal_ridge, color=GREY, label="each at its own λ*")
        _label(axes, "sample ratio α = P/M", curves.risk)
    return figure


def plot_simulated(curves: xr.Dataset) -> Figure:
    """Mean risks of trained ensembles with their standard errors, the picture of ``subridge simulate``.

    Parameters
    ----------
    curves : xarray.Dataset
        ``risk`` (trial, ridge, n_samples), from ``sr.simulate`` with ``ridges``.

    Returns
    -------
    matplotlib.figure.Figure
        One line of points per ridge.

    Raises
    ------
    ParameterError
        If the dataset lacks one of its variables.

    Examples
    --------
    >>> import subridge as sr
    >>> ensemble = sr.Ensemble(sr.subsets.equal(2, 20, seed=0))
    >>> curves = sr.simulate(sr.EquicorrelatedProblem(), ensemble, [5, 15], 3, ridges=[0.1], progress=False)
    >>> sr.figures.plot_simulated(curves).axes[0].get_xlabel()
    'training samples P'
    """
    require_variables("curves", curves, "risk", "ridge", "n_samples")
    mean, error = mean_and_error(curves.risk)
    with panels((COLUMN, 2.5)) as (figure, ((axes,),)):
        for (points, bars), colour in coloured(zip(mean, error, strict=True)):
            axes.errorbar(
                curves.n_samples,
                points,
                bars,
                fmt="o-",
                markersize=2.5,
                linewidth=0.8,
                color=colour,
                label=f"λ = {number(float(points.ridge))}",
            )
        _label(axes, "training samples P", mean)
    return figure


def _label(axes: Axes, xlabel: str, risk: xr.DataArray) -> None:
    """Label axes and curves; the axis is logarithmic if risks differ by more than a factor of ten."""
    axes.set(xlabel=xlabel, ylabel="generalization error $E_g$")
    if risk.max() > 10 * risk.min():
        log_errors(axes, risk)
    axes.legend()


def plot_ridges(data: xr.Dataset) -> Figure:
    """Figs. 1a and 1b: ``theory`` and ``mean`` ± ``standard_error``.

    Fig. 1b has also ``infinite_theory`` (dashed), and an inset: a bar of all features, cut into the subsets of members.
    """
    dashes: dict[str, Any] = {"linewidth": 0.9, "linestyle": (0, (3, 2))}
    with panels((COLUMN * 1.25, 2.7)) as (figure, ((axes,),)):
        M = int(data.n_samples.max())  # the last training set of Fig. 1 has as many samples as features
        for ridge, colour in coloured(data.ridge.values):
            one = data.sel(ridge=ridge)
            axes.plot(one.sample_ratio, one.theory, color=colour, linewidth=1.1)
            if "infinite_theory" in one:
                axes.plot(one.sample_ratio, one.infinite_theory, color=colour, **dashes)
            _add_points(axes, one, M, colour, f"λ = {number(ridge)}", size=3)
        for threshold in np.unique(data.subset_fraction.values):
            axes.axvline(threshold, color="0.85", linewidth=0.7, zorder=0)
        axes.set(yscale="log", xlim=(0, 1.02), xlabel="sample ratio α = P/M", ylabel="generalization error $E_g$")
        keys = axes.get_legend_handles_labels()[0]
        at_size = f"theory, M = {M}" if "infinite_theory" in data else "theory"
        keys.append(Line2D([], [], color="0.3", linewidth=1.1, label=at_size))
        if "infinite_theory" in data:
            keys.append(Line2D([], [], color="0.3", label="theory, M → ∞", **dashes))
            inset = axes.inset_axes((0.59, 0.35, 0.4, 0.06))
            nu = data.subset_fraction.values
            bars = inset.barh(
                0, nu, left=nu.cumsum() - nu, color=PALETTE[3:], height=1, edgecolor="white", linewidth=0.5
            )
            inset.bar_label(bars, fmt="{:g}", label_type="center", fontsize=5.5)
            inset.set(xlim=(0, 1), ylim=(-0.5, 0.5), xticks=[], yticks=[])
            inset.set_title("subsets $\\nu_{rr}$ of the features", fontsize=6.5, pad=2)
            inset.spines[:].set(visible=True, color=GREY, linewidth=0.6)
        axes.legend(handles=keys, loc="upper right", handlelength=1.6)
    return figure


def _add_points(axes: Axes, one: xr.Dataset, M: int, colour: str, label: str, *, size: float) -> None:
    """The experiment's means with their standard errors."""
    axes.errorbar(
        one.n_samples / M,
        one["mean"],
        one.standard_error,
        color=colour,
        label=label,
        fmt="o",
        markersize=size,
        capsize=size / 2,
        elinewidth=0.8,
        zorder=3,
    )


def plot_fractions(data: xr.Dataset) -> Figure:
    """Fig. 2: predictors above, learning curves by ridge below, one colour per fraction of the features."""
    nu = data.subset_fraction.values
    M = int(data.n_samples.max())
    with journal():
        figure = Figure(figsize=(PAGE, 3.5))
        above, below = figure.subfigures(2, 1, squeeze=False, height_ratios=(1, 2.4))[:, 0]
        for (fraction, axes), colour in coloured(zip(nu, above.subplots(1, len(nu)), strict=True)):
            add_predictor(axes, fraction, colour)
        for ridge, axes in zip(data.ridge.values, below.subplots(1, data.sizes["ridge"]), strict=True):
            for fraction, colour in coloured(nu):
                one = data.sel(ridge=ridge, subset_fraction=fraction)
                axes.plot(one.sample_ratio, one.theory, color=colour, linewidth=1.0)
                _add_points(axes, one, M, colour, f"ν = {fraction:g}", size=2.6)
            axes.set(yscale="log", xlim=(0, 1.02), xlabel="sample ratio α = P/M", title=f"λ = {number(ridge)}")
            if ridge == 0:
                axes.legend(
                    loc="upper right", ncols=2, fontsize=6.5, handlelength=1, columnspacing=0.8, borderaxespad=0
                )
                axes.set_ylim(0.5, 2e4)
            else:
                log_errors(axes, data.theory.sel(ridge=ridge))
        panel_letters(above.axes[0], below.axes[0])
        below.axes[0].set_ylabel("generalization error $E_g$")
    return figure


def plot_reduced_curves(data: xr.Dataset) -> Figure:
    """Figs. 4a and S9 to S14: panels of noise (columns) by alignment or ridge (rows), coloured by ensemble size k."""
    noise = noise_of(data)
    row = "reduced_ridge" if data.sizes["reduced_ridge"] > 1 else "alignment"
    scale = size_scale(2, data.n_members[np.isfinite(data.n_members)].max())
    shape = (data.sizes[row], data.sizes[noise])
    size = (PAGE * min(1, 0.2 + 0.27 * shape[1]), 0.5 + 1.55 * shape[0])
    with panels(size, *shape, sharex=True, sharey="row") as (figure, grid):
        for (i, j), axes in np.ndenumerate(grid):
            one = data.isel({row: i, noise: j}).squeeze()
            for curve in one.reduced_risk.transpose("n_members", "sample_ratio"):
                k = curve.n_members.values
                if np.isinf(k):
                    axes.plot(one.sample_ratio, curve, color="black", linestyle="--", zorder=3)
                else:
                    axes.plot(one.sample_ratio, curve, color=scale.to_rgba(k), linewidth=1.6 if k == 1 else 0.9)
            axes.set(xscale="log", xlim=(0.01, 5))
            # All minor ticks of nine panels would take seconds.
            axes.xaxis.set(minor_locator=LogLocator(subs=(2, 5)), minor_formatter=NullFormatter())
            place = f"ρ = {one.alignment:g}, {NOISE_SYMBOLS[noise]} = {one[noise]:g}"
            axes.set_title(f"{place}, {RIDGE_NAMES[one.reduced_ridge.item()]}", fontsize=8)
        for i, axes in enumerate(grid[:, 0]):
            highest = data.reduced_risk.isel({row: i}).max()
            axes.set_ylim(
                0, 2.2 if highest > 1.15 else 1.15
            )  # divergences are cut off; bounded curves fill their panel
        label_edges(grid, "sample ratio α", r"$E_g\,/\,s(1-c)$")
        ticks = {k: str(k) for k in (2, 5, 10, 20, 60)}
        colour_bar(figure, scale, grid, "ensemble size k", ticks, shrink=0.8, aspect=30)
        handles = [Line2D([], [], color=GREY), Line2D([], [], color="black", linestyle="--")]
        grid[0, 0].legend(handles, ["k = 1", "k → ∞"], loc="lower left", handlelength=1.5, fontsize=7)
    return figure
