"""Fig. S1: statistics of the deep features, and one classifier that sees a fraction of them.

The caption's formula for the Gram matrix is transposed: a matrix sorted by label has one row per image, Φ Φᵀ.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from subridge.figures.feature_settings import DATA_NOTE
from subridge.figures.recipe import Recipe
from subridge.figures.redundancy import Redundancy, draw_fractions
from subridge.figures.redundancy import compute as compute_fractions
from subridge.figures.style import PAGE, journal, panel_letter
from subridge.results.feature_statistics import feature_statistics
from subridge.simulation.run import Run


@dataclass(frozen=True)
class FeatureStatistics(Redundancy):
    """Settings of Fig. S1."""

    n_images: int = 1000
    n_shown_features: int = 400
    n_fitted: int = 500

    @classmethod
    def caption(cls) -> Self:
        return cls()

    def quick(self) -> Self:
        return replace(super().quick(), n_trials=3, n_fractions=10, n_images=500)


def compute(settings: FeatureStatistics, run: Run) -> xr.Dataset:
    """Second-order statistics and the redundancy experiment."""
    data = settings.features()
    statistics = feature_statistics(data.X, data.y, settings.n_images, settings.n_fitted)
    shown = np.linspace(0, data.n_features - 1, min(settings.n_shown_features, data.n_features)).astype(int)
    statistics = statistics.isel(feature=shown, other_feature=shown)
    fractions = compute_fractions(settings, run)
    whole = xr.merge([statistics, fractions], combine_attrs="drop")
    law = f"{float(statistics.prefactor):.3g} n^{float(statistics.power):.2f}"
    notes = [
        *fractions.attrs["notes"],
        f"Spectrum: {law} on the top {int(statistics.n_fitted)} (authors: 187.74 n^-.85).",
    ]
    whole.attrs = {"notes": notes}
    return whole


def draw(data: xr.Dataset) -> Figure:
    """Gram matrix, covariance, spectrum, error against the fraction of features."""
    with journal():
        figure = Figure(figsize=(PAGE, 5.4))
        (gram, covariance), (spectrum, fractions) = figure.subplots(2, 2)
        _matrix(gram, data.gram.values, "images, sorted by class")
        borders = np.flatnonzero(np.diff(data.label.values)) + 0.5
        gram.set_xticks(borders, labels=[])
        gram.set_yticks(borders, labels=[])
        _matrix(covariance, data.covariance.values, "features")
        covariance.set(xticks=[], yticks=[])
        spectrum.loglog(data["rank"], data.eigenvalue, color="#0072B2", label="of the covariance")
        fitted = data["rank"].values[: int(data.n_fitted)]
        law = float(data.prefactor) * fitted ** float(data.power)
        label = f"{float(data.prefactor):.3g} $n^{{{float(data.power):.2f}}}$, top {len(fitted)}"
        spectrum.loglog(fitted, law, "--", color="#D55E00", label=label)
        spectrum.set(xlabel="rank n", ylabel="eigenvalue")
        spectrum.legend(loc="lower left")
        draw_fractions(fractions, data)
        for letter, axes in zip("abcd", (gram, covariance, spectrum, fractions), strict=True):
            panel_letter(axes, letter)
        figure.suptitle(str(data.data.values), fontsize=8, color="0.4")
    return figure


def _matrix(axes: Axes, values: np.ndarray, label: str) -> None:
    """A symmetric matrix, its colours cut at the 99th percentile so that the diagonal does not hide the rest."""
    reach = float(np.quantile(np.abs(values), 0.99))
    shown = axes.imshow(values, cmap="RdBu_r", vmin=-reach, vmax=reach, interpolation="nearest")
    axes.set(xlabel=label, ylabel=label)
    axes.figure.colorbar(shown, ax=axes, shrink=0.85)
    for side in ("top", "right"):
        axes.spines[side].set_visible(True)


RECIPES = {
    "figS1": Recipe(
        "Statistics of the deep features",
        FeatureStatistics.variant,
        compute,
        draw,
        errata=(
            "The caption’s Gram matrix (Φ − Φ̄)ᵀ(Φ − Φ̄)/P is transposed: one sorted by label is Φ Φᵀ.",
            DATA_NOTE,
        ),
        seconds=(1500.0, 10.0),
    )
}
