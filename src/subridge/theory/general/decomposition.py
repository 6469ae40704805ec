"""Eigenvalues and whitened directions of a member's covariance, each with what rounding may have done to it.

A plain eigendecomposition errs by eps·d_max on every eigenvalue, which is nothing for the large ones and everything for
the small. For a graded matrix H = D C D, whose features differ in scale, a Cholesky factor with the largest remaining
variance first and one-sided Jacobi rotations find every eigenvalue to eps times the condition of C, whatever D is.
"""

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from scipy.linalg import lapack

from subridge.arrays.types import FloatArray, IntArray

EPS = float(np.finfo(np.float64).eps)
# Smallest d/d_max at which a plain eigendecomposition keeps all but three digits.
_HARMLESS = 1e-3
_UNGRADED = 1e2  # ratio of variances up to which small eigenvalues come from correlations, not from scales
_ROUNDING = 4.0  # of an eigenvalue, in eps of the largest; grows with the root of the size


@dataclass(frozen=True)
class Doubt:
    """Directions taken as zero though rounding alone says so.

    `number` of them, the eigenvalue `size` each may have at most, and `blurred`, below which the directions kept cannot
    be told from them.
    """

    number: int = 0
    size: float = 0.0
    blurred: float = 0.0


@dataclass(frozen=True, eq=False)
class Directions:
    """Positive eigenvalues d of H ascending, shape (n,), Z with Zᵀ H Z = I, shape (N, n), and their uncertainty.

    `theta` is the relative uncertainty of each eigenvalue. `is_plain` says that errors are those of an orthogonal
    transformation, `may_be_refined` that `decompose` with ``accurate=True`` would know more.
    """

    values: FloatArray
    whiten: FloatArray
    theta: FloatArray
    doubt: Doubt
    is_plain: bool
    may_be_refined: bool


def decompose(H: FloatArray, level: FloatArray, *, accurate: bool) -> Directions:
    """Decompose a symmetric positive semi-definite H, shape (N, N).

    `level`, shape (N,), is the size of the terms that make up its diagonal. Without `accurate` a matrix whose features
    have similar scales is decomposed plainly, and the uncertainty says what that costs.

    >>> found = decompose(np.diag([1e-40, 1.0, 1e40]), np.array([1e-40, 1.0, 1e40]), accurate=True)
    >>> found.values.round(50).tolist(), bool(found.theta.max() < 1e-14)
    ([1e-40, 1.0, 1e+40], True)
    """
    N = len(H)
    live = np.flatnonzero(np.diagonal(H) > 0)
    h = np.diagonal(H)[live]
    if not len(live):
        return Directions(np.zeros(0), np.zeros((N, 0)), np.zeros(0), Doubt(), True, False)
    G = H if len(live) == N else H[np.ix_(live, live)]
    rounding = (_ROUNDING + np.sqrt(len(live)) / 4) * EPS
    d, U = np.linalg.eigh(G)
    if d[0] > _HARMLESS * d[-1]:
        found = Directions(d, U / np.sqrt(d), rounding * d[-1] / d, Doubt(), True, False)
    elif accurate or h.max() > _UNGRADED * h.min():
        found = _graded(G, level[live], rounding)
    else:
        least = 10 * len(live) * EPS * d[-1]
        kept = d > least
        d, U = d[kept], U[:, kept]
        doubt = Doubt(len(live) - len(d), least, 0.0)
        found = Directions(d, U / np.sqrt(d), rounding * d[-1] / d, doubt, True, True)
    if len(live) == N:
        return found
    lifted = np.zeros((N, len(found.values)))
    lifted[live] = found.whiten
    return Directions(found.values, lifted, found.theta, found.doubt, found.is_plain, found.may_be_refined)


def _graded(G: FloatArray, level: FloatArray, rounding: float) -> Directions:
    """Cholesky with the largest remaining variance first, then one-sided Jacobi on its graded columns."""
    n = len(G)
    noise = 4 * n * EPS * level  # a remaining variance below this is rounding
    L, order, rank, _ = lapack.dpstrf(G, lower=1, tol=float(np.finfo(np.float64).tiny))
    L, order = np.tril(L), np.asarray(order - 1, dtype=np.int64)
    if rank < n or (np.diagonal(L) ** 2 <= noise[order]).any():
        L, order, rank = _pivoted_cholesky(G, noise)
    L, left = L[:, :rank], order[rank:]
    roots, _, Y, work, _, info = lapack.dgejsv(L, joba=0, jobu=3, jobv=0)
    if info:
        raise np.linalg.LinAlgError(f"one-sided Jacobi rotations did not converge (dgejsv: {info})")
    roots = roots[:rank] * (work[0] / work[1])
    ascending = np.argsort(roots)
    roots, Y = roots[ascending], Y[:rank, ascending]
    Z = np.zeros((n, rank))
    Z[order[:rank]] = scipy.linalg.solve_triangular(L[:rank], Y, lower=True, trans="T")
    blurred = 0.0
    if rank < n:
        # A feature explained up to rounding still carries that rounding's share of the labels: large directions take
        # it in as the eigenvectors say, small ones cannot be told apart from it.
        blurred = 1e-4 * float(level[left].max())
        large = np.flatnonzero(roots**2 > blurred)
        share = L[rank:] @ Y[:, large] / roots[large] ** 2
        Z[np.ix_(left, large)] = share
        Z[np.ix_(order[:rank], large)] -= scipy.linalg.solve_triangular(
            L[:rank], L[rank:].T @ share, lower=True, trans="T"
        )
    theta = rounding * (np.sum((np.sqrt(np.diagonal(G))[:, None] * Z) ** 2, axis=0) + 1)
    doubt = Doubt(n - rank, float(noise[left].sum()), blurred)
    return Directions(roots**2, Z, theta, doubt, False, False)


def _pivoted_cholesky(G: FloatArray, noise: FloatArray) -> tuple[FloatArray, IntArray, int]:
    """Cholesky that passes over features explained up to rounding: L (n, rank) by pivots, their order, the rank."""
    n = len(G)
    L, left = np.zeros((n, n)), np.diagonal(G).copy()
    order: list[int] = []
    waiting = np.ones(n, dtype=bool)
    while True:
        waiting &= left > noise
        if not waiting.any():
            break
        i, j = int(np.argmax(np.where(waiting, left, -1.0))), len(order)
        waiting[i] = False
        column = G[:, i] - L[:, :j] @ L[i, :j]
        if not column[i] > noise[i]:
            continue
        column = column / np.sqrt(column[i])
        column[order] = 0.0
        L[:, j] = column
        left = left - column**2
        order.append(i)
    rank = len(order)
    ordered = np.array(order + sorted(set(range(n)) - set(order)), dtype=np.int64)
    return L[ordered][:, :rank], ordered, rank
