"""The typical risk and the order parameters of an ensemble, for both propositions."""

from dataclasses import replace

import numpy as np

from subridge.arrays.types import ArrayLike, FloatArray
from subridge.model.checks import extended_non_negative, finite_array, positive_integer
from subridge.model.ensemble import Ensemble, SubsetPlan
from subridge.model.errors import ParameterError
from subridge.model.problem import EquicorrelatedProblem, Problem
from subridge.model.risk import Risk
from subridge.theory.grid import EquicorrelatedGrid, GeneralGrid, check_description
from subridge.theory.prop1 import general_moments, general_order_parameters
from subridge.theory.prop2 import equicorrelated_moments, equicorrelated_order_parameters
from subridge.theory.rounding import warn_if_infinite, warn_if_uncertain
from subridge.theory.saddle_point import OrderParameters


def risk(
    problem: Problem | EquicorrelatedProblem,
    ensemble: Ensemble,
    sample_ratio: ArrayLike,
    *,
    ridges: ArrayLike | None = None,
    n_features: int | None = None,
) -> Risk:
    """Typical generalization error of a ridge ensemble (Prop. 1, eq. 9 (GeneralErr); Prop. 2 for equicorrelated data).

    Parameters
    ----------
    problem : Problem or EquicorrelatedProblem
        The law of the data: finite, or in the limit M → ∞.
    ensemble : Ensemble
        From a `SubsetPlan` for a `Problem`; for an `EquicorrelatedProblem` fractions are enough.
    sample_ratio : array_like, shape (...)
        α = P/M ≥ 0; ``inf`` is infinite data.
    ridges : array_like, shape (n,) or (n, k), optional
        Sweep that replaces ``ensemble.ridge``, as in `simulate`; it is the first axis of the result.
    n_features : int, optional
        For an `EquicorrelatedProblem`: M at which the aligned part of the teacher is taken, by the form uniform in
        s c M; None is M → ∞.

    Returns
    -------
    Risk
        ``total`` has the shape that sample_ratio, the problem's fields and the leading axes of fractions, ridge and
        readout noise broadcast to; ``pairs`` has two more axes of length k.

    Raises
    ------
    ParameterError
        If a parameter lies outside its range, or the aggregation is not a weighted sum of members.
    SubsetError
        If the ensemble of a `Problem` has no plan that says which features each member sees.
    RidgeError
        If a ridge is so negative that the regression has no solution.
    DataError
        If a number is NaN or infinite.

    Warns
    -----
    InfiniteRiskWarning
        A ridgeless member is exactly at its interpolation threshold; the risk there is inf.
    AccuracyWarning
        Somewhere rounding may have changed the risk by more than 1e-8 of itself; `Risk.error_bound` says where.

    See Also
    --------
    subridge.optimal_ridge : the ridge that minimises it.
    subridge.precise_risk : one point in high precision.
    subridge.risk_matrix : the same from data instead of theory.
    subridge.simulate : the errors of trained ensembles.

    Notes
    -----
    `Risk.error_bound` bounds the relative rounding error of every total: about 1e-14 on ordinary problems. Features of
    very different scales, small eigenvalues and tiny risks keep their digits; docs/numerics.md says how.
    `subridge.precise_risk` recomputes a point with as many digits as asked.

    Examples
    --------
    >>> import numpy as np, subridge as sr
    >>> problem = sr.EquicorrelatedProblem(correlation=0.4, feature_noise=0.3, alignment=0.3, label_noise=0.1)
    >>> ensemble = sr.Ensemble([0.1, 0.3, 0.5], ridge=1e-3, readout_noise=0.1)
    >>> sr.risk(problem, ensemble, np.array([0.2, 0.6, 1.0])).total.round(4)
    array([0.7437, 0.6567, 0.4488])
    >>> sr.risk(problem, ensemble, np.array([0.2, 0.6, 1.0]), ridges=[1e-3, 1.0]).total.shape
    (2, 3)
    """
    check_description(problem, ensemble)
    alpha = extended_non_negative("sample_ratio", sample_ratio)
    if ridges is not None:
        ensemble = _sweeping(problem, ensemble, alpha, finite_array("ridges", ridges))
    outputs = not ensemble.aggregation.sums_to_one
    if isinstance(problem, EquicorrelatedProblem):
        M = None if n_features is None else positive_integer("n_features", n_features)
        if M is not None and isinstance(ensemble.subsets, SubsetPlan) and ensemble.subsets.n_features != M:
            raise ParameterError(f"n_features={M} differs from the plan's {ensemble.subsets.n_features}")
        moments, rounding = equicorrelated_moments(EquicorrelatedGrid.of(problem, ensemble, alpha), M, outputs=outputs)
    else:
        if n_features is not None:
            raise ParameterError("n_features belongs to an EquicorrelatedProblem; a Problem knows its own size")
        grid = GeneralGrid.of(problem, ensemble, alpha)
        moments, rounding = general_moments(problem, ensemble.plan, grid, outputs=outputs)
    warn_if_infinite(moments.pairs)
    found = Risk.of_moments(moments, ensemble.aggregation, rounding)
    warn_if_uncertain(found.error_bound)
    return found


def _sweeping(
    problem: Problem | EquicorrelatedProblem, ensemble: Ensemble, alpha: FloatArray, ridges: FloatArray
) -> Ensemble:
    """The ensemble with ridges (n,) or (n, k) on an axis before all others of a call."""
    if ridges.ndim not in (1, 2) or (ridges.ndim == 2 and ridges.shape[1] not in (1, ensemble.n_members)):
        raise ParameterError(f"ridges must have shape (n,) or (n, {ensemble.n_members}), got {ridges.shape}")
    plain = replace(ensemble, ridge=np.zeros(()))
    if isinstance(problem, EquicorrelatedProblem):
        shape = EquicorrelatedGrid.of(problem, plain, alpha).alpha.shape
    else:
        shape = GeneralGrid.of(problem, plain, alpha).shape
    return replace(ensemble, ridge=ridges.reshape(len(ridges), *[1] * len(shape), -1))


def order_parameters(
    problem: Problem | EquicorrelatedProblem, ensemble: Ensemble, sample_ratio: ArrayLike, *, throw: bool = True
) -> OrderParameters:
    """Order parameters of the ensemble, eq. 10 (saddle_point).

    Parameters
    ----------
    problem : Problem or EquicorrelatedProblem
        The law of the data: finite, or in the limit M → ∞.
    ensemble : Ensemble
        Members, as in `risk`.
    sample_ratio : array_like, shape (...)
        α = P/M ≥ 0; ``inf`` is infinite data.
    throw : bool
        Raise where a root was not found; False reports it in ``status``. A ridge too negative to be well posed
        raises in either case.

    Returns
    -------
    OrderParameters
        Arrays of shape (..., k) for members and (..., k, k) for pairs of them.

    Raises
    ------
    ParameterError
        If a parameter lies outside its range.
    RidgeError
        If a ridge is so negative that the regression has no solution.
    ConvergenceError
        If a root was not found and `throw` is True.

    See Also
    --------
    subridge.risk : the error that follows from them.

    Examples
    --------
    >>> import subridge as sr
    >>> found = sr.order_parameters(sr.EquicorrelatedProblem(), sr.Ensemble([0.5]), 0.25)
    >>> found.kappa, found.gamma
    (array([0.5]), array([[0.5]]))
    """
    check_description(problem, ensemble)
    alpha = extended_non_negative("sample_ratio", sample_ratio)
    if isinstance(problem, EquicorrelatedProblem):
        return equicorrelated_order_parameters(EquicorrelatedGrid.of(problem, ensemble, alpha))
    grid = GeneralGrid.of(problem, ensemble, alpha)
    return general_order_parameters(problem, ensemble.plan, grid, throw=throw)
