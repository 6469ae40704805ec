"""Settings shared by the classification figures: which features, and how many of them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from subridge.datasets.images.cache import load_set
from subridge.datasets.images.feature_set import FeatureSet
from subridge.figures.recipe import Settings
from subridge.simulation.run import Run

# The paper's features cannot be had without its images; said once for all of these figures.
DATA_NOTE = (
    "The published picture shows ResNeXt features of Imagenette and Imagewoof; this one shows the features named in "
    "its title. `--data` chooses others, among them a store that `subridge features` made from those images."
)


@dataclass(frozen=True)
class FeatureSettings(Settings):
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


def log_sizes(low: int, high: int, count: int, extra: Any = ()) -> tuple[int, ...]:
    """Training-set sizes, evenly spaced on a logarithmic scale, and some more.

    Examples
    --------
    >>> log_sizes(100, 400, 3, [320])
    (100, 200, 320, 400)
    """
    grid = np.round(np.geomspace(low, high, count)).astype(int)
    return tuple(int(P) for P in np.unique(np.concatenate([grid, np.asarray(extra, dtype=int)])))


_made: dict[Any, xr.Dataset] = {}


def shared(experiment: Any, run: Run, make: Callable[[], xr.Dataset]) -> xr.Dataset:
    """The numbers of an experiment that several figures draw: computed for the first, kept for those that follow.

    Parameters
    ----------
    experiment : hashable
        Name and settings.
    run : Run
    make : callable
        Computes them.
    """
    key = (experiment, run.device, run.dtype)
    if key not in _made:
        _made.clear()  # one at a time: figures of one experiment are made one after the other
        _made[key] = make()
    return _made[key].copy()
