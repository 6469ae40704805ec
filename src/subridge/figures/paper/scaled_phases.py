"""Fig. 4 of the paper for the scaled mean, which the paper does not draw: what is left of its phases.

Maps are for ρ = 0, where a scale matters in the limit of many features; at ρ ≠ 0 and finite size the last panel has
the risk of k members, each k at its best ridge.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import xarray as xr

from subridge.figures.drawing.scaled_phases import plot_scaled_phases
from subridge.figures.paper.recipe import FigureRecipe, FigureSettings
from subridge.model.ensemble import Ensemble
from subridge.model.problem import EquicorrelatedProblem
from subridge.results.predictions import phase_diagram
from subridge.simulation.run import Run
from subridge.theory.predict import risk
from subridge.theory.reduced import reduced_optimal_ridge, reduced_risk

_AGGREGATIONS = ("mean", "scaled")


@dataclass(frozen=True)
class ScaledPhases(FigureSettings):
    """Maps over (α, H) at ρ = 0; curves over k at one of their points; and curves over k at finite size."""

    largest_noise: float = 2.1
    n_noises: int = 211
    largest_ratio: float = 3.0
    n_ratios: int = 301
    curve_ratio: float = 0.35
    curve_noise: float = 0.5
    n_features: tuple[float, ...] = (240, 2400, np.inf)
    sizes: tuple[int, ...] = (1, 2, 3, 4, 6, 8, 10, 12, 15, 20, 30, 40, 60)
    n_ridges: int = 121

    def quick(self) -> Self:
        return replace(self, n_noises=71, n_ratios=101, n_ridges=61, sizes=(1, 2, 4, 8, 15, 30, 60))

    def compute(self, run: Run) -> xr.Dataset:
        """k* and risk over (aggregation, ridge, H, α), and risk over (aggregation, ridge or n_features, k)."""
        names = xr.DataArray(list(_AGGREGATIONS), dims="aggregation", name="aggregation")
        parts = [xr.merge([self._maps(name), self._curves(name), self._at_size(name)]) for name in _AGGREGATIONS]
        return xr.concat(parts, names, combine_attrs="drop")

    def _maps(self, aggregation: str) -> xr.Dataset:
        alpha = np.append(np.linspace(0, self.largest_ratio, self.n_ratios), np.inf)
        noise = np.linspace(0, self.largest_noise, self.n_noises)
        parts = [
            phase_diagram(alpha, 0.0, noise, ridge=ridge, aggregation=aggregation).drop_vars(
                ["boundary", "boundary_end", "boundary_before_end", "phase"]
            )
            for ridge in (0, "optimal")
        ]
        return xr.concat(parts, xr.DataArray(["0", "optimal"], dims="ridge", name="ridge"), combine_attrs="drop")

    def _curves(self, aggregation: str) -> xr.Dataset:
        """𝓔_k at one point of the maps, both ridges."""
        k, H, alpha = np.array(self.sizes, dtype=float), self.curve_noise, self.curve_ratio
        best = reduced_optimal_ridge(k, 0.0, H, 0.0, 0.0, aggregation=aggregation, sample_ratio=alpha)
        values = [reduced_risk(k, alpha, 0.0, Lam, H, 0.0, 0.0, aggregation=aggregation) for Lam in (0.0, best)]
        return xr.Dataset({"risk_by_size": (("ridge", "n_members"), np.array(values))}, {"n_members": k})

    def _at_size(self, aggregation: str) -> xr.Dataset:
        """E_g of k members at the best common ridge above zero: c = 0.6, ρ = 0.3, α = 1, three kinds of noise."""
        problem = EquicorrelatedProblem(1.0, 0.6, np.sqrt(0.1), 0.3, 0.1)
        ridges = np.geomspace(1e-6, 1e3, self.n_ridges)[:, None]
        values = np.empty((len(self.n_features), len(self.sizes)))
        for place, size in np.ndenumerate(np.broadcast_to(self.sizes, values.shape)):
            M = self.n_features[place[0]]
            ensemble = Ensemble(np.eye(size) / size, ridges, 0.3, aggregation)
            found = risk(problem, ensemble, 1.0, n_features=int(M) if np.isfinite(M) else None)
            values[place] = found.total.min()
        dims = ("n_features", "n_members")
        return xr.Dataset({"risk_at_size": (dims, values)}, {"n_features": list(self.n_features)})


RECIPES = {
    "fig4-scaled": FigureRecipe(
        "Best ensemble size and its error when the mean is scaled",
        ScaledPhases(),
        plot_scaled_phases,
        (
            "Not in the paper, whose ensembles are plain means. At ρ = 0 its noise-dominated phase, k* = ∞, is the "
            "trivial predictor: an infinite mean of ever smaller members outputs nothing. With a scale it is gone "
            "wherever there is readout noise, and at the best ridge k* = 1 throughout.",
        ),
        (12.0, 6.0),
    )
}
