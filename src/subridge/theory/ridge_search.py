"""The best ridge: for each member by itself, one for the whole ensemble, or one per member chosen together."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from scipy.optimize import elementwise

from subridge.arrays.types import ArrayLike, FloatArray, IntArray
from subridge.model.aggregation import LinearAggregation, Mean
from subridge.model.checks import Scope, check_scope, extended_non_negative
from subridge.model.ensemble import Ensemble
from subridge.model.errors import ConvergenceError, ParameterError
from subridge.model.problem import EquicorrelatedProblem, Problem
from subridge.theory.grid import EquicorrelatedGrid, GeneralGrid, check_description
from subridge.theory.landscape import EquicorrelatedLandscape, GeneralLandscape, Landscape
from subridge.theory.prop1 import tabulate
from subridge.theory.prop2 import equicorrelated_optimal_ridge

# function(x, rows): values and gradients at x of the independent problems `rows`
Function: TypeAlias = Callable[[FloatArray, IntArray], tuple[FloatArray, FloatArray]]

_SCAN_BLOCK = 4096  # problems × scan points evaluated in one call: enough to hide Python, little enough for memory
_NEWTON_STEPS, _HALVINGS = 60, 40
_PER_DECADE = 5
_ROUNDS = 20
_GAIN, _SETTLED = 1e-10, 1e-7  # relative falls of the error: worth another round, and not to be left at the end
_LEVELS, _NET, _WELLS = 15, 300, 5  # of the coarse net that finds further starts
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
    is offered the whole line while the others stay, until nothing improves.
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
            if reached[i] < value[every[i]]:
                best[every[i]], value[every[i]] = z[i], reached[i]

    def place(ridge: FloatArray) -> FloatArray:
        finite = np.where(np.isfinite(ridge), ridge, 1e6 * np.exp(last - np.log(1e14)))
        return np.asarray(np.log(np.maximum(landscape.kappa_bar(finite) - low, np.exp(first))))

    own = place(alone)
    starts = [place(np.broadcast_to(common[:, None], (G, k))), own]
    starts += [np.where(np.arange(k) == r, last, own) for r in range(k)]
    pairs = [(r, s) for r in range(k) for s in range(r)] if k <= _SWAPPED else [(r, r - 1) for r in range(1, k)]
    for r, s in pairs:
        swapped = own.copy()
        swapped[:, [r, s]] = own[:, [s, r]]
        starts.append(swapped)
    active = np.arange(G)
    descend(starts + _lowest_of_net(error, landscape.span(), last, (G, k)), active)
    for _ in range(_ROUNDS):
        offer = _one_by_one(error, best[active], active, points, noise[active])
        gain = (value[active] - error(offer, active)[0]) / (np.abs(value[active]) + 1e-8 * scale[active])
        lower = gain > _GAIN
        if not lower.any():
            break
        offer, active = offer[lower], active[lower]
        descend([offer], active)
    if (gain > _SETTLED).any():
        raise ConvergenceError(
            f"the joint ridge did not settle at {int((gain > _SETTLED).sum())} of {G} grid points; "
            'use scope="ensemble", or drop members that duplicate each other'
        )
    return np.where(best > last - np.log(1e2), np.inf, landscape.ridge(low + np.exp(best)))


def _lowest_of_net(error: Function, span: tuple[float, float], last: float, shape: tuple[int, int]) -> list[FloatArray]:
    """The lowest points of a coarse net, apart from each other: one in every well that it sees."""
    G, k = shape
    levels = np.append(np.linspace(np.log(span[0]) - np.log(1e3), np.log(span[1]) + np.log(1e3), _LEVELS), last)
    place = np.indices((_LEVELS + 1,) * min(k, 2)).reshape(min(k, 2), -1).T
    if k > 2:  # a random part of the net
        place = np.random.default_rng(0).integers(0, _LEVELS + 1, (_NET, k))
    net, rows = levels[place], np.arange(G)
    together = max(1, _SCAN_BLOCK // G)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        parts = [net[start : start + together] for start in range(0, len(net), together)]
        worth = np.concatenate([error(np.repeat(z, G, axis=0), np.tile(rows, len(z)))[0] for z in parts])
    worth = np.where(np.isfinite(worth), worth, np.inf).reshape(len(net), G)
    near, starts = np.abs(place[:, None] - place).max(axis=-1) <= 1, []
    for _ in range(_WELLS):
        lowest = np.argmin(worth, axis=0)
        starts.append(net[lowest])
        worth[near[lowest].T] = np.inf
    return starts


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


def minimise_on_line(function: Function, points: FloatArray, n: int, noise: FloatArray | float = 0.0) -> FloatArray:
    """Global minima of n one-dimensional functions, shape (n,): a scan brackets every well, a root finds it.

    ``function(x, rows)`` gives values and slopes at x of the problems ``rows``, all one-dimensional; `points` are
    increasing scan points common to all. `noise`, shape (n,), is the rounding of the values: a well no higher than that
    above the lowest point is taken, since slopes know better than values where it is. Where a function is least at an
    end, the minimiser is ``points[0]`` or ``points[-1]``, and the latter where it has levelled off.
    """
    rows, noise = np.arange(n), np.broadcast_to(noise, (n,))
    values, slopes = np.empty((len(points), n)), np.empty((len(points), n))
    together = max(1, _SCAN_BLOCK // max(1, n))
    for start in range(0, len(points), together):
        part = points[start : start + together]
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            value, slope_there = function(np.repeat(part, n), np.tile(rows, len(part)))
        values[start : start + together] = value.reshape(len(part), n)
        slopes[start : start + together] = slope_there.reshape(len(part), n)
    values = np.where(np.isfinite(values), values, np.inf)
    ends = np.where(values[-1] <= values[0], len(points) - 1, 0)
    best, lowest = points[ends].copy(), values[ends, rows]
    least = np.argmin(values, axis=0)
    better = values[least, rows] < lowest - 1e-15 * np.abs(lowest)
    best, lowest = np.where(better, points[least], best), np.where(better, values[least, rows], lowest)
    with np.errstate(invalid="ignore"):
        wells = (slopes[:-1] < 0) & (slopes[1:] > 0) & np.isfinite(values[:-1]) & np.isfinite(values[1:])
        # Within a step of the scan a smooth error moves little: a well far above the lowest point cannot win.
        wells &= np.minimum(values[:-1], values[1:]) <= lowest + 0.1 * np.abs(lowest) + noise + 1e-300
    which, row = np.nonzero(wells)
    if len(which):

        def slope(x: FloatArray, row: FloatArray) -> FloatArray:
            return function(x, row.astype(np.int64))[1]

        found = elementwise.find_root(slope, (points[which], points[which + 1]), args=(row.astype(np.float64),))
        x = np.where(found.success, found.x, points[which])
        value = function(x, row)[0]
        enough = lowest + 1e-15 * np.abs(lowest) + noise
        for i in np.argsort(-value, kind="stable"):  # the lowest is written last
            if value[i] <= enough[row[i]]:
                best[row[i]] = x[i]
    return np.asarray(best)


def minimise_jointly(function: Function, start: FloatArray, scale: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Newton's method on n independent functions of k variables, with |eigenvalues| of the Hessian, which descends.

    ``function(x, rows)`` gives values (n,) and gradients (n, k) at x (n, k) of the problems ``rows``. `scale`, shape
    (n,), positive, is the size of the terms of a value: a problem is solved where the largest gradient entry is below
    1e-10 of it. Returns x, shape (n, k), and values, shape (n,).
    """
    x, live = start.copy(), np.arange(len(start))
    value, gradient = function(x, live)
    for _ in range(_NEWTON_STEPS):
        live = live[np.abs(gradient[live]).max(axis=1) > 1e-10 * scale[live]]
        if not len(live):
            break
        curvatures, axes = _curvatures(function, x[live], live)
        bend = np.maximum(np.abs(curvatures), 1e-10 * scale[live][:, None])
        step = -np.einsum("gij,gj->gi", axes, np.einsum("gij,gi->gj", axes, gradient[live]) / bend)
        # Coordinates are logarithms: a step beyond a few units would jump over the whole landscape.
        step *= np.minimum(1.0, 4.0 / np.maximum(np.abs(step).max(axis=1), 1e-300))[:, None]
        for _ in range(_HALVINGS):
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                reached, turned = function(x[live] + step, live)
            fall = value[live] - reached
            # Near the minimum the fall drowns in rounding; there a smaller slope at an equal value is progress enough.
            flatter = np.abs(turned).max(axis=1) <= 0.9 * np.abs(gradient[live]).max(axis=1)
            enough = fall >= -1e-4 * np.einsum("gi,gi->g", step, gradient[live])
            enough |= (fall >= -1e-14 * np.abs(value[live])) & flatter
            enough &= np.isfinite(reached)
            if enough.all():
                break
            step[~enough] /= 2
        done = live[enough]
        x[done], value[done], gradient[done] = (x[live] + step)[enough], reached[enough], turned[enough]
        live = done
    return x, value


def _curvatures(function: Function, x: FloatArray, rows: IntArray) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues and eigenvectors of the Hessians, by differences of gradients."""
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        nudges = 1e-4 * np.eye(x.shape[1])
        hessian = np.stack([function(x + n, rows)[1] - function(x - n, rows)[1] for n in nudges], axis=1) / 2e-4
    hessian = np.where(np.isfinite(hessian), hessian, 0.0)
    values, vectors = np.linalg.eigh((hessian + hessian.transpose(0, 2, 1)) / 2)
    return values, vectors
