"""Figs. 3a to 3c: equal and unequal subsets, the densities behind unequal ones, and what they do to the peak."""

from dataclasses import dataclass

import numpy as np
import xarray as xr

from subridge.figures.drawing.subsets import plot_densities, plot_ensembles, plot_heterogeneity
from subridge.figures.paper.recipe import FigureRecipe, FigureSettings, Numbers
from subridge.model.ensemble import Ensemble
from subridge.model.problem import EquicorrelatedProblem
from subridge.model.subsets import Dirichlet, dirichlet, equal, fraction_density, rescaled_spread
from subridge.simulation.run import Run
from subridge.theory.predict import risk
from subridge.theory.ridge_search import optimal_ridge
from subridge.theory.thresholds import around_thresholds


@dataclass(frozen=True)
class Fig3a(FigureSettings):
    """Settings of Fig. 3a: a drawing, so any number of features will do."""

    n_features: int = 80
    n_members: int = 10
    fraction_spread: float = 0.75
    seed: int = 3

    def compute(self, run: Run) -> xr.Dataset:
        """Subset sizes of an equal and a heterogeneous plan."""
        shape = (self.n_members, self.n_features)
        plans = (equal(*shape, self.seed), dirichlet(*shape, self.fraction_spread, self.seed))
        sizes = np.array([plan.subset_sizes for plan in plans], dtype=np.int32)
        return xr.Dataset({"subset_sizes": (("ensemble", "member"), sizes)}, {"ensemble": ["equal", "heterogeneous"]})


@dataclass(frozen=True)
class Fig3b(FigureSettings):
    """Settings of Fig. 3b."""

    n_members: int = 10
    deviations: Numbers = tuple(np.linspace(0.02, 0.2, 10).tolist())
    n_fractions: int = 400

    def compute(self, run: Run) -> xr.Dataset:
        """Gamma densities of mean 1/k, one per standard deviation, before the fractions are scaled to sum to one."""
        nu = np.linspace(1e-3, 0.3, self.n_fractions)
        sigma = np.array(self.deviations)
        spreads = self.n_members * sigma
        density = fraction_density(nu, self.n_members, spreads[:, None])
        return xr.Dataset(
            {
                "density": (("fraction_spread", "subset_fraction"), density),
                "rescaled_deviation": ("fraction_spread", rescaled_spread(self.n_members, spreads)),
            },
            {"fraction_spread": spreads, "subset_fraction": nu, "deviation": ("fraction_spread", sigma)},
        )


@dataclass(frozen=True)
class Fig3c(FigureSettings):
    """Fig. 3c: heterogeneous subsets lower the double-descent peak (theory); panels are (correlation, readout noise).

    Caption: ζ = 0, ρ = .3; the authors' notebook has ζ = .1 and ρ = 0, and the published picture shows those. With the
    caption's values, c = .8 and σ = 1/k the average over draws does not exist: Dirichlet(1, ..., 1) has E[1/ν] = ∞,
    and the error of an aligned teacher grows as 1/ν. There the median is shown.
    """

    n_members: int = 10
    fraction_spreads: Numbers = (0.0, 0.25, 0.5, 1.0)
    panels: tuple[tuple[float, float], ...] = ((0.0, 0.0), (0.8, 0.0), (0.0, 0.5), (0.8, 0.5))
    ridges: Numbers = (1e-3, 1e-1)
    label_noise: float = 0.1
    alignment: float = 0.0
    n_ratios: int = 100
    n_draws: int = 100
    n_shown: int = 3
    seed: int = 0

    def compute(self, run: Run) -> xr.Dataset:
        """Learning curves over draws of the subset fractions, and of one full model at its own best ridge."""
        k = self.n_members
        c, eta = (np.array(values)[:, None, None, None] for values in zip(*self.panels, strict=True))
        problem = EquicorrelatedProblem(correlation=c, alignment=self.alignment, label_noise=self.label_noise)
        # (panel, ridge, draw, α): the last sample ratio is the limit of infinite data.
        alpha = around_thresholds(np.append(np.linspace(0.03, 3, self.n_ratios) / k, np.inf), 1 / k)
        lam = np.array(self.ridges)[:, None, None, None]
        eta = eta[..., None]
        shape = (len(c), len(lam), self.n_draws, len(alpha))
        curves = []
        for spread in self.fraction_spreads:
            draws = Dirichlet(k, spread).fractions((self.seed, round(100 * spread)), self.n_draws if spread > 0 else 1)
            # One draw at a time: what it needs stays in the processor's cache.
            drawn = [risk(problem, Ensemble(np.diag(nu), lam, eta), alpha).total for nu in draws]
            curves.append(np.broadcast_to(np.concatenate(drawn, axis=2), shape))
        everything = xr.DataArray(
            np.array(curves),
            {
                "fraction_spread": list(self.fraction_spreads),
                "ridge": list(self.ridges),
                "sample_ratio": alpha,
                "correlation": ("panel", c.ravel()),
                "readout_noise": ("panel", eta.ravel()),
            },
            ("fraction_spread", "panel", "ridge", "draw", "sample_ratio"),
        )
        best = Ensemble([1.0], optimal_ridge(problem, Ensemble([1.0], readout_noise=eta)), eta)
        # The mean over draws exists if E[1/ν] is finite, that is if the Dirichlet parameter (σk)⁻² exceeds one, or if
        # 1/ν does not enter: it does so through the aligned part of the teacher, which needs ρ ≠ 0 and c > 0.
        exists = (everything.correlation == 0) | (self.alignment == 0) | (everything.fraction_spread < 1)
        centre = everything.mean("draw").where(exists, everything.median("draw"))
        data = xr.Dataset(
            {
                "risk": centre.transpose("panel", "ridge", "fraction_spread", "sample_ratio"),
                "shown": everything.isel(draw=slice(self.n_shown)),
                "full_model": (("panel", "sample_ratio"), risk(problem, best, alpha).total[:, 0, 0]),
                "average_exists": exists.astype("int8"),
            }
        )
        peak = centre.sel(fraction_spread=0.0).isel(ridge=0, panel=-1, sample_ratio=slice(-1)).max()
        last = f"λ = {peak.ridge:g}, c = {peak.correlation:g}, η = {peak.readout_noise:g}"
        data.attrs = {"notes": [f"Peak of the equal ensemble at {last}: {peak:.4f}."]}
        if not exists.all():
            data.attrs["notes"].append(
                "The average over draws does not exist for σ = 1/k, ρ ≠ 0, c > 0: E[1/ν] is infinite for "
                "Dirichlet(1, …, 1). The median over draws is drawn there instead."
            )
        return data


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
        quick={"n_fractions": 200},
    ),
    "fig3c": FigureRecipe(
        "Heterogeneous subsets lower the double-descent peak",
        Fig3c(),
        plot_heterogeneity,
        errata=(
            "The caption says ζ = 0 and ρ = 0.3; the authors’ notebook sets ζ = 0.1 and ρ = 0, which the picture "
            "shows. `--settings caption` draws the caption’s values.",
            "With the caption’s ρ = 0.3, c = 0.8 and σ = 1/k the average over realisations (solid) does not exist: "
            "E[1/ν] = ∞ for Dirichlet(1, …, 1).",
            "“The asymptotic error is unaffected by heterogeneity” holds for c = 0, ω = 0 and for ρ = 0. With c = 0.8, "
            "ρ = 0.3 it adds s(1−c)ρ²(mean(1/ν)/k − 1) to the error.",
        ),
        seconds=(4.0, 3.0),
        quick={"n_draws": 40},
        caption={"label_noise": 0.0, "alignment": 0.3},
    ),
}
