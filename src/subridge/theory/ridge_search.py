"""The best ridge: for each member by itself, one for the whole ensemble, or one per member chosen together."""

import numpy as np

from subridge.arrays.types import ArrayLike, FloatArray, IntArray
from subridge.model.aggregation import Free, LinearAggregation, Mean, Scaled, Simplex
from subridge.model.checks import Scope, check_scope, extended_non_negative
from subridge.model.ensemble import Ensemble
from subridge.model.errors import ParameterError
from subridge.model.problem import EquicorrelatedProblem, Problem
from subridge.theory.equicorrelated.grid import Grid as EquicorrelatedGrid
from subridge.theory.equicorrelated.landscape import EquicorrelatedLandscape
from subridge.theory.equicorrelated.optimal_ridge import equicorrelated_optimal_ridge
from subridge.theory.general.grid import Grid as GeneralGrid
from subridge.theory.general.landscape import GeneralLandscape
from subridge.theory.general.tabulate import tabulate
from subridge.theory.inputs import check_description
from subridge.theory.joint_search import joint_optimum, scan_points
from subridge.theory.landscape import Landscape
from subridge.theory.minimise import minimise_on_line


def optimal_ridge(
    problem: Problem | EquicorrelatedProblem,
    ensemble: Ensemble,
    sample_ratio: ArrayLike | None = None,
    *,
    scope: Scope = "member",
) -> FloatArray:
    """Ridge that minimises the typical generalization error.

    Parameters
    ----------
    problem : Problem or EquicorrelatedProblem
        The law of the data: finite, or in the limit M → ∞.
    ensemble : Ensemble
        Its subsets, readout noise and aggregation are used, its ridge is not.
    sample_ratio : array_like, shape (...), optional
        α, positive and finite; needed except for ``scope="member"`` with an `EquicorrelatedProblem`, where λ* does not
        depend on it (eq. 193 (optreg_local)).
    scope : {"member", "ensemble", "joint"}
        "member" minimises each member's own error E_rr; "ensemble" finds the one common ridge that minimises E_g of
        the ensemble's aggregation, with its best weights at every ridge; "joint" one ridge per member, chosen together
        to minimise it. The last two may be negative: an ensemble averages away part of its members' variance, and can
        afford less than no ridge where that is well posed.

    Returns
    -------
    ndarray, shape (..., k), or (..., 1) for ``scope="ensemble"``
        The member is the last axis, as in an ensemble's ``ridge``. ``inf`` where the error falls for ever: a member
        better left out (an ensemble itself takes finite ridges only).

    Raises
    ------
    ParameterError
        If the sample ratio is missing or not positive and finite, or the scope does not know the aggregation.
    ConvergenceError
        If no minimum was found.

    See Also
    --------
    subridge.risk : what is minimised.
    subridge.reduced_optimal_ridge : λ* of equal members.

    Examples
    --------
    >>> import subridge as sr
    >>> problem = sr.EquicorrelatedProblem(data_scale=1.3, correlation=0.4, feature_noise=0.5, alignment=0.6)
    >>> sr.optimal_ridge(problem, sr.Ensemble([0.5], readout_noise=0.2)).round(4)
    array([4.4192])
    >>> sr.optimal_ridge(sr.EquicorrelatedProblem(), sr.Ensemble([0.25] * 4), 1.0, scope="ensemble").round(3)
    array([-0.552])
    >>> scaled = sr.Ensemble([0.25] * 4, aggregation="scaled")
    >>> sr.optimal_ridge(sr.EquicorrelatedProblem(), scaled, 1.0, scope="ensemble").round(3)
    array([3.])
    """
    check_description(problem, ensemble)
    check_scope("scope", scope)
    if scope != "member" and not isinstance(ensemble.aggregation, Mean | Scaled | Simplex | Free):
        raise ParameterError(
            f'scope={scope!r} knows the best ridge of aggregation "mean", "scaled", "simplex" and "free", not of '
            f'{ensemble.aggregation.name!r}; give one of these, or scope="member"'
        )
    if isinstance(problem, EquicorrelatedProblem) and scope == "member":
        best = equicorrelated_optimal_ridge(EquicorrelatedGrid.of(problem, ensemble, np.ones(())))
        shape = () if sample_ratio is None else extended_non_negative("sample_ratio", sample_ratio).shape
        return np.broadcast_to(best, np.broadcast_shapes((*shape, 1), best.shape)).copy()
    if sample_ratio is None:
        raise ParameterError(f"sample_ratio is needed for scope={scope!r}: the optimum depends on it; give α = P/M")
    alpha = extended_non_negative("sample_ratio", sample_ratio)
    if not np.all((alpha > 0) & (alpha < 1e100)):
        raise ParameterError("sample_ratio must be positive and finite to optimise the ridge")
    shape, landscape = _landscape(problem, ensemble, alpha)
    if not landscape.shape[0]:
        return np.zeros((*shape, 1 if scope == "ensemble" else landscape.shape[1]))
    if scope == "member":
        found = _alone(landscape)
    else:
        common = _ensemble_optimum(landscape)
        found = common[:, None] if scope == "ensemble" else joint_optimum(landscape, common, _alone(landscape))
    return found.reshape(*shape, found.shape[-1])


def _landscape(
    problem: Problem | EquicorrelatedProblem, ensemble: Ensemble, alpha: FloatArray
) -> tuple[tuple[int, ...], Landscape]:
    given = ensemble.aggregation
    aggregation = given if isinstance(given, LinearAggregation) else Mean()  # a member alone needs none
    if isinstance(problem, Problem):
        flat = GeneralGrid.of(problem, ensemble, alpha)
        tables = tabulate(problem, ensemble.plan, accurate=True)
        return flat.shape, GeneralLandscape(flat.eta, flat.zeta, aggregation, tables, flat.alpha)
    grid = EquicorrelatedGrid.of(problem, ensemble, alpha)
    if (grid.bulk_variance == 0).any():
        raise ParameterError("at correlation=1 without feature noise the error does not depend on the ridge")
    return grid.alpha.shape, EquicorrelatedLandscape.of(grid.flat(), aggregation)


def _alone(landscape: Landscape) -> FloatArray:
    """Every member's own best ridge, shape (G, k)."""
    return np.stack([_member_optimum(landscape.of_member(r)) for r in range(landscape.shape[1])], axis=-1)


def _member_optimum(landscape: Landscape) -> FloatArray:
    """Minimum over κ̄ of a single member, as a ridge, shape (G,)."""
    low, points = landscape.floor(), scan_points(*landscape.span())

    def error(z: FloatArray, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        distance = np.exp(z)[:, None]
        value, gradient = landscape.take(rows).value_and_gradient(low[rows] + distance)
        return value, (gradient * distance)[:, 0]

    z = minimise_on_line(error, points, landscape.shape[0])
    lam = landscape.ridge(low + np.exp(z)[:, None])[:, 0]
    return np.where(z >= points[-1], np.inf, lam)


def _ensemble_optimum(landscape: Landscape) -> FloatArray:
    """Minimum over a ridge common to all members, shape (G,)."""
    lowest = landscape.ridge(landscape.floor()).max(axis=1)
    # Ridges are of the size of α times an eigenvalue, and distances from a deep floor of the floor's own.
    (small, large), alpha, deep = landscape.span(), landscape.sample_ratio, np.abs(lowest)
    small = min(small * min(1.0, float(alpha.min())), float(deep[deep > 0].min(initial=np.inf)))
    points = scan_points(small, max(large * max(1.0, float(alpha.max())), float(deep.max())))

    def error(z: FloatArray, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        here, distance = landscape.take(rows), np.exp(z)
        lam = np.broadcast_to((lowest[rows] + distance)[:, None], here.shape)
        kappa_bar = here.kappa_bar(lam)
        value, gradient = here.value_and_gradient(kappa_bar)
        return value, np.sum(gradient * here.slope(kappa_bar), axis=1) * distance

    z = minimise_on_line(error, points, landscape.shape[0], landscape.value_noise())
    return np.where(z >= points[-1], np.inf, lowest + np.exp(z))
