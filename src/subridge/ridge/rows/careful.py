"""The decomposition of a design where squares would lose its digits: columns of mixed scales, n ≈ N_r, tiny ridges.

The intercept's direction u is taken along as one more column, larger than all others, so that it comes out first and
mixes with nothing. The rank is judged with every column at its own scale, and columns of very different scales are
decomposed by one-sided Jacobi rotations, which find every direction to the accuracy its columns allow.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from subridge.arrays.types import FloatArray

_EPS = float(np.finfo(np.float64).eps)
_GRADED = 1e2  # ratio of column norms from which on rotations are worth their price


class CarefulDecomposition(NamedTuple):
    """Qᵀ (ρ, n), d (ρ,) ascending, Vᵀ (ρ, N_r), the relative uncertainty of the space that Q spans, and a bound of d in
    the directions that were taken for rounding.
    """

    left: FloatArray
    spectrum: FloatArray
    right: FloatArray
    sharpness: float
    dropped: float


def decompose_carefully(Ft: FloatArray, direction: FloatArray | None, room: int) -> CarefulDecomposition:
    """Decompose a design given as Fᵀ, shape (N_r, n), whose samples leave `room` dimensions; `direction` is u.

    >>> decompose_carefully(np.array([[1e-9, 0, 0], [0, 1e9, 0]]), None, 3).spectrum
    array([1.e-18, 1.e+18])
    """
    N, n = Ft.shape
    norms = np.sqrt(np.sum(Ft**2, axis=1))
    live = np.flatnonzero(norms > 0)
    F, norms = Ft[live].T, norms[live]
    if not len(norms) or not room:
        return CarefulDecomposition(np.zeros((0, n)), np.zeros(0), np.zeros((0, N)), _EPS, 0.0)
    scaled = np.linalg.svd(F / norms, compute_uv=False)
    rank = min(int((scaled > 4 * max(F.shape) * _EPS * scaled[0]).sum()), room)
    sharpness = 4 * _EPS * np.sqrt(max(F.shape)) * scaled[0] / scaled[rank - 1]
    graded = norms.max() > _GRADED * norms.min()
    if direction is not None:
        F = np.hstack([F, (2 * np.sqrt((norms**2).sum()) * direction)[:, None]])
    Q, s, Vt = _by_rotations(F) if graded else np.linalg.svd(F, full_matrices=False)
    first = int(direction is not None)
    kept = slice(first, first + rank)
    right = np.zeros((rank, N))
    right[:, live] = Vt[kept, : len(live)][::-1]
    rest = float(s[first + rank :].max(initial=0.0)) + _EPS * np.sqrt(max(F.shape)) * float(norms.max())
    if rank < min(len(live), room):  # what is left of large dependent columns mixes with directions that are as small
        sharpness = max(sharpness, (rest / s[first + rank - 1]) ** 2)
    left = np.ascontiguousarray(Q[:, kept][:, ::-1].T)
    return CarefulDecomposition(left, s[kept][::-1] ** 2, right, float(sharpness), rest**2)


def _by_rotations(A: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Singular vectors and values, descending, each to the accuracy that the columns' scales allow."""
    n, m = A.shape
    if n >= m:
        s, Q, V, work, _, info = lapack.dgejsv(A, joba=2, jobu=0, jobv=0)
    else:
        s, V, Q, work, _, info = lapack.dgejsv(A.T, joba=2, jobu=0, jobv=0)
    if info:
        return np.linalg.svd(A, full_matrices=False)
    rank = min(n, m)
    return np.asarray(Q[:, :rank]), np.asarray(s[:rank] * (work[0] / work[1])), np.asarray(V[:, :rank].T)
