"""The pictures of ``subridge forecast`` and ``subridge advise``."""

from itertools import cycle

import numpy as np
import xarray as xr
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import PercentFormatter

from subridge.figures.drawing.style import COLUMN, GREY, PALETTE, journal, log_samples, name_line, note
from subridge.model.checks import counted
from subridge.results.numbers import plain

_MOST_CANDIDATES = 14


def plot_forecast(curves: xr.Dataset) -> Figure:
    """Forecast learning curves with their intervals; dashed beyond the pilot's reach, hollow where they are bounds.

    Parameters
    ----------
    curves : xarray.Dataset
        From ``sr.forecast``.

    Returns
    -------
    matplotlib.figure.Figure
        One panel for every metric: the prediction error, and misclassification where there are classes.

    Examples
    --------
    >>> import subridge as sr
    >>> X = np.random.default_rng(0).standard_normal((60, 20))
    >>> curves = sr.forecast(X, X[:, 0], [60, 120], {"one": sr.Ensemble(sr.subsets.Equal(1), ridge=1.0)})
    >>> [axes.get_xlabel() for axes in sr.figures.plot_forecast(curves).axes]
    ['training samples']
    """
    panels = [str(name) for name in curves if f"{name}_upper" in curves]
    with journal():
        figure = Figure(figsize=(COLUMN * len(panels) + 1.7, 2.9))
        for axes, variable in zip(np.atleast_1d(figure.subplots(1, len(panels))), panels, strict=True):
            for name, colour in zip(curves.ensemble.values, cycle(PALETTE), strict=False):
                _add_curve(axes, curves.sel(ensemble=name), variable, str(name), colour)
            axes.axvline(curves.attrs["n_pilot"], color="0.8", linewidth=0.8, zorder=0)
            name_line(axes, "pilot", (curves.attrs["n_pilot"], 0), (3, 3))
            axes.set(xlabel="training samples", ylabel=curves[variable].attrs["long_name"])
            log_samples(axes, curves.n_samples)
            if variable != "prediction_error":
                axes.yaxis.set_major_formatter(PercentFormatter(1.0))
        first = figure.axes[0]
        if "label_noise" in curves.attrs:
            noise = curves.attrs["label_noise"] ** 2
            first.axhline(noise, color=GREY, linestyle=":", linewidth=1, label="label noise ζ²", zorder=0)
        first.set_ylim(0, _ceiling(curves))
        handles, labels = first.get_legend_handles_labels()
        keys = _keys(curves)
        figure.legend(
            [*handles, *keys],
            [*labels, *(str(key.get_label()) for key in keys)],
            loc="outside right center",
            handlelength=1.6,
        )
    return figure


def _keys(curves: xr.Dataset) -> list[Artist]:
    """What the marks mean that the picture shows, one for all ensembles."""
    keys: list[Artist] = [Patch(color=GREY, alpha=0.25, linewidth=0, label=f"{curves.attrs['level']:.0%} interval")]
    if not bool(curves.in_reach.all()):
        keys.append(Line2D([], [], color=GREY, linestyle="--", label="beyond the\npilot's reach"))
    if bool(curves.is_bound.any()):
        keys.append(_mark("o", "at most: a smaller\nridge may be best"))
    if "self_test_forecast" in curves and bool(curves.self_test_forecast.notnull().any()):
        keys.append(_mark("x", "self-test: from\nparts of the rows"))
    return keys


def _mark(marker: str, label: str) -> Line2D:
    return Line2D([], [], color=GREY, linestyle="none", marker=marker, markerfacecolor="white", label=label)


def _add_curve(axes: Axes, one: xr.Dataset, variable: str, label: str, colour: str) -> None:
    sizes, values = one.n_samples.values.astype(float), one[variable].values
    shown = np.isfinite(sizes) & np.isfinite(values)
    order = np.argsort(sizes[shown])
    sizes, values, reach = (array[shown][order] for array in (sizes, values, one.in_reach.values))
    lower, upper = (one[f"{variable}_{side}"].values[shown][order] for side in ("lower", "upper"))
    axes.fill_between(sizes, lower, upper, color=colour, alpha=0.15, linewidth=0)
    within = np.where(reach, values, np.nan)
    # The dashed part starts at the last point in reach, so that the line has no gap.
    beyond = np.where(~reach | np.append(~reach[1:], False), values, np.nan)
    axes.plot(sizes, within, color=colour, marker="o" if len(sizes) < 25 else None, label=label)
    if variable == "prediction_error":  # hollow: the best ridge may be smaller than the pilot can judge
        bound = np.where(one.is_bound.values[shown][order], values, np.nan)
        axes.plot(sizes, bound, color=colour, marker="o", linestyle="none", markerfacecolor="white")
        # What parts of the pilot forecast for its own size, beside what it shows there: the self-test.
        if "self_test_forecast" in one:
            tested = one.self_test_forecast.values
            pilot = np.full(len(tested), float(one.attrs["n_pilot"]))
            axes.plot(pilot, tested, color=colour, marker="x", markersize=3, linestyle="none", alpha=0.6)
    axes.plot(sizes, beyond, color=colour, linestyle="--")


def plot_advice(table: xr.Dataset) -> Figure:
    """The best candidates with their intervals, and one tuned ridge to compare with.

    Parameters
    ----------
    table : xarray.Dataset
        ``Advice.table``.

    Returns
    -------
    matplotlib.figure.Figure
        One row per candidate, the best on top.

    Examples
    --------
    >>> import subridge as sr
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 20))
    >>> advice = sr.advise(X, X[:, 0] + rng.standard_normal(60), n_members=[2], weighted=False)
    >>> sr.figures.plot_advice(advice.table).axes[0].get_xlabel()
    'forecast squared error with 60 samples, 90% intervals'
    """
    names = list(table.candidate.values)
    kept = names[:_MOST_CANDIDATES]
    single = next(name for name in names if str(table.sel(candidate=name).strategy.values) == "single")
    if single not in kept:
        kept = [*kept[:-1], single]
    with journal():
        figure = Figure(figsize=(2 * COLUMN, 0.6 + 0.2 * len(kept)))
        axes = figure.subplots()
        for height, name in enumerate(kept):
            row = table.sel(candidate=name)
            colour = PALETTE[1] if name == single else PALETTE[0]
            value = float(row.prediction_error)
            bars = [[value - float(row.prediction_error_lower)], [float(row.prediction_error_upper) - value]]
            face = colour if bool(row.in_reach) else "white"
            axes.errorbar(value, -height, xerr=bars, fmt="o", color=colour, capsize=2, markerfacecolor=face)
        value = float(table.sel(candidate=single).prediction_error)
        axes.axvline(value, color=PALETTE[1], linewidth=0.8, linestyle=":")
        name_line(axes, "one ridge", (value, 1), (0, 3))
        labels = [f"{name}, λ = {plain(float(table.sel(candidate=name).ridge), 2)}" for name in kept]
        axes.set_yticks([-height for height in range(len(kept))], labels)
        size = counted(round(table.attrs["n_samples"]), "sample")
        axes.set(xlabel=f"forecast squared error with {size}, {table.attrs['level']:.0%} intervals")
        if not bool(table.sel(candidate=kept).in_reach.all()):
            note(figure, "hollow: beyond the pilot's reach")
    return figure


def _ceiling(curves: xr.Dataset) -> float | None:
    """Top of the error axis: wild upper bounds near a threshold must not flatten the curves."""
    error, upper = curves.prediction_error.values, curves.prediction_error_upper.values
    if not np.isfinite(error).any():
        return None
    return float(
        min(1.05 * np.nanmax(np.where(np.isfinite(upper), upper, np.nan)), 2 * np.nanmax(error[np.isfinite(error)]))
    )
