"""The least of ``yᵀAy - 2bᵀy`` over y ≥ 0, for many small problems at once."""

import numpy as np

from subridge.arrays.types import BoolArray, FloatArray

_APART = 1e-4  # share of a member's power that the others do not explain
_MOST_TURNS = 20  # one or two are enough; a cycle is left to a slower search
_ROUNDING = 1e-14  # of a slope, beside the terms that it is summed from


def least_nonnegative(A: FloatArray, b: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Solutions (m, k) for A of unit diagonal, (m, k, k), and b (m, k), and which of them were found (m,).

    They are sought where no member is explained by the others. Where ``A⁻¹b`` is not negative it is the answer.
    Elsewhere what is negative is left out and what would lower the sum is taken in, until nothing is to be changed.

    >>> least_nonnegative(np.array([[[1.0, 0.5], [0.5, 1.0]]] * 2), np.array([[1.0, 1.0], [1.0, 0.2]]))[0].round(3)
    array([[0.667, 0.667],
           [1.   , 0.   ]])
    """
    try:
        solved: FloatArray = np.asarray(np.linalg.solve(A, b[:, :, None])[:, :, 0], dtype=np.float64)
        known = np.diagonal(np.linalg.cholesky(A), axis1=1, axis2=2).min(axis=1) ** 2 >= _APART
    except np.linalg.LinAlgError:  # one of them is singular or indefinite: each by itself
        if len(A) == 1:
            return np.zeros(b.shape), np.zeros(1, dtype=bool)
        parts = [least_nonnegative(A[i : i + 1], b[i : i + 1]) for i in range(len(A))]
        return np.concatenate([found for found, _ in parts]), np.concatenate([known for _, known in parts])
    guess: BoolArray | None = None
    for i in np.flatnonzero(known & (solved < 0).any(axis=1)):
        # Problems that are solved together, one for each left-out sample or ridge, are much alike.
        solution = _turn(A[i], b[i], solved[i] > 0 if guess is None else guess)
        known[i] = solution is not None
        solved[i] = 0.0 if solution is None else solution
        guess = None if solution is None else solution > 0
    return solved, known


def _turn(A: FloatArray, b: FloatArray, counted: BoolArray) -> FloatArray | None:
    """The solution from a first guess of what is not zero; None where the guesses do not settle."""
    for _ in range(_MOST_TURNS):
        inside = np.flatnonzero(counted)
        y = np.zeros(len(b))
        y[inside] = np.linalg.solve(A[np.ix_(inside, inside)], b[inside])
        slope = A @ y - b
        wrong = np.where(counted, y < 0, slope < -_ROUNDING * len(b) * (np.abs(y).max(initial=0.0) + np.abs(b)))
        if not wrong.any():
            return y
        counted = counted ^ wrong
    return None
