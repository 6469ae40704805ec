"""Figs. 3e and S2: classifiers on equal and on heterogeneous subsets; unequal ones have no double-descent spike.

The paper claims peaks at P = M/k for every k, but its P run over 400 to 4000 plus the single points M/k, so that for
k ≥ 8 the published peak is one isolated point; the same grid is used here.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from subridge.figures.feature_settings import DATA_NOTE, FeatureSettings, log_sizes, shared
from subridge.figures.recipe import Recipe
from subridge.figures.stores import part_of
from subridge.figures.style import GREY, PAGE, PALETTE, journal
from subridge.simulation.classification.simulate import simulate_classification
from subridge.simulation.run import Run

_NAMES = {"equal": "equal subsets", "dirichlet": "heterogeneous subsets"}


@dataclass(frozen=True)
class Classifiers(FeatureSettings):
    """Settings of Figs. 3e and S2."""

    n_members: tuple[int, ...] = (1, 4, 8, 16, 32)
    fraction_spread: float = 0.75
    ridges: tuple[float, ...] = (0.0, 0.1)
    smallest: int = 400
    largest: int = 4000
    n_sizes: int = 50

    def quick(self) -> Self:
        # A quarter of the features moves every threshold M/k to a quarter, where training is cheap.
        return replace(
            self, n_features=320, n_train=4000, n_test=600, n_trials=4, smallest=100, largest=1000, n_sizes=9
        )


def compute(settings: Classifiers, run: Run) -> xr.Dataset:
    """Errors over trials of both kinds of ensemble."""
    found = shared(("subsets", settings), run, lambda: _errors(settings, run))
    found.attrs = {"notes": _spikes(found)}
    return found


def _errors(settings: Classifiers, run: Run) -> xr.Dataset:
    data = settings.features()
    thresholds = [data.n_features // k for k in settings.n_members]
    largest = min(settings.largest, len(data.X))
    sizes = log_sizes(settings.smallest, largest, settings.n_sizes, [P for P in thresholds if largest >= P])
    parts = [
        simulate_classification(
            *data,
            strategy=strategy,
            fraction_spread=settings.fraction_spread,
            n_members=settings.n_members,
            ridges=settings.ridges,
            n_samples=sizes,
            n_trials=settings.n_trials,
            seed=settings.seed,
            run=part_of(run, strategy),
            progress=False,
        )
        for strategy in _NAMES
    ]
    errors = xr.concat(
        [part.misclassification for part in parts], xr.DataArray(list(_NAMES), dims="strategy", name="strategy")
    )
    found = errors.isel(readout_noise=0, drop=True).to_dataset(name="error")
    return found.assign_coords(data=data.name, n_features=data.n_features)


def _spikes(found: xr.Dataset) -> list[str]:
    """How far the error rises at P = M/k above its neighbours, for every ensemble without a ridge."""
    mean, lines = found.error.mean("trial").isel(ridge=0), []
    sizes = found.n_samples.values
    for strategy in found.strategy.values:
        words = []
        for k in found.n_members.values:
            p = int(np.searchsorted(sizes, int(found.n_features) // k))
            if p >= len(sizes) or sizes[p] != int(found.n_features) // k or p in (0, len(sizes) - 1):
                continue
            curve = mean.sel(strategy=strategy, n_members=k).values
            words.append(f"k={k}: {curve[p]:.3f} (neighbours {curve[p - 1]:.3f}, {curve[p + 1]:.3f})")
        lines.append(f"λ = 0, {_NAMES[str(strategy)]}, error at P = M/k: " + "; ".join(words))
    return lines


def draw_means(data: xr.Dataset) -> Figure:
    """Fig. 3e: means without a ridge; grey, one classifier with the ridge."""
    with journal():
        figure = Figure(figsize=(PAGE, 2.7))
        panels = figure.subplots(1, 2, sharey=True)
        for axes, strategy in zip(panels, data.strategy.values, strict=True):
            one = data.error.sel(strategy=strategy)
            single = one.isel(ridge=-1).sel(n_members=1).mean("trial")
            axes.plot(data.n_samples, single, color=GREY, linewidth=2.2, alpha=0.7, label=_single(data))
            _curves(axes, one.isel(ridge=0), band=False)
            axes.set_title(f"{_NAMES[str(strategy)]}, λ = {float(data.ridge[0]):g}")
        _finish(figure, panels, data)
    return figure


def draw_spreads(data: xr.Dataset) -> Figure:
    """Fig. S2: both ridges, with the standard deviation over trials shaded."""
    with journal():
        figure = Figure(figsize=(PAGE, 4.8))
        grid = figure.subplots(data.sizes["ridge"], 2, sharey=True, sharex=True, squeeze=False)
        for row, ridge in zip(grid, data.ridge.values, strict=True):
            for axes, strategy in zip(row, data.strategy.values, strict=True):
                _curves(axes, data.error.sel(strategy=strategy, ridge=ridge), band=True)
                axes.set_title(f"{_NAMES[str(strategy)]}, λ = {ridge:g}")
        _finish(figure, grid.ravel(), data)
        for axes in grid[:-1].ravel():
            axes.set_xlabel("")
    return figure


def _curves(axes: Axes, error: xr.DataArray, *, band: bool) -> None:
    for k, colour in zip(error.n_members.values, PALETTE, strict=False):
        one = error.sel(n_members=k)
        mean = one.mean("trial")
        axes.plot(one.n_samples, mean, color=colour, marker="o", markersize=2, linewidth=1.1, label=f"k = {k}")
        if band:
            spread = one.std("trial", ddof=1)
            axes.fill_between(one.n_samples, mean - spread, mean + spread, color=colour, alpha=0.2, linewidth=0)


def _single(data: xr.Dataset) -> str:
    return f"k = 1, λ = {float(data.ridge[-1]):g}"


def _finish(figure: Figure, panels: np.ndarray, data: xr.Dataset) -> None:
    low, high = int(data.n_samples.min()), int(data.n_samples.max())
    ticks = [P for P in (10, 20, 50, 100, 200, 500, 1000, 2000, 4000) if low <= P <= high]
    for axes in panels:
        axes.set_xscale("log")
        axes.set_xticks(ticks, labels=[str(P) for P in ticks])
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set(xlabel="training samples P", ylim=(0, None))
        for k, colour in zip(data.n_members.values, PALETTE, strict=False):
            axes.axvline(int(data.n_features) // k, color=colour, linewidth=0.6, linestyle=":", zorder=0)
    for axes in panels[::2]:
        axes.set_ylabel("test error")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", title="dotted: P = M/k", handlelength=1.4)
    figure.suptitle(str(data.data.values), fontsize=8, color="0.4")


_PEAKS = (
    "The paper shows peaks at P = M/k for all k; its grid starts at 400, so that the peaks of k ≥ 8 are single points "
    "added to it. Thresholds are dotted."
)

RECIPES = {
    "fig3e": Recipe(
        "Equal and heterogeneous ensembles of classifiers",
        Classifiers.variant,
        compute,
        draw_means,
        errata=(_PEAKS, DATA_NOTE),
        seconds=(6000.0, 10.0),
    ),
    "figS2": Recipe(
        "Equal and heterogeneous ensembles of classifiers, spread over trials",
        Classifiers.variant,
        compute,
        draw_spreads,
        errata=(_PEAKS, DATA_NOTE),
        seconds=(6000.0, 10.0),
    ),
}
