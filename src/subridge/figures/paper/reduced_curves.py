"""Figs. 4a and S9 to S14: reduced learning curves of equal ensembles, by size k.

The noise ratios and alignments of the supplementary panels are in neither text nor code: ρ = 0, .3, .6 and ratios 0,
.5, 1 are this package's choice.
"""

from dataclasses import dataclass, replace
from itertools import product
from typing import Self

import numpy as np
import xarray as xr

from subridge.arrays.types import FloatArray
from subridge.figures.drawing.reduced_curves import plot_reduced_curves
from subridge.figures.drawing.style import NOISE_SYMBOLS
from subridge.figures.paper.recipe import FigureRecipe, FigureSettings
from subridge.simulation.run import Run
from subridge.theory.reduced import reduced_optimal_ridge, reduced_risk
from subridge.theory.thresholds import around_thresholds

_ZERO, _OPTIMAL = "0", "optimal"
# A ridgeless curve within this relative distance of its threshold α = 1/k is cut: it diverges there.
_CUT = 1e-3


@dataclass(frozen=True)
class ReducedCurves(FigureSettings):
    """Settings of the reduced learning curves; rows of panels are ridges or alignments, columns noise ratios."""

    noise: str = "readout_nsr"
    noise_values: tuple[float, ...] = (0.0, 0.5, 1.0)
    alignments: tuple[float, ...] = (0.0, 0.3, 0.6)
    ridges: tuple[str, ...] = (_ZERO,)
    n_members: tuple[float, ...] = (*range(1, 11), 15, 20, 30, 60, np.inf)
    n_ratios: int = 600

    def quick(self) -> Self:
        return replace(self, n_ratios=300)

    def compute(self, run: Run) -> xr.Dataset:
        """Reduced risks over (ridge, alignment, noise, k, α), NaN where a ridgeless curve is cut."""
        k = np.array(self.n_members, dtype=float)[:, None]
        alpha = around_thresholds(np.geomspace(0.01, 5, self.n_ratios), 1 / k[np.isfinite(k)])
        alpha = alpha[(np.abs(alpha * k[np.isfinite(k)][:, None] - 1) > 1e-9).all(axis=0)]  # not at, only around them
        rho, noise = np.array(self.alignments)[:, None, None, None], np.array(self.noise_values)[:, None, None]
        ratios = tuple(noise if name == self.noise else np.array(0.0) for name in NOISE_SYMBOLS)
        cut = np.abs(alpha * k - 1) <= _CUT
        parts = []
        for ridge in self.ridges:
            Lam = np.zeros_like(k) if ridge == _ZERO else _best_ridge(k, rho, ratios)
            safe = np.where(cut, alpha * (1 + 2 * _CUT), alpha) if ridge == _ZERO else alpha
            total = reduced_risk(k, safe, rho, Lam, *ratios)
            parts.append(np.where(cut & (ridge == _ZERO), np.nan, total))
        dims = ("reduced_ridge", "alignment", self.noise, "n_members", "sample_ratio")
        values = (list(self.ridges), list(self.alignments), list(self.noise_values), k.ravel(), alpha)
        return xr.Dataset({"reduced_risk": (dims, np.array(parts))}, dict(zip(dims, values, strict=True)))


def _best_ridge(k: FloatArray, rho: FloatArray, ratios: tuple[FloatArray, ...]) -> FloatArray:
    """Λ* of every curve; the infinite ensemble does not depend on it."""
    return np.where(np.isfinite(k), reduced_optimal_ridge(np.where(np.isfinite(k), k, 1.0), rho, *ratios), 0.0)


_NO_DIVERGENCE = (
    "“Learning curves diverge at their interpolation threshold” without a ridge does not hold for k = 1 without any "
    "noise."
)
_ERRATA = (
    "The panels’ values of ρ and of the noise ratio are in neither the text nor the authors’ code; ρ = 0, 0.3, 0.6 "
    "and ratios 0, 0.5, 1 are chosen here.",
    _NO_DIVERGENCE,
)

RECIPES = {
    "fig4a": FigureRecipe(
        "Reduced learning curves of equal ensembles",
        ReducedCurves(noise_values=(0.0, 1.0), alignments=(0.0,), ridges=(_ZERO, _OPTIMAL)),
        plot_reduced_curves,
        errata=(
            "“Increasing H raises the error more sharply for smaller k” fails without a ridge near thresholds: at α = "
            "0.4 the slopes are 1.67, 2.5, 2.0, 0.67 for k = 1 to 4.",
            _NO_DIVERGENCE,
        ),
        seconds=(2.0, 2.0),
    )
} | {
    f"figS{number}": FigureRecipe(
        f"Reduced learning curves against {NOISE_SYMBOLS[noise]}, {'λ = 0' if ridge == _ZERO else 'λ = λ*'}",
        ReducedCurves(noise, ridges=(ridge,)),
        plot_reduced_curves,
        _ERRATA,
        (2.0, 2.0),
    )
    for number, (noise, ridge) in enumerate(product(NOISE_SYMBOLS, (_ZERO, _OPTIMAL)), start=9)
}
