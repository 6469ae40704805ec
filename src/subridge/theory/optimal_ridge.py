"""The best ridge: for each member by itself, one for the whole ensemble, or one per member chosen together."""

import numpy as np

from subridge.arrays.types import ArrayLike, FloatArray, IntArray
from subridge.ensemble.aggregation import LinearAggregation, Mean
from subridge.ensemble.ensemble import Ensemble
from subridge.spec.checks import extended_non_negative
from subridge.spec.errors import ConvergenceError, ParameterError
from subridge.spec.problem import EquicorrelatedProblem, Problem
from subridge.spec.scope import Scope, check_scope
from subridge.theory.grid import EquicorrelatedGrid, GeneralGrid, check_description
from subridge.theory.landscape import EquicorrelatedLandscape, GeneralLandscape, Landscape
from subridge.theory.minimise import Function, minimise_jointly, minimise_on_line
from subridge.theory.prop1 import tabulate
from subridge.theory.prop2 import equicorrelated_optimal_ridge

_PER_DECADE = 5
_ROUNDS = 20
_GAIN = 1e-12  # relative fall of the error that is worth another round
_SWAPPED = 6  # members up to which every pair of them is tried with swapped ridges


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
    if scope != "member" and ensemble.aggregation.name not in ("mean", "scaled", "simplex", "free"):
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
    shape, landscape = landscape_of(problem, ensemble, alpha)
    if not landscape.shape[0]:
        return np.zeros((*shape, 1 if scope == "ensemble" else landscape.shape[1]))
    if scope == "ensemble":
        found = _common_optimum(landscape)[:, None]
    else:
        found = np.stack([member_optimum(landscape.of_member(r)) for r in range(landscape.shape[1])], axis=-1)
    if scope == "joint":
        found = _joint_optimum(landscape, _common_optimum(landscape), found)
    return found.reshape(*shape, found.shape[-1])


def landscape_of(
    problem: Problem | EquicorrelatedProblem, ensemble: Ensemble, alpha: FloatArray
) -> tuple[tuple[int, ...], Landscape]:
    """The shape of the grid of a call, and the error on it."""
    given = ensemble.aggregation
    aggregation = given if isinstance(given, LinearAggregation) else Mean()  # a member alone needs none
    if isinstance(problem, Problem):
        flat = GeneralGrid.of(problem, ensemble, alpha)
        tables = tabulate(problem, ensemble.plan, accurate=True)
        power = np.full(flat.alpha.shape, tables.signal_power)
        return flat.shape, GeneralLandscape(flat.alpha, flat.eta, flat.zeta, power, power, aggregation, tables)
    grid = EquicorrelatedGrid.of(problem, ensemble, alpha)
    if (grid.a == 0).any():
        raise ParameterError("at correlation=1 without feature noise the error does not depend on the ridge")
    return grid.alpha.shape, EquicorrelatedLandscape.of(grid.flat(), aggregation)


def _scan_points(low: float, high: float) -> FloatArray:
    """Logarithms of κ̄ from ten decades below the smallest scale to fourteen above the largest."""
    first, last = np.log(low) + np.log(1e-10), np.log(high) + np.log(1e14)
    return np.linspace(first, last, int(np.ceil((last - first) / np.log(10) * _PER_DECADE)) + 1)


def member_optimum(landscape: Landscape) -> FloatArray:
    """Minimum over κ̄ of a single member, as a ridge, shape (G,)."""
    low, points = landscape.floor(), _scan_points(*landscape.span())

    def error(z: FloatArray, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        distance = np.exp(z)[:, None]
        value, gradient = landscape.take(rows).value_and_gradient(low[rows] + distance)
        return value, (gradient * distance)[:, 0]

    z = minimise_on_line(error, points, landscape.shape[0])
    lam = landscape.ridge(low + np.exp(z)[:, None])[:, 0]
    return np.where(z >= points[-1], np.inf, lam)


def _common_optimum(landscape: Landscape) -> FloatArray:
    """Minimum over a ridge common to all members, shape (G,)."""
    lowest = landscape.ridge(landscape.floor()).max(axis=1)
    # Ridges are of the size of α times an eigenvalue, and distances from a deep floor of the floor's own.
    (small, large), alpha, deep = landscape.span(), landscape.alpha, np.abs(lowest)
    small = min(small * min(1.0, float(alpha.min())), float(deep[deep > 0].min(initial=np.inf)))
    points = _scan_points(small, max(large * max(1.0, float(alpha.max())), float(deep.max())))

    def error(z: FloatArray, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        here, distance = landscape.take(rows), np.exp(z)
        lam = np.broadcast_to((lowest[rows] + distance)[:, None], here.shape)
        kappa_bar = here.kappa_bar(lam)
        value, gradient = here.value_and_gradient(kappa_bar)
        return value, np.sum(gradient * here.slope(kappa_bar), axis=1) * distance

    z = minimise_on_line(error, points, landscape.shape[0], landscape.value_noise())
    return np.where(z >= points[-1], np.inf, lowest + np.exp(z))


def _joint_optimum(landscape: Landscape, common: FloatArray, alone: FloatArray) -> FloatArray:
    """Minimum over one ridge per member, shape (G, k), from the best common ridge (G,) and each member's own (G, k).

    The landscape has several wells and saddles: a member may be better left out, and members that see the same features
    make symmetric points stationary without being least. So descent starts from many points. Then every member in turn
    is offered the whole line while the others stay, and where the Hessian bends down the search goes on along that
    bend, until nothing improves.
    """
    low, (G, k), points = landscape.floor(), landscape.shape, _scan_points(*landscape.span())
    first, last, scale, noise = points[0], points[-1], landscape.error_scale(), landscape.value_noise()

    def error(z: FloatArray, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        distance = np.exp(np.clip(z, first, last))
        value, gradient = landscape.take(rows).value_and_gradient(low[rows] + distance)
        return value, gradient * distance

    best, value = np.full((G, k), last), np.full(G, np.inf)

    def descend(starts: list[FloatArray], rows: IntArray) -> None:
        """Go down from several starts of these problems, and keep what is lowest."""
        every = np.tile(rows, len(starts))
        z, reached = minimise_jointly(
            lambda z, inner: error(z, every[inner]), np.clip(np.concatenate(starts), first, last), scale[every]
        )
        for i in np.argsort(-reached, kind="stable"):  # the lowest is written last
            if reached[i] < value[every[i]] - _GAIN * np.abs(reached[i]):
                best[every[i]], value[every[i]] = z[i], reached[i]

    def place(ridge: FloatArray) -> FloatArray:
        finite = np.where(np.isfinite(ridge), ridge, 1e6 * np.exp(last - np.log(1e14)))
        return np.log(np.maximum(landscape.kappa_bar(finite) - low, np.exp(first)))

    own = place(alone)
    starts = [place(np.broadcast_to(common[:, None], (G, k))), own]
    starts += [np.where(np.arange(k) == r, last, own) for r in range(k)]
    pairs = [(r, s) for r in range(k) for s in range(r)] if k <= _SWAPPED else [(r, r - 1) for r in range(1, k)]
    for r, s in pairs:
        swapped = own.copy()
        swapped[:, [r, s]] = own[:, [s, r]]
        starts.append(swapped)
    active = np.arange(G)
    descend(starts, active)
    for _ in range(_ROUNDS):
        offers = np.stack([_one_by_one(error, best[active], active, points, noise[active])])
        offers = np.concatenate([offers, *_bends(error, best, value, active)])
        worth = np.stack([error(offer, active)[0] for offer in offers])
        chosen, here = np.argmin(np.where(np.isfinite(worth), worth, np.inf), axis=0), np.arange(len(active))
        lower = worth[chosen, here] < value[active] - _GAIN * np.abs(value[active])
        if not lower.any():
            break
        start, active = offers[chosen, here][lower], active[lower]
        descend([start], active)
    else:
        raise ConvergenceError(
            f"the joint ridge did not settle at {len(active)} of {G} grid points; "
            'use scope="ensemble", or drop members that duplicate each other'
        )
    return np.where(best > last - np.log(1e2), np.inf, landscape.ridge(low + np.exp(best)))


def _one_by_one(error: Function, z: FloatArray, rows: IntArray, points: FloatArray, noise: FloatArray) -> FloatArray:
    """Every member in turn at the best place on its whole line, the others as they are."""
    trial = z.copy()
    for r in range(z.shape[1]):

        def line(x: FloatArray, inner: IntArray, r: int = r) -> tuple[FloatArray, FloatArray]:
            moved = trial[inner]
            moved[:, r] = x
            value, gradient = error(moved, rows[inner])
            return value, gradient[:, r]

        trial[:, r] = minimise_on_line(line, points, len(trial), noise)
    return trial


def _bends(error: Function, best: FloatArray, value: FloatArray, rows: IntArray) -> list[FloatArray]:
    """Points to either side along the direction in which the Hessian is most negative, shape (6, n, k), if any is."""
    z, step, k = best[rows], 1e-4, best.shape[1]
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        nudges = step * np.eye(k)
        hessian = np.stack([error(z + n, rows)[1] - error(z - n, rows)[1] for n in nudges], axis=1) / (2 * step)
    hessian = np.where(np.isfinite(hessian), hessian, 0.0)
    values, vectors = np.linalg.eigh((hessian + hessian.transpose(0, 2, 1)) / 2)
    saddle = values[:, 0] < -1e-9 * np.abs(value[rows])
    if not saddle.any():
        return []
    move = np.where(saddle[:, None], vectors[:, :, 0], 0.0)
    return [np.stack([z + length * move for length in (-4.0, -1.0, -0.1, 0.1, 1.0, 4.0)])]
