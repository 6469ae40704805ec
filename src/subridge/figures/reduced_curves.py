"""Figs. 4a and S9 to S14: reduced learning curves of equal ensembles, by size k.

The noise ratios and alignments of the supplementary panels are in neither text nor code: ρ = 0, .3, .6 and ratios 0,
.5, 1 are this package's choice.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Self

import matplotlib as mpl
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter

from subridge.figures.phase_maps import SYMBOLS
from subridge.figures.recipe import Recipe, Settings
from subridge.figures.style import GREY, PAGE, journal
from subridge.simulation.run import Run
from subridge.theory.reduced import reduced_optimal_ridge, reduced_risk

_ZERO, _OPTIMAL = "0", "optimal"
# A ridgeless curve within this relative distance of its threshold α = 1/k is cut: it diverges there.
_CUT = 1e-3


@dataclass(frozen=True)
class ReducedCurves(Settings):
    """Settings of the reduced learning curves; rows of panels are ridges or alignments, columns noise ratios."""

    noise: str = "readout_nsr"
    noise_values: tuple[float, ...] = (0.0, 0.5, 1.0)
    alignments: tuple[float, ...] = (0.0, 0.3, 0.6)
    ridges: tuple[str, ...] = (_ZERO,)
    n_members: tuple[float, ...] = (*range(1, 11), 15, 20, 30, 60, np.inf)
    n_ratios: int = 600

    def quick(self) -> Self:
        return replace(self, n_ratios=300)


def compute(settings: ReducedCurves, run: Run) -> xr.Dataset:
    """Reduced errors over (ridge, alignment, noise, k, α), NaN where a ridgeless curve is cut."""
    k = np.array(settings.n_members, dtype=float)[:, None]
    # No grid point of a logarithmic axis is exactly 1/k; the thresholds are approached from both sides.
    edges = (1 / k[np.isfinite(k)])[:, None] * (1 + _CUT * np.array([-1.01, 1.01]))
    alpha = np.unique(np.concatenate([np.geomspace(0.01, 5, settings.n_ratios), edges.ravel()]))
    rho, noise = (np.array(values)[:, None, None] for values in (settings.alignments, settings.noise_values))
    rho = rho[:, None]
    ratios = {name: noise if name == settings.noise else np.array(0.0) for name in SYMBOLS}
    cut = np.abs(alpha * k - 1) <= _CUT
    parts = []
    for ridge in settings.ridges:
        Lam = _ridge(ridge, k, rho, ratios)
        safe = np.where(cut, alpha * (1 + 2 * _CUT), alpha) if ridge == _ZERO else alpha
        error = reduced_risk(k, safe, rho, Lam, **ratios)
        parts.append(np.where(cut & (ridge == _ZERO), np.nan, error))
    dims = ("reduced_ridge", "alignment", settings.noise, "n_members", "sample_ratio")
    coordinates = {
        "reduced_ridge": list(settings.ridges),
        "alignment": list(settings.alignments),
        settings.noise: list(settings.noise_values),
        "n_members": k.ravel(),
        "sample_ratio": alpha,
    }
    return xr.Dataset({"error": (dims, np.array(parts))}, coordinates)


def _ridge(ridge: str, k: np.ndarray, rho: np.ndarray, ratios: dict[str, np.ndarray]) -> np.ndarray:
    """Λ of every curve; the infinite ensemble does not depend on it."""
    if ridge == _ZERO:
        return np.zeros_like(k)
    return np.where(np.isfinite(k), reduced_optimal_ridge(np.where(np.isfinite(k), k, 1.0), rho, **ratios), 0.0)


def draw(data: xr.Dataset) -> Figure:
    """Panels of noise (columns) by alignment or ridge (rows), one colour bar for k."""
    noise = next(name for name in SYMBOLS if name in data.dims)
    row = "reduced_ridge" if data.sizes["reduced_ridge"] > 1 else "alignment"
    finite = data.n_members.values[np.isfinite(data.n_members.values)]
    scale = ScalarMappable(LogNorm(2, finite.max()), mpl.colormaps["plasma"])
    shape = (data.sizes[row], data.sizes[noise])
    with journal():
        figure = Figure(figsize=(PAGE * min(1, 0.2 + 0.27 * shape[1]), 0.5 + 1.55 * shape[0]))
        grid = figure.subplots(*shape, sharex=True, sharey="row", squeeze=False)
        for (i, j), axes in np.ndenumerate(grid):
            one = data.isel({row: i, noise: j}).squeeze(drop=False)
            _draw_panel(axes, one, scale)
            ridge = "λ = 0" if str(one.reduced_ridge.values) == _ZERO else "λ = λ*"
            axes.set_title(
                f"ρ = {float(one.alignment):g}, {SYMBOLS[noise]} = {float(one[noise]):g}, {ridge}", fontsize=8
            )
        for i, axes in enumerate(grid[:, 0]):
            highest = float(data.error.isel({row: i}).max())
            axes.set_ylim(0, 2.2 if highest > 1.15 else 1.15)  # divergences are cut, bounded curves fill their panel
        for axes in grid[-1]:
            axes.set_xlabel("sample ratio α")
        for axes in grid[:, 0]:
            axes.set_ylabel(r"$E_g\,/\,s(1-c)$")
        bar = figure.colorbar(scale, ax=grid, label="ensemble size k", shrink=0.8, aspect=30)
        bar.set_ticks([2, 5, 10, 20, 60], labels=["2", "5", "10", "20", "60"])
        bar.minorticks_off()
        handles = [Line2D([], [], color=GREY), Line2D([], [], color="black", linestyle="--")]
        grid[0, 0].legend(handles, ["k = 1", "k → ∞"], loc="lower left", handlelength=1.5, fontsize=7)
    return figure


def _draw_panel(axes: Axes, data: xr.Dataset, scale: ScalarMappable) -> None:
    for k, error in zip(data.n_members.values, data.error.transpose("n_members", "sample_ratio").values, strict=True):
        if np.isinf(k):
            axes.plot(data.sample_ratio, error, color="black", linestyle="--", zorder=3)
        else:
            colour = GREY if k == 1 else scale.to_rgba(k)
            axes.plot(data.sample_ratio, error, color=colour, linewidth=1.6 if k == 1 else 0.9)
    axes.set(xscale="log", xlim=(0.01, 5))
    axes.xaxis.set_minor_locator(LogLocator(subs=(2, 5)))  # nine panels of every minor tick take seconds to lay out
    axes.xaxis.set_minor_formatter(NullFormatter())


_ERRATA = (
    "The panels’ values of ρ and of the noise ratio are in neither the text nor the authors’ code; ρ = 0, 0.3, 0.6 "
    "and ratios "
    "0, 0.5, 1 are chosen here.",
    "“Learning curves diverge at their interpolation threshold” without a ridge does not hold for k = 1 without any "
    "noise.",
)


def _family(noise: str, ridge: str, number: int) -> dict[str, Recipe]:
    settings = partial(_settings, noise, ridge)
    title = f"Reduced learning curves against {SYMBOLS[noise]}, {'λ = 0' if ridge == _ZERO else 'λ = λ*'}"
    return {f"figS{number}": Recipe(title, settings, compute, draw, _ERRATA, (2.0, 2.0))}


def _settings(noise: str, ridge: str, variant: str) -> ReducedCurves:
    return replace(ReducedCurves.variant(variant), noise=noise, ridges=(ridge,))


def _settings_4a(variant: str) -> ReducedCurves:
    chosen = ReducedCurves.variant(variant)
    return replace(chosen, noise_values=(0.0, 1.0), alignments=(0.0,), ridges=(_ZERO, _OPTIMAL))


RECIPES = {
    "fig4a": Recipe(
        "Reduced learning curves of equal ensembles",
        _settings_4a,
        compute,
        draw,
        errata=(
            "“Increasing H raises the error more sharply for smaller k” fails without a ridge near thresholds: at α = "
            "0.4 "
            "the slopes are 1.67, 2.5, 2.0, 0.67 for k = 1 to 4.",
            _ERRATA[1],
        ),
        seconds=(2.0, 2.0),
    )
}
for _number, (_noise, _ridge_kind) in enumerate(((n, r) for n in SYMBOLS for r in (_ZERO, _OPTIMAL)), start=9):
    RECIPES |= _family(_noise, _ridge_kind, _number)
