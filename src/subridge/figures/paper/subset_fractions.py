"""Figs. 3a and 3b: equal and unequal subsets of the features, and the Gamma densities behind unequal ones."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import xarray as xr

from subridge.figures.drawing.subset_fractions import plot_densities, plot_ensembles
from subridge.figures.paper.recipe import FigureRecipe, FigureSettings
from subridge.model.subsets import dirichlet, equal, fraction_density, rescaled_spread
from subridge.simulation.run import Run


@dataclass(frozen=True)
class Fig3a(FigureSettings):
    """Settings of Fig. 3a: a drawing, so any number of features will do."""

    n_features: int = 80
    n_members: int = 10
    fraction_spread: float = 0.75
    seed: int = 3

    def compute(self, run: Run) -> xr.Dataset:
        """Subset sizes of an equal and a heterogeneous plan."""
        k, M = self.n_members, self.n_features
        plans = (equal(k, M, self.seed), dirichlet(k, M, self.fraction_spread, self.seed))
        sizes = np.array([plan.subset_sizes for plan in plans], dtype=np.int32)
        return xr.Dataset({"subset_sizes": (("ensemble", "member"), sizes)}, {"ensemble": ["equal", "heterogeneous"]})


@dataclass(frozen=True)
class Fig3b(FigureSettings):
    """Settings of Fig. 3b."""

    n_members: int = 10
    deviations: tuple[float, ...] = tuple(float(sigma) for sigma in np.linspace(0.02, 0.2, 10))
    n_fractions: int = 400

    def quick(self) -> Self:
        return replace(self, n_fractions=200)

    def compute(self, run: Run) -> xr.Dataset:
        """Gamma densities of mean 1/k, one per standard deviation, before the fractions are scaled to sum to one."""
        nu, sigma = np.linspace(1e-3, 0.3, self.n_fractions), np.array(self.deviations)
        spreads = self.n_members * sigma
        density = fraction_density(nu, self.n_members, spreads[:, None])
        return xr.Dataset(
            {
                "density": (("fraction_spread", "subset_fraction"), density),
                "rescaled_deviation": ("fraction_spread", rescaled_spread(self.n_members, spreads)),
            },
            {"fraction_spread": spreads, "subset_fraction": nu, "deviation": ("fraction_spread", sigma)},
        )


RECIPES = {
    "fig3a": FigureRecipe(
        "Equal and heterogeneous subsets (drawing)",
        Fig3a(),
        plot_ensembles,
        errata=(
            "σ is the standard deviation of the Gamma draw before the fractions are scaled to sum to one; afterwards "
            "it is σ √(((k−1)/k)/(1+kσ²)).",
        ),
        seconds=(0.6, 0.6),
    ),
    "fig3b": FigureRecipe(
        "Gamma densities of the subset fractions",
        Fig3b(),
        plot_densities,
        errata=(
            "The densities are those before the fractions are scaled to sum to one. Afterwards the standard deviation "
            "is smaller (k = 10, σ = 0.1: 0.0905); the data hold it as rescaled_deviation.",
        ),
        seconds=(0.6, 0.6),
    ),
}
