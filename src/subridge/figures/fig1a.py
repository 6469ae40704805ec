"""Fig. 1a: Prop. 1 against trained ensembles of overlapping subsets on autoregressive data.

Caption: "randomly selected (with replacement)" subsets. The authors' code permutes the features anew for every member,
so members overlap but none sees a feature twice; repeats inside a member would move its threshold.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from subridge.arrays.streams import stream
from subridge.ensemble.ensemble import Ensemble
from subridge.figures.agreement import agreement_row, experiment_points
from subridge.figures.grids import ratios_with_peaks, sample_sizes
from subridge.figures.learning_curves import draw_ridges
from subridge.figures.recipe import Recipe, Settings
from subridge.results.compare import compare
from subridge.simulation.run import Run
from subridge.simulation.simulate import simulate
from subridge.spec.covariance import autoregressive
from subridge.spec.problem import Problem
from subridge.subsets import overlapping
from subridge.theory.predict import risk


@dataclass(frozen=True)
class Fig1a(Settings):
    """Settings of Fig. 1a; caption and published picture agree."""

    n_features: int = 2000
    signal_correlation: float = 0.8
    noise_correlation: float = 0.3
    noise_variance: float = 0.1
    subset_fractions: tuple[float, ...] = (0.2, 0.4, 0.6)
    ridges: tuple[float, ...] = (1e-6, 1e-3, 1.0)
    label_noise: float = 0.1
    readout_noise: float = 0.2
    n_sizes: int = 20
    n_ratios: int = 100
    n_trials: int = 100
    seed: int = 12  # a teacher of typical strength, as the published one: w*·Σ_s w*/M is 0.99 (its mean is 1)

    def quick(self) -> Self:
        return replace(self, n_features=400, n_ratios=60, n_trials=20)


def compute(settings: Fig1a, run: Run) -> xr.Dataset:
    """Typical risk by Prop. 1, and the risk of trained ensembles: one teacher, one set of subsets, new data."""
    M, nu = settings.n_features, settings.subset_fractions
    lam = np.array(settings.ridges)
    problem = Problem(
        autoregressive(M, settings.signal_correlation),
        stream(settings.seed, 0).standard_normal(M),
        autoregressive(M, settings.noise_correlation, settings.noise_variance),
        settings.label_noise,
    )
    plan = overlapping([round(fraction * M) for fraction in nu], M, stream(settings.seed, 1))
    swept = Ensemble(plan, lam[:, None, None], settings.readout_noise)
    sizes = sample_sizes(M, settings.n_sizes)
    dense = ratios_with_peaks(sizes[0] / M, 1.0, settings.n_ratios, nu)
    both = risk(problem, swept, np.concatenate([dense, np.array(sizes) / M])).total
    curves = simulate(
        problem,
        Ensemble(plan, readout_noise=settings.readout_noise),
        sizes,
        settings.n_trials,
        ridges=lam,
        seed=settings.seed,
        run=run,
        progress=False,
    )
    report = compare(both[:, len(dense) :], curves)
    data = experiment_points(report).assign(theory=(("ridge", "sample_ratio"), both[:, : len(dense)]), risk=curves.risk)
    data = data.assign_coords(sample_ratio=dense, subset_fraction=("member", np.array(nu)))
    data.attrs = {"n_features": M, "agreement": [agreement_row("Fig. 1a, Prop. 1", report)]}
    return data


def draw(data: xr.Dataset) -> Figure:
    """Learning curves by ridge, lines of theory and points of experiment."""
    return draw_ridges(data)


RECIPES = {
    "fig1a": Recipe(
        "Prop. 1 against trained ensembles: autoregressive data, overlapping subsets",
        Fig1a.variant,
        compute,
        draw,
        errata=(
            "“with replacement” in the caption means that members overlap: each is a random subset without repeats "
            "(authors’ code). Repeats inside a member would move the interpolation thresholds.",
        ),
        seconds=(100.0, 3.0),
    )
}
