"""sr.risk_matrix: the k×k matrix of squared errors from training data alone."""

import numpy as np

from subridge.arrays.streams import Seed
from subridge.arrays.types import FloatArray, MatrixLike
from subridge.datasets.tables.target_rows import Task
from subridge.datasets.tables.targets import TargetLike
from subridge.forecasting.inputs.request import read_ensembles
from subridge.forecasting.inputs.sample import read_sample
from subridge.model.checks import non_negative, one_number
from subridge.model.ensemble import Ensemble
from subridge.model.moments import error_products
from subridge.ridge.rows.path import member_paths
from subridge.ridge.selection import errors_at


def risk_matrix(
    X: MatrixLike,
    y: TargetLike,
    ensemble: Ensemble,
    *,
    label_noise: float = 0.0,
    task: Task = "auto",
    fit_intercept: bool = True,
    seed: Seed | None = 0,
) -> FloatArray:
    """Estimate ``E_rr′ + ζ²`` from exact leave-one-out errors, nothing held out.

    Parameters
    ----------
    X : array_like or sparse matrix, shape (n, M)
        Features, one sample per row.
    y : array_like, shape (n,) or (n, C)
        Numbers, or labels of classes, which become one-hot targets.
    ensemble : Ensemble
        Ridges at least 0; 0 is the minimum-norm solution, with fewer or more features than samples. The aggregation
        does not matter.
    label_noise : float
        ζ, where it is known: ζ² is subtracted, so that the matrix estimates ``sr.risk(...).pairs``. Errors are measured
        on noisy labels, which show E_rr′ + ζ² and nothing less. For several targets ζ² is the sum over them.
    task : {"auto", "regression", "classification"}
        "auto" takes text, categories and booleans for labels of classes.
    fit_intercept : bool
        Ensembles with an unpenalised intercept.
    seed : int or tuple of int, optional
        Draws the subsets of strategies.

    Returns
    -------
    ndarray, shape (k, k)
        Summed over targets; its mean is the squared error of the averaged ensemble on new labels (without label noise
        where that is given), and ``member_weights`` of it are optimal weights. Readout noise η_r, which training data
        do not show, is not in it.

    Raises
    ------
    DataError
        If the data hold NaN or infinity, or cannot be used as given.
    ParameterError
        If a parameter lies outside its range.
    RidgeError
        If a ridge is negative.

    See Also
    --------
    risk : the same matrix by theory, without label noise.
    member_weights : weights from it.
    forecast : the error at other sample sizes; it estimates the label noise too.

    Notes
    -----
    On Gaussian data it agrees with ``sr.risk(...).pairs + label_noise**2`` (Prop. 1).

    Examples
    --------
    >>> import numpy as np, subridge as sr
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 20))
    >>> pairs = sr.risk_matrix(X, X[:, 0], sr.Ensemble(sr.subsets.equal(2, 20, seed=0), ridge=0.1))
    >>> pairs.shape, bool(np.allclose(pairs, pairs.T))
    ((2, 2), True)
    """
    zeta = one_number("label_noise", non_negative("label_noise", label_noise))
    sample = read_sample(X, y, task, fit_intercept)
    if isinstance(ensemble, Ensemble):
        ensemble = Ensemble(ensemble.subsets, ensemble.ridge)
    (drawn,) = read_ensembles({"ensemble": ensemble}, sample.n_features, seed).values()
    paths = member_paths(sample.rows, drawn.plan, drawn.ridges[None, :])
    errors = errors_at(paths, np.zeros(drawn.plan.n_members, dtype=int))
    return error_products(errors, sample.rows.weights) - zeta**2
