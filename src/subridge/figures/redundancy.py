"""Fig. 3d: one classifier that sees a fraction of the features."""

from dataclasses import dataclass, replace
from typing import Self

import matplotlib as mpl
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from subridge.figures.feature_settings import DATA_NOTE, FeatureSettings
from subridge.figures.recipe import Recipe
from subridge.figures.stores import part_of
from subridge.figures.style import COLUMN, journal
from subridge.simulation.classification.simulate import simulate_classification
from subridge.simulation.run import Run
from subridge.subsets import Overlapping


@dataclass(frozen=True)
class Redundancy(FeatureSettings):
    """Settings of Fig. 3d: the appendix says P = 1000, the caption P = 100."""

    n_samples: int = 1000
    n_fractions: int = 50
    ridges: tuple[float, ...] = (0.0, 1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1e3, 1e4)

    @classmethod
    def caption(cls) -> Self:
        return cls(n_samples=100)

    def quick(self) -> Self:
        few = tuple(lam for lam in self.ridges if lam in (0.0, 0.1, 10.0, 1e3))
        return replace(self, n_train=4000, n_test=800, n_trials=4, n_fractions=14, ridges=few)


def compute(settings: Redundancy, run: Run) -> xr.Dataset:
    """Errors over trials, for subsets of every size: new samples and features in each trial."""
    data = settings.features()
    fractions = np.geomspace(1e-3, 1, settings.n_fractions)
    # Rounded to whole features, at least one: ν = .001 of 1269 features is one.
    sizes = np.unique(np.maximum(1, np.round(fractions * data.n_features).astype(int)))
    if settings.n_samples <= data.n_features:
        sizes = np.union1d(sizes, settings.n_samples)  # the spike without a ridge, which a coarse grid would miss
    parts = []
    for N in sizes.tolist():
        found = simulate_classification(
            *data,
            strategy=lambda k, N=N: Overlapping((N,)),
            n_members=1,
            ridges=settings.ridges,
            n_samples=settings.n_samples,
            n_trials=settings.n_trials,
            seed=settings.seed,
            run=part_of(run, f"features-{N}"),
            progress=False,
        )
        parts.append(found.misclassification.isel(n_members=0, readout_noise=0, n_samples=0, drop=True))
    axis = xr.DataArray(sizes / data.n_features, dims="subset_fraction", name="subset_fraction")
    errors = xr.concat(parts, axis).to_dataset(name="error")
    errors = errors.assign_coords(data=data.name, n_features=data.n_features, n_samples=settings.n_samples)
    errors.attrs = {"notes": [_reading(errors)]}
    return errors


def _reading(errors: xr.Dataset) -> str:
    """The error of all features and of a tenth, at the ridge that is best for all."""
    mean = errors.error.mean("trial")
    ridge = mean.ridge[int(mean.sel(subset_fraction=1, method="nearest").argmin("ridge"))]
    at = [float(mean.sel(ridge=ridge).sel(subset_fraction=nu, method="nearest")) for nu in (1.0, 0.1)]
    return f"At the best ridge, λ = {float(ridge):g}, the error is {at[0]:.3f} at ν = 1 and {at[1]:.3f} at ν = 0.1."


def draw(data: xr.Dataset) -> Figure:
    """Error against the fraction of features, one line per ridge."""
    with journal():
        figure = Figure(figsize=(1.25 * COLUMN, 2.8))
        axes = figure.subplots()
        draw_fractions(axes, data)
        axes.set_title(str(data.data.values), fontsize=8, color="0.4")
    return figure


def draw_fractions(axes: Axes, data: xr.Dataset) -> None:
    """The curves, black without a ridge, coloured by ridge otherwise."""
    positive = data.ridge.values[data.ridge.values > 0]
    scale = ScalarMappable(LogNorm(positive.min(), positive.max()), mpl.colormaps["viridis"])
    for ridge in data.ridge.values:
        one = data.error.sel(ridge=ridge)
        colour = "black" if ridge == 0 else scale.to_rgba(ridge)
        mean, error = one.mean("trial"), one.std("trial", ddof=1) / np.sqrt(one.sizes["trial"])
        axes.plot(one.subset_fraction, mean, color=colour, label="λ = 0" if ridge == 0 else None)
        axes.fill_between(one.subset_fraction, mean - error, mean + error, color=colour, alpha=0.25, linewidth=0)
    axes.axvline(float(data.n_samples / data.n_features), color="0.7", linewidth=0.7, linestyle=":", zorder=0)
    axes.set(xscale="log", yscale="log", xlabel="fraction of features ν", ylabel="test error")
    axes.set_yticks([0.1, 0.2, 0.5, 1.0], labels=["0.1", "0.2", "0.5", "1"])
    axes.minorticks_off()
    axes.legend(loc="lower left", title=f"P = {int(data.n_samples)}; dotted: N = P", title_fontsize=7)
    axes.figure.colorbar(scale, ax=axes, label="ridge λ")


RECIPES = {
    "fig3d": Recipe(
        "One classifier, fraction of features",
        Redundancy.variant,
        compute,
        draw,
        errata=(
            "The caption says P = 100, the appendix P = 1000 (twice). `--settings caption` draws P = 100.",
            DATA_NOTE,
        ),
        seconds=(1500.0, 12.0),
    )
}
