"""Fig. 3b: densities of the Gamma draw behind heterogeneous subset fractions, before they are scaled to sum to one."""

from dataclasses import dataclass, replace
from typing import Self

import matplotlib as mpl
import numpy as np
import xarray as xr
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from subridge.figures.recipe import Recipe, Settings
from subridge.figures.style import COLUMN, journal
from subridge.simulation.run import Run
from subridge.subsets import fraction_density, rescaled_spread


@dataclass(frozen=True)
class Fig3b(Settings):
    """Settings of Fig. 3b."""

    n_members: int = 10
    deviations: tuple[float, ...] = tuple(float(sigma) for sigma in np.linspace(0.02, 0.2, 10))
    n_fractions: int = 400

    def quick(self) -> Self:
        return replace(self, n_fractions=200)


def compute(settings: Fig3b, run: Run) -> xr.Dataset:
    """Gamma densities of mean 1/k, one per standard deviation."""
    nu = np.linspace(1e-3, 0.3, settings.n_fractions)
    spreads = settings.n_members * np.array(settings.deviations)
    return xr.Dataset(
        {
            "density": (
                ("fraction_spread", "subset_fraction"),
                fraction_density(nu, settings.n_members, spreads[:, None]),
            ),
            "rescaled_deviation": ("fraction_spread", rescaled_spread(settings.n_members, spreads)),
        },
        {
            "fraction_spread": spreads,
            "subset_fraction": nu,
            "deviation": ("fraction_spread", np.array(settings.deviations)),
        },
    )


def draw(data: xr.Dataset) -> Figure:
    """Densities on a logarithmic scale, coloured by standard deviation."""
    sigma = data.deviation.values
    scale = ScalarMappable(Normalize(sigma.min(), sigma.max()), mpl.colormaps["plasma"])
    with journal():
        figure = Figure(figsize=(COLUMN, 2.5))
        axes = figure.subplots()
        for row, one in zip(data.density.values, sigma, strict=True):
            axes.plot(data.subset_fraction, row, color=scale.to_rgba(one))
        axes.set(yscale="log", xlim=(0, 0.3), ylim=(0.09, 25))
        axes.set(xlabel="subset fraction ν", ylabel="probability density $\\Gamma_{k,\\sigma}(\\nu)$")
        figure.colorbar(scale, ax=axes, label="standard deviation σ")
    return figure


RECIPES = {
    "fig3b": Recipe(
        "Gamma densities of the subset fractions",
        Fig3b.variant,
        compute,
        draw,
        errata=(
            "The densities are those before the fractions are scaled to sum to one. Afterwards the standard deviation "
            "is "
            "smaller (k = 10, σ = 0.1: 0.0905); the data hold it as rescaled_deviation.",
        ),
        seconds=(0.6, 0.6),
    )
}
