"""Fig. 3a: a drawing of ten readouts on (i) equal and (ii) unequal disjoint subsets of the features."""

from dataclasses import dataclass

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from subridge.figures.recipe import Recipe, Settings
from subridge.figures.schematic import draw_ensemble
from subridge.figures.style import COLUMN, journal
from subridge.simulation.run import Run
from subridge.subsets import dirichlet, equal


@dataclass(frozen=True)
class Fig3a(Settings):
    """Settings of Fig. 3a: a drawing, so any number of features will do."""

    n_features: int = 80
    n_members: int = 10
    fraction_spread: float = 0.75
    seed: int = 3


def compute(settings: Fig3a, run: Run) -> xr.Dataset:
    """Subset sizes of an equal and a heterogeneous plan."""
    k, M = settings.n_members, settings.n_features
    plans = (equal(k, M, settings.seed), dirichlet(k, M, settings.fraction_spread, settings.seed))
    sizes = np.array([plan.subset_sizes for plan in plans], dtype=np.int32)
    return xr.Dataset({"subset_sizes": (("ensemble", "member"), sizes)}, {"ensemble": ["equal", "heterogeneous"]})


def draw(data: xr.Dataset) -> Figure:
    """Both ensembles, one above the other."""
    titles = (
        "(i) equal subsets, $\\nu_{rr} = 1/k$",
        "(ii) heterogeneous subsets, $\\nu_{rr}$ drawn from $\\Gamma_{k,\\sigma}$",
    )
    with journal():
        figure = Figure(figsize=(COLUMN, 2.4))
        for axes, title, sizes in zip(figure.subplots(2, 1), titles, data.subset_sizes.values, strict=True):
            draw_ensemble(axes, sizes)
            axes.set_title(title, fontsize=8)
    return figure


RECIPES = {
    "fig3a": Recipe(
        "Equal and heterogeneous subsets (drawing)",
        Fig3a.variant,
        compute,
        draw,
        errata=(
            "σ is the standard deviation of the Gamma draw before the fractions are scaled to sum to one; afterwards "
            "it is "
            "σ √(((k−1)/k)/(1+kσ²)).",
        ),
        seconds=(0.6, 0.6),
    )
}
