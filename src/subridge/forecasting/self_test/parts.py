"""Parts of the pilot that stand for smaller pilots: halves and quarters."""

import numpy as np

from subridge.arrays.types import FloatArray, IntArray
from subridge.forecasting.pilot.pilot import Pilot

_LEAST = 10  # rows of a part
_LARGE = 200  # equations
_LEAST_PENALTY = 1e-11  # in units of the sum of the spectrum
_MANY = 500  # rows of a pilot that needs one part of each size only: what it shows of itself has less noise


def part_rows(n: int) -> list[list[IntArray]]:
    """Row numbers of the parts of every draw: two halves, two quarters, two halves again; one of each if rows are many.

    The parts of a draw share no row.

    Examples
    --------
    >>> [[len(part) for part in parts] for parts in part_rows(80)]
    [[40, 40], [20, 20], [40, 40]]
    """
    rng, draws = np.random.default_rng(0), []
    for pieces, drawn in ((2, 2), (4, 2), (2, 2)) if n <= _MANY else ((2, 1), (4, 1)):
        size, order = n // pieces, rng.permutation(n)
        if size >= _LEAST:
            draws.append([np.sort(order[part * size : (part + 1) * size]) for part in range(drawn)])
    return draws


def errors_of_parts(pilot: Pilot, parts: list[IntArray], ridges: FloatArray, weights: FloatArray) -> FloatArray:
    """Mean squared errors of an ensemble trained on each of P parts of m rows, on all other rows; shape (P, T).

    Ridges and weights have shape (T, k). In the coordinates of its decomposition a member is trained on m rows by
    equations in the smaller of m and its rank ρ: m ρ min(m, ρ) multiplications, where a decomposition costs ten times
    that.
    """
    index, n = np.array(parts), pilot.n_samples
    Y = pilot.targets[:, index].transpose(1, 2, 0)  # (P, m, C)
    level = Y.mean(axis=1, keepdims=True) * pilot.intercept
    outputs = np.zeros((len(parts), len(ridges), pilot.n_targets, n))
    for r, member in enumerate(pilot.members):
        penalties = ridges[:, r] * pilot.subset_sizes[r]
        root = np.sqrt(member.spectrum)
        Z = np.stack([member.left[:, part] for part in parts])  # (P, ρ, m)
        Z *= root[:, None]
        centre = Z.mean(axis=2, keepdims=True) * pilot.intercept
        Z -= centre
        slopes = _slopes(Z, Y - level, penalties)
        constant = level[:, None].transpose(0, 1, 3, 2) - slopes @ centre[:, None]
        outputs += weights[:, r, None, None] * ((slopes * root) @ member.left + constant)
    squares = ((pilot.targets - outputs) ** 2).sum(axis=2)
    np.put_along_axis(squares, np.repeat(index[:, None], len(ridges), axis=1), 0.0, axis=2)
    return np.asarray(squares.sum(axis=2) / (n - index.shape[1]))


def _slopes(Z: FloatArray, Y: FloatArray, penalties: FloatArray) -> FloatArray:
    """Ridge regressions of labels (P, m, C) on coordinates (P, ρ, m), both centred; shape (P, T, C, ρ)."""
    Zt, by_rows = Z.transpose(0, 2, 1), Z.shape[2] < Z.shape[1]
    side, known = (Zt @ Z, Y) if by_rows else (Z @ Zt, Z @ Y)
    # The limit of a vanishing ridge, to the digits that an estimate from a sample needs.
    least = _LEAST_PENALTY * np.trace(side, axis1=1, axis2=2) + np.finfo(float).tiny
    shifts = np.maximum(penalties, least[:, None])  # (P, T)
    if side.shape[1] < _LARGE:
        solved = np.linalg.solve(_shifted(side[:, None], shifts), known[:, None])
    else:  # one by one, which takes less memory
        pairs = zip(side, known, shifts, strict=True)
        solved = np.array(
            [[np.linalg.solve(_shifted(each, shift), right) for shift in of_part] for each, right, of_part in pairs]
        )
    return np.asarray((Z[:, None] @ solved if by_rows else solved).transpose(0, 1, 3, 2))


def _shifted(matrices: FloatArray, shifts: FloatArray) -> FloatArray:
    """Square matrices with shifts of shape (...) added to their diagonals.

    Cholesky factors would take half the multiplications, but they are SciPy's, which brings a pool of threads of its
    own: the two pools wait for work on each other's cores, and a forecast on two threads took twice as long.
    """
    shifted = np.array(np.broadcast_to(matrices, (*np.shape(shifts), *matrices.shape[-2:])))
    np.einsum("...mm->...m", shifted)[...] += shifts[..., None]
    return shifted
