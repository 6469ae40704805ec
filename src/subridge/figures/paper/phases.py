"""Figs. 4a to 4d, S6 to S14 and 4-scaled: reduced learning curves, and best ensemble sizes over samples and noise."""

from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
import xarray as xr

from subridge.arrays.types import FloatArray
from subridge.figures.drawing.learning_curves import plot_reduced_curves
from subridge.figures.drawing.phase_maps import plot_maps, plot_scaled_phases
from subridge.figures.drawing.style import NOISE_SYMBOLS, RIDGE_NAMES
from subridge.figures.paper.recipe import FigureRecipe, FigureSettings, Numbers, axis, shared
from subridge.model.ensemble import Ensemble
from subridge.model.problem import EquicorrelatedProblem
from subridge.results.predictions import phase_diagram
from subridge.simulation.run import Run
from subridge.theory.predict import risk
from subridge.theory.reduced import reduced_optimal_ridge, reduced_risk
from subridge.theory.thresholds import around_thresholds

# A ridgeless curve within this relative distance of its threshold α = 1/k is cut: it diverges there.
_CUT = 1e-3


@dataclass(frozen=True)
class ReducedCurves(FigureSettings):
    """Figs. 4a and S9 to S14: reduced learning curves of equal ensembles, by size k.

    Rows of panels are ridges or alignments, columns noise ratios. The values of the supplementary panels are in
    neither text nor code: ρ = 0, .3, .6 and ratios 0, .5, 1 are this package's choice.
    """

    noise: str = "readout_nsr"
    noise_values: Numbers = (0.0, 0.5, 1.0)
    alignments: Numbers = (0.0, 0.3, 0.6)
    ridges: tuple[str, ...] = ("0",)
    n_members: Numbers = (*range(1, 11), 15, 20, 30, 60, np.inf)
    n_ratios: int = 600

    def compute(self, run: Run) -> xr.Dataset:
        """Reduced risks over (ridge, alignment, noise, k, α), NaN where a ridgeless curve is cut."""
        k = np.array(self.n_members, dtype=float)[:, None]
        alpha = around_thresholds(np.geomspace(0.01, 5, self.n_ratios), 1 / k[np.isfinite(k)])
        alpha = alpha[(abs(alpha * k - 1) > 1e-9).all(axis=0)]  # not at the thresholds themselves
        rho = np.array(self.alignments)[:, None, None, None]
        noise = np.array(self.noise_values)[:, None, None]
        ratios = [noise if name == self.noise else np.array(0.0) for name in NOISE_SYMBOLS]
        near = abs(alpha * k - 1) <= _CUT
        penalties = {
            ridge: np.zeros_like(k) if ridge == "0" else reduced_optimal_ridge(k, rho, *ratios) for ridge in self.ridges
        }
        parts = [
            np.where(near & (ridge == "0"), np.nan, reduced_risk(k, alpha, rho, Lam, *ratios))
            for ridge, Lam in penalties.items()
        ]
        dims = ("reduced_ridge", "alignment", self.noise, "n_members", "sample_ratio")
        values = (list(self.ridges), list(self.alignments), list(self.noise_values), k.ravel(), alpha)
        return xr.Dataset({"reduced_risk": (dims, np.array(parts))}, dict(zip(dims, values, strict=True)))


@dataclass(frozen=True)
class PhaseDiagrams(FigureSettings):
    """Figs. 4b to 4d and S6 to S8: the best ensemble size over sample ratio and noise, and the error at it.

    One noise varies, the others are zero. The authors scan k up to 100 and divide their maps of E_k* by s(1-c) twice.
    Here k* is exact and the errors are reduced once.
    """

    noise: str = "readout_nsr"
    largest_noise: float = 2.1
    n_noises: int = 211
    largest_ratio: float = 3.0
    n_ratios: int = 301
    alignments: Numbers = (0.0, 0.3, 0.6)

    def compute(self, run: Run) -> xr.Dataset:
        """k*, error at k* and analytic boundary over (ridge, alignment, noise, sample ratio)."""
        alpha = np.append(np.linspace(0, self.largest_ratio, self.n_ratios), np.inf)
        noise = np.linspace(0, self.largest_noise, self.n_noises)
        ratios = [noise if name == self.noise else 0.0 for name in NOISE_SYMBOLS]
        return shared(self, run, lambda: _both_ridges(alpha, np.array(self.alignments), *ratios))


def _both_ridges(*grid: FloatArray | float, aggregation: str = "mean") -> xr.Dataset:
    """Phase diagrams without a ridge and at the best ridge."""
    parts = [phase_diagram(*grid, ridge=ridge, aggregation=aggregation) for ridge in (0, "optimal")]
    return xr.concat(parts, axis("ridge", ["0", "optimal"]), combine_attrs="drop")


@dataclass(frozen=True)
class ScaledPhases(FigureSettings):
    """Fig. 4 for the scaled mean, which is not in the paper.

    Maps over (α, H) are for ρ = 0, where a scale matters in the limit of many features. Curves over k are at one point
    of the maps; and at ρ ≠ 0 and finite size, with each k at its best ridge.
    """

    largest_noise: float = 2.1
    n_noises: int = 211
    largest_ratio: float = 3.0
    n_ratios: int = 301
    curve_ratio: float = 0.35
    curve_noise: float = 0.5
    n_features: Numbers = (240, 2400, np.inf)
    sizes: tuple[int, ...] = (1, 2, 3, 4, 6, 8, 10, 12, 15, 20, 30, 40, 60)
    n_ridges: int = 121

    def compute(self, run: Run) -> xr.Dataset:
        """k* and risk over (aggregation, ridge, H, α), and risk over (aggregation, ridge or n_features, k)."""
        names = axis("aggregation", ["mean", "scaled"])
        return xr.concat([self._one(name) for name in names.values], names, combine_attrs="drop")

    def _one(self, aggregation: str) -> xr.Dataset:
        alpha = np.append(np.linspace(0, self.largest_ratio, self.n_ratios), np.inf)
        maps = _both_ridges(alpha, 0.0, np.linspace(0, self.largest_noise, self.n_noises), aggregation=aggregation)
        maps = maps.drop_vars(["boundary", "boundary_end", "boundary_before_end", "phase"])
        # 𝓔_k at one point of the maps, without a ridge and at the best ridge.
        k = np.array(self.sizes, dtype=float)
        at = self.curve_ratio
        noises = (self.curve_noise, 0.0, 0.0)
        best = reduced_optimal_ridge(k, 0.0, *noises, aggregation=aggregation, sample_ratio=at)
        curves = [reduced_risk(k, at, 0.0, Lam, *noises, aggregation=aggregation) for Lam in (0.0, best)]
        # E_g at the best common ridge above zero: c = 0.6, ρ = 0.3, α = 1, three kinds of noise.
        problem = EquicorrelatedProblem(1.0, 0.6, np.sqrt(0.1), 0.3, 0.1)
        ridges = np.geomspace(1e-6, 1e3, self.n_ridges)[:, None]
        ensembles = [Ensemble(np.eye(size) / size, ridges, 0.3, aggregation) for size in self.sizes]
        at_size = [
            [risk(problem, one, 1.0, n_features=int(M) if np.isfinite(M) else None).total.min() for one in ensembles]
            for M in self.n_features
        ]
        return maps.assign(
            risk_by_size=(("ridge", "n_members"), np.array(curves)),
            risk_at_size=(("n_features", "n_members"), np.array(at_size)),
        ).assign_coords(n_members=k, n_features=list(self.n_features))


_NO_DIVERGENCE = (
    "“Learning curves diverge at their interpolation threshold” without a ridge does not hold for k = 1 without any "
    "noise."
)
RECIPES = {
    "fig4a": FigureRecipe(
        "Reduced learning curves of equal ensembles",
        ReducedCurves(noise_values=(0.0, 1.0), alignments=(0.0,), ridges=("0", "optimal")),
        plot_reduced_curves,
        errata=(
            "“Increasing H raises the error more sharply for smaller k” fails without a ridge near thresholds: at α = "
            "0.4 the slopes are 1.67, 2.5, 2.0, 0.67 for k = 1 to 4.",
            _NO_DIVERGENCE,
        ),
        seconds=(2.0, 2.0),
        quick={"n_ratios": 300},
    ),
    "fig4-scaled": FigureRecipe(
        "Best ensemble size and its error when the mean is scaled",
        ScaledPhases(),
        plot_scaled_phases,
        (
            "Not in the paper, whose ensembles are plain means. At ρ = 0 its noise-dominated phase, k* = ∞, is the "
            "trivial predictor: the mean of infinitely many, ever smaller members is zero. With a scale it is gone "
            "wherever there is readout noise, and at the best ridge k* = 1 throughout.",
        ),
        (12.0, 6.0),
        quick={"n_noises": 71, "n_ratios": 101, "n_ridges": 61, "sizes": (1, 2, 4, 8, 15, 30, 60)},
    ),
} | {
    f"figS{number}": FigureRecipe(
        f"Reduced learning curves against {NOISE_SYMBOLS[noise]}, {RIDGE_NAMES[ridge]}",
        ReducedCurves(noise, ridges=(ridge,)),
        plot_reduced_curves,
        (
            "The panels’ values of ρ and of the noise ratio are in neither the text nor the authors’ code; ρ = 0, "
            "0.3, 0.6 and ratios 0, 0.5, 1 are chosen here.",
            _NO_DIVERGENCE,
        ),
        (2.0, 2.0),
        quick={"n_ratios": 300},
    )
    for number, (noise, ridge) in enumerate(product(NOISE_SYMBOLS, RIDGE_NAMES), start=9)
}

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
# The figure of the main text and its supplement, which adds the error, show the same diagrams.
RECIPES |= {
    figure: FigureRecipe(
        f"Best ensemble size over α and {NOISE_SYMBOLS[noise]}{', and the error at it' * errors}",
        PhaseDiagrams(noise),
        partial(plot_maps, errors=errors),
        _ERRATA_OF_ALL
        + _ERRATA_OF_H * (noise == "readout_nsr")
        + ("The authors’ maps of E_k* are divided by s(1−c) twice; here once.",) * errors,
        (3.5, 3.3) if errors else (4.5, 2.0),
        {"n_noises": 71, "n_ratios": 101},
    )
    for noise, pair in (
        ("readout_nsr", ("fig4b", "figS6")),
        ("feature_nsr", ("fig4c", "figS7")),
        ("label_nsr", ("fig4d", "figS8")),
    )
    for figure, errors in zip(pair, (False, True), strict=True)
}
