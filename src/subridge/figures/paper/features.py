"""What the classification figures share: which features, how many of them, and how classifiers are trained on them."""

from collections.abc import Sequence
from dataclasses import dataclass

import xarray as xr

from subridge.datasets.images.feature_set import FeatureSet
from subridge.datasets.images.load import load_set
from subridge.figures.paper.recipe import FigureSettings
from subridge.model.ensemble import Ensemble
from subridge.simulation.classification.simulate import simulate_classification
from subridge.simulation.run import Run

# The paper's features cannot be had without its images; said once for all of these figures.
DATA_NOTE = (
    "The published picture shows ResNeXt features of Imagenette and Imagewoof; this one shows the features named in "
    "its title. `--data` chooses others, among them a store that `subridge features` made from those images."
)


@dataclass(frozen=True)
class FeatureSettings(FigureSettings):
    """Features and ridges of a classification figure; None keeps all images or features."""

    data: str = "bundled"
    n_features: int | None = None
    n_train: int | None = None
    n_test: int | None = None
    ridges: tuple[float, ...] = (0.0, 0.1)
    n_trials: int = 100
    seed: int = 0

    def features(self) -> FeatureSet:
        """The features, cut down as the settings say."""
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
