"""Figs. 3d, 3e, 4e, 4f and S1 to S5: classifiers on deep features of images.

The paper's features are not available without its images; `--data` chooses others.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from subridge.datasets.images.sets import FeatureSet, load_set
from subridge.figures.drawing.classifiers import (
    STRATEGY_NAMES,
    plot_best_sizes,
    plot_nearly_best_sizes,
    plot_noise,
    plot_redundancy,
    plot_statistics,
    plot_subsets,
)
from subridge.figures.paper.recipe import FigureRecipe, FigureSettings, Numbers, axis, log_sizes, part_of, shared
from subridge.model.ensemble import Ensemble
from subridge.model.subsets import Equal, Overlapping, StrategyOptions, read_strategy
from subridge.results.schemas import best_ensemble_sizes, feature_statistics
from subridge.simulation.run import Run
from subridge.simulation.simulate import simulate_classification


@dataclass(frozen=True)
class FeatureSettings(FigureSettings):
    """Features and ridges of a classification figure; None keeps all images or features."""

    data: str = "bundled"
    n_features: int | None = None
    n_train: int | None = None
    n_test: int | None = None
    ridges: Numbers = (0.0, 0.1)
    n_trials: int = 100
    seed: int = 0

    def compute(self, run: Run) -> xr.Dataset:
        """The experiment, which several figures may show."""
        return shared(self, run, lambda: self._experiment(self.features(), run))

    @abstractmethod
    def _experiment(self, data: FeatureSet, run: Run) -> xr.Dataset:
        """Errors over trials on these features."""

    def features(self) -> FeatureSet:
        """The features, cut down to the numbers of images and features in the settings."""
        return load_set(self.data).with_sizes(self.n_train, self.n_test).with_features(self.n_features)

    def misclassification(
        self, data: FeatureSet, ensembles: Sequence[Ensemble], n_samples: Sequence[int], run: Run
    ) -> xr.DataArray:
        """Shares of wrong classes over trials: new samples and subsets in each."""
        found = simulate_classification(
            data.X,
            data.y,
            data.X_test,
            data.y_test,
            ensembles,
            ridges=self.ridges,
            n_samples=n_samples,
            n_trials=self.n_trials,
            seed=self.seed,
            run=run,
            progress=False,
        )
        return found["misclassification"].assign_coords(data=data.name, n_features=data.n_features)


@dataclass(frozen=True)
class Redundancy(FeatureSettings):
    """Fig. 3d: one classifier that sees a fraction of the features. The appendix says P = 1000, the caption P = 100."""

    n_samples: int = 1000
    n_fractions: int = 50
    ridges: Numbers = (0.0, 1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1e3, 1e4)

    @property
    def experiment(self) -> "Redundancy":
        """The settings of Fig. 3d, whose experiment Fig. S1 shows too."""
        return Redundancy(**{each.name: getattr(self, each.name) for each in fields(Redundancy)})

    def _experiment(self, data: FeatureSet, run: Run) -> xr.Dataset:
        """Errors over trials, for subsets of every size: new samples and features in each trial."""
        # Rounded to whole features, at least one: ν = .001 of 1269 features is one.
        sizes = np.unique(np.maximum(1, np.geomspace(1e-3, 1, self.n_fractions) * data.n_features).round().astype(int))
        if self.n_samples <= data.n_features:
            sizes = np.union1d(sizes, self.n_samples)  # a coarse grid would miss the spike without a ridge
        ensembles = {N: Ensemble(Overlapping((N,)), aggregation="majority") for N in sizes.tolist()}
        parts = [
            self.misclassification(data, [ensemble], [self.n_samples], part_of(run, f"features-{N}"))
            for N, ensemble in ensembles.items()
        ]
        whole = xr.concat(parts, axis("subset_fraction", sizes / data.n_features)).squeeze("n_samples")
        shares = whole.isel(n_members=0, readout_noise=0, drop=True).to_dataset()
        mean = shares.misclassification.mean("trial")
        all_seen = mean.sel(subset_fraction=1, method="nearest")
        tenth_seen = mean.sel(subset_fraction=0.1, method="nearest")
        best = all_seen.argmin("ridge")
        shares.attrs = {
            "notes": [
                f"At the best ridge, λ = {mean.ridge[best]:g}, the error is {all_seen[best]:.3f} at ν = 1 and "
                f"{tenth_seen[best]:.3f} at ν = 0.1."
            ]
        }
        return shares


@dataclass(frozen=True)
class FeatureStatistics(Redundancy):
    """Fig. S1: statistics of the features.

    The caption's formula for the Gram matrix is transposed: a matrix sorted by label has one row per image, Φ Φᵀ.
    """

    n_images: int = 1000
    n_shown_features: int = 400
    n_fitted: int = 500

    def compute(self, run: Run) -> xr.Dataset:
        """Second-order statistics and the redundancy experiment."""
        data = self.features()
        statistics = feature_statistics(data.X, data.y, self.n_images, self.n_fitted)
        shown = np.linspace(0, data.n_features - 1, min(self.n_shown_features, data.n_features)).astype(int)
        statistics = statistics.isel(feature=shown, other_feature=shown)
        fractions = super().compute(run)
        spectrum = (
            f"Spectrum: {statistics.prefactor:.3g} n^{statistics.power:.2f} on the top {statistics.n_fitted:g} "
            "(authors: 187.74 n^-.85)."
        )
        whole = xr.merge([statistics, fractions], combine_attrs="drop")
        whole.attrs = {"notes": [*fractions.attrs["notes"], spectrum]}
        return whole


@dataclass(frozen=True)
class Classifiers(FeatureSettings):
    """Figs. 3e and S2: equal and heterogeneous subsets; unequal ones have no double-descent spike.

    The paper claims peaks at P = M/k for every k, but its P run over 400 to 4000 plus the single points M/k, so that
    for k ≥ 8 the published peak is one isolated point; the same grid is used here.
    """

    n_members: tuple[int, ...] = (1, 4, 8, 16, 32)
    fraction_spread: float = 0.75
    smallest: int = 400
    largest: int = 4000
    n_sizes: int = 50

    def _experiment(self, data: FeatureSet, run: Run) -> xr.Dataset:
        """Errors over trials of both kinds of ensemble."""
        M = data.n_features
        largest = min(self.largest, len(data.X))
        sizes = log_sizes(self.smallest, largest, self.n_sizes, [M // k for k in self.n_members if largest >= M // k])
        options = [StrategyOptions(k, M, self.fraction_spread) for k in self.n_members]
        ensembles = {
            strategy: [Ensemble(read_strategy(strategy, one), aggregation="majority") for one in options]
            for strategy in STRATEGY_NAMES
        }
        parts = [self.misclassification(data, each, sizes, part_of(run, name)) for name, each in ensembles.items()]
        found = xr.concat(parts, axis("strategy", STRATEGY_NAMES)).isel(readout_noise=0, drop=True).to_dataset()
        found.attrs = {"notes": _spikes(found)}
        return found


def _spikes(found: xr.Dataset) -> list[str]:
    """How far the error rises at P = M/k above its neighbours, for every ensemble without a ridge."""
    mean = found.misclassification.mean("trial").isel(ridge=0)
    sizes = found.n_samples.values
    lines = []
    for strategy, name in STRATEGY_NAMES.items():
        words = []
        for k in found.n_members.values:
            for p in np.flatnonzero(sizes[1:-1] == int(found.n_features) // k):
                before, at, after = mean.sel(strategy=strategy, n_members=k).values[p : p + 3]
                words.append(f"k={k}: {at:.3f} (neighbours {before:.3f}, {after:.3f})")
        lines.append(f"λ = 0, {name}, error at P = M/k: " + "; ".join(words))
    return lines


@dataclass(frozen=True)
class NoisyClassifiers(FeatureSettings):
    """Figs. 4e, 4f and S3 to S5: how many classifiers are best when every score carries readout noise.

    The appendix sweeps "ν = 0, .1, ..., 1"; it must be η, all ν being 1/k. The P grid is not given: 40 sizes from
    50 to 4000, log-spaced. ``tolerance`` is ε.
    """

    n_trials: int = 50
    n_members: tuple[int, ...] = (1, 2, 3, 4, 5, 10, 15, 20, 25, 30, 100, 200)
    readout_noises: Numbers = tuple(round(0.1 * step, 1) for step in range(11))
    smallest: int = 50
    largest: int = 4000
    n_sizes: int = 40
    tolerance: float = 0.01

    @property
    def experiment(self) -> "NoisyClassifiers":
        """The settings without the tolerance."""
        return replace(self, tolerance=0.0)

    def compute(self, run: Run) -> xr.Dataset:
        """Errors over trials, and the best numbers of members from their means."""
        found = super().compute(run)
        best = best_ensemble_sizes(found.misclassification.mean("trial"), self.tolerance)
        return xr.merge([found, best], combine_attrs="drop").assign_coords(tolerance=self.tolerance)

    def _experiment(self, data: FeatureSet, run: Run) -> xr.Dataset:
        noises = np.array(self.readout_noises)[:, None]
        ensembles = [Ensemble(Equal(k), readout_noise=noises, aggregation="majority") for k in self.n_members]
        sizes = log_sizes(self.smallest, min(self.largest, len(data.X)), self.n_sizes)
        return self.misclassification(data, ensembles, sizes, run).to_dataset()


_DATA_NOTE = (
    "The published picture shows ResNeXt features of Imagenette and Imagewoof; this one shows the features named in "
    "its title. `--data` chooses others, among them a store that `subridge features` made from those images."
)
_QUICK_RIDGES = (0.0, 0.1, 10.0, 1e3)
RECIPES = {
    "fig3d": FigureRecipe(
        "One classifier, fraction of features",
        Redundancy(),
        plot_redundancy,
        ("The caption says P = 100, the appendix P = 1000 (twice). `--settings caption` draws P = 100.", _DATA_NOTE),
        (1500.0, 12.0),
        {"n_train": 4000, "n_test": 800, "n_trials": 4, "n_fractions": 14, "ridges": _QUICK_RIDGES},
        {"n_samples": 100},
    ),
    "figS1": FigureRecipe(
        "Statistics of the deep features",
        FeatureStatistics(),
        plot_statistics,
        ("The caption’s Gram matrix (Φ − Φ̄)ᵀ(Φ − Φ̄)/P is transposed: one sorted by label is Φ Φᵀ.", _DATA_NOTE),
        (1500.0, 10.0),
        {"n_train": 4000, "n_test": 800, "n_trials": 3, "n_fractions": 10, "n_images": 500, "ridges": _QUICK_RIDGES},
    ),
}
RECIPES |= {
    figure: FigureRecipe(
        f"Equal and heterogeneous ensembles of classifiers{', spread over trials' * spread}",
        Classifiers(),
        partial(plot_subsets, spread=spread),
        (
            "The paper shows peaks at P = M/k for all k; its grid starts at 400, so that the peaks of k ≥ 8 are single "
            "points added to it. Thresholds are dotted.",
            _DATA_NOTE,
        ),
        (6000.0, 10.0),
        # A quarter of the features moves every threshold M/k to a quarter, where training is fast.
        {
            "n_features": 320,
            "n_train": 4000,
            "n_test": 600,
            "n_trials": 4,
            "smallest": 100,
            "largest": 1000,
            "n_sizes": 9,
        },
    )
    for figure, spread in (("fig3e", False), ("figS2", True))
}


def _noisy(title: str, plot: Callable[[xr.Dataset], Figure], *errata: str, tolerance: float = 0.01) -> FigureRecipe:
    return FigureRecipe(
        f"Classifiers with readout noise, {title}",
        NoisyClassifiers(tolerance=tolerance),
        plot,
        (
            "The appendix sweeps “ν = 0, .1, ..., 1”; it must be the readout noise η, since all ν = 1/k.",
            "The grid of P is not given: 40 log-spaced sizes from 50 to 4000.",
            _DATA_NOTE,
            *errata,
        ),
        (20000.0, 12.0),
        {
            "n_features": 240,
            "n_train": 4000,
            "n_test": 400,
            "n_trials": 2,
            "n_members": (1, 2, 4, 10, 30, 100),
            "readout_noises": (0.0, 0.15, 0.3, 0.45, 0.6, 0.8, 1.0),
            "largest": 1600,
            "n_sizes": 10,
        },
    )


RECIPES |= {
    "fig4e": _noisy("learning curves", lambda data: plot_noise(data.isel(ridge=[0]))),
    "fig4f": _noisy("best ensemble size", plot_best_sizes, "The text has α and η on the axes, the figure P and η."),
    "figS3": _noisy("learning curves at both ridges", plot_noise),
    "figS4": _noisy(
        "nearly best ensemble sizes (ε = .001)",
        plot_nearly_best_sizes,
        "The caption uses “(b)” twice.",
        tolerance=0.001,
    ),
    "figS5": _noisy(
        "nearly best ensemble sizes (ε = .01)",
        plot_nearly_best_sizes,
        "The caption uses “(b)” twice and says ε = .001; the text says .01.",
    ),
}
