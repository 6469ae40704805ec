"""The plain, slow trainer: one linear solve per member, the brute-force reference of every faster path."""

import numpy as np

from subridge.arrays.types import ArrayLike, FloatArray
from subridge.model.checks import counted, finite_array
from subridge.model.ensemble import Ensemble
from subridge.model.errors import DataError, ParameterError, RidgeError


def fit_members(X: ArrayLike, y: ArrayLike, ensemble: Ensemble, *, noise: ArrayLike | None = None) -> list[FloatArray]:
    """Train every member by ridge regression on its features.

    Member r minimises ``Σ_μ (w_r·A_r x^μ/√N_r + ξ_r^μ - y^μ)² + λ_r |w_r|²``; at λ_r = 0 the solution of minimum
    norm is taken.

    Parameters
    ----------
    X : array_like, shape (n_samples, M)
        Samples, one per row.
    y : array_like, shape (n_samples,) or (n_samples, n_targets)
        Labels.
    ensemble : Ensemble
        Built from a `SubsetPlan`, with one ridge per member or a common one.
    noise : array_like, shape (k, n_samples) or (k, n_samples, n_targets), optional
        The readout noise ξ_r^μ of training; None trains without it (``ensemble.readout_noise`` is a law, not a
        draw, and is not used here).

    Returns
    -------
    list of ndarray
        ŵ_r, of shape (N_r,) or (N_r, n_targets).

    Raises
    ------
    DataError
        If shapes do not fit together, or something is NaN or infinite.
    ParameterError
        If the ensemble has several ridges per member.
    RidgeError
        If a ridge is negative.
    SubsetError
        If the ensemble has no plan.

    See Also
    --------
    risk_of_weights : the exact error of such weights.
    simulate : many training sets at once, and fast.
    RidgeEnsembleRegressor : an estimator to use.

    Examples
    --------
    >>> import numpy as np, subridge as sr
    >>> X, y = np.eye(3), np.array([1.0, 2.0, 3.0])
    >>> ensemble = sr.Ensemble(sr.SubsetPlan.from_indices([[0], [1, 2]], 3))
    >>> [w.round(3) for w in sr.fit_members(X, y, ensemble)]
    [array([1.]), array([2.828, 4.243])]
    """
    data, labels, plan = finite_array("X", X), finite_array("y", y), ensemble.plan
    if data.ndim != 2 or data.shape[1] != plan.n_features:
        raise DataError(f"X must have shape (n_samples, {plan.n_features}) to fit the plan, got {data.shape}")
    if labels.ndim not in (1, 2) or len(labels) != len(data):
        raise DataError(f"y must have {counted(len(data), 'row')} like X, got shape {labels.shape}")
    if ensemble.ridge.ndim > 1:
        raise ParameterError("fit_members trains one ensemble; give ridge as a scalar or one value per member")
    lam = np.broadcast_to(ensemble.ridge, (plan.n_members,))
    if (lam < 0).any():
        raise RidgeError(f"ridge must be at least 0 to train, got {lam.min():g}")
    xi = np.zeros((plan.n_members, *labels.shape)) if noise is None else finite_array("noise", noise)
    if xi.shape != (plan.n_members, *labels.shape):
        raise DataError(f"noise must have shape {(plan.n_members, *labels.shape)}, got {xi.shape}")
    return [
        _ridge(plan.measure(r, data) / np.sqrt(plan.subset_sizes[r]), labels - xi[r], float(lam[r]))
        for r in range(plan.n_members)
    ]


def _ridge(F: FloatArray, targets: FloatArray, lam: float) -> FloatArray:
    """Least squares on F stacked over √λ·I: no normal equations, and λ = 0 gives the minimum norm by itself."""
    if lam == 0:
        return np.asarray(np.linalg.lstsq(F, targets, rcond=None)[0])
    N = F.shape[1]
    stacked = np.vstack([F, np.sqrt(lam) * np.eye(N)])
    padded = np.concatenate([targets, np.zeros((N, *targets.shape[1:]))])
    return np.asarray(np.linalg.lstsq(stacked, padded, rcond=None)[0])
