"""Minimum-norm curves of many members at once, by Cholesky factors and iterative refinement.

Deep features are far worse conditioned than Gaussian ones: a Gram matrix loses half of the digits of its features, and
at P ≈ N all of them. A factor of the Gram matrix is still a good enough inverse to *correct* a solution whose residual
is computed from the features themselves (corrected seminormal equations, Björck 1987): each step multiplies the error
by about cond(F)² · 1e-16. So one factorisation per curve remains, and an orthogonal one is needed only where the
correction does not settle.

Members of different sizes are solved together: shorter ones are padded with features that are zero.
"""

from collections.abc import Sequence
from typing import Any

import array_api_compat
import numpy as np

from subridge.arrays.cholesky import BlockedFactor, factor, gram_lower
from subridge.arrays.namespace import like, to_numpy
from subridge.arrays.types import IntArray
from subridge.ridge.orthogonal import orthogonal_solution

# Corrections applied, and the largest relative size of the last one that counts as settled. The error left is smaller
# than the last correction by the factor between the last two, so 1e-6 leaves nine digits or more.
_STEPS = 2
_SETTLED = {"float64": 1e-6, "float32": 1e-3}
# Shorter side of a matrix up to which singular values are computed on the host.
_SMALL = 256


def refined_curve(F: Any, targets: Any, n_samples: Sequence[int], member_sizes: IntArray) -> Any:
    """Minimum-norm weights (λ = 0) on the first P samples, for every P, of a batch of members.

    Parameters
    ----------
    F : array, shape (G, P_max, N)
        Features of G members, scaled by 1/√N_g; columns from N_g on are zero.
    targets : array, shape (G, n_rhs, P_max)
    n_samples : sequence of int, strictly ascending, at most P_max
    member_sizes : ndarray of int, shape (G,)
        N_g. As many of the P as are at most N_g must be so for every member: see `same_side`.

    Returns
    -------
    array, shape (G, n_sizes, n_rhs, N)

    Examples
    --------
    >>> F, t = np.array([[[1.0], [1.0], [2.0]]]), np.array([[[1.0, 3.0, 4.0]]])
    >>> refined_curve(F, t, [1, 2, 3], np.array([1]))[0, :, 0, 0]
    array([1., 2., 2.])
    """
    xp = array_api_compat.array_namespace(F)
    sizes = [int(P) for P in n_samples]
    n_dual = sum(int(member_sizes[0]) >= P for P in sizes)
    shape = (F.shape[0], len(sizes), targets.shape[1], F.shape[2])
    weights = xp.empty(shape, dtype=F.dtype, device=array_api_compat.device(F))
    suspects = np.zeros(shape[:2], dtype=bool)
    if n_dual:
        suspects[:, :n_dual] = _dual(xp, F, targets, sizes[:n_dual], weights)
    if n_dual < len(sizes):
        suspects[:, n_dual:] = _primal(xp, F, targets, sizes, (n_dual, member_sizes), weights)
    for p in np.flatnonzero(suspects.any(axis=0)):
        _replace(F, targets, sizes[p], member_sizes, np.flatnonzero(suspects[:, p]), weights[:, int(p), ...])
    return weights


def same_side(n_samples: Sequence[int], member_sizes: IntArray) -> IntArray:
    """How many of the training-set sizes are at most N_g, shape (G,): members that agree can be solved together.

    Examples
    --------
    >>> same_side([10, 20, 40], np.array([5, 20, 25, 80]))
    array([0, 2, 2, 3])
    """
    return np.searchsorted(np.asarray(n_samples), member_sizes, side="right")


def _replace(F: Any, targets: Any, P: int, member_sizes: IntArray, which: IntArray, into: Any) -> None:
    """Solve some members at one size again, by singular values."""
    if min(P, int(member_sizes[which].max())) > _SMALL:
        for g in which:
            N = int(member_sizes[g])
            into[int(g), ...] = 0.0
            into[int(g), :, :N] = orthogonal_solution(F[int(g), :P, :N], targets[int(g), :, :P], 0.0)
        return
    # Many small decompositions: on the host they take a tenth of a card's time. Padded features are zero and stay so.
    rows = np.stack([to_numpy(F[int(g), :P, :]) for g in which])
    goals = np.stack([to_numpy(targets[int(g), :, :P]) for g in which])
    U, s, Vt = np.linalg.svd(rows, full_matrices=False)
    cutoff = np.finfo(s.dtype).eps * np.maximum(P, member_sizes[which]) * s[:, 0]
    kept = s > cutoff[:, None]
    inverse = np.where(kept, 1 / np.where(kept, s, 1.0), 0.0)
    solutions = (goals @ U * inverse[:, None, :]) @ Vt
    for place, g in enumerate(which):
        into[int(g), ...] = like(solutions[place], F)


def _dual(xp: Any, F: Any, targets: Any, sizes: list[int], weights: Any) -> Any:
    """All P ≤ N from one factor; returns which did not settle, shape (G, n_dual)."""
    G, n_rhs, P, n = F.shape[0], targets.shape[1], sizes[-1], len(sizes)
    head = F[:, :P, :]
    K = gram_lower(head, xp.zeros((G, P, P), dtype=F.dtype, device=array_api_compat.device(F)))
    lower, z = factor(K, xp.asarray(targets[:, :, :P], copy=True))
    lengths = [size for size in sizes for _ in range(n_rhs)]
    inside = like(np.arange(P) < np.asarray(sizes)[:, None], F)[None, :, None, :]

    def through_factor(forward: Any) -> Any:
        """F_Pᵀ L⁻ᵀ applied to forward solutions, each masked to its first P entries; shape (G, n · n_rhs, N)."""
        rows = xp.reshape(inside * forward, (G, n * n_rhs, P))
        return lower.solve_transposed(rows, lengths) @ head

    goals = xp.reshape(inside * targets[:, None, :, :P], (G, n * n_rhs, P))
    w = through_factor(z[:, None, :, :])
    step = w
    for _ in range(_STEPS):
        residual = goals - w @ xp.matrix_transpose(head)
        residual = xp.reshape(inside * xp.reshape(residual, (G, n, n_rhs, P)), (G, n * n_rhs, P))
        step = through_factor(xp.reshape(lower.solve_forward(residual), (G, n, n_rhs, P)))
        w = w + step
    weights[:, :n, :, :] = xp.reshape(w, (G, n, n_rhs, F.shape[2]))
    return _unsettled(xp, xp.reshape(step, (G, n, -1)), xp.reshape(w, (G, n, -1)))


def _primal(xp: Any, F: Any, targets: Any, sizes: list[int], side: tuple[int, IntArray], weights: Any) -> Any:
    """Every P > N from a factor of its own; returns which did not settle, shape (G, n_sizes - n_dual)."""
    first, member_sizes = side
    N, start, verdicts = F.shape[2], 0, []
    # A one on the diagonal of every padded feature keeps the factor regular; its weight is zero.
    padded = like(np.arange(N) >= np.asarray(member_sizes)[:, None], F)
    identity = xp.eye(N, dtype=F.dtype, device=array_api_compat.device(F))
    gram = padded[:, :, None] * identity
    moments = xp.zeros_like(weights[:, 0, :, :])
    for number in range(first, len(sizes)):
        P = sizes[number]
        block = F[:, start:P, :]
        gram_lower(xp.matrix_transpose(block), gram)
        moments = moments + targets[:, :, start:P] @ block
        start = P
        lower, z = factor(xp.asarray(gram, copy=True), xp.asarray(moments, copy=True))
        w = lower.solve_transposed(z)
        step = w
        for _ in range(_STEPS):
            step = _correction(xp, lower, F[:, :P, :], targets[:, :, :P], w)
            w = w + step
        weights[:, number, :, :] = w
        flat = (step.shape[0], 1, step.shape[1] * step.shape[2])
        verdicts.append(_unsettled(xp, xp.reshape(step, flat), xp.reshape(w, flat)))
    return np.concatenate(verdicts, axis=1)


def _correction(xp: Any, lower: BlockedFactor, F: Any, targets: Any, w: Any) -> Any:
    """(FᵀF)⁻¹ Fᵀ (t - F w)."""
    residual = targets - w @ xp.matrix_transpose(F)
    return lower.solve_transposed(lower.solve_forward(residual @ F))


def _unsettled(xp: Any, step: Any, w: Any) -> Any:
    """Whether the last correction is still large, by norms over the last axis; NaN counts as large."""
    limit = _SETTLED[str(w.dtype).rpartition(".")[2]]
    moved, whole = (to_numpy(xp.linalg.vector_norm(a, axis=-1)) for a in (step, w))
    # Labels that are all zero have weights of zero, which is settled.
    return ~((moved <= limit * whole) | ((moved == 0) & (whole == 0)))
