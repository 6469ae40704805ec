"""The plain, slow trainer, which is the reference of every faster path, and the exact error of given weights."""

from collections.abc import Sequence

import numpy as np

from subridge.arrays.types import ArrayLike, FloatArray
from subridge.model.aggregation import MemberMoments
from subridge.model.checks import finite_array, items_of, of_kind
from subridge.model.ensemble import Ensemble, refuse_row_fractions
from subridge.model.errors import DataError, ParameterError, counted
from subridge.model.problem import Problem
from subridge.model.risk import Risk
from subridge.ridge.choose import trainable


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
        The readout noise ξ_r^μ of training; None trains without it. ``ensemble.readout_noise`` is a standard
        deviation, not a draw, and is not used here.

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
    simulate : train on many sets at once, and fast.
    RidgeEnsembleRegressor : an estimator for data.

    Examples
    --------
    >>> import numpy as np, subridge as sr
    >>> X, y = np.eye(3), np.array([1.0, 2.0, 3.0])
    >>> ensemble = sr.Ensemble(sr.SubsetPlan.from_indices([[0], [1, 2]], 3))
    >>> [w.round(3) for w in sr.fit_members(X, y, ensemble)]
    [array([1.]), array([2.828, 4.243])]
    """
    of_kind("ensemble", ensemble, Ensemble)
    data = finite_array("X", X)
    labels = finite_array("y", y)
    plan = ensemble.plan
    if data.ndim != 2 or data.shape[1] != plan.n_features:
        raise DataError(f"X must have shape (n_samples, {plan.n_features}) to fit the plan, got {data.shape}")
    if labels.ndim not in (1, 2) or len(labels) != len(data):
        raise DataError(f"y must have {counted(len(data), 'row')} like X, got shape {labels.shape}")
    if ensemble.ridge.ndim > 1:
        raise ParameterError("fit_members trains one ensemble; give ridge as a scalar or one value per member")
    lam = np.broadcast_to(trainable("ridge", ensemble.ridge), (plan.n_members,))
    xi = np.zeros((plan.n_members, *labels.shape)) if noise is None else finite_array("noise", noise)
    if xi.shape != (plan.n_members, *labels.shape):
        raise DataError(f"noise must have shape {(plan.n_members, *labels.shape)}, got {xi.shape}")
    refuse_row_fractions(ensemble, "fit_members")
    found = []
    for r, N in enumerate(plan.subset_sizes):
        # F stacked over √λ·I: no normal equations, and λ = 0 gives the minimum norm by itself.
        stacked = np.vstack([plan.measure(r, data) / np.sqrt(N), np.sqrt(lam[r]) * np.eye(N)])
        padded = np.concatenate([labels - xi[r], np.zeros((N, *labels.shape[1:]))])
        found.append(np.linalg.lstsq(stacked, padded, rcond=None)[0])
    return found


def risk_of_weights(problem: Problem, ensemble: Ensemble, weights: Sequence[FloatArray]) -> Risk:
    """Return the exact E_g(D) of trained members and its terms E_rr′(D), eq. 5 (SingleErrorTerm).

    Parameters
    ----------
    problem : Problem
        The distribution of the data, with a finite number of features.
    ensemble : Ensemble
        Built from a `SubsetPlan`.
    weights : sequence of ndarray, each of shape (N_r,)
        ŵ_r, as returned by `fit_members`.

    Returns
    -------
    Risk
        ``total`` is E_g(D), ``pairs`` of shape (k, k) its terms.

    Raises
    ------
    ParameterError
        If weights do not fit the plan, or the plan does not fit the problem.
    SubsetError
        If the ensemble has no plan.
    DataError
        If a weight is NaN or infinite.

    See Also
    --------
    fit_members : weights to judge.
    risk : the typical error, by theory.

    Examples
    --------
    >>> import numpy as np, subridge as sr
    >>> problem = sr.Problem(np.eye(2), [1.0, 1.0])
    >>> ensemble = sr.Ensemble(sr.SubsetPlan.from_indices([[0, 1]], 2), readout_noise=0.5)
    >>> float(sr.risk_of_weights(problem, ensemble, [np.array([1.0, 0.0])]).total)
    0.75
    """
    of_kind("problem", problem, Problem)
    of_kind("ensemble", ensemble, Ensemble)
    plan = ensemble.plan
    M = problem.n_features
    weights = items_of("weights", weights)
    if plan.n_features != M:
        raise ParameterError(
            f"the ensemble's plan is for {counted(plan.n_features, 'feature')} but the problem has {M}"
        )
    if len(weights) != plan.n_members:
        raise ParameterError(f"weights must hold one array per member ({plan.n_members}), got {len(weights)}")
    for r, w in enumerate(weights):
        if finite_array(f"weights[{r}]", w).shape != (plan.subset_sizes[r],):
            raise ParameterError(f"weights[{r}] must have shape ({plan.subset_sizes[r]},), got {np.shape(w)}")
    if ensemble.readout_noise.ndim > 1:
        raise ParameterError("give readout_noise as a scalar or one value per member to judge given weights")
    # Columns A_rᵀ ŵ_r / √ν_rr: every member as a predictor on all M features.
    lifted = np.stack([plan.lift(r, np.asarray(w)) for r, w in enumerate(weights)], axis=1)
    lifted = lifted * np.sqrt(M / plan.subset_sizes)
    error = lifted - problem.teacher_weights[:, None]
    signal = error.T @ problem.signal_covariance.apply(error)
    noise = lifted.T @ problem.noise_covariance.apply(lifted)
    v = problem.signal_covariance.apply(problem.teacher_weights) / M
    pairs = (signal + noise) / M + np.eye(plan.n_members) * ensemble.readout_noise**2
    moments = MemberMoments(pairs, -v @ error, np.asarray(v @ problem.teacher_weights))
    return Risk.of_moments(moments, ensemble.aggregation)
