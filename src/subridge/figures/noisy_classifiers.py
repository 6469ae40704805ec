"""Figs. 4e, 4f and S3 to S5: how many classifiers are best when every score carries readout noise.

The appendix sweeps "ν = 0, .1, ..., 1"; it must be η, all ν being 1/k. The P grid is not given: 40 sizes from
50 to 4000, log-spaced. Where the paper has two tasks, this draws the features that `--data` names.
"""

from dataclasses import dataclass, replace
from typing import Self

import matplotlib as mpl
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import BoundaryNorm, LogNorm, Normalize, TwoSlopeNorm
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from subridge.figures.feature_settings import DATA_NOTE, FeatureSettings, log_sizes, shared
from subridge.figures.recipe import Recipe
from subridge.figures.style import GREY, PAGE, journal
from subridge.results.ensemble_sizes import best_ensemble_sizes
from subridge.simulation.classification.simulate import simulate_classification
from subridge.simulation.run import Run

_SHOWN = (0.0, 0.3, 0.6, 1.0)


@dataclass(frozen=True)
class NoisyClassifiers(FeatureSettings):
    """Settings of the third experiment; ``tolerance`` is ε."""

    n_trials: int = 50
    n_members: tuple[int, ...] = (1, 2, 3, 4, 5, 10, 15, 20, 25, 30, 100, 200)
    readout_noises: tuple[float, ...] = tuple(round(0.1 * step, 1) for step in range(11))
    ridges: tuple[float, ...] = (0.0, 0.1)
    smallest: int = 50
    largest: int = 4000
    n_sizes: int = 40
    tolerance: float = 0.01

    def quick(self) -> Self:
        return replace(
            self,
            n_features=240,
            n_train=4000,
            n_test=400,
            n_trials=2,
            n_members=(1, 2, 4, 10, 30, 100),
            readout_noises=(0.0, 0.15, 0.3, 0.45, 0.6, 0.8, 1.0),
            largest=1600,
            n_sizes=10,
        )


def imagenette(name: str) -> NoisyClassifiers:
    """The tolerance of Fig. S4."""
    return replace(NoisyClassifiers.variant(name), tolerance=0.001)


def compute(settings: NoisyClassifiers, run: Run) -> xr.Dataset:
    """Errors over trials, and the best numbers of members from their means."""
    experiment = replace(settings, tolerance=0.0)
    found = shared(("noise", experiment), run, lambda: _errors(experiment, run))
    best = best_ensemble_sizes(found.misclassification.mean("trial"), settings.tolerance)
    whole = xr.merge([found, best], combine_attrs="drop").assign_coords(tolerance=settings.tolerance)
    whole.attrs = {"notes": []}
    return whole


def _errors(settings: NoisyClassifiers, run: Run) -> xr.Dataset:
    data = settings.features()
    found = simulate_classification(
        *data,
        strategy="equal",
        n_members=settings.n_members,
        ridges=settings.ridges,
        readout_noises=settings.readout_noises,
        n_samples=log_sizes(settings.smallest, min(settings.largest, len(data.X)), settings.n_sizes),
        n_trials=settings.n_trials,
        seed=settings.seed,
        run=run,
        progress=False,
    )
    return found[["misclassification"]].assign_coords(data=data.name, n_features=data.n_features)


def draw_main_curves(data: xr.Dataset) -> Figure:
    """Fig. 4e: one row of learning curves without a ridge."""
    return _draw_curves(data.isel(ridge=[0]))


def draw_all_curves(data: xr.Dataset) -> Figure:
    """Fig. S3: learning curves at both ridges."""
    return _draw_curves(data)


def _draw_curves(data: xr.Dataset) -> Figure:
    noises = [eta for eta in _SHOWN if np.isclose(data.readout_noise, eta).any()]
    colours = ScalarMappable(LogNorm(2, max(3, int(data.n_members.max()))), mpl.colormaps["plasma"])
    with journal():
        rows = data.sizes["ridge"]
        figure = Figure(figsize=(PAGE, 0.7 + 1.75 * rows))
        grid = figure.subplots(rows, len(noises), sharex=True, sharey=True, squeeze=False)
        for row, ridge in zip(grid, data.ridge.values, strict=True):
            for axes, eta in zip(row, noises, strict=True):
                mean = data.misclassification.sel(ridge=ridge).sel(readout_noise=eta, method="nearest").mean("trial")
                for k in data.n_members.values:
                    colour = GREY if k == 1 else colours.to_rgba(k)
                    axes.plot(data.n_samples, mean.sel(n_members=k), color=colour, linewidth=1)
                axes.set_title(f"η = {eta:g}, λ = {ridge:g}", fontsize=8)
                _log_samples(axes, data)
            row[0].set_ylabel("test error")
        for axes in grid[-1]:
            axes.set_xlabel("training samples P")
        bar = figure.colorbar(colours, ax=list(grid.ravel()), label="members k (grey: 1)", aspect=25)
        ticks = [k for k in (2, 5, 10, 30, 100, 200) if k <= int(data.n_members.max())]
        bar.set_ticks(ticks, labels=[str(k) for k in ticks])
        bar.minorticks_off()
        grid[0, 0].set_ylim(0, 1)
        figure.suptitle(str(data.data.values), fontsize=8, color="0.4")
    return figure


def draw_best(data: xr.Dataset) -> Figure:
    """Fig. 4f: k* over P and η, at both ridges."""
    with journal(), mpl.rc_context({"axes.spines.top": True, "axes.spines.right": True}):
        figure = Figure(figsize=(PAGE, 2.6))
        row = figure.subplots(1, data.sizes["ridge"], sharey=True, squeeze=False)[0]
        scale = _sizes_scale(data)
        for axes, ridge in zip(row, data.ridge.values, strict=True):
            _map(axes, data.optimal_n_members.sel(ridge=ridge), scale)
            axes.set_title(f"λ = {ridge:g}")
            axes.set_xlabel("training samples P")
        row[0].set_ylabel("readout noise η")
        _sizes_bar(figure, list(row), scale, data, "best ensemble size $k^*$")
        figure.suptitle(str(data.data.values), fontsize=8, color="0.4")
    return figure


def draw_diagrams(data: xr.Dataset) -> Figure:
    """Figs. S4 and S5: k*, the smallest and largest k within ε, the best error, and its difference between ridges."""
    eps = float(data.tolerance)
    names = {
        "optimal_n_members": "best $k^*$",
        "smallest": f"least k, ε = {eps:g}",
        "largest": f"most k, ε = {eps:g}",
        "best_error": "error at $k^*$",
    }
    with journal(), mpl.rc_context({"axes.spines.top": True, "axes.spines.right": True}):
        figure = Figure(figsize=(PAGE, 1.2 + 1.6 * data.sizes["ridge"]))
        grid = figure.subplots(data.sizes["ridge"], 5, sharex=True, sharey=True, squeeze=False)
        scale = _sizes_scale(data)
        errors = ScalarMappable(Normalize(0, float(data.best_error.max())), mpl.colormaps["viridis"])
        for row, ridge in zip(grid, data.ridge.values, strict=True):
            for axes, (name, title) in zip(row, names.items(), strict=False):
                _map(axes, data[name].sel(ridge=ridge), errors if name == "best_error" else scale)
                axes.set_title(title, fontsize=7.5)
            row[0].set_ylabel(f"λ = {ridge:g}\nreadout noise η")
        signed = _draw_difference(grid[:, 4], data)
        for axes in grid[-1, :4]:
            axes.set_xlabel("P")
        _sizes_bar(figure, list(grid[:, :3].ravel()), scale, data, "members k", location="bottom")
        figure.colorbar(errors, ax=list(grid[:, 3]), label="error", location="bottom", aspect=10)
        bar = figure.colorbar(signed, ax=list(grid[:, 4]), label="difference", location="bottom", aspect=10)
        end = float(f"{0.7 * signed.norm.vmax:.0e}")  # three ticks of few digits: more would overlap
        bar.set_ticks([-end, 0, end], labels=[f"{tick:+g}" if tick else "0" for tick in (-end, 0, end)])
        figure.suptitle(str(data.data.values), fontsize=8, color="0.4")
    return figure


def _draw_difference(column: np.ndarray, data: xr.Dataset) -> ScalarMappable:
    """How much the ridge changes the best error, in the first of a column of panels; the others stay empty."""
    difference = data.best_error.isel(ridge=-1) - data.best_error.isel(ridge=0)
    reach = max(float(np.abs(difference).max()), 1e-6)
    scale = ScalarMappable(TwoSlopeNorm(0, -reach, reach), mpl.colormaps["RdBu_r"])
    _map(column[0], difference, scale)
    column[0].set_title(f"λ = {float(data.ridge[-1]):g} less λ = {float(data.ridge[0]):g}", fontsize=7.5)
    column[0].set_xlabel("P")
    column[0].tick_params(labelbottom=True)
    for axes in column[1:]:
        axes.set_visible(False)
    return scale


def _sizes_scale(data: xr.Dataset) -> ScalarMappable:
    """One colour per number of members that was tried; grey for one."""
    tried = data.n_members.values
    colours = mpl.colormaps["plasma"](np.linspace(0.05, 0.95, len(tried) - 1)) if len(tried) > 1 else []
    shades = mpl.colors.ListedColormap([mpl.colors.to_rgba(GREY), *map(tuple, colours)])
    edges = np.concatenate([[0.5], np.sqrt(tried[:-1] * tried[1:]), [tried[-1] * 1.5]])
    return ScalarMappable(BoundaryNorm(edges, len(tried)), shades)


def _sizes_bar(
    figure: Figure, axes: list[Axes], scale: ScalarMappable, data: xr.Dataset, label: str, location: str = "right"
) -> None:
    bar = figure.colorbar(scale, ax=axes, label=label, aspect=25, spacing="uniform", location=location)
    edges = scale.norm.boundaries
    bar.set_ticks((edges[:-1] + edges[1:]) / 2, labels=[str(k) for k in data.n_members.values])
    bar.ax.tick_params(labelsize=6, length=0)
    bar.minorticks_off()


def _map(axes: Axes, values: xr.DataArray, scale: ScalarMappable) -> None:
    """A map over P (logarithmic) and η."""
    P, eta = values.n_samples.values, values.readout_noise.values
    height = np.concatenate([[eta[0]], (eta[1:] + eta[:-1]) / 2, [eta[-1]]])
    width = np.concatenate([[P[0]], np.sqrt(P[1:] * P[:-1]), [P[-1]]])
    table = values.transpose("readout_noise", "n_samples").values
    axes.pcolormesh(width, height, table, cmap=scale.cmap, norm=scale.norm, rasterized=True)
    _log_samples(axes, values)
    axes.set_xlim(P[0], P[-1])


def _log_samples(axes: Axes, data: xr.Dataset | xr.DataArray) -> None:
    axes.set_xscale("log")
    ticks = [P for P in (100, 1000) if int(data.n_samples.min()) <= P <= int(data.n_samples.max())]
    axes.set_xticks(ticks, labels=[str(P) for P in ticks])
    axes.xaxis.set_minor_formatter(NullFormatter())


_ERRATA = (
    "The appendix sweeps “ν = 0, .1, ..., 1”; it must be the readout noise η, since all ν = 1/k.",
    "The grid of P is not given: 40 log-spaced sizes from 50 to 4000.",
    DATA_NOTE,
)

RECIPES = {
    "fig4e": Recipe(
        "Classifiers with readout noise, learning curves",
        NoisyClassifiers.variant,
        compute,
        draw_main_curves,
        _ERRATA,
        (20000.0, 12.0),
    ),
    "fig4f": Recipe(
        "Classifiers with readout noise, best ensemble size",
        NoisyClassifiers.variant,
        compute,
        draw_best,
        (*_ERRATA, "The text has α and η on the axes, the figure P and η."),
        (20000.0, 12.0),
    ),
    "figS3": Recipe(
        "Classifiers with readout noise, learning curves at both ridges",
        NoisyClassifiers.variant,
        compute,
        draw_all_curves,
        _ERRATA,
        (20000.0, 12.0),
    ),
    "figS4": Recipe(
        "Classifiers with readout noise, nearly best ensemble sizes (ε = .001)",
        imagenette,
        compute,
        draw_diagrams,
        (*_ERRATA, "The caption uses “(b)” twice."),
        (20000.0, 12.0),
    ),
    "figS5": Recipe(
        "Classifiers with readout noise, nearly best ensemble sizes (ε = .01)",
        NoisyClassifiers.variant,
        compute,
        draw_diagrams,
        (*_ERRATA, "The caption uses “(b)” twice and says ε = .001; the text says .01."),
        (20000.0, 12.0),
    ),
}
