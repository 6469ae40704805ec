"""Figs. 3d and S1: one classifier that sees a fraction of the deep features, and statistics of these features.

The caption's formula for the Gram matrix is transposed: a matrix sorted by label has one row per image, Φ Φᵀ.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import xarray as xr

from subridge.figures.drawing.feature_statistics import plot_redundancy, plot_statistics
from subridge.figures.paper.experiments import part_of
from subridge.figures.paper.features import DATA_NOTE, FeatureSettings
from subridge.figures.paper.recipe import FigureRecipe
from subridge.model.ensemble import Ensemble
from subridge.model.subsets import Overlapping
from subridge.results.schemas import feature_statistics
from subridge.simulation.run import Run


@dataclass(frozen=True)
class Redundancy(FeatureSettings):
    """Settings of Fig. 3d: the appendix says P = 1000, the caption P = 100."""

    n_samples: int = 1000
    n_fractions: int = 50
    ridges: tuple[float, ...] = (0.0, 1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1e3, 1e4)

    def caption(self) -> Self:
        return replace(self, n_samples=100)

    def quick(self) -> Self:
        few = tuple(lam for lam in self.ridges if lam in (0.0, 0.1, 10.0, 1e3))
        return replace(self, n_train=4000, n_test=800, n_trials=4, n_fractions=14, ridges=few)

    def compute(self, run: Run) -> xr.Dataset:
        """Errors over trials, for subsets of every size: new samples and features in each trial."""
        data = self.features()
        fractions = np.geomspace(1e-3, 1, self.n_fractions)
        # Rounded to whole features, at least one: ν = .001 of 1269 features is one.
        sizes = np.unique(np.maximum(1, np.round(fractions * data.n_features).astype(int)))
        if self.n_samples <= data.n_features:
            sizes = np.union1d(sizes, self.n_samples)  # the spike without a ridge, which a coarse grid would miss
        parts = []
        for N in sizes.tolist():
            ensemble = Ensemble(Overlapping((N,)), aggregation="majority")
            part = self.misclassification(data, [ensemble], [self.n_samples], part_of(run, f"features-{N}"))
            parts.append(part.isel(n_members=0, readout_noise=0, drop=True).squeeze("n_samples"))
        axis = xr.DataArray(sizes / data.n_features, dims="subset_fraction", name="subset_fraction")
        shares = xr.concat(parts, axis).to_dataset()
        shares.attrs = {"notes": [_reading(shares)]}
        return shares


def _reading(shares: xr.Dataset) -> str:
    """The error of all features and of a tenth, at the ridge that is best for all."""
    mean = shares.misclassification.mean("trial")
    ridge = mean.ridge[int(mean.sel(subset_fraction=1, method="nearest").argmin("ridge"))]
    at = [float(mean.sel(ridge=ridge).sel(subset_fraction=nu, method="nearest")) for nu in (1.0, 0.1)]
    return f"At the best ridge, λ = {float(ridge):g}, the error is {at[0]:.3f} at ν = 1 and {at[1]:.3f} at ν = 0.1."


@dataclass(frozen=True)
class FeatureStatistics(Redundancy):
    """Settings of Fig. S1."""

    n_images: int = 1000
    n_shown_features: int = 400
    n_fitted: int = 500

    def caption(self) -> Self:
        return self

    def quick(self) -> Self:
        return replace(super().quick(), n_trials=3, n_fractions=10, n_images=500)

    def compute(self, run: Run) -> xr.Dataset:
        """Second-order statistics and the redundancy experiment."""
        data = self.features()
        statistics = feature_statistics(data.X, data.y, self.n_images, self.n_fitted)
        shown = np.linspace(0, data.n_features - 1, min(self.n_shown_features, data.n_features)).astype(int)
        statistics = statistics.isel(feature=shown, other_feature=shown)
        fractions = super().compute(run)
        law = f"{float(statistics.prefactor):.3g} n^{float(statistics.power):.2f}"
        spectrum = f"Spectrum: {law} on the top {int(statistics.n_fitted)} (authors: 187.74 n^-.85)."
        whole = xr.merge([statistics, fractions], combine_attrs="drop")
        whole.attrs = {"notes": [*fractions.attrs["notes"], spectrum]}
        return whole


RECIPES = {
    "fig3d": FigureRecipe(
        "One classifier, fraction of features",
        Redundancy(),
        plot_redundancy,
        errata=(
            "The caption says P = 100, the appendix P = 1000 (twice). `--settings caption` draws P = 100.",
            DATA_NOTE,
        ),
        seconds=(1500.0, 12.0),
    ),
    "figS1": FigureRecipe(
        "Statistics of the deep features",
        FeatureStatistics(),
        plot_statistics,
        errata=("The caption’s Gram matrix (Φ − Φ̄)ᵀ(Φ − Φ̄)/P is transposed: one sorted by label is Φ Φᵀ.", DATA_NOTE),
        seconds=(1500.0, 10.0),
    ),
}
