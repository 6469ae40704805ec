"""The public call: describe an experiment, get its learning curves."""

from collections.abc import Callable, Iterable
from functools import partial

import numpy as np
import xarray

from subridge.arrays.streams import Seed
from subridge.arrays.types import ArrayLike
from subridge.model.aggregation import Mean
from subridge.model.checks import ascending_integers, finite_array, items_of, positive_integer
from subridge.model.ensemble import Ensemble
from subridge.model.fingerprint import checked_seed, describe
from subridge.model.plan import SubsetPlan
from subridge.model.problem import EquicorrelatedProblem, Problem
from subridge.results.schemas import TrialSchema, simulated_curves
from subridge.simulation.conduct import conduct
from subridge.simulation.gaussian.experiment import GaussianExperiment, WeightedExperiment, feature_count
from subridge.simulation.gaussian.memory import bytes_per_trial, plan_batch
from subridge.simulation.gaussian.trials import run_trials
from subridge.simulation.job import Engine
from subridge.simulation.run import MOST_TRIALS, Run, checked_run


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
        The law of the data; an equicorrelated one is realised with M features.
    ensemble : Ensemble
        Built from a `SubsetPlan`, or from a strategy of ``subridge.subsets``, which is drawn once or in every trial. A
        leading axis of ``readout_noise``, shape (n, 1) or (n, k), sweeps it at almost no cost and gives the result a
        dimension ``readout_noise``. Its aggregation is the mean or any other weighted sum of members.
    n_samples : array_like of int, shape (n,)
        P, the training-set sizes, strictly ascending.
    n_trials : int
        How often all is drawn and trained anew.
    ridges : array_like, shape (n,) or (n, k), optional
        Sweep that replaces ``ensemble.ridge`` and gives the result a dimension ``ridge``.
    n_features : int, optional
        M of an `EquicorrelatedProblem` whose ensemble does not fix it.
    redraw : iterable of {"data", "teacher", "subsets"}
        What is new in every trial; the rest is drawn once. "data" covers samples, label noise and readout noise. The
        teacher of a plain `Problem` is redrawn from standard normals.
    nested : bool
        True: the training sets of a trial are prefixes of one sample, and a whole curve costs little more than its last
        point. False: independent training sets.
    pairs : bool
        Also return ``pairs``, the terms E_rr′ of every risk.
    weights_from : {"theory", "left_out"}
        Weights of other aggregations than the mean: fixed by theory, as `risk` has them, or fitted in every trial to
        the leave-one-out errors of its members; the difference of the two risks is what the choosing costs.
    dtype : {"float64", "float32"}
        float32 halves memory and is faster on a GPU. Its risks are off by about 1e-7/λ + 5e-7 relative for features of
        unit variance (measured at M=200: 7e-4 at λ=1e-4, 5e-6 at 1e-2, 4e-7 at 1); at λ = 0 use float64.
    seed : int, tuple of int or None
        None draws one, which the attributes of the result tell.
        Streams derive from it and from the coordinates of what is drawn, so that batches, executors, order and
        interruptions cannot change the data.
    run : Run, optional
        Device, executor, store, memory.
    progress : bool
        Show a progress bar when at a terminal.

    Returns
    -------
    xarray.Dataset
        ``risk`` (E_g of eq. 5 (SingleErrorTerm), exact for the trained weights) and ``training_error`` (mean squared
        residual of the ensemble's prediction on its training labels, with the readout noise of training), with
        dimensions (trial, ridge, readout_noise, n_samples), of which ridge and readout_noise are there only when swept;
        with ``pairs=True`` also ``pairs`` = E_rr′; for weighted members also
        ``member_weights``. Attributes hold the description and the package version.

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
    if isinstance(ensemble, Ensemble) and not isinstance(ensemble.aggregation, Mean):
        build: Callable[..., GaussianExperiment] = partial(WeightedExperiment, weights_from=weights_from)
    else:
        build = GaussianExperiment
    experiment = build(
        problem,
        ensemble,
        n_samples=ascending_integers("n_samples", n_samples),
        n_trials=positive_integer("n_trials", n_trials, MOST_TRIALS),
        n_features=feature_count(problem, ensemble, n_features),
        ridges=None if ridges is None else np.atleast_1d(finite_array("ridges", ridges)),
        redraw=(redraw,) if isinstance(redraw, str) else tuple(items_of("redraw", redraw)),
        nested=bool(nested),
        seed=checked_seed("seed", seed),
        device=run.device,
        dtype=dtype,
        pairs=bool(pairs),
    )
    return conduct(ENGINE, experiment, run, progress=progress)


def schema_of(experiment: GaussianExperiment) -> TrialSchema:
    """Names, dimensions and coordinates of an experiment's result."""
    drawn = "given" if isinstance(experiment.ensemble.subsets, SubsetPlan) else "once"
    sizes = experiment.plan_of(0).subset_sizes.tolist()
    if "subsets" in experiment.redraw:
        drawn = "every trial"
        every = [experiment.plan_of(trial).subset_sizes for trial in range(experiment.n_trials)]
        sizes = np.unique(np.concatenate(every)).tolist()
    return simulated_curves(
        n_trials=experiment.n_trials,
        n_samples=experiment.n_samples,
        ridges=None if experiment.ridges is None else experiment.ridge_table,
        readout_noises=experiment.noise_table if experiment.sweeps_noise else None,
        n_members=experiment.n_members,
        also=("pairs",) * experiment.pairs + ("member_weights",) * isinstance(experiment, WeightedExperiment),
        attributes={
            "experiment": describe(experiment),
            "fingerprint": experiment.fingerprint(),
            "n_features": experiment.n_features,
            "subset_sizes": sizes,
            "subsets_drawn": drawn,
            "signal_power": experiment.signal_power,
        },
    )


ENGINE = Engine(schema_of, bytes_per_trial, plan_batch, run_trials)
