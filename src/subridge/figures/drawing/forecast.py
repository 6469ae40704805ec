"""The pictures of ``subridge forecast`` and ``subridge advise``."""

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import PercentFormatter

from subridge.figures.drawing.style import COLUMN, GREY, PALETTE, coloured, log_samples, named_line, note, panels
from subridge.model.errors import counted
from subridge.results.numbers import plain
from subridge.results.schemas import require_variables

_MOST_CANDIDATES = 14


def plot_forecast(curves: xr.Dataset) -> Figure:
    """Forecast learning curves with their intervals; hollow points are upper bounds.

    There is no curve beyond the pilot's reach.

    Parameters
    ----------
    curves : xarray.Dataset
        From ``sr.forecast``.

    Returns
    -------
    matplotlib.figure.Figure
        One panel for every metric: the prediction error, for classes misclassification, and others that are listed.

    Raises
    ------
    ParameterError
        If the dataset lacks one of its variables.

    Examples
    --------
    >>> import subridge as sr
    >>> X = np.random.default_rng(0).standard_normal((60, 20))
    >>> curves = sr.forecast(X, X[:, 0], [60, 120], {"one": sr.Ensemble(sr.subsets.Equal(1), ridge=1.0)})
    >>> [axes.get_xlabel() for axes in sr.figures.plot_forecast(curves).axes]
    ['training samples']
    """
    require_variables("curves", curves, "prediction_error", "ensemble")
    metrics = [str(name) for name in curves if f"{name}_upper" in curves]
    with panels((COLUMN * len(metrics) + 1.7, 2.9), 1, len(metrics)) as (figure, grid):
        for axes, variable in zip(grid[0], metrics, strict=True):
            for name, colour in coloured(curves.ensemble.values):
                one = curves.sel(ensemble=name)
                one = one.isel(n_samples=np.isfinite(one.n_samples) & np.isfinite(one[variable])).sortby("n_samples")
                sizes = one.n_samples
                values = one[variable]
                axes.fill_between(
                    sizes, one[f"{variable}_lower"], one[f"{variable}_upper"], color=colour, alpha=0.15, linewidth=0
                )
                axes.plot(sizes, values, color=colour, marker="o" if len(sizes) < 25 else None, label=name)
                # Hollow: the best ridge may be smaller than the pilot can judge.
                bounds = values.where(one.is_bound)
                axes.plot(sizes, bounds, color=colour, marker="o", linestyle="none", markerfacecolor="white")
            named_line(axes, "pilot", (curves.attrs["n_pilot"], 0), (3, 3), color="0.8", zorder=0)
            axes.set(xlabel="training samples", ylabel=curves[variable].attrs["long_name"])
            log_samples(axes, curves.n_samples)
            if curves[variable].attrs.get("units") == "share":
                axes.yaxis.set_major_formatter(PercentFormatter(1.0))
        first = figure.axes[0]
        if "label_noise" in curves.attrs:
            first.axhline(
                curves.attrs["label_noise"] ** 2,
                color=GREY,
                linestyle=":",
                linewidth=1,
                label="label noise ζ²",
                zorder=0,
            )
        errors = curves[["prediction_error", "prediction_error_upper"]]
        highest = errors.where(errors < np.inf).max()
        # Huge upper bounds near a threshold must not flatten the curves.
        top = min(1.05 * highest.prediction_error_upper, 2 * highest.prediction_error)
        first.set_ylim(0, float(top) if top > 0 else None)
        keys = first.get_legend_handles_labels()[0]
        keys.append(Patch(color=GREY, alpha=0.25, linewidth=0, label=f"{curves.attrs['level']:.0%} interval"))
        if curves.is_bound.any():
            label = "at most: a smaller\nridge may be best"
            keys.append(Line2D([], [], color=GREY, linestyle="none", marker="o", markerfacecolor="white", label=label))
        figure.legend(handles=keys, loc="outside right center", handlelength=1.6)
        if not curves.in_reach.all():
            note(figure, "no curve: beyond the pilot's reach")
    return figure


def plot_advice(table: xr.Dataset) -> Figure:
    """The best candidates with their intervals, and one tuned ridge for comparison.

    Parameters
    ----------
    table : xarray.Dataset
        ``Advice.table``.

    Returns
    -------
    matplotlib.figure.Figure
        One row per candidate, with the best at the top.

    Raises
    ------
    ParameterError
        If the dataset lacks one of its variables.

    Examples
    --------
    >>> import subridge as sr
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 20))
    >>> advice = sr.advise(X, X[:, 0] + rng.standard_normal(60), n_members=[2], weighted=False)
    >>> sr.figures.plot_advice(advice.table).axes[0].get_xlabel()
    'forecast squared error with 60 samples, 90% intervals'
    """
    require_variables("table", table, "prediction_error", "candidate")
    kept = list(table.candidate.values[:_MOST_CANDIDATES])
    single = table.attrs.get("reference", "one ridge")  # older tables do not name it
    if single not in kept:
        kept = [*kept[:-1], single]
    with panels((2 * COLUMN, 0.6 + 0.2 * len(kept))) as (figure, ((axes,),)):
        labels = {}
        for height, name in enumerate(kept):
            row = table.sel(candidate=name)
            colour = PALETTE[1] if name == single else PALETTE[0]
            value = float(row.prediction_error)
            bars = [[value - row.prediction_error_lower], [row.prediction_error_upper - value]]
            face = colour if row.in_reach else "white"
            axes.errorbar(value, -height, xerr=bars, fmt="o", color=colour, capsize=2, markerfacecolor=face)
            labels[-height] = f"{name}, λ = {plain(float(row.ridge), 2)}"
        value = float(table.sel(candidate=single).prediction_error)
        named_line(axes, single, (value, 1), (0, 3), color=PALETTE[1], linestyle=":")
        axes.set_yticks(list(labels), list(labels.values()))
        size = counted(round(table.attrs["n_samples"]), "sample")
        axes.set(xlabel=f"forecast squared error with {size}, {table.attrs['level']:.0%} intervals")
        if not table.sel(candidate=kept).in_reach.all():
            note(figure, "hollow: beyond the pilot's reach")
    return figure
