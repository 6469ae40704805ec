"""The public call: features and labels in, misclassification of voting ensembles along learning curves out."""

from collections.abc import Sequence

import xarray

from subridge.arrays.streams import Seed
from subridge.arrays.types import ArrayLike
from subridge.model.ensemble import Ensemble
from subridge.model.fingerprint import checked_seed, describe
from subridge.results.schemas import TrialSchema, classification
from subridge.simulation.classification.experiment import ClassificationExperiment, make_classification
from subridge.simulation.classification.memory import bytes_needed, plan_batches
from subridge.simulation.classification.trials import run_trials
from subridge.simulation.conduct import conduct
from subridge.simulation.job import Engine
from subridge.simulation.run import Run, checked_run


def simulate_classification(
    X: ArrayLike,
    y: ArrayLike,
    X_test: ArrayLike,
    y_test: ArrayLike,
    ensemble: Ensemble | Sequence[Ensemble],
    *,
    ridges: ArrayLike | None = None,
    n_samples: ArrayLike,
    n_trials: int,
    test_draws: int = 1,
    dtype: str = "float64",
    seed: Seed | None = 0,
    run: Run | None = None,
    progress: bool = True,
) -> xarray.Dataset:
    """Train ensembles of linear classifiers on subsets of features and count the test samples they misclassify.

    A member is ridge regression on one-hot labels, without an intercept and without centring, as in
    sec. E.2 (LinClassTrainingSection). It votes for its largest score. Readout noise of scale η is added to every
    score, in training (independently for every member, sample and class) and at test.

    Parameters
    ----------
    X : array_like, shape (n, M)
        Samples to train on, one per row.
    y : array_like, shape (n,)
        Their classes, of any type that sorts; their order is the order of ``numpy.unique(y)``.
    X_test : array_like, shape (n_test, M)
        Samples to judge by.
    y_test : array_like, shape (n_test,)
        Their classes.
    ensemble : Ensemble or sequence of Ensemble
        One, or several with different numbers of members k. ``subsets`` is a strategy, drawn anew in every trial;
        ``aggregation`` is "majority" (most votes; among classes with equally many the largest sum of all members'
        scores decides, then the lowest class) or "sum" (the largest sum of scores). Readout noise is the same for all
        members; a leading axis, shape (n, 1), sweeps it, and all its values come from one set of solves, because
        weights are linear in labels and noise.
    ridges : array_like, shape (n,), optional
        λ, a sweep that replaces ``ensemble.ridge``; 0 is the minimum-norm solution.
    n_samples : array_like of int, shape (n,)
        P, strictly ascending. Training sets of a trial are prefixes of one random order of X.
    n_trials : int
        Each draws an order, subsets and noise.
    test_draws : int
        Draws of the readout noise at test, over which the result is averaged.
    dtype : {"float64", "float32"}
        float32 halves memory and is faster on a GPU; votes that are nearly tied may differ.
    seed : int, tuple of int or None
        None draws one, which the attributes of the result tell.
        Order, subsets and noise derive from it, the trial and the member. They are common to all ridges, noises and
        training-set sizes, and orders and noise also to all numbers of members. CPU and GPU draw different noise of
        one law, and the same orders and subsets.
    run : Run, optional
        Device, executor, store, memory.
    progress : bool
        Show a progress bar when at a terminal.

    Returns
    -------
    xarray.Dataset
        ``misclassification`` with dimensions (trial, n_members, ridge, readout_noise, n_samples).

    Raises
    ------
    ParameterError, DataError
        If something lies outside its range, is NaN, or does not fit the rest.
    BudgetError
        If one trial does not fit into the memory it may use.
    StoreError, ClusterError
        If a store or a cluster cannot be used.

    See Also
    --------
    simulate : exact risks on data drawn from a `Problem`.
    RidgeEnsembleClassifier : the same ensembles as an estimator.

    Examples
    --------
    >>> import numpy as np, subridge as sr
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(300) % 3
    >>> X = np.eye(3)[y] @ rng.standard_normal((3, 20)) + rng.standard_normal((300, 20))
    >>> ensembles = [sr.Ensemble(sr.subsets.Equal(k), aggregation="majority") for k in (1, 4)]
    >>> errors = sr.simulate_classification(
    ...     X[:200], y[:200], X[200:], y[200:], ensembles, ridges=[0, 1], n_samples=[50, 200], n_trials=2)
    >>> dict(errors.misclassification.sizes)
    {'trial': 2, 'n_members': 2, 'ridge': 2, 'readout_noise': 1, 'n_samples': 2}
    """
    run = checked_run(run)
    experiment = make_classification(
        (X, y, X_test, y_test),
        ensemble,
        n_samples,
        n_trials,
        ridges=ridges,
        test_draws=test_draws,
        dtype=dtype,
        seed=checked_seed("seed", seed),
        device=run.device,
    )
    return conduct(ENGINE, experiment, run, progress=progress)


def _schema(e: ClassificationExperiment) -> TrialSchema:
    return classification(
        n_trials=e.n_trials,
        n_members=e.n_members,
        ridges=e.ridges,
        readout_noises=e.readout_noises,
        n_samples=e.n_samples,
        attributes={
            "fingerprint": e.fingerprint(),
            "n_features": e.features.shape[1],
            "n_test": len(e.test_labels),
            "classes": list(e.classes),
            "strategies": [describe(strategy) for strategy in e.strategies],
            "aggregation": e.aggregation.name,
            "test_draws": e.test_draws,
            "seed": e.seed if isinstance(e.seed, int) else list(e.seed),
            "device": e.device,
            "dtype": e.dtype,
        },
    )


# Batches of small products gain nothing from threads, and the pools of NumPy and SciPy fight for the cores: measured
# 9 s with one thread, 61 s with two. Several cores are used by processes, Run(executor=).
ENGINE = Engine(_schema, bytes_needed, plan_batches, run_trials, threads_on_a_cpu=1)
