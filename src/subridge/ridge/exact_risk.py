"""The generalization error of given weights, exactly: no test set is sampled for Gaussian data."""

from collections.abc import Sequence

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.model.checks import counted, finite_array
from subridge.model.ensemble import Ensemble
from subridge.model.errors import ParameterError
from subridge.model.moments import MemberMoments
from subridge.model.problem import Problem
from subridge.model.risk import Risk


def risk_of_weights(problem: Problem, ensemble: Ensemble, weights: Sequence[FloatArray]) -> Risk:
    """Return the exact E_g(D) of trained members and its terms E_rr′(D), eq. 5 (SingleErrorTerm).

    Parameters
    ----------
    problem : Problem
        The law of the data, with a finite number of features.
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
    plan, M = ensemble.plan, problem.n_features
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
    lifted = np.stack(
        [plan.lift(r, np.asarray(w)) * np.sqrt(M / plan.subset_sizes[r]) for r, w in enumerate(weights)], axis=1
    )
    error = lifted - problem.teacher_weights[:, None]
    eta = np.broadcast_to(ensemble.readout_noise, (plan.n_members,))
    signal = error.T @ problem.signal_covariance.apply(error)
    noise = lifted.T @ problem.noise_covariance.apply(lifted)
    v = problem.signal_covariance.apply(problem.teacher_weights)
    moments = MemberMoments(
        (signal + noise) / M + np.diag(eta**2), -(v @ error) / M, np.asarray(v @ problem.teacher_weights / M)
    )
    return Risk.of_moments(moments, ensemble.aggregation)
