"""Figs. 4b to 4d and S6 to S8: the best ensemble size over sample ratio and noise, and the error at it.

The authors scan k up to 100 and divide their maps of E_k* by s(1-c) twice. Here k* is exact and the errors are reduced
once.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Self

import numpy as np
import xarray as xr

from subridge.figures.drawing.phase_maps import plot_maps
from subridge.figures.drawing.style import NOISE_SYMBOLS
from subridge.figures.paper.experiments import shared
from subridge.figures.paper.recipe import FigureRecipe, FigureSettings
from subridge.results.predictions import phase_diagram
from subridge.simulation.run import Run


@dataclass(frozen=True)
class PhaseDiagrams(FigureSettings):
    """Settings of one family of phase diagrams; one noise varies, the others are zero."""

    noise: str = "readout_nsr"
    largest_noise: float = 2.1
    n_noises: int = 211
    largest_ratio: float = 3.0
    n_ratios: int = 301
    alignments: tuple[float, ...] = (0.0, 0.3, 0.6)
    ridges: tuple[str, ...] = ("0", "optimal")

    def quick(self) -> Self:
        return replace(self, n_noises=71, n_ratios=101)

    def compute(self, run: Run) -> xr.Dataset:
        """k*, error at k* and analytic boundary over (ridge, alignment, noise, sample ratio)."""
        return shared(self, run, self._diagrams)

    def _diagrams(self) -> xr.Dataset:
        alpha = np.append(np.linspace(0, self.largest_ratio, self.n_ratios), np.inf)
        noise = np.linspace(0, self.largest_noise, self.n_noises)
        ratios = tuple(noise if name == self.noise else 0.0 for name in NOISE_SYMBOLS)
        parts = [
            phase_diagram(alpha, np.array(self.alignments), *ratios, ridge=0 if ridge == "0" else ridge)
            for ridge in self.ridges
        ]
        return xr.concat(parts, xr.DataArray(list(self.ridges), dims="ridge", name="ridge"), combine_attrs="drop")


_ERRATA_OF_ALL = (
    "The authors scan k = 1 to 100; just beyond the analytic boundary k* is finite but larger (ρ = 0.6, H = 0.5, 2 % "
    "above it: 515), so their white region is slightly too large. Here k* is exact for every k.",
)
_ERRATA_OF_H = (
    "At λ = λ* and ρ = 0 the text says that no analytic boundary is easily obtained and that the limit k → ∞ is always "
    "approached from above. It is α = H(1+W)²(1+H+Z)/(2−H(1+W)), drawn dotted.",
    "“An increase in ρ also leads to an increase in k*” is false: at λ = 0, α = 0.5, H = 0.15, k* = 5, 1, 1 for ρ = "
    "0, 0.3, 0.6.",
)
_ERRATA_OF_MAPS = ("The authors’ maps of E_k* are divided by s(1−c) twice; here once.",)


def _recipes(noise: str, main: str, supplement: str) -> dict[str, FigureRecipe]:
    """The figure of the main text and its supplement, which show the same diagrams."""
    settings, errata = PhaseDiagrams(noise), _ERRATA_OF_ALL + (_ERRATA_OF_H if noise == "readout_nsr" else ())
    title = f"Best ensemble size over α and {NOISE_SYMBOLS[noise]}"
    with_errors = (f"{title}, and the error at it", settings, partial(plot_maps, errors=True))
    return {
        main: FigureRecipe(title, settings, partial(plot_maps, errors=False), errata, (4.5, 2.0)),
        supplement: FigureRecipe(*with_errors, errata + _ERRATA_OF_MAPS, (3.5, 3.3)),
    }


RECIPES = {
    **_recipes("readout_nsr", "fig4b", "figS6"),
    **_recipes("feature_nsr", "fig4c", "figS7"),
    **_recipes("label_nsr", "fig4d", "figS8"),
}
