"""sr.risk_matrix: the k×k matrix of squared errors from training data alone."""

from typing import Any

import numpy as np

from subridge.arrays.streams import Seed
from subridge.arrays.types import FloatArray
from subridge.ensemble.ensemble import Ensemble
from subridge.ensemble.moments import error_products
from subridge.forecasting.inputs import read_ensembles, read_sample
from subridge.ridge.rows.path import member_paths
from subridge.ridge.selection import errors_at


def risk_matrix(
    X: Any,
    y: Any,
    ensemble: Ensemble,
    *,
    task: str = "auto",
    fit_intercept: bool = True,
    seed: Seed | None = 0,
) -> FloatArray:
    """Estimate ``E_rr′ + ζ²`` from exact leave-one-out errors, nothing held out.

    Parameters
    ----------
    X : array_like or sparse matrix, shape (n, M)
    y : array_like, shape (n,) or (n, C)
        Numbers, or labels of classes, which become one-hot targets.
    ensemble : Ensemble
        Ridges at least 0; 0 is the minimum-norm solution, with fewer or more features than samples.
    task, fit_intercept, seed
        As for `forecast`.

    Returns
    -------
    ndarray, shape (k, k)
        Summed over targets; its mean is the squared error of the averaged ensemble on new labels, and
        ``member_weights`` of it are optimal weights. Readout noise η_r, which training data do not show, is not in it.

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
    sample = read_sample(X, y, task, fit_intercept)
    ((plan, ridges, _),) = read_ensembles({"ensemble": ensemble}, sample.n_features, seed).values()
    paths = member_paths(sample.rows, plan, ridges[None, :])
    return error_products(errors_at(paths, np.zeros(plan.n_members, dtype=int)), sample.rows.weights)
