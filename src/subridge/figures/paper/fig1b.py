"""Fig. 1b: Prop. 2 against trained ensembles of disjoint subsets on equicorrelated data.

The caption says c = .6; the authors' code and their logged errors have c = .4. Prop. 2 is the limit M → ∞; at P = 250
it is 3 % below the experiment, which the finite-M form at M = 5000 meets, so both are drawn.
"""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Self

import numpy as np
import xarray as xr

from subridge.figures.drawing.learning_curves import plot_ridges_and_subsets
from subridge.figures.paper.agreement import agreement_row, experiment_points
from subridge.figures.paper.grids import sample_sizes
from subridge.figures.paper.recipe import FigureRecipe, FigureSettings
from subridge.model.ensemble import Ensemble
from subridge.model.plan import SubsetPlan
from subridge.model.problem import EquicorrelatedProblem
from subridge.results.compare import compare
from subridge.simulation.gaussian.simulate import simulate
from subridge.simulation.run import Run
from subridge.theory.predict import risk
from subridge.theory.thresholds import around_thresholds


@dataclass(frozen=True)
class Fig1b(FigureSettings):
    """Settings of Fig. 1b."""

    n_features: int = 5000
    correlation: float = 0.4
    feature_noise: float = 0.1**0.5
    alignment: float = 0.3
    label_noise: float = 0.1
    readout_noise: float = 0.1
    subset_fractions: tuple[float, ...] = (0.1, 0.3, 0.5)
    ridges: tuple[float, ...] = (1e-6, 1e-3, 1.0)
    n_sizes: int = 20
    n_ratios: int = 400
    n_trials: int = 100
    seed: int = 0

    def caption(self) -> Self:
        return replace(self, correlation=0.6)

    def quick(self) -> Self:
        return replace(self, n_features=500, n_trials=20)

    def compute(self, run: Run) -> xr.Dataset:
        """Typical risk at this M and in the limit, and the risk of trained ensembles: new data and teacher every trial.

        The finite-M curve is the closed form uniform in s c M, averaged over teachers as the experiment is; Prop. 1
        itself, averaged over 20 teachers at M = 5000, lies within 1 % of it.
        """
        M, nu, lam = self.n_features, self.subset_fractions, np.array(self.ridges)
        problem = EquicorrelatedProblem(
            correlation=self.correlation,
            feature_noise=self.feature_noise,
            alignment=self.alignment,
            label_noise=self.label_noise,
        )
        # Features are exchangeable, so consecutive blocks are as good as random disjoint subsets.
        cuts = np.round(np.cumsum([0.0, *nu]) * M).astype(int)
        plan = SubsetPlan.from_indices([np.arange(low, high) for low, high in pairwise(cuts)], M)
        swept = Ensemble(list(nu), lam[:, None, None], self.readout_noise)
        sizes = sample_sizes(M, self.n_sizes)
        dense = around_thresholds(np.linspace(sizes[0] / M, 1.0, self.n_ratios), nu)
        points = np.array(sizes) / M
        curves = simulate(
            problem,
            Ensemble(plan, readout_noise=self.readout_noise),
            sizes,
            self.n_trials,
            ridges=lam,
            redraw=("data", "teacher"),
            seed=self.seed,
            run=run,
            progress=False,
        )
        report = compare(risk(problem, swept, points, n_features=M), curves)
        limit = compare(risk(problem, swept, points), curves)
        data = experiment_points(report).assign(
            theory=(("ridge", "sample_ratio"), risk(problem, swept, dense, n_features=M).total),
            infinite_theory=(("ridge", "sample_ratio"), risk(problem, swept, dense).total),
            infinite_theory_at_points=limit.theory,
            risk=curves.risk,
        )
        data = data.assign_coords(sample_ratio=dense, subset_fraction=("member", np.array(nu)))
        rows = [agreement_row("Fig. 1b, theory at this M", report), agreement_row("Fig. 1b, Prop. 2 (M → ∞)", limit)]
        data.attrs = {"agreement": rows}
        return data


RECIPES = {
    "fig1b": FigureRecipe(
        "Prop. 2 against trained ensembles: equicorrelated data, disjoint subsets",
        Fig1b(),
        plot_ridges_and_subsets,
        errata=(
            "The caption says c = 0.6; the authors’ notebook has c = 0.4 and their logged errors decide for it. "
            "`--settings caption` draws c = 0.6.",
            "Prop. 2 holds for M → ∞. At the smallest samples its finite-size error exceeds the error bars: averaged "
            "over the ridges at P = 250 the limit gives 0.667, the experiment 0.692. Both theories are drawn.",
        ),
        seconds=(700.0, 2.0),
    )
}
