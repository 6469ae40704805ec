"""Figs. 4e, 4f and S3 to S5: how many classifiers are best when every score carries readout noise.

The appendix sweeps "ν = 0, .1, ..., 1"; it must be η, all ν being 1/k. The P grid is not given: 40 sizes from
50 to 4000, log-spaced. Where the paper has two tasks, this shows the features that `--data` names.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from subridge.figures.drawing.classifier_maps import plot_best_sizes, plot_nearly_best_sizes
from subridge.figures.drawing.classifiers import plot_noise, plot_noise_without_ridge
from subridge.figures.paper.experiments import shared
from subridge.figures.paper.features import DATA_NOTE, FeatureSettings
from subridge.figures.paper.grids import log_sizes
from subridge.figures.paper.recipe import FigureRecipe
from subridge.model.ensemble import Ensemble
from subridge.model.subsets import Equal
from subridge.results.schemas import best_ensemble_sizes
from subridge.simulation.run import Run


@dataclass(frozen=True)
class NoisyClassifiers(FeatureSettings):
    """Settings of the third experiment; ``tolerance`` is ε."""

    n_trials: int = 50
    n_members: tuple[int, ...] = (1, 2, 3, 4, 5, 10, 15, 20, 25, 30, 100, 200)
    readout_noises: tuple[float, ...] = tuple(round(0.1 * step, 1) for step in range(11))
    smallest: int = 50
    largest: int = 4000
    n_sizes: int = 40
    tolerance: float = 0.01

    def quick(self) -> Self:
        return replace(
            self,
            n_features=240,
            n_train=4000,
            n_test=400,
            n_trials=2,
            n_members=(1, 2, 4, 10, 30, 100),
            readout_noises=(0.0, 0.15, 0.3, 0.45, 0.6, 0.8, 1.0),
            largest=1600,
            n_sizes=10,
        )

    def compute(self, run: Run) -> xr.Dataset:
        """Errors over trials, and the best numbers of members from their means."""
        experiment = replace(self, tolerance=0.0)
        found = shared(experiment, run, lambda: experiment._experiment(run))
        best = best_ensemble_sizes(found.misclassification.mean("trial"), self.tolerance)
        return xr.merge([found, best], combine_attrs="drop").assign_coords(tolerance=self.tolerance)

    def _experiment(self, run: Run) -> xr.Dataset:
        data = self.features()
        noises = np.array(self.readout_noises)[:, None]
        ensembles = [Ensemble(Equal(k), readout_noise=noises, aggregation="majority") for k in self.n_members]
        sizes = log_sizes(self.smallest, min(self.largest, len(data.X)), self.n_sizes)
        return self.misclassification(data, ensembles, sizes, run).to_dataset()


_ERRATA = (
    "The appendix sweeps “ν = 0, .1, ..., 1”; it must be the readout noise η, since all ν = 1/k.",
    "The grid of P is not given: 40 log-spaced sizes from 50 to 4000.",
    DATA_NOTE,
)


def _recipe(title: str, plot: Callable[[xr.Dataset], Figure], *errata: str, tolerance: float = 0.01) -> FigureRecipe:
    settings = NoisyClassifiers(tolerance=tolerance)
    return FigureRecipe(f"Classifiers with readout noise, {title}", settings, plot, _ERRATA + errata, (20000.0, 12.0))


RECIPES = {
    "fig4e": _recipe("learning curves", plot_noise_without_ridge),
    "fig4f": _recipe("best ensemble size", plot_best_sizes, "The text has α and η on the axes, the figure P and η."),
    "figS3": _recipe("learning curves at both ridges", plot_noise),
    "figS4": _recipe(
        "nearly best ensemble sizes (ε = .001)",
        plot_nearly_best_sizes,
        "The caption uses “(b)” twice.",
        tolerance=0.001,
    ),
    "figS5": _recipe(
        "nearly best ensemble sizes (ε = .01)",
        plot_nearly_best_sizes,
        "The caption uses “(b)” twice and says ε = .001; the text says .01.",
    ),
}
