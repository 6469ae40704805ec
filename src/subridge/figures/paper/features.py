"""Settings shared by the classification figures: which features, and how many of them."""

from dataclasses import dataclass

from subridge.datasets.images.feature_set import FeatureSet
from subridge.datasets.images.load import load_set
from subridge.figures.paper.recipe import FigureSettings

# The paper's features cannot be had without its images; said once for all of these figures.
DATA_NOTE = (
    "The published picture shows ResNeXt features of Imagenette and Imagewoof; this one shows the features named in "
    "its title. `--data` chooses others, among them a store that `subridge features` made from those images."
)


@dataclass(frozen=True)
class FeatureSettings(FigureSettings):
    """Features of a classification figure; None keeps all."""

    data: str = "bundled"
    n_features: int | None = None
    n_train: int | None = None
    n_test: int | None = None
    n_trials: int = 100
    seed: int = 0

    def features(self) -> FeatureSet:
        """The features, cut down as the settings say."""
        return load_set(self.data).with_sizes(self.n_train, self.n_test).with_features(self.n_features)
