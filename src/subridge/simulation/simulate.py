"""The public functions: they describe an experiment, run it and return its learning curves."""

from collections.abc import Iterable, Sequence

import numpy as np
import xarray

from subridge.arrays.types import ArrayLike, Seed
from subridge.model.checks import (
    ascending_integers,
    checked_seed,
    describe,
    finite_array,
    items_of,
    positive_integer,
    truth,
)
from subridge.model.ensemble import Ensemble, SubsetPlan
from subridge.model.problem import EquicorrelatedProblem, Problem
from subridge.results.schemas import classification, simulated_curves
from subridge.simulation import memory, training, voting
from subridge.simulation.classification import MOST_TRIALS, ClassificationExperiment, make_classification
from subridge.simulation.gaussian import GaussianExperiment, feature_count
from subridge.simulation.run import Engine, Run, checked_run, conduct


def simulate(
    problem: Problem | EquicorrelatedProblem,
    ensemble: Ensemble,
    n_samples: ArrayLike,
    n_trials: int,
    *,
    ridges: ArrayLike | None = None,
    n_features: int | None = None,
    redraw: Iterable[str] = ("data",),
    nested: bool = True,
    pairs: bool = False,
    weights_from: str = "theory",
    dtype: str = "float64",
    seed: Seed | None = 0,
    run: Run | None = None,
    progress: bool = True,
) -> xarray.Dataset:
    """Train ridge ensembles on sampled data and return their exact risks.

    Parameters
    ----------
    problem : Problem or EquicorrelatedProblem
        The distribution of the data; an `EquicorrelatedProblem` is realised with M features.
    ensemble : Ensemble
        Built from a `SubsetPlan`, or from a strategy of ``subridge.subsets``, which is drawn once or in every trial. A
        leading axis of ``readout_noise``, shape (n, 1) or (n, k), sweeps it at almost no cost and gives the result a
        dimension ``readout_noise``. Its aggregation is the mean or any other weighted sum of members. With
        ``row_fractions`` (one per member) every member sees that share of the rows, drawn anew at every size and trial.
    n_samples : array_like of int, shape (n,)
        P, the training-set sizes, strictly ascending.
    n_trials : int
        Number of independent repetitions.
    ridges : array_like, shape (n,) or (n, k), optional
        Sweep that replaces ``ensemble.ridge`` and gives the result a dimension ``ridge``.
    n_features : int, optional
        M of an `EquicorrelatedProblem` whose ensemble does not fix it.
    redraw : iterable of {"data", "teacher", "subsets"}
        What is drawn again in every trial; the rest is drawn once. "data" covers samples, label noise and readout
        noise. The teacher of a plain `Problem` is redrawn from standard normals.
    nested : bool
        True: the training sets of a trial are prefixes of one sample, and a whole curve costs little more than its last
        point. False: independent training sets.
    pairs : bool
        Also return ``pairs``, the terms E_rr′ of every risk.
    weights_from : {"theory", "left_out"}
        Weights of aggregations other than the mean: fixed by theory, as in `risk`, or fitted in every trial to the
        leave-one-out errors of its members. The difference between the two risks is the cost of fitting the weights.
    dtype : {"float64", "float32"}
        float32 halves memory and is faster on a GPU. The relative error of its risks is about 1e-7/λ + 5e-7 for
        features of unit variance (measured at M=200: 7e-4 at λ=1e-4, 5e-6 at 1e-2, 4e-7 at 1); at λ = 0 use float64.
    seed : int, tuple of int or None
        None draws a seed; the attributes of the result record it. Random streams depend only on the seed and on what
        is drawn, so that batches, executors, order and interruptions cannot change the data.
    run : Run, optional
        Device, executor, store, memory.
    progress : bool
        Show a progress bar at a terminal.

    Returns
    -------
    xarray.Dataset
        With dimensions (trial, ridge, readout_noise, n_samples); ridge and readout_noise only if they are swept.

        - ``risk``: E_g of eq. 5 (SingleErrorTerm), exact for the trained weights.
        - ``training_error``: mean squared residual on the training labels, with the readout noise of training.
        - ``pairs``: E_rr′, if requested. ``member_weights``: if the members are weighted.

        Attributes hold the description and the package version.

    Raises
    ------
    ParameterError, DataError
        If an argument is out of range, contains NaN, or contradicts another one.
    BudgetError
        If one trial, or the result, does not fit into memory.
    StoreError, ClusterError
        If a store or a cluster cannot be used.

    See Also
    --------
    risk : what theory predicts for the same problem and ensemble.
    compare : judge theory against experiment.
    simulate_classification : votes on given features.

    Examples
    --------
    >>> import numpy as np, subridge as sr
    >>> problem = sr.Problem(sr.covariance.autoregressive(60, 0.5), np.ones(60), label_noise=0.1)
    >>> ensemble = sr.Ensemble(sr.subsets.equal(2, 60, seed=0), readout_noise=0.1)
    >>> curves = sr.simulate(problem, ensemble, [15, 60], 4, ridges=[0.01, 1.0], progress=False)
    >>> dict(curves.risk.sizes)
    {'trial': 4, 'ridge': 2, 'n_samples': 2}
    """
    run = checked_run(run)
    experiment = GaussianExperiment(
        problem,
        ensemble,
        n_samples=ascending_integers("n_samples", n_samples),
        n_trials=positive_integer("n_trials", n_trials, MOST_TRIALS),
        n_features=feature_count(problem, ensemble, n_features),
        ridges=None if ridges is None else np.atleast_1d(finite_array("ridges", ridges)),
        redraw=(redraw,) if isinstance(redraw, str) else tuple(items_of("redraw", redraw)),
        nested=truth("nested", nested),
        seed=checked_seed("seed", seed),
        device=run.device,
        dtype=dtype,
        pairs=truth("pairs", pairs),
        weights_from=weights_from,
    )
    return conduct(GAUSSIAN, experiment, run, progress=progress)


def _curves(e: GaussianExperiment) -> xarray.Dataset:
    """Names, dimensions and coordinates of what `simulate` returns."""
    drawn = "once"
    sizes = e.plan_of(0).subset_sizes.tolist()
    if "subsets" in e.redraw:
        drawn = "every trial"
        sizes = np.unique(np.concatenate([e.plan_of(trial).subset_sizes for trial in range(e.n_trials)])).tolist()
    elif isinstance(e.ensemble.subsets, SubsetPlan):
        drawn = "given"
    teacher = e.teacher_of(0)
    return simulated_curves(
        n_trials=e.n_trials,
        n_samples=e.n_samples,
        ridges=None if e.ridges is None else e.ridge_table,
        readout_noises=e.noise_table if e.ensemble.readout_noise.ndim == 2 else None,
        n_members=e.ensemble.n_members,
        also=("pairs",) * e.pairs + ("member_weights",) * e.is_weighted,
        attributes={
            "experiment": describe(e),
            "fingerprint": e.fingerprint(),
            "n_features": e.n_features,
            "subset_sizes": sizes,
            "row_fractions": [1] if (f := e.ensemble.row_fractions) is None else np.unique(f.diagonal()).tolist(),
            "subsets_drawn": drawn,
            # w*ᵀΣ_s w*/M of the first teacher is the risk of predicting zero; rounding is relative to it.
            "signal_power": float(teacher @ e.finite_problem.signal_covariance.apply(teacher)) / e.n_features,
        },
    )


GAUSSIAN = Engine(_curves, memory.bytes_per_trial, memory.trials_at_once, training.run_trials)


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
    score in training and at test, independently for every member, sample and class.

    Parameters
    ----------
    X : array_like, shape (n, M)
        Samples to train on, one per row.
    y : array_like, shape (n,)
        Their classes, of any type that sorts; their order is the order of ``numpy.unique(y)``.
    X_test : array_like, shape (n_test, M)
        Test samples.
    y_test : array_like, shape (n_test,)
        Their classes.
    ensemble : Ensemble or sequence of Ensemble
        One, or several with different numbers of members k. ``subsets`` is a strategy, drawn again in every trial;
        ``aggregation`` is "majority" (most votes; among classes with equally many the largest sum of all members'
        scores decides, then the lowest class) or "sum" (the largest sum of scores). Readout noise is the same for all
        members. A leading axis, shape (n, 1), sweeps it at little cost, because weights are linear in labels and noise.
    ridges : array_like, shape (n,), optional
        λ, a sweep that replaces ``ensemble.ridge``; 0 is the minimum-norm solution.
    n_samples : array_like of int, shape (n,)
        P, strictly ascending. Training sets of a trial are prefixes of one random order of X.
    n_trials : int
        Number of trials. Each draws an order, subsets and noise.
    test_draws : int
        Number of draws of the readout noise at test, over which the result is averaged.
    dtype : {"float64", "float32"}
        float32 halves memory and is faster on a GPU; votes that are nearly tied may differ.
    seed : int, tuple of int or None
        None draws a seed; the attributes of the result record it. Order, subsets and noise depend on the seed, the
        trial and the member. They are the same for all ridges, noises and training-set sizes; orders and noise are also
        the same for all numbers of members. CPU and GPU draw the same orders and subsets, but different noise of the
        same distribution.
    run : Run, optional
        Device, executor, store, memory.
    progress : bool
        Show a progress bar at a terminal.

    Returns
    -------
    xarray.Dataset
        ``misclassification`` with dimensions (trial, n_members, ridge, readout_noise, n_samples).

    Raises
    ------
    ParameterError, DataError, RidgeError, SubsetError
        If an argument is out of range, contains NaN, or contradicts another one.
    BudgetError
        If one trial, or the result, does not fit into memory.
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
    return conduct(CLASSIFICATION, experiment, run, progress=progress)


def _errors(e: ClassificationExperiment) -> xarray.Dataset:
    """Names, dimensions and coordinates of what `simulate_classification` returns."""
    return classification(
        n_trials=e.n_trials,
        n_members=tuple(strategy.n_members for strategy in e.strategies),
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


# Batches of small products gain nothing from threads, and the thread pools of NumPy and SciPy compete for the cores:
# measured 9 s with one thread, 61 s with two. Processes, Run(executor=), use several cores.
CLASSIFICATION = Engine(
    _errors, memory.bytes_to_classify, memory.batches_to_classify, voting.run_trials, threads_on_a_cpu=1
)
