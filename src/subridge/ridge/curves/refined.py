"""Minimum-norm curves of many members at once, by Cholesky factors and iterative refinement.

Deep features are far worse conditioned than Gaussian ones: a Gram matrix loses half of the digits of its features, and
at P ≈ N all of them. A factor of the Gram matrix is still a good enough inverse to *correct* a solution whose residual
is computed from the features themselves (corrected seminormal equations, Björck 1987): each step multiplies the error
by about cond(F)² · 1e-16. So one factorisation per curve remains, and an orthogonal one is needed only where the
correction does not settle.

Members of different sizes are solved together: shorter ones are padded with features that are zero, and every
training-set size takes the members it exceeds on the primal side, the others on the dual side. On a card the primal
factors of several training-set sizes are made in one batch: many small calls, not operations, take the time there.
"""

from collections.abc import Sequence

import numpy as np

from subridge.arrays.cholesky import factor, gram_lower
from subridge.arrays.namespace import device_of, dtype_name, is_numpy, like, namespace_of, to_numpy
from subridge.arrays.types import Array, BoolArray, IntArray, Namespace
from subridge.model.errors import ParameterError
from subridge.ridge.curves.orthogonal import orthogonal_solution

# Corrections applied, and the largest relative size of the last one that counts as settled. The error left is smaller
# than the last correction by the factor between the last two, so 1e-6 leaves nine digits or more.
_STEPS = 2
_SETTLED = {"float64": 1e-6, "float32": 1e-3}
# Shorter side of a matrix up to which singular values are computed on the host.
_SMALL = 256
# Training-set sizes that share a batch of primal factors on a card. A CPU gains nothing from more than one.
TOGETHER_ON_A_CARD = 8


def refined_curve(F: Array, targets: Array, n_samples: Sequence[int], member_sizes: IntArray) -> Array:
    """Minimum-norm weights (λ = 0) on the first P samples, for every P, shape (G, n_sizes, n_rhs, N), of G members.

    Features, shape (G, P_max, N), are scaled by 1/√N_g and zero from column N_g on; `member_sizes`, ascending, are
    these N_g. Targets have shape (G, n_rhs, P_max); sizes ascend strictly.
    """
    if (np.diff(member_sizes) < 0).any():
        raise ParameterError(f"member_sizes must ascend, got {np.asarray(member_sizes).tolist()}")
    xp = namespace_of(F)
    sizes = [int(P) for P in n_samples]
    n_dual = np.searchsorted(np.asarray(sizes), member_sizes, side="right")
    shape = (F.shape[0], len(sizes), targets.shape[1], F.shape[2])
    weights = xp.empty(shape, dtype=F.dtype, device=device_of(F))
    suspects = np.zeros(shape[:2], dtype=bool)
    if n_dual[-1]:
        suspects[:, : n_dual[-1]] = _dual(xp, F, targets, sizes, n_dual, weights)
    together = 1 if is_numpy(F) else TOGETHER_ON_A_CARD
    if n_dual[0] < len(sizes):
        problem = _Primal(xp, F, targets, member_sizes)
        for start in range(int(n_dual[0]), len(sizes), together):
            places = np.arange(start, min(start + together, len(sizes)))
            # Ascending sizes make the members on the primal side the first ones.
            active = [int((n_dual <= p).sum()) for p in places]
            w, doubtful = problem.solve([sizes[p] for p in places], active[-1])
            for i, (p, count) in enumerate(zip(places, active, strict=True)):
                weights[:count, int(p), :, :] = w[:count, i, :, :]
                suspects[:count, p] = doubtful[:count, i]
    for p in np.flatnonzero(suspects.any(axis=0)):
        _replace(F, targets, sizes[p], member_sizes, np.flatnonzero(suspects[:, p]), weights[:, int(p), ...])
    return weights


def _replace(F: Array, targets: Array, P: int, member_sizes: IntArray, which: IntArray, into: Array) -> None:
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


def _dual(xp: Namespace, F: Array, targets: Array, sizes: list[int], n_dual: IntArray, weights: Array) -> BoolArray:
    """All P ≤ N_g from one factor; returns which did not settle, shape (G, n) with n of the longest member.

    What is written beyond a member's own sizes is finite but means nothing.
    """
    G, n_rhs, n = F.shape[0], targets.shape[1], int(n_dual[-1])
    sizes = sizes[:n]
    P, head = sizes[-1], F[:, : sizes[-1], :]
    K = xp.zeros((G, P, P), dtype=F.dtype, device=device_of(F))
    if n_dual[0] < n:
        # Samples that a shorter member cannot interpolate would make its matrix singular: they are taken out, and a one
        # on the diagonal keeps the factor regular.
        own = np.arange(P) < np.array([sizes[count - 1] if count else 0 for count in n_dual])[:, None]
        head = head * like(own, F)[:, :, None]
        K = like(~own, F)[:, :, None] * xp.eye(P, dtype=F.dtype, device=device_of(F))
    lower, z = factor(gram_lower(head, K), xp.asarray(targets[:, :, :P], copy=True))
    lengths = [size for size in sizes for _ in range(n_rhs)]
    inside = like(np.arange(P) < np.asarray(sizes)[:, None], F)[None, :, None, :]

    def through_factor(forward: Array) -> Array:
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
    doubtful = _unsettled(xp, xp.reshape(step, (G, n, -1)), xp.reshape(w, (G, n, -1)))
    return doubtful & (np.arange(n) < np.asarray(n_dual)[:, None])


class _Primal:
    """Gram matrices and moments of the first P samples, summed as P grows, and the solutions of each."""

    def __init__(self, xp: Namespace, F: Array, targets: Array, member_sizes: IntArray) -> None:
        G, _, N = F.shape
        self.xp, self.F, self.targets, self.start = xp, F, targets, 0
        # A one on the diagonal of every padded feature keeps the factor regular; its weight is zero.
        padded = like(np.arange(N) >= np.asarray(member_sizes)[:, None], F)
        self.gram = padded[:, :, None] * xp.eye(N, dtype=F.dtype, device=device_of(F))
        self.moments = xp.zeros((G, targets.shape[1], N), dtype=F.dtype, device=device_of(F))

    def solve(self, sizes: list[int], count: int) -> tuple[Array, BoolArray]:
        """Weights of the first `count` members at n sizes, shape (count, n, n_rhs, N), and which did not settle.

        A member longer than P has a singular matrix here, and its weights mean nothing.
        """
        xp, (n_rhs, N), n, P = self.xp, self.moments.shape[1:], len(sizes), sizes[-1]
        dtype, place = self.F.dtype, device_of(self.F)
        grams = xp.empty((count, n, N, N), dtype=dtype, device=place)
        moments = xp.empty((count, n, n_rhs, N), dtype=dtype, device=place)
        for i, size in enumerate(sizes):
            self._advance(size)
            grams[:, i, :, :] = self.gram[:count, ...]
            moments[:, i, :, :] = self.moments[:count, ...]
        lower, z = factor(xp.reshape(grams, (count * n, N, N)), xp.reshape(moments, (count * n, n_rhs, N)))
        F = self.F[:count, :P, :]
        inside = like(np.arange(P) < np.asarray(sizes)[:, None], self.F)[None, :, None, :]
        w = xp.reshape(lower.solve_transposed(z), (count, n * n_rhs, N))
        step = w
        for _ in range(_STEPS):
            # (FᵀF)⁻¹ Fᵀ (t - F w), each on its own first samples
            fitted = xp.reshape(w @ xp.matrix_transpose(F), (count, n, n_rhs, P))
            residual = inside * (self.targets[:count, None, :, :P] - fitted)
            gradient = xp.reshape(xp.reshape(residual, (count, n * n_rhs, P)) @ F, (count * n, n_rhs, N))
            step = xp.reshape(lower.solve_transposed(lower.solve_forward(gradient)), w.shape)
            w = w + step
        flat = (count, n, n_rhs * N)
        doubtful = _unsettled(xp, xp.reshape(step, flat), xp.reshape(w, flat))
        return xp.reshape(w, (count, n, n_rhs, N)), doubtful

    def _advance(self, P: int) -> None:
        block = self.F[:, self.start : P, :]
        gram_lower(self.xp.matrix_transpose(block), self.gram)
        self.moments = self.moments + self.targets[:, :, self.start : P] @ block
        self.start = P


def _unsettled(xp: Namespace, step: Array, w: Array) -> BoolArray:
    """Whether the last correction is still large, by norms over the last axis; NaN counts as large."""
    limit = _SETTLED[dtype_name(w)]
    moved, whole = (to_numpy(xp.linalg.vector_norm(a, axis=-1)) for a in (step, w))
    # Labels that are all zero have weights of zero, which is settled.
    return np.asarray(~((moved <= limit * whole) | ((moved == 0) & (whole == 0))))
