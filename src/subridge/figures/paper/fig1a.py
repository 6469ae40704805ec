"""Fig. 1a: Prop. 1 against trained ensembles of overlapping subsets on autoregressive data.

Caption: "randomly selected (with replacement)" subsets. The authors' code permutes the features anew for every member,
so members overlap but none sees a feature twice; repeats inside a member would move its threshold.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import xarray as xr

from subridge.arrays.streams import stream
from subridge.figures.drawing.learning_curves import plot_ridges
from subridge.figures.paper.agreement import agreement_row, experiment_points
from subridge.figures.paper.grids import sample_sizes
from subridge.figures.paper.recipe import FigureRecipe, FigureSettings
from subridge.model.covariance import autoregressive
from subridge.model.ensemble import Ensemble
from subridge.model.problem import Problem
from subridge.model.subsets import overlapping
from subridge.results.compare import compare
from subridge.simulation.gaussian.simulate import simulate
from subridge.simulation.run import Run
from subridge.theory.predict import risk
from subridge.theory.thresholds import around_thresholds


@dataclass(frozen=True)
class Fig1a(FigureSettings):
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

    def compute(self, run: Run) -> xr.Dataset:
        """Typical risk by Prop. 1, and the risk of trained ensembles: one teacher, one set of subsets, new data."""
        M, nu, lam = self.n_features, self.subset_fractions, np.array(self.ridges)
        problem = Problem(
            autoregressive(M, self.signal_correlation),
            stream(self.seed, 0).standard_normal(M),
            autoregressive(M, self.noise_correlation, self.noise_variance),
            self.label_noise,
        )
        plan = overlapping([round(fraction * M) for fraction in nu], M, stream(self.seed, 1))
        swept = Ensemble(plan, lam[:, None, None], self.readout_noise)
        sizes = sample_sizes(M, self.n_sizes)
        dense = around_thresholds(np.linspace(sizes[0] / M, 1.0, self.n_ratios), nu)
        both = risk(problem, swept, np.concatenate([dense, np.array(sizes) / M])).total
        trained = Ensemble(plan, readout_noise=self.readout_noise)
        curves = simulate(problem, trained, sizes, self.n_trials, ridges=lam, seed=self.seed, run=run, progress=False)
        report = compare(both[:, len(dense) :], curves)
        theory = (("ridge", "sample_ratio"), both[:, : len(dense)])
        data = experiment_points(report).assign(theory=theory, risk=curves.risk)
        data = data.assign_coords(sample_ratio=dense, subset_fraction=("member", np.array(nu)))
        data.attrs = {"agreement": [agreement_row("Fig. 1a, Prop. 1", report)]}
        return data


RECIPES = {
    "fig1a": FigureRecipe(
        "Prop. 1 against trained ensembles: autoregressive data, overlapping subsets",
        Fig1a(),
        plot_ridges,
        errata=(
            "“with replacement” in the caption means that members overlap: each is a random subset without repeats "
            "(authors’ code). Repeats inside a member would move the interpolation thresholds.",
        ),
        seconds=(100.0, 3.0),
    )
}
