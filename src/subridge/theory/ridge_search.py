"""The best ridge: for each member by itself, one for the whole ensemble, or one per member chosen together."""

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import numpy as np
from scipy.optimize import elementwise, minimize

from subridge.arrays.types import ArrayLike, FloatArray, IntArray
from subridge.model.aggregation import LinearAggregation
from subridge.model.checks import SCOPES, Scope, extended_non_negative, one_of
from subridge.model.ensemble import Ensemble, SubsetPlan, refuse_row_fractions
from subridge.model.errors import ParameterError
from subridge.model.problem import EquicorrelatedProblem, Problem
from subridge.model.shift import TestLaw, moments_at_test
from subridge.theory.dead import probability_of
from subridge.theory.grid import EquicorrelatedGrid, GeneralGrid, check_description, leading_shape, row_fractions
from subridge.theory.landscape import STEP, Landscape, equicorrelated_landscape, general_landscape
from subridge.theory.prop1 import general_moments, tabulate
from subridge.theory.prop2 import best_member_ridge
from subridge.theory.saddle_point import EPS, TwoArrays, quiet
from subridge.theory.shifted import tables_on_test

_SCAN_BLOCK = 4096  # problems × scan points evaluated in one call: enough to hide Python, little enough for memory
_NEWTON_STEPS, _HALVINGS = 60, 40
_NUDGE = 1e-6  # of a logarithm, in differences of gradients
_PER_DECADE = 5
_SWEEPS, _ENDS, _GAIN = 10, 3, 1e-9  # sweeps over members, ends that are kept, least relative fall that counts
_NET, _WELLS = 100, 5  # points of a random net, and how many of them are further starts
_RIDGES, _APART = (1e-12, 1e12), 18.0  # starts of the search over spaces, and logarithms by which it may leave them


def optimal_ridge(
    problem: Problem | EquicorrelatedProblem,
    ensemble: Ensemble,
    sample_ratio: ArrayLike | None = None,
    *,
    scope: Scope | Literal["spaces"] = "member",
    test: TestLaw | None = None,
) -> FloatArray:
    """Ridge that minimises the typical generalization error.

    Parameters
    ----------
    problem : Problem or EquicorrelatedProblem
        The distribution of the data: with M features, or in the limit M → ∞.
    ensemble : Ensemble
        Its subsets, readout noise and aggregation are used, its ridge is not.
    sample_ratio : array_like, shape (...), optional
        α, positive and finite; needed except for ``scope="member"`` with an `EquicorrelatedProblem`, where λ* does not
        depend on it (eq. 193 (optreg_local)).
    scope : {"member", "ensemble", "joint", "spaces"}
        "member" minimises each member's own error E_rr; "ensemble" finds the one common ridge that minimises E_g of
        the ensemble's aggregation, with its best weights at every ridge; "joint" finds one ridge per member, chosen
        together to minimise it. The last two may be negative, as an ensemble averages out part of the variance.
        "spaces" takes the members for the feature spaces of one model (banded ridge regression) and finds a positive
        ridge of each space, in the units of `SubsetPlan.banded`, by a descent from the best common ridge. It needs a
        `Problem`. The readout noise of the model is the largest of the members.
    test : Problem, DeadFeatures or MeanShift, optional
        The distribution of the test data on which the error is minimised, as in `risk`. The best ridge of a member then
        depends on α. Scopes other than "member" need the mean.

    Returns
    -------
    ndarray, shape (..., k), or (..., 1) for ``scope="ensemble"``
        The member is the last axis, as in an ensemble's ``ridge``. ``inf`` where the error always falls with the
        ridge: leave such a member out, as an ensemble takes finite ridges only.

    Raises
    ------
    ParameterError
        If the sample ratio is missing or not positive and finite, or the scope does not allow the aggregation.
    ConvergenceError
        If no saddle point was found.

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

    One model with a ridge per feature space, of which the second has no signal:

    >>> import numpy as np
    >>> spaces = sr.SubsetPlan.from_indices([range(20), range(20, 40)], n_features=40)
    >>> law = sr.Problem(np.eye(40), np.repeat([1.0, 0.0], 20), label_noise=0.5)
    >>> sr.optimal_ridge(law, sr.Ensemble(spaces), 1.5, scope="spaces").round(4)
    array([0.25,  inf])

    With features that fail at test time the best ridge is larger, if others can replace them:

    >>> correlated, one = sr.EquicorrelatedProblem(correlation=0.6, label_noise=0.3), sr.Ensemble([1.0])
    >>> [sr.optimal_ridge(correlated, one, 1.0, test=sr.DeadFeatures(f)).round(3) for f in (0.0, 0.1)]
    [array([0.09]), array([0.132])]
    """
    check_description(problem, ensemble)
    one_of("scope", scope, (*SCOPES, "spaces"))
    if scope in ("ensemble", "joint") and ensemble.aggregation.name not in ("mean", "scaled", "simplex", "free"):
        raise ParameterError(
            f'scope={scope!r} finds the best ridge of aggregation "mean", "scaled", "simplex" and "free", not of '
            f'{ensemble.aggregation.name!r}; give one of these, or scope="member"'
        )
    if scope != "member" and test is not None and not ensemble.aggregation.is_mean:
        raise ParameterError(
            f"scope={scope!r} on other test data needs the mean, not {ensemble.aggregation.name!r}; sweep ridges by "
            "sr.risk(..., test=test, ridges=ridges)"
        )
    if isinstance(problem, EquicorrelatedProblem) and scope == "member" and test is None:
        given = extended_non_negative("sample_ratio", 1.0 if sample_ratio is None else sample_ratio)
        grid = EquicorrelatedGrid.of(problem, ensemble, given)
        a, b, rho2, z2 = (field[..., None] for field in (grid.a, grid.b, grid.rho2, grid.zeta**2))
        return best_member_ridge(b, a, grid.own, rho2, z2 + grid.eta**2)
    if sample_ratio is None:
        raise ParameterError(f"sample_ratio is needed for scope={scope!r}: the optimum depends on it; give α = P/M")
    alpha = extended_non_negative("sample_ratio", sample_ratio)
    if not ((alpha > 1e-30) & (alpha < 1e30)).all():
        raise ParameterError("sample_ratio must be positive and finite to optimise the ridge, within 1e-30 and 1e30")
    if scope == "spaces":
        if isinstance(problem, EquicorrelatedProblem) or test is not None:
            raise ParameterError(
                'scope="spaces" needs a Problem and takes no test=; make one by problem.realise(n_features, seed)'
            )
        refuse_row_fractions(ensemble, 'scope="spaces"')
        points = GeneralGrid.of(problem, ensemble, alpha)
        return np.reshape(
            [
                _space_optimum(replace(problem, label_noise=zeta), ensemble.plan, a, eta.max())
                for a, zeta, eta in zip(points.alpha, points.zeta, points.eta, strict=True)
            ],
            (*points.shape, ensemble.n_members),
        )
    shape = leading_shape(problem, ensemble, alpha)
    if 0 in shape:
        return np.zeros((*shape, 1 if scope == "ensemble" else ensemble.n_members))
    if scope != "ensemble":
        members = (alone(problem, ensemble, r) for r in range(ensemble.n_members))
        found = np.column_stack([member_optimum(landscape_of(problem, each, alpha, test)) for each in members])
    if scope != "member":
        landscape = landscape_of(problem, ensemble, alpha, test)
        common = _common_optimum(landscape)
        found = common[:, None] if scope == "ensemble" else _joint_optimum(landscape, common, found)
    return found.reshape(*shape, found.shape[-1])


def alone(problem: Problem | EquicorrelatedProblem, ensemble: Ensemble, member: int) -> Ensemble:
    """The ensemble of one member alone."""
    own = slice(member, member + 1)
    noise = ensemble.readout_noise
    return Ensemble(
        SubsetPlan(ensemble.plan.measurements[own], ensemble.plan.n_features)
        if isinstance(problem, Problem)
        else ensemble.fractions[..., own, own],
        ensemble.ridge[..., :1],
        noise[..., own] if noise.shape[-1] > 1 else noise,
        row_fractions=row_fractions(ensemble)[own, own],
    )


def landscape_of(
    problem: Problem | EquicorrelatedProblem, ensemble: Ensemble, alpha: FloatArray, test: TestLaw | None = None
) -> Landscape:
    """The error of the ensemble on the grid of a call."""
    aggregation = ensemble.aggregation
    assert isinstance(aggregation, LinearAggregation)
    if isinstance(problem, Problem):
        tables = tabulate(problem, ensemble.plan)
        at = None if test is None else tables_on_test(problem, ensemble.plan, moments_at_test(problem, test))
        return general_landscape(tables, GeneralGrid.of(problem, ensemble, alpha), aggregation, at)
    grid = EquicorrelatedGrid.of(problem, ensemble, alpha).flat()
    if (grid.a == 0).any():
        raise ParameterError("at correlation=1 without feature noise the error does not depend on the ridge")
    failing = 0.0 if test is None else probability_of(test)
    if failing and grid.rho2.any():
        raise ParameterError(
            "the error of an aligned target is infinite where features fail and M → ∞; make a Problem by "
            "problem.realise(n_features, seed)"
        )
    return equicorrelated_landscape(grid, aggregation, failing)


def _space_optimum(problem: Problem, spaces: SubsetPlan, alpha: FloatArray, noise: float) -> FloatArray:
    """The best ridge of each feature space of one model, shape (k,); inf where the space is better left out."""
    k = spaces.n_members

    def banded(ridges: FloatArray) -> Ensemble:
        return Ensemble(spaces.banded(ridges), 1.0, noise)

    def error(logarithms: FloatArray) -> float:
        model = banded(np.exp(logarithms))
        moments, _ = general_moments(problem, model.plan, GeneralGrid.of(problem, model, alpha), outputs=False)
        return float(moments.pairs.item())

    common = member_optimum(landscape_of(problem, banded(np.ones(k)), alpha))[0]
    start = np.full(k, np.log(common.clip(*_RIDGES)))
    bounds = [(start[0] - _APART, start[0] + _APART)] * k
    # With a shorter step differences would be mostly rounding errors.
    best = minimize(error, start, method="L-BFGS-B", bounds=bounds, tol=1e-13, options={"eps": 1e-6}).x
    for s in range(k):
        without = np.where(np.arange(k) == s, start + _APART, best)
        best = without if error(without) <= error(best) * (1 + 1e-9) else best
    return np.where(best >= start + _APART, np.inf, np.exp(best))


def _scan_points(scales: FloatArray) -> FloatArray:
    """Logarithms of κ̄, from ten decades below the smallest scale to fourteen above the largest."""
    first = np.log(scales.min()) + np.log(1e-10)
    last = np.log(scales.max()) + np.log(1e14)
    return np.linspace(first, last, int(np.ceil((last - first) / np.log(10) * _PER_DECADE)) + 1)


def member_optimum(landscape: Landscape) -> FloatArray:
    """Minimum over κ̄ of a single member, as a ridge, shape (G,)."""
    low = landscape.floor
    points = _scan_points(landscape.scales)

    def error(z: FloatArray, rows: IntArray) -> TwoArrays:
        distance = np.exp(z)[:, None]
        return landscape.error(low[rows] + distance, distance, rows)

    z = minimise_on_line(error, points, len(low))
    return np.where(z >= points[-1], np.inf, landscape.ridge(low + np.exp(z)[:, None], slice(None))[:, 0])


def _common_optimum(landscape: Landscape) -> FloatArray:
    """Minimum over a ridge common to all members, shape (G,)."""
    lowest = landscape.ridge(landscape.floor, slice(None)).max(axis=1)
    alpha = landscape.grid.alpha
    # Ridges are of the size of α times an eigenvalue; distances from a low floor are of the size of the floor.
    sizes = np.outer([1.0, alpha.min(), alpha.max()], landscape.scales)
    points = _scan_points(np.append(sizes, abs(lowest[lowest != 0])))

    def error(z: FloatArray, rows: IntArray) -> TwoArrays:
        distance = np.exp(z)
        lam = np.broadcast_to((lowest[rows] + distance)[:, None], (len(rows), landscape.floor.shape[1]))
        kappa_bar = landscape.kappa_bar(lam, rows)
        steepness = landscape.ridge(kappa_bar + 1j * STEP, rows).imag / STEP  # dλ_r/dκ̄_r = α(1 - γ_rr)
        return landscape.error(kappa_bar, distance[:, None] / steepness, rows)

    # With weights of any sum the error is the target's power minus what is explained, and has the power's rounding.
    free = np.isfinite(landscape.power) & (not landscape.aggregation.sums_to_one)
    z = minimise_on_line(error, points, len(lowest), 8 * EPS * np.where(free, landscape.power, 0.0))
    # The error may fall all the way to the floor, where the weight of a member is zero.
    return np.where(z >= points[-1], np.inf, np.maximum(lowest + np.exp(z), np.nextafter(lowest, np.inf)))


def _joint_optimum(landscape: Landscape, common: FloatArray, alone: FloatArray) -> FloatArray:
    """Minimum over one ridge per member, shape (G, k), from the best common ridge (G,) and each member's own (G, k).

    The landscape has several wells and saddles: a member may be better left out, and members that see the same features
    make symmetric points stationary without being least. So descent starts from many points, and goes on from the
    lowest ends until no member has a better ridge beside those of the others.
    """
    low = landscape.floor
    G, k = low.shape
    rows = np.arange(G)
    points = _scan_points(landscape.scales)
    first, last = points[[0, -1]]
    scale = landscape.signal + landscape.grid.zeta**2 + (landscape.grid.eta**2).mean(axis=1) + 1e-300  # of the error

    def error(z: FloatArray, direction: FloatArray, rows: IntArray) -> TwoArrays:
        distance = np.exp(z.clip(first, last))
        return landscape.error(low[rows] + distance, distance * direction, rows)

    def place(ridge: FloatArray) -> FloatArray:
        finite = np.where(np.isfinite(ridge), ridge, 1e6 * np.exp(last - np.log(1e14)))
        return np.asarray(np.log(np.maximum(landscape.kappa_bar(finite, rows) - low, np.exp(first))))

    def along(z: FloatArray, one: FloatArray) -> FloatArray:
        """The best ridge of one member, given those of the others at z."""
        best = minimise_on_line(lambda x, rows: error(np.where(one, x[:, None], z[rows]), one, rows), points, G)
        return np.where(one, best[:, None], z)

    def descend(starts: list[FloatArray]) -> tuple[list[FloatArray], FloatArray]:
        """The lowest ends of descents, and the least error, (G,); each problem gives every end once."""
        every = np.tile(rows, len(starts))
        z, reached = minimise_jointly(error, np.concatenate(starts).clip(first, last), every, scale[every])
        reached = np.where(np.isfinite(reached), reached, np.inf).reshape(-1, G)
        order = reached.argsort(axis=0)
        lowest = np.take_along_axis(reached, order, axis=0)
        is_same = np.vstack([np.zeros(G, dtype=bool), lowest[1:] <= lowest[:-1] * (1 + _GAIN)])
        order = np.take_along_axis(order, is_same.argsort(axis=0, kind="stable"), axis=0)[:_ENDS]
        return list(z.reshape(-1, G, k)[order, rows]), lowest[0]

    own = place(alone)
    together = place(np.broadcast_to(common[:, None], (G, k)))
    starts = [together, *(np.roll(own, r, axis=1) for r in range(k))]
    for one in np.eye(k):
        # This member without a weight, this member alone, and this member at e times the distance of the others.
        starts += [np.where(one, last, own), np.where(one, own, last), together + one]
    # The lowest points of a random net reach wells that no line meets.
    net = np.random.default_rng(0).uniform(first + np.log(1e7), last - np.log(1e11), (_NET, k))
    worth = error(net.repeat(G, axis=0), np.zeros(k), np.tile(rows, _NET))[0].reshape(_NET, G)
    starts += list(net[worth.argsort(axis=0)[:_WELLS]])
    ends, reached = descend(starts)
    for _ in range(_SWEEPS):  # until no member has a better ridge, given those of the others
        before = reached
        further = [along(end, one) for end in ends for one in np.eye(k)]
        ends, reached = descend([*(np.roll(end, r, axis=1) for end in ends for r in range(k)), *further])
        if not (reached < before * (1 - _GAIN)).any():
            break
    best = ends[0]
    # Members with huge ridges are left out, unless the ratios of these matter, as where a common scale is fitted.
    huge = best > last - np.log(1e2)
    without = landscape.error(low + np.exp(np.where(huge, last + 50.0, best)), np.zeros((G, k)), rows)[0]
    ridge = landscape.ridge(low + np.exp(best), slice(None))
    # At the floor a member's error is infinite and its weight zero, so it is left out too.
    left_out = huge & (without <= reached * (1 + _GAIN))[:, None] | (ridge <= landscape.ridge(low, slice(None)))
    return np.where(left_out, np.inf, ridge)


@quiet
def minimise_on_line(
    function: Callable[[FloatArray, IntArray], TwoArrays], points: FloatArray, n: int, noise: FloatArray | float = 0.0
) -> FloatArray:
    """Global minima of n one-dimensional functions, shape (n,): a scan brackets every well, a root search finds it.

    ``function(x, rows)`` has the values and slopes at x of the problems `rows`; `points` are increasing scan points
    common to all. `noise`, shape (n,), is the rounding of the values: a well at most that much above the lowest point
    is taken, since slopes locate a minimum better than values. Where a function is least at an end, the minimiser is
    ``points[0]`` or ``points[-1]``; where it is level up to the last point, it is ``points[-1]``.
    """
    rows = np.arange(n)
    together = max(1, _SCAN_BLOCK // n)
    parts = []
    for start in range(0, len(points), together):
        part = points[start : start + together]
        parts.append(function(part.repeat(n), np.tile(rows, len(part))))
    values, slopes = (np.concatenate(part).reshape(len(points), n) for part in zip(*parts, strict=True))
    values = np.where(np.isfinite(values), values, np.inf)
    ends = np.where(values[-1] <= values[0], len(points) - 1, 0)
    least = values.argmin(axis=0)
    lowest = values[ends, rows]
    best = np.where(values[least, rows] < lowest - 1e-15 * abs(lowest), least, ends)
    x = points[best]
    lowest = values[best, rows]
    wells = (slopes[:-1] < 0) & (slopes[1:] > 0) & np.isfinite(values[:-1]) & np.isfinite(values[1:])
    # Within a step of the scan a smooth error moves little: a well far above the lowest point cannot win.
    wells &= np.minimum(values[:-1], values[1:]) <= lowest + 0.1 * abs(lowest) + noise + 1e-300
    which, row = np.nonzero(wells)
    if len(which):
        found = elementwise.find_root(
            lambda at, row: function(at, row.astype(int))[1],
            (points[which], points[which + 1]),
            args=(row.astype(float),),
        )
        root = np.where(found.success, found.x, points[which])
        value = function(root, row)[0]
        enough = lowest + 1e-15 * abs(lowest) + noise
        order = (-value).argsort(kind="stable")  # the lowest is written last
        deep = order[value[order] <= enough[row[order]]]
        x[row[deep]] = root[deep]
    return x


def minimise_jointly(
    function: Callable[[FloatArray, FloatArray, IntArray], TwoArrays],
    start: FloatArray,
    rows: IntArray,
    scale: FloatArray,
) -> TwoArrays:
    """Newton's method on n functions of k variables, with |eigenvalues| of the Hessian, so that it descends.

    ``function(x, direction, rows)`` has the values, and the slopes along a direction, at x of the problems `rows`. It
    starts at `start`, shape (n, k). `scale`, shape (n,), positive, is the size of the terms of a value. A problem is
    solved where the largest gradient entry is below 1e-10 of the value, which counts as at least 1e-6 `scale` and at
    most `scale`. Returns x and values, shape (n,).
    """
    n, k = start.shape

    def gradients(x: FloatArray, of: IntArray) -> TwoArrays:
        """Values and gradients at x of the problems `of`."""
        values, slopes = function(np.tile(x, (k, 1)), np.eye(k).repeat(len(x), axis=0), np.tile(of, k))
        return values[: len(x)], slopes.reshape(k, len(x)).T

    x = start.copy()
    live = np.arange(n)
    value, gradient = gradients(x, rows)
    for _ in range(_NEWTON_STEPS):
        size = 1e-10 * value.clip(1e-6 * scale, scale)
        live = live[abs(gradient[live]).max(axis=1) > size[live]]
        if not len(live):
            break
        of = rows[live]
        downhill = gradient[live]
        nudged = gradients((x[live] + _NUDGE * np.eye(k)[:, None]).reshape(-1, k), np.tile(of, k))[1]
        hessian = (nudged.reshape(k, -1, k) - downhill).transpose(1, 0, 2) / _NUDGE
        hessian = np.where(np.isfinite(hessian), hessian, 0.0)
        curvatures, axes = np.linalg.eigh((hessian + hessian.mT) / 2)
        bend = np.maximum(abs(curvatures), size[live][:, None])
        step = -np.einsum("gij,gj->gi", axes, np.einsum("gij,gi->gj", axes, downhill) / bend)
        # Coordinates are logarithms: a step beyond a few units would jump over the whole landscape.
        step *= np.minimum(1.0, 4.0 / np.maximum(abs(step).max(axis=1), 1e-300))[:, None]
        for _ in range(_HALVINGS):
            reached, turned = gradients(x[live] + step, of)
            known = np.isfinite(reached)
            fall = np.subtract(value[live], reached, out=np.full_like(reached, -np.inf), where=known)
            # Near the minimum the fall is below rounding. There a smaller slope at an equal value is enough.
            flatter = abs(turned).max(axis=1) <= 0.9 * abs(downhill).max(axis=1)
            enough = fall >= -1e-4 * (step * downhill).sum(axis=1)
            enough |= (fall >= -1e-14 * abs(value[live])) & flatter
            enough &= known
            if enough.all():
                break
            step[~enough] /= 2
        done = live[enough]
        x[done] += step[enough]
        value[done] = reached[enough]
        gradient[done] = turned[enough]
        live = done
    return x, value
