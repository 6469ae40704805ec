"""Accurate decompositions of rows, which `member` uses where rounding errors may matter.

- `decompose_carefully` is accurate for columns of mixed scales, n ≈ N_r and tiny ridges.
- `perturbed` changes rows by about a rounding error: the change of a result is an estimate of its rounding error.
"""

import numpy as np
from scipy.linalg import lapack

from subridge.arrays.namespace import like, to_numpy
from subridge.arrays.types import Array, FloatArray

EPS = float(np.finfo(np.float64).eps)
_GRADED = 1e2  # ratio of column norms above which the slower Jacobi rotations are used
_HIGH = 1e-3  # 1 - H_ii below which a difference from one has lost too many digits


# -- an accurate decomposition --------------------------------------------------------------------


def decompose_carefully(
    Ft: FloatArray, direction: FloatArray, room: int
) -> tuple[FloatArray, FloatArray, FloatArray, float, float]:
    """Decompose rows given as Fᵀ, shape (N_r, n), whose samples leave `room` dimensions.

    Returns Qᵀ (ρ, n), d (ρ,) ascending, Vᵀ (ρ, N_r), the relative uncertainty of the space that Q spans, and a bound
    of d in the directions that were dropped as rounding errors, zero if there are none.

    The intercept's `direction` u, shape (n,), zeros without one, is added as one more column. It is larger than all
    others, so that it comes out first and mixes with no other. The rank is judged with every column at its own scale.
    Columns of very different scales are decomposed by one-sided Jacobi rotations, which find every direction as
    accurately as its columns allow.

    >>> decompose_carefully(np.array([[1e-9, 0, 0], [0, 1e9, 0]]), np.zeros(3), 3)[1]
    array([1.e-18, 1.e+18])
    """
    N, n = Ft.shape
    norms = np.linalg.norm(Ft, axis=1)
    live = np.flatnonzero(norms > 0)
    F = Ft[live].T
    norms = norms[live]
    size = max(n, len(live))
    if not len(norms) or not room:
        return np.zeros((0, n)), np.zeros(0), np.zeros((0, N)), EPS, 0.0
    scaled = np.linalg.svd(F / norms, compute_uv=False)
    rank = min((scaled > 4 * size * EPS * scaled[0]).sum(), room)
    sharpness = 4 * EPS * np.sqrt(size) * scaled[0] / scaled[rank - 1]
    first = int(direction.any())
    if first:
        F = np.hstack([F, (2 * np.linalg.norm(norms) * direction)[:, None]])
    Q, s, Vt = _by_rotations(F) if norms.max() > _GRADED * norms.min() else np.linalg.svd(F, full_matrices=False)
    kept = slice(first, first + rank)
    right = np.zeros((rank, N))
    right[:, live] = Vt[kept, : len(live)][::-1]
    rest = 0.0
    if rank < min(len(live), room):  # rounding errors of large dependent columns mix with directions of their size
        rest = s[first + rank :].max(initial=0.0) + EPS * np.sqrt(max(F.shape)) * norms.max()
        sharpness = max(sharpness, (rest / s[first + rank - 1]) ** 2)
    return np.ascontiguousarray(Q[:, kept][:, ::-1].T), s[kept][::-1] ** 2, right, float(sharpness), rest**2


def _by_rotations(A: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Singular vectors and values, descending, each to the accuracy that the columns' scales allow."""
    if A.shape[0] < A.shape[1]:
        V, s, Qt = _by_rotations(A.T)
        return Qt.T, s, V.T
    s, Q, V, work, _, failed = lapack.dgejsv(A, joba=2, jobu=0, jobv=0)
    if failed:
        return np.linalg.svd(A, full_matrices=False)
    return Q[:, : A.shape[1]], s * (work[0] / work[1]), V.T


def perturbed(Ft: FloatArray, seed: int) -> FloatArray:
    """Rows as Fᵀ, shape (N_r, n), with every column of F changed by about the backward error of a decomposition."""
    scale = 4 * EPS * np.sqrt(max(Ft.shape) / Ft.shape[1] * (Ft**2).sum(axis=1))
    return np.asarray(Ft + scale[:, None] * np.random.default_rng(seed).standard_normal(Ft.shape))


def orthogonal_again(Qt: Array, u: Array, rest: Array, slack: Array) -> tuple[Array, Array]:
    """The `rest` of labels (C, n) that no direction explains, made orthogonal again, and the diagonal of P (n,).

    For rows of high leverage P_ii is computed as a squared norm, which has twice the digits of a difference from one.
    """
    Q = np.vstack([to_numpy(Qt), to_numpy(u)])
    C, n = rest.shape
    high = np.flatnonzero(to_numpy(slack) < _HIGH)  # about as many rows as there are directions, at most
    rows = np.vstack([to_numpy(rest), np.zeros((len(high), n))])
    rows[C + np.arange(len(high)), high] = 1.0
    for _ in range(2):
        rows = rows - (rows @ Q.T) @ Q
    labels = rows[:C]
    units = rows[C:]
    diagonal = to_numpy(slack).copy()
    diagonal[high] = (units**2).sum(axis=1)
    labels[:, high] = labels @ units.T
    return like(labels, rest), like(diagonal, slack)
