"""The typical risk and the order parameters of an ensemble, for both propositions."""

from dataclasses import replace

import numpy as np

from subridge.arrays.types import ArrayLike, FloatArray
from subridge.model.aggregation import Aggregation, MemberMoments
from subridge.model.checks import extended_non_negative, finite_array, positive_integer, truth
from subridge.model.ensemble import Ensemble, SubsetPlan
from subridge.model.errors import ParameterError
from subridge.model.problem import EquicorrelatedProblem, Problem
from subridge.model.risk import Risk
from subridge.model.shift import TestLaw, moments_at_test
from subridge.model.subsets import Projection
from subridge.theory.dead import dead_moments, probability_of
from subridge.theory.grid import EquicorrelatedGrid, GeneralGrid, check_description, leading_shape
from subridge.theory.projections import projected_moments
from subridge.theory.prop1 import general_moments, general_order_parameters
from subridge.theory.prop2 import equicorrelated_moments, equicorrelated_order_parameters
from subridge.theory.rounding import warn_if_infinite, warn_if_uncertain
from subridge.theory.saddle_point import OrderParameters
from subridge.theory.shifted import moments_on_test


def risk(
    problem: Problem | EquicorrelatedProblem,
    ensemble: Ensemble,
    sample_ratio: ArrayLike,
    *,
    n_features: int | None = None,
    test: TestLaw | None = None,
    ridges: ArrayLike | None = None,
) -> Risk:
    """Typical generalization error of a ridge ensemble (Prop. 1, eq. 9 (GeneralErr); Prop. 2 for equicorrelated data).

    Parameters
    ----------
    problem : Problem or EquicorrelatedProblem
        The distribution of the data: with M features, or in the limit M → ∞.
    ensemble : Ensemble
        From a `SubsetPlan` for a `Problem`; for an `EquicorrelatedProblem` fractions are enough. With
        ``sr.subsets.Projection`` the error is averaged over Gaussian projections. This needs a `Problem`, uses only its
        spectrum, and forms no matrix if the features are independent.
    sample_ratio : array_like, shape (...)
        α = P/M ≥ 0; ``inf`` is infinite data.
    n_features : int, optional
        For an `EquicorrelatedProblem`: M in the error of the teacher's part along 1, by a form that holds for every
        s c M; None is M → ∞.
    test : Problem, DeadFeatures or MeanShift, optional
        The distribution of the test data, if it differs from that of training; for a `Problem` without projections. For
        an `EquicorrelatedProblem` it must be `DeadFeatures` with one probability. The error is that of the noise-free
        label. The weights are those that are best on data like those of training;
        ``Risk.of_moments(found.moments, aggregation)`` uses those that are best on the test data.
    ridges : array_like, shape (n,) or (n, k), optional
        Sweep that replaces ``ensemble.ridge`` and puts an axis of length n before all others.

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
        If the problem is a `Problem` and the ensemble has no plan of which features each member sees.
    RidgeError
        If a ridge is so negative that the regression has no solution.

    Warns
    -----
    InfiniteRiskWarning
        A ridgeless member is exactly at its interpolation threshold; the risk there is inf.
    AccuracyWarning
        Rounding may have changed the risk at some points by more than 1e-8 of itself; see `Risk.error_bound`.

    See Also
    --------
    subridge.optimal_ridge : the ridge that minimises it.
    subridge.precise_risk : one point in high precision.
    subridge.risk_matrix : the same from data instead of theory.
    subridge.simulate : the errors of trained ensembles.

    Notes
    -----
    `Risk.error_bound` bounds the relative rounding error of every total: about 1e-14 on ordinary problems. It is NaN,
    which means unknown, for averaged projections of features that are not independent. It is also NaN on other test
    data, except for the mean of an `EquicorrelatedProblem`. Features of very different scales, small eigenvalues and
    tiny risks keep their digits, see docs/numerics.md. `subridge.precise_risk` recomputes a point with any number of
    digits.

    Examples
    --------
    >>> import numpy as np, subridge as sr
    >>> problem = sr.EquicorrelatedProblem(correlation=0.4, feature_noise=0.3, alignment=0.3, label_noise=0.1)
    >>> ensemble = sr.Ensemble([0.1, 0.3, 0.5], ridge=1e-3, readout_noise=0.1)
    >>> sr.risk(problem, ensemble, np.array([0.2, 0.6, 1.0])).total.round(4)
    array([0.7437, 0.6567, 0.4488])
    """
    check_description(problem, ensemble)
    alpha = extended_non_negative("sample_ratio", sample_ratio)
    if ridges is not None:
        ensemble = _swept(problem, ensemble, alpha, ridges)
    rounding: FloatArray | None
    shifted = None
    outputs = not ensemble.aggregation.sums_to_one
    is_projected = isinstance(ensemble.subsets, Projection)
    if isinstance(problem, EquicorrelatedProblem):
        M = None if n_features is None else positive_integer("n_features", n_features)
        if M is not None and isinstance(ensemble.subsets, SubsetPlan) and ensemble.subsets.n_features != M:
            raise ParameterError(f"n_features={M} differs from the plan's {ensemble.subsets.n_features}")
        if is_projected:
            raise ParameterError(
                "projections need a Problem with M features; make one by problem.realise(n_features, seed)"
            )
        points = EquicorrelatedGrid.of(problem, ensemble, alpha, M)
        moments, rounding = equicorrelated_moments(points, outputs=outputs)
        if test is not None:
            shifted, rounding = dead_moments(points, probability_of(test), moments, rounding)
    else:
        if n_features is not None:
            raise ParameterError("n_features belongs to an EquicorrelatedProblem; the size of a Problem is fixed")
        grid = GeneralGrid.of(problem, ensemble, alpha)
        if is_projected:
            moments, rounding = projected_moments(problem, ensemble, grid)
        else:
            moments, rounding = general_moments(problem, ensemble.plan, grid, outputs=outputs)
        if test is not None:
            if is_projected:
                raise ParameterError(
                    "test= needs projections that are drawn: sr.Ensemble(sr.subsets.projection(...), ...)"
                )
            shifted = moments_on_test(problem, ensemble, grid, moments_at_test(problem, test), moments.pairs)
            rounding = None
    found = _aggregated(ensemble.aggregation, moments, shifted, rounding)
    warn_if_infinite(found.pairs, None if shifted is None else shifted.v)
    if found.error_bound is None:
        return replace(found, error_bound=np.full(found.total.shape, np.nan))
    warn_if_uncertain(found.error_bound)
    return found


def _swept(
    problem: Problem | EquicorrelatedProblem, ensemble: Ensemble, alpha: FloatArray, ridges: ArrayLike
) -> Ensemble:
    """The ensemble with ridges on an axis before all others."""
    k = ensemble.n_members
    table = finite_array("ridges", ridges)
    table = table[:, None] if table.ndim == 1 else table
    if table.ndim != 2 or table.shape[1] not in (1, k):
        raise ParameterError(f"ridges must have shape (n,) or (n, {k}), got {np.shape(ridges)}")
    if ensemble.ridge.ndim > 1:
        raise ParameterError("ensemble.ridge has leading axes and ridges= would add another; give one of them")
    others = leading_shape(problem, ensemble, alpha)
    return replace(ensemble, ridge=table.reshape(len(table), *[1] * len(others), table.shape[1]))


def _aggregated(
    aggregation: Aggregation, moments: MemberMoments, shifted: MemberMoments | None, rounding: FloatArray | None
) -> Risk:
    """The risk, on test data if moments on them are given, with the weights that are best on data like training's.

    On test data these weights are no minimum, so that their own rounding counts. It is bounded only for the mean.
    """
    if shifted is None or aggregation.is_mean:
        return Risk.of_moments(moments if shifted is None else shifted, aggregation, rounding)
    return Risk(shifted, np.maximum(shifted.risk_of(aggregation.weights(moments)), 0.0))


def order_parameters(
    problem: Problem | EquicorrelatedProblem, ensemble: Ensemble, sample_ratio: ArrayLike, *, throw: bool = True
) -> OrderParameters:
    """Order parameters of the ensemble, eq. 10 (saddle_point).

    Parameters
    ----------
    problem : Problem or EquicorrelatedProblem
        The distribution of the data: with M features, or in the limit M → ∞.
    ensemble : Ensemble
        Members, as in `risk`.
    sample_ratio : array_like, shape (...)
        α = P/M ≥ 0; ``inf`` is infinite data.
    throw : bool
        Raise an error if a root was not found; with False see ``status``. A ridge for which the regression has no
        solution raises in either case.

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
    truth("throw", throw)
    alpha = extended_non_negative("sample_ratio", sample_ratio)
    if isinstance(problem, EquicorrelatedProblem):
        return equicorrelated_order_parameters(EquicorrelatedGrid.of(problem, ensemble, alpha))
    return general_order_parameters(problem, ensemble.plan, GeneralGrid.of(problem, ensemble, alpha), throw=throw)
