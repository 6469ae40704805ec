"""What a user hands to a forecast: a pilot sample and named ensembles."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_array

from subridge.arrays.streams import Seed, stream
from subridge.arrays.types import FloatArray
from subridge.ridge.design import TrainingRows, training_rows
from subridge.ridge.votes import one_hot
from subridge.spec.checks import finite_array, real_array
from subridge.spec.ensemble import Ensemble, Strategy
from subridge.spec.errors import DataError, ParameterError, RidgeError, SubsetError
from subridge.spec.plan import SubsetPlan

LEAST_ROWS = 20
TASKS = ("auto", "regression", "classification")


@dataclass(frozen=True, eq=False)
class Sample:
    """A checked pilot sample.

    Attributes
    ----------
    rows : TrainingRows
    class_names : tuple of str or None
        Classes of one-hot targets; None for regression.
    """

    rows: TrainingRows
    class_names: tuple[str, ...] | None

    @property
    def n(self) -> int:
        return self.rows.n_samples

    @property
    def n_features(self) -> int:
        return int(self.rows.feature_means.shape[0])


def read_sample(X: Any, y: Any, task: str, fit_intercept: bool) -> Sample:
    """Check X and y and centre them.

    Parameters
    ----------
    X : array_like or sparse matrix, shape (n, M)
    y : array_like, shape (n,) or (n, C)
        Numbers, or labels of any kind.
    task : {"auto", "regression", "classification"}
        "auto" takes text, categories and booleans for labels and numbers for numbers.
    fit_intercept : bool

    Returns
    -------
    Sample
    """
    if task not in TASKS:
        raise ParameterError(f"task must be one of {TASKS}, got {task!r}")
    X = check_array(X, accept_sparse=("csr", "csc"), dtype=np.float64, input_name="X")
    labels = np.asarray(y)
    if labels.ndim not in (1, 2) or len(labels) != X.shape[0]:
        raise DataError(
            f"y must have one entry or row for each of the {X.shape[0]} rows of X, got shape {labels.shape}"
        )
    if X.shape[0] < LEAST_ROWS:
        raise DataError(f"X has {X.shape[0]} rows; a pilot needs at least {LEAST_ROWS} to say anything")
    numbers = labels.dtype.kind in "iuf"
    if task == "classification" or (task == "auto" and not numbers):
        targets, names = _one_hot(labels)
    else:
        targets, names = np.atleast_2d(finite_array("y", labels).T), None
        if not (targets.std(axis=1) > 0).all():
            raise DataError("y is constant in the pilot; there is nothing to forecast")
    return Sample(training_rows(X, np.ascontiguousarray(targets), None, fit_intercept), names)


def _one_hot(labels: Any) -> tuple[FloatArray, tuple[str, ...]]:
    if labels.ndim != 1:
        raise DataError(f"labels of classes must be one-dimensional, got shape {labels.shape}")
    missing = [label is None or label != label for label in labels.tolist()]
    if any(missing):
        raise DataError(f"y lacks {sum(missing)} labels; drop those rows")
    classes, codes = np.unique(labels.astype(str) if labels.dtype == object else labels, return_inverse=True)
    if len(classes) < 2:
        raise DataError(f"y has the single class {classes[0]!r}; classification needs two")
    if len(classes) > len(labels) // 2:
        raise DataError(f"y has {len(classes)} classes in {len(labels)} rows; use task='regression' for numbers")
    return one_hot(codes, len(classes)), tuple(str(name) for name in classes)


def read_sizes(n_samples: Any) -> FloatArray:
    """Sample sizes n′ ≥ 2, which may be infinite; shape (S,)."""
    sizes = np.atleast_1d(real_array("n_samples", n_samples))
    whole = np.isinf(sizes) | (sizes == np.floor(sizes))
    if sizes.ndim != 1 or not sizes.size or not whole.all() or (sizes < 2).any():
        raise ParameterError(f"n_samples must be integers of at least 2 (inf is allowed), got {n_samples!r}")
    return sizes


def read_ensembles(
    ensembles: Mapping[str, Ensemble], n_features: int, seed: Seed | None
) -> dict[str, tuple[SubsetPlan, FloatArray, FloatArray]]:
    """Plan, ridges (k,) and readout noises (k,) of every ensemble; strategies draw their subsets here."""
    if not isinstance(ensembles, Mapping) or not ensembles:
        raise ParameterError("ensembles must be a mapping from names to Ensemble objects, with at least one")
    known = {}
    for name, ensemble in ensembles.items():
        if not isinstance(ensemble, Ensemble):
            raise ParameterError(f"ensembles[{name!r}] must be an Ensemble, got {type(ensemble).__name__}")
        subsets = ensemble.subsets
        plan = subsets.draw(n_features, stream(seed)) if isinstance(subsets, Strategy) else ensemble.plan
        if plan.n_features != n_features:
            raise SubsetError(f"ensembles[{name!r}] is a plan for {plan.n_features} features, but X has {n_features}")
        if ensemble.ridge.ndim > 1 or ensemble.readout_noise.ndim > 1:
            raise ParameterError(f"ensembles[{name!r}] sweeps its ridge or noise; give ridges= to compare ridges")
        if (ensemble.ridge < 0).any():
            raise RidgeError(f"ridge of ensembles[{name!r}] must be at least 0, got {ensemble.ridge.min():g}")
        k = plan.n_members
        known[str(name)] = (
            plan,
            np.broadcast_to(ensemble.ridge, (k,)),
            np.broadcast_to(ensemble.readout_noise, (k,)),
        )
    return known
