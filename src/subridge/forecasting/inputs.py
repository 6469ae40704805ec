"""What a user hands to a forecast: a pilot sample and named ensembles."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_array

from subridge.arrays.streams import Seed, stream
from subridge.arrays.types import FloatArray
from subridge.datasets.tables.target_rows import target_rows
from subridge.datasets.tables.targets import missing_targets, read_target
from subridge.datasets.tables.treatments import LEAST_ROWS
from subridge.ensemble.ensemble import Ensemble
from subridge.ridge.rows.training import TrainingRows, training_rows
from subridge.spec.checks import real_array
from subridge.spec.errors import DataError, ParameterError, RidgeError, SubsetError
from subridge.spec.plan import SubsetPlan
from subridge.subsets.base import Strategy

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
    target = read_target(y)
    if len(target) != X.shape[0]:
        raise DataError(f"y must have an entry or a row for each of the {X.shape[0]} rows of X, got {len(target)}")
    if X.shape[0] < LEAST_ROWS:
        raise DataError(f"X has {X.shape[0]} rows; a pilot needs at least {LEAST_ROWS} to say anything")
    lacking = int(missing_targets(target).sum())
    if lacking:
        raise DataError(f"y lacks {lacking} labels; drop those rows")
    targets = target_rows(target, task)
    return Sample(training_rows(X, targets.rows, None, fit_intercept), targets.class_names)


def read_sizes(n_samples: Any) -> FloatArray:
    """Sample sizes n′ ≥ 2, which may be infinite; shape (S,)."""
    sizes = np.array(list(dict.fromkeys(np.atleast_1d(real_array("n_samples", n_samples)).ravel().tolist())))
    whole = np.isinf(sizes) | ((sizes == np.floor(sizes)) & (sizes < 1e15))
    if not sizes.size or not whole.all() or (sizes < 2).any():
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
        if str(name) in known:
            raise ParameterError(f"ensembles has two of the name {name!r}")
        known[str(name)] = (
            plan,
            np.broadcast_to(ensemble.ridge, (k,)),
            np.broadcast_to(ensemble.readout_noise, (k,)),
        )
    return known
