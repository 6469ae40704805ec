"""What `simulate_classification` computes: data, ensembles, grid and seed, checked once."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas

from subridge.arrays.types import ArrayLike, FloatArray, IntArray, Seed
from subridge.model.aggregation import Aggregation
from subridge.model.checks import (
    Fingerprinted,
    ascending_integers,
    finite_array,
    items_of,
    of_kind,
    one_of,
    positive_integer,
    refuse_large_entries,
    stream,
)
from subridge.model.ensemble import Ensemble, SubsetPlan, refuse_row_fractions
from subridge.model.errors import DataError, ParameterError, RidgeError, SubsetError, listed, require
from subridge.model.subsets import Strategy

# Purposes of random streams, the first coordinate of each. The others are the trial, and the member or the number of
# members.
ORDER, SUBSETS, TRAINING_NOISE, TEST_NOISE = range(100, 104)
MOST_TRIALS = 10**7  # of one experiment; for more, use several experiments with different seeds


@dataclass(frozen=True, eq=False)
class ClassificationExperiment(Fingerprinted):
    """The description of an experiment. It includes the device, which decides which readout noise is drawn."""

    features: FloatArray  # shape (n, M)
    labels: IntArray  # positions in `classes`
    test_features: FloatArray
    test_labels: IntArray
    classes: tuple[str, ...]
    strategies: tuple[Strategy, ...]  # one per number of members
    aggregation: Aggregation
    ridges: FloatArray  # one-dimensional, the same for all members, as are readout noises
    readout_noises: FloatArray
    n_samples: tuple[int, ...]
    n_trials: int
    test_draws: int = 1
    seed: Seed = 0
    device: str = "cpu"
    dtype: str = "float64"

    def __post_init__(self) -> None:
        one_of("dtype", self.dtype, ("float64", "float32"))
        require(
            self.n_samples[-1] <= len(self.features),
            f"n_samples asks for {self.n_samples[-1]} training samples but X has {len(self.features)}",
            ParameterError,
        )
        require(
            self.ridges.ndim == 1 and self.ridges.size > 0,
            f"ridges must be a list of numbers, got shape {self.ridges.shape}",
            ParameterError,
        )
        require(self.ridges.min() >= 0, f"ridges must be at least 0 to train, got {self.ridges.min():g}", RidgeError)
        require(
            all(self.plan_of(place, 0).selects_features for place in range(len(self.strategies))),
            "classification trains on subsets of features; projections are not supported",
            SubsetError,
        )

    @property
    def has_noise(self) -> bool:
        return bool(self.readout_noises.any())

    @cached_property
    def feature_scale(self) -> float:
        """Mean square of a feature, the unit in which a ridge counts as small."""
        return float((self.features[:1000] ** 2).mean())

    def order_of(self, trial: int) -> IntArray:
        """The training samples of a trial in their order, shape (P_max,); smaller training sets are its prefixes."""
        return stream(self.seed, ORDER, trial).permutation(len(self.features))[: self.n_samples[-1]]

    def plan_of(self, place: int, trial: int) -> SubsetPlan:
        """The subsets of a trial at the number of members in that place of the grid."""
        strategy = self.strategies[place]
        return strategy.draw(self.features.shape[1], stream(self.seed, SUBSETS, trial, strategy.n_members))


def make_classification(
    data: tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike],
    ensembles: Ensemble | Sequence[Ensemble],
    n_samples: ArrayLike,
    n_trials: int,
    *,
    ridges: ArrayLike | None = None,
    test_draws: int = 1,
    **settings: Any,
) -> ClassificationExperiment:
    """Turn the arguments of `simulate_classification` into an experiment; `settings` are further fields of it."""
    X = _matrix("X", data[0])
    X_test = _matrix("X_test", data[2])
    require(X.shape[1] == X_test.shape[1], f"X_test has {X_test.shape[1]} features but X has {X.shape[1]}")
    classes, labels = np.unique(_labels("y", data[1], X), return_inverse=True)
    y_test = _labels("y_test", data[3], X_test)
    unknown = listed(np.setdiff1d(y_test, classes))
    require(not unknown, f"y_test has classes that y does not have: {unknown}")
    require(len(classes) > 1, "y must have at least two classes")
    several = [ensembles] if isinstance(ensembles, Ensemble) else items_of("ensemble", ensembles)
    strategies = []
    for ensemble in several:
        of_kind("ensemble", ensemble, Ensemble)
        refuse_row_fractions(ensemble, "simulate_classification")
        if not isinstance(ensemble.subsets, Strategy):
            raise SubsetError(
                "every trial draws new subsets, so the ensemble needs a strategy instead of fixed subsets, for example "
                'sr.Ensemble(sr.subsets.Equal(n_members), aggregation="majority")'
            )
        strategies.append(ensemble.subsets)
    counts = [strategy.n_members for strategy in strategies]
    require(
        len(set(counts)) == len(counts) > 0,
        f"ensembles must have different numbers of members, got {counts}; simulate them apart",
        ParameterError,
    )
    aggregation = several[0].aggregation
    names = {each.aggregation.name for each in several}
    require(
        len(names) == 1 and (aggregation.counts_votes or aggregation.adds_scores),
        'aggregation must be "majority" or "sum" to classify, the same for all ensembles, got '
        f"{' and '.join(map(repr, sorted(names)))}",
        ParameterError,
    )
    return ClassificationExperiment(
        features=X,
        labels=labels,
        test_features=X_test,
        test_labels=classes.searchsorted(y_test),
        classes=tuple(str(name) for name in classes),
        strategies=tuple(strategies),
        aggregation=aggregation,
        ridges=_common("ridge", several) if ridges is None else np.atleast_1d(finite_array("ridges", ridges)),
        readout_noises=_common("readout_noise", several),
        n_samples=ascending_integers("n_samples", n_samples),
        n_trials=positive_integer("n_trials", n_trials, MOST_TRIALS),
        test_draws=positive_integer("test_draws", test_draws),
        **settings,
    )


def _common(name: str, ensembles: Sequence[Ensemble]) -> FloatArray:
    """The values of a ridge or a readout noise, which all members and all ensembles share."""
    tables = [np.atleast_2d(getattr(ensemble, name)) for ensemble in ensembles]
    values = tables[0][..., 0]
    for table in tables:
        require(
            values.ndim == 1 and len(table) == len(values) and (table == values[:, None]).all(),
            f"{name} must be the same for all members and all ensembles to classify, got {table.tolist()}; a leading "
            "axis sweeps it: values[:, None]",
            ParameterError,
        )
    return values


def _matrix(name: str, value: ArrayLike) -> FloatArray:
    array = finite_array(name, value)
    require(array.ndim == 2 and array.size > 0, f"{name} must have shape (n_samples, n_features), got {array.shape}")
    refuse_large_entries(name, array)
    return array


def _labels(name: str, value: ArrayLike, X: FloatArray) -> IntArray:
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise DataError(f"{name} must hold one class per row: {error}") from error
    require(array.dtype.kind not in "cmMV", f"{name} has type {array.dtype}; classes are whole numbers or text")
    missing = pandas.isna(array) | np.ma.getmask(value)
    require(
        not missing.any() and not (array.dtype.kind == "f" and np.isinf(array).any()),
        f"{name} has labels that are missing, hidden by a mask, NaN or infinite; drop those rows",
    )
    require(
        array.dtype.kind != "O" or len({isinstance(each, str) for each in array.flat}) < 2,
        f"{name} has numbers beside text; classes are all numbers or all text",
    )
    require(array.shape == (len(X),), f"{name} must have shape ({len(X)},), one class per row, got {array.shape}")
    return array
