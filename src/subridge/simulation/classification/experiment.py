"""What a classification experiment computes: data, subsets, grid and seed, checked once."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from subridge.arrays.streams import Seed, stream
from subridge.arrays.types import ArrayLike, FloatArray, IntArray
from subridge.spec.checks import finite_array, non_negative, positive_integer
from subridge.spec.errors import DataError, ParameterError, RidgeError, SubsetError
from subridge.spec.fingerprint import Fingerprinted
from subridge.spec.plan import SubsetPlan
from subridge.subsets import Dirichlet, Equal
from subridge.subsets.base import Strategy

# Purposes of random streams, the first coordinate of each; the others are the trial and the member or its count.
ORDER, SUBSETS, TRAINING_NOISE, TEST_NOISE = range(100, 104)

StrategyLike: TypeAlias = str | Callable[[int], Strategy]


@dataclass(frozen=True, eq=False)
class ClassificationExperiment(Fingerprinted):
    """A classification experiment without its whereabouts; see `simulate_classification`.

    Attributes
    ----------
    features, test_features : ndarray, shapes (n, M) and (n_test, M)
    labels, test_labels : ndarray of int
        Positions in ``classes``.
    classes : tuple of str
    strategies : tuple of Strategy
        One per number of members.
    """

    features: FloatArray
    labels: IntArray
    test_features: FloatArray
    test_labels: IntArray
    classes: tuple[str, ...]
    strategies: tuple[Strategy, ...]
    ridges: FloatArray
    readout_noises: FloatArray
    n_samples: tuple[int, ...]
    n_trials: int
    test_draws: int
    voting: str
    seed: Seed
    device: str
    dtype: str

    def __post_init__(self) -> None:
        if self.n_samples[-1] > len(self.features):
            raise ParameterError(
                f"n_samples asks for {self.n_samples[-1]} training samples but X has {len(self.features)}"
            )
        if self.voting not in ("majority", "sum"):
            raise ParameterError(f'voting must be "majority" or "sum", got {self.voting!r}')
        for place in range(len(self.strategies)):
            plan = self.plan_of(place, 0)
            if not plan.selects_features:
                raise SubsetError("classification trains on subsets of features; projections are not supported")

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @property
    def n_members(self) -> tuple[int, ...]:
        return tuple(strategy.n_members for strategy in self.strategies)

    @property
    def has_noise(self) -> bool:
        return bool(self.readout_noises.any())

    @cached_property
    def feature_scale(self) -> float:
        """Mean square of a feature, the unit in which a ridge counts as small."""
        return float(np.mean(self.features[:1000] ** 2))

    @cached_property
    def one_hot(self) -> FloatArray:
        """Labels as rows of zeros and a one, shape (n, C)."""
        return np.eye(self.n_classes)[self.labels]

    def order_of(self, trial: int) -> IntArray:
        """The training samples of a trial in their order, shape (P_max,); smaller training sets are its prefixes."""
        return stream(self.seed, ORDER, trial).permutation(len(self.features))[: self.n_samples[-1]]

    def plan_of(self, place: int, trial: int) -> SubsetPlan:
        """The subsets of a trial at the number of members in that place of the grid."""
        strategy = self.strategies[place]
        return strategy.draw(self.features.shape[1], stream(self.seed, SUBSETS, trial, strategy.n_members))


def make_classification(
    data: tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike],
    strategy: StrategyLike,
    fraction_spread: float,
    n_members: ArrayLike,
    n_samples: ArrayLike,
    **rest: Any,
) -> ClassificationExperiment:
    """Turn the arguments of `simulate_classification` into an experiment."""
    X, X_test = (_matrix(name, value) for name, value in (("X", data[0]), ("X_test", data[2])))
    if X.shape[1] != X_test.shape[1]:
        raise DataError(f"X_test has {X_test.shape[1]} features but X has {X.shape[1]}")
    y, y_test = (_labels(name, v, x) for name, v, x in (("y", data[1], X), ("y_test", data[3], X_test)))
    classes, positions = np.unique(y, return_inverse=True)
    unknown = np.setdiff1d(y_test, classes)
    if unknown.size:
        raise DataError(f"y_test has class {unknown[0]!r}, which y does not have")
    if len(classes) < 2:
        raise DataError("y must have at least two classes")
    rest["ridges"] = np.atleast_1d(finite_array("ridges", rest["ridges"]))
    if rest["ridges"].min() < 0:
        raise RidgeError(f"ridges must be at least 0 to train, got {rest['ridges'].min():g}")
    rest["readout_noises"] = np.atleast_1d(non_negative("readout_noises", rest["readout_noises"]))
    return ClassificationExperiment(
        features=X,
        labels=positions,
        test_features=X_test,
        test_labels=np.searchsorted(classes, y_test),
        classes=tuple(str(name) for name in classes),
        strategies=tuple(_strategy(strategy, k, fraction_spread) for k in _ascending("n_members", n_members)),
        n_samples=_ascending("n_samples", n_samples),
        n_trials=positive_integer("n_trials", rest.pop("n_trials")),
        test_draws=positive_integer("test_draws", rest.pop("test_draws")),
        **rest,
    )


def _strategy(strategy: StrategyLike, k: int, fraction_spread: float) -> Strategy:
    if strategy == "equal":
        return Equal(k)
    if strategy == "dirichlet":
        return Dirichlet(k, fraction_spread)
    if not callable(strategy):
        raise ParameterError(
            'strategy must be "equal", "dirichlet" or a callable from the number of members to a strategy, such as '
            f"sr.subsets.Equal, got {strategy!r}"
        )
    built = strategy(k)
    if not isinstance(built, Strategy) or built.n_members != k:
        raise ParameterError(f"strategy({k}) must be a strategy of {k} members, got {built!r}")
    return built


def _matrix(name: str, value: ArrayLike) -> FloatArray:
    array = finite_array(name, value)
    if array.ndim != 2 or not array.size:
        raise DataError(f"{name} must have shape (n_samples, n_features), got {array.shape}")
    return array


def _labels(name: str, value: ArrayLike, X: FloatArray) -> Any:
    array = np.asarray(value)
    if array.shape != (len(X),):
        raise DataError(f"{name} must have shape ({len(X)},), one class per row, got {array.shape}")
    return array


def _ascending(name: str, value: ArrayLike) -> tuple[int, ...]:
    array = np.atleast_1d(np.asarray(value))
    if array.ndim != 1 or not array.size or (array != np.round(array)).any() or (array < 1).any():
        raise ParameterError(f"{name} must be positive integers, got {value!r}")
    if (np.diff(array) <= 0).any():
        raise ParameterError(f"{name} must be strictly ascending, got {array.tolist()}; sort it and drop repeats")
    return tuple(int(item) for item in array)
