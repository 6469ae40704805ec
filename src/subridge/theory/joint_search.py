"""One ridge per member, chosen together: a landscape with saddles.

Members that see the same features make symmetric points stationary without being least, so descent alone stops there.
Every member in turn is offered the whole line while the others stay, and where the Hessian bends down the search goes
on along that bend, until nothing improves.
"""

import numpy as np

from subridge.arrays.types import FloatArray, IntArray
from subridge.model.errors import ConvergenceError
from subridge.theory.landscape import Landscape
from subridge.theory.minimise import Function, minimise_jointly, minimise_on_line

_PER_DECADE = 5
_ROUNDS = 12
_GAIN = 1e-12  # relative fall of the error that is worth another round


def scan_points(low: float, high: float) -> FloatArray:
    """Logarithms of κ̄ from ten decades below the smallest scale to fourteen above the largest."""
    first, last = np.log(low) + np.log(1e-10), np.log(high) + np.log(1e14)
    return np.linspace(first, last, int(np.ceil((last - first) / np.log(10) * _PER_DECADE)) + 1)


def joint_optimum(landscape: Landscape, common: FloatArray, alone: FloatArray) -> FloatArray:
    """Minimum over one ridge per member, shape (G, k), from the best common ridge (G,) and each member's own (G, k)."""
    low, (G, k), points = landscape.floor(), landscape.shape, scan_points(*landscape.span())
    first, last, scale, noise = points[0], points[-1], landscape.error_scale(), landscape.value_noise()

    def error(z: FloatArray, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        distance = np.exp(np.clip(z, first, last))
        value, gradient = landscape.take(rows).value_and_gradient(low[rows] + distance)
        return value, gradient * distance

    best, value, settled = np.zeros((G, k)), np.full(G, np.inf), np.zeros(G, dtype=bool)

    def descend(start: FloatArray, rows: IntArray) -> None:
        """Go down from here, and keep what is lower."""
        z, reached, converged = minimise_jointly(
            lambda z, inner: error(z, rows[inner]), np.clip(start, first, last), scale[rows]
        )
        lower = reached < value[rows] - _GAIN * np.abs(reached)
        chosen = rows[lower]
        best[chosen], value[chosen], settled[chosen] = z[lower], reached[lower], converged[lower]

    active = np.arange(G)
    for guess in (np.broadcast_to(common[:, None], (G, k)), alone):
        ridge = np.where(np.isfinite(guess), guess, 1e6 * np.exp(last - np.log(1e14)))
        descend(np.log(np.maximum(landscape.kappa_bar(ridge) - low, np.exp(first))), active)
    for _ in range(_ROUNDS):
        on_lines = _one_by_one(error, best[active], active, points, noise[active])
        offers = np.stack([on_lines, *_bends(error, best, value, active)])
        worth = np.stack([error(offer, active)[0] for offer in offers])
        chosen = np.argmin(np.where(np.isfinite(worth), worth, np.inf), axis=0)
        here = np.arange(len(active))
        lower = worth[chosen, here] < value[active] - _GAIN * np.abs(value[active])
        if not lower.any():
            break
        start, active = offers[chosen, here][lower], active[lower]
        descend(start, active)
    if not settled.all():
        raise ConvergenceError(
            f"the joint ridge did not settle at {int((~settled).sum())} of {len(settled)} grid points; "
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
    """Points to either side along the direction in which the Hessian is most negative, where it is."""
    z, step = best[rows], 1e-4
    hessian = np.empty((len(rows), z.shape[1], z.shape[1]))
    for r in range(z.shape[1]):
        nudge = step * np.eye(z.shape[1])[r]
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            hessian[:, r] = (error(z + nudge, rows)[1] - error(z - nudge, rows)[1]) / (2 * step)
    hessian = np.where(np.isfinite(hessian), hessian, 0.0)
    values, vectors = np.linalg.eigh((hessian + hessian.transpose(0, 2, 1)) / 2)
    saddle = values[:, 0] < -1e-9 * np.abs(value[rows])
    if not saddle.any():
        return []
    move = np.where(saddle[:, None], vectors[:, :, 0], 0.0)
    return [z + length * move for length in (-4.0, -1.0, -0.1, 0.1, 1.0, 4.0)]
