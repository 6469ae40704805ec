"""The public call: features and labels in, errors of voting ensembles along learning curves out."""

import xarray

from subridge.arrays.streams import Seed
from subridge.arrays.types import ArrayLike
from subridge.results.classification import classification
from subridge.results.trials import TrialSchema
from subridge.simulation.classification.experiment import (
    ClassificationExperiment,
    StrategyLike,
    make_classification,
)
from subridge.simulation.classification.memory import plan_classification
from subridge.simulation.classification.task import ClassificationJob, run_classification_task
from subridge.simulation.gather import gather, processes_of, threads_of
from subridge.simulation.run import Run
from subridge.spec.describe import describe


def simulate_classification(
    X: ArrayLike,
    y: ArrayLike,
    X_test: ArrayLike,
    y_test: ArrayLike,
    *,
    strategy: StrategyLike = "equal",
    fraction_spread: float = 0.75,
    n_members: ArrayLike,
    ridges: ArrayLike = 0.0,
    readout_noises: ArrayLike = 0.0,
    n_samples: ArrayLike,
    n_trials: int,
    voting: str = "majority",
    test_draws: int = 1,
    seed: Seed = 0,
    run: Run | None = None,
    progress: bool = True,
) -> xarray.Dataset:
    """Train ensembles of linear classifiers on subsets of features and count their errors on a test set.

    A member is ridge regression on one-hot labels (sec. LinClassTraining), without an intercept and without centring;
    it votes for its largest score. Readout noise of scale η is added to every score, in training (independently for
    every member, sample and class) and at test.

    Parameters
    ----------
    X, X_test : array_like, shapes (n, M) and (n_test, M)
    y, y_test : array_like, shapes (n,) and (n_test,)
        Classes, of any type that sorts; their order is the order of ``numpy.unique(y)``.
    strategy : {"equal", "dirichlet"} or callable
        How features are shared out in every trial: disjoint equal subsets, disjoint heterogeneous ones, or a callable
        from the number of members to a strategy of ``subridge.subsets``, such as the class ``sr.subsets.Equal``.
    fraction_spread : float
        kσ of "dirichlet".
    n_members : array_like of int, strictly ascending
        k.
    ridges : array_like
        λ; 0 is the minimum-norm solution.
    readout_noises : array_like
        η. All of them come from one set of solves, because weights are linear in labels and noise.
    n_samples : array_like of int, strictly ascending
        P. Training sets of a trial are prefixes of one random order of X.
    n_trials : int
        Each draws an order, subsets and noise.
    voting : {"majority", "sum"}
        "majority": most votes; among classes with equally many the largest sum of all members' scores decides, then
        the lowest class. "sum": the largest sum of scores.
    test_draws : int
        Draws of the readout noise at test, over which the error is averaged.
    seed : int
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

    Examples
    --------
    >>> import numpy as np, subridge as sr
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(300) % 3
    >>> X = np.eye(3)[y] @ rng.standard_normal((3, 20)) + rng.standard_normal((300, 20))
    >>> errors = sr.simulate_classification(
    ...     X[:200], y[:200], X[200:], y[200:], n_members=[1, 4], ridges=[0, 1], n_samples=[50, 200], n_trials=2)
    >>> dict(errors.misclassification.sizes)
    {'trial': 2, 'n_members': 2, 'ridge': 2, 'readout_noise': 1, 'n_samples': 2}
    """
    run = Run() if run is None else run
    experiment = make_classification(
        (X, y, X_test, y_test),
        strategy,
        fraction_spread,
        n_members,
        n_samples,
        ridges=ridges,
        readout_noises=readout_noises,
        n_trials=n_trials,
        voting=voting,
        test_draws=test_draws,
        seed=seed,
        device=run.device,
        dtype=run.dtype,
    )
    return run_classification(experiment, run, progress=progress)


def run_classification(experiment: ClassificationExperiment, run: Run, *, progress: bool) -> xarray.Dataset:
    """Run the tasks of an experiment that are not in the store yet, and gather all."""
    batch, member_bytes = plan_classification(experiment, run.memory, processes_of(run))
    schema = _schema(experiment)
    # Batches of small products gain nothing from threads, and the pools of NumPy and SciPy fight for the cores:
    # measured 9 s with one thread, 61 s with two. Several cores are used by processes, Run(executor=).
    threads = 1 if experiment.device == "cpu" and run.threads is None else threads_of(run)

    def make_job(block: int) -> ClassificationJob:
        return ClassificationJob(experiment, block, min(batch, block), member_bytes, threads)

    return schema.dataset(gather(experiment, schema, run, make_job, run_classification_task, show=progress))


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
            "voting": e.voting,
            "test_draws": e.test_draws,
            "seed": e.seed if isinstance(e.seed, int) else list(e.seed),
            "device": e.device,
            "dtype": e.dtype,
        },
    )
