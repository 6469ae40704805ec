"""Safeguarded minimisation, for many independent problems at once."""

from collections.abc import Callable

import numpy as np
from scipy.optimize import elementwise

from subridge.arrays.types import BoolArray, FloatArray, IntArray

# function(x, rows): values and gradients at x of the independent problems `rows`
Function = Callable[[FloatArray, IntArray], tuple[FloatArray, FloatArray]]

# Problems × scan points evaluated in one call: enough to hide Python, little enough for memory.
_SCAN_BLOCK = 4096


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


def minimise_jointly(
    function: Function, start: FloatArray, scale: FloatArray, *, tolerance: float = 1e-10, max_iterations: int = 500
) -> tuple[FloatArray, FloatArray]:
    """BFGS with backtracking on G independent functions of k variables, each with its own step.

    ``function(x, rows)`` gives values (n,) and gradients (n, k) at x (n, k) of the problems ``rows``; `start` has shape
    (G, k). `scale`, shape (G,), positive, is the size of the terms a value is made of, hence of its rounding, and a
    problem counts as solved where the largest gradient entry, relative to it, is below `tolerance`. Returns x, shape
    (G, k), and values, shape (G,).
    """
    G, k = start.shape
    x, stalled = start.copy(), np.zeros(G, dtype=bool)
    value, gradient = function(x, np.arange(G))
    inverse_hessian = np.broadcast_to(np.eye(k), (G, k, k)).copy()
    for _ in range(max_iterations):
        active = np.flatnonzero((np.abs(gradient).max(axis=1) > tolerance * scale) & ~stalled)
        if not len(active):
            break
        g = gradient[active]
        direction = -np.einsum("gij,gj->gi", inverse_hessian[active], g)
        uphill = np.einsum("gi,gi->g", direction, g) >= 0
        direction[uphill] = -g[uphill]
        # Coordinates are logarithms: a step beyond a few units would jump over the whole landscape.
        direction *= np.minimum(1.0, 4.0 / np.maximum(np.abs(direction).max(axis=1), 1e-300))[:, None]
        step, moved = _backtrack(function, x[active], direction, (value[active], g), active)
        new_x = x[active] + step[:, None] * direction
        new_value, new_gradient = function(new_x, active)
        _update(inverse_hessian, active, new_x - x[active], new_gradient - g)
        # A failed step is tried once more along the plain gradient; a second failure is all that rounding allows.
        fresh = (inverse_hessian[active] == np.eye(k)).all(axis=(1, 2))
        stalled[active[~moved & fresh]] = True
        inverse_hessian[active[~moved]] = np.eye(k)
        x[active], value[active], gradient[active] = new_x, new_value, new_gradient
    return x, value


def _backtrack(
    function: Function, x: FloatArray, direction: FloatArray, at_start: tuple[FloatArray, FloatArray], rows: IntArray
) -> tuple[FloatArray, BoolArray]:
    """Halve each problem's step until it falls enough (Armijo, or its approximate form); 0 where no step does."""
    value, gradient = at_start
    slope = np.einsum("gi,gi->g", direction, gradient)
    step, waiting = np.ones(len(x)), np.arange(len(x))
    for _ in range(50):
        trial = x[waiting] + step[waiting][:, None] * direction[waiting]
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            reached, turned = function(trial, rows[waiting])
        enough = reached <= value[waiting] + 1e-4 * step[waiting] * slope[waiting]
        # Near the minimum the fall drowns in rounding; there a smaller slope at an equal value is progress enough.
        no_higher = reached <= value[waiting] + 1e-14 * np.abs(value[waiting])
        flatter = np.abs(np.einsum("gi,gi->g", direction[waiting], turned)) <= 0.9 * np.abs(slope[waiting])
        enough |= no_higher & flatter
        waiting = waiting[~(enough & np.isfinite(reached))]
        if not len(waiting):
            break
        step[waiting] /= 2
    step[waiting] = 0.0
    return step, step > 0


def _update(inverse_hessian: FloatArray, rows: IntArray, dx: FloatArray, dg: FloatArray) -> None:
    """BFGS update in place where the curvature along the step is positive."""
    curvature = np.einsum("gi,gi->g", dx, dg)
    good = curvature > 1e-12 * np.linalg.norm(dx, axis=1) * np.linalg.norm(dg, axis=1)
    if not good.any():
        return
    chosen, dx, dg, curvature = rows[good], dx[good], dg[good], curvature[good]
    H = inverse_hessian[chosen]
    Hy = np.einsum("gij,gj->gi", H, dg)
    factor = (1 + np.einsum("gi,gi->g", dg, Hy) / curvature) / curvature
    H += factor[:, None, None] * dx[:, :, None] * dx[:, None, :]
    H -= (Hy[:, :, None] * dx[:, None, :] + dx[:, :, None] * Hy[:, None, :]) / curvature[:, None, None]
    inverse_hessian[chosen] = H
