"""Figs. 3e and S2: classifiers on equal and on heterogeneous subsets; unequal ones have no double-descent spike.

The paper claims peaks at P = M/k for every k, but its P run over 400 to 4000 plus the single points M/k, so that for
k ≥ 8 the published peak is one isolated point; the same grid is used here.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import xarray as xr

from subridge.figures.drawing.classifiers import STRATEGY_NAMES, plot_subset_means, plot_subset_spreads
from subridge.figures.paper.experiments import part_of, shared
from subridge.figures.paper.features import DATA_NOTE, FeatureSettings
from subridge.figures.paper.grids import log_sizes
from subridge.figures.paper.recipe import FigureRecipe
from subridge.model.ensemble import Ensemble
from subridge.model.subsets import StrategyOptions, read_strategy
from subridge.simulation.run import Run


@dataclass(frozen=True)
class Classifiers(FeatureSettings):
    """Settings of Figs. 3e and S2."""

    n_members: tuple[int, ...] = (1, 4, 8, 16, 32)
    fraction_spread: float = 0.75
    smallest: int = 400
    largest: int = 4000
    n_sizes: int = 50

    def quick(self) -> Self:
        # A quarter of the features moves every threshold M/k to a quarter, where training is cheap.
        return replace(
            self, n_features=320, n_train=4000, n_test=600, n_trials=4, smallest=100, largest=1000, n_sizes=9
        )

    def compute(self, run: Run) -> xr.Dataset:
        """Errors over trials of both kinds of ensemble."""
        found = shared(self, run, lambda: self._experiment(run))
        found.attrs = {"notes": _spikes(found)}
        return found

    def _experiment(self, run: Run) -> xr.Dataset:
        data = self.features()
        thresholds = [data.n_features // k for k in self.n_members]
        largest = min(self.largest, len(data.X))
        sizes = log_sizes(self.smallest, largest, self.n_sizes, [P for P in thresholds if largest >= P])
        parts = [
            self.misclassification(data, self._ensembles(strategy, data.n_features), sizes, part_of(run, strategy))
            for strategy in STRATEGY_NAMES
        ]
        both = xr.concat(parts, xr.DataArray(list(STRATEGY_NAMES), dims="strategy", name="strategy"))
        return both.isel(readout_noise=0, drop=True).to_dataset()

    def _ensembles(self, strategy: str, n_features: int) -> list[Ensemble]:
        options = [StrategyOptions(k, n_features, self.fraction_spread) for k in self.n_members]
        return [Ensemble(read_strategy(strategy, one), aggregation="majority") for one in options]


def _spikes(found: xr.Dataset) -> list[str]:
    """How far the error rises at P = M/k above its neighbours, for every ensemble without a ridge."""
    mean, lines = found.misclassification.mean("trial").isel(ridge=0), []
    sizes = found.n_samples.values
    for strategy in found.strategy.values:
        words = []
        for k in found.n_members.values:
            p = int(np.searchsorted(sizes, int(found.n_features) // k))
            if p >= len(sizes) or sizes[p] != int(found.n_features) // k or p in (0, len(sizes) - 1):
                continue
            curve = mean.sel(strategy=strategy, n_members=k).values
            words.append(f"k={k}: {curve[p]:.3f} (neighbours {curve[p - 1]:.3f}, {curve[p + 1]:.3f})")
        lines.append(f"λ = 0, {STRATEGY_NAMES[str(strategy)]}, error at P = M/k: " + "; ".join(words))
    return lines


_TITLE = "Equal and heterogeneous ensembles of classifiers"
_ERRATA = (
    "The paper shows peaks at P = M/k for all k; its grid starts at 400, so that the peaks of k ≥ 8 are single points "
    "added to it. Thresholds are dotted.",
    DATA_NOTE,
)
_SECONDS = (6000.0, 10.0)

RECIPES = {
    "fig3e": FigureRecipe(_TITLE, Classifiers(), plot_subset_means, _ERRATA, _SECONDS),
    "figS2": FigureRecipe(f"{_TITLE}, spread over trials", Classifiers(), plot_subset_spreads, _ERRATA, _SECONDS),
}
