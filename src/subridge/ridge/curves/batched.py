"""Learning curves on any array library, batched over trials and ridges: made for a GPU."""

from collections.abc import Sequence

import numpy as np

from subridge.arrays.cholesky import factor, gram_lower
from subridge.arrays.namespace import device_of, dtype_name, like, namespace_of, to_numpy
from subridge.arrays.types import Array, BoolArray, FloatArray, Namespace
from subridge.ridge.curves.orthogonal import ill_conditioned, orthogonal_solution, probe
from subridge.ridge.curves.plan import CurvePlan


def solve_batched(F: Array, targets: Array, plan: CurvePlan, into: Array) -> None:
    """Fill `into`, shape (B, n_ridges, n_sizes, n_rhs, N), with the weights of the plan's ridges at every size.

    Features have shape (B, P, N), targets (B, n_rhs, P).
    """
    xp = namespace_of(F)
    if plan.watched:  # one right-hand side more, whose solution measures conditioning
        extra = xp.broadcast_to(like(probe(targets.shape[-1]), F), (targets.shape[0], 1, targets.shape[-1]))
        targets = xp.concat([targets, extra], axis=1)
    doubtful = np.zeros((F.shape[0], len(plan.ridges), len(plan.n_samples)), dtype=bool)
    if plan.n_dual:
        _dual(xp, F, targets, plan, into, doubtful)
    if plan.n_dual < len(plan.n_samples):
        _primal(xp, F, targets, plan, into, doubtful)
    for b, l, p in np.argwhere(doubtful).tolist():
        P = plan.n_samples[p]
        wanted = targets[b, : targets.shape[1] - plan.watched, :P]
        into[b, l, p, :, :] = orthogonal_solution(F[b, :P, :], wanted, plan.ridges[l])


def _dual(xp: Namespace, F: Array, targets: Array, plan: CurvePlan, into: Array, doubtful: BoolArray) -> None:
    """All dual sizes from one factor per ridge."""
    sizes, P = plan.n_samples[: plan.n_dual], plan.dual_size
    (B, n_rhs), L, n = (targets.shape[0], targets.shape[1]), len(plan.ridges), plan.n_dual
    head = F[:, :P, :]
    K = gram_lower(head, xp.zeros((B, P, P), dtype=F.dtype, device=device_of(F)))
    norms = _prefix_norms(xp, K, sizes) if plan.watched else np.empty((B, 0))
    lower, z = factor(_shifted(xp, K, plan.ridges), _repeated(xp, targets[:, :, :P], L))
    # u_P = L⁻ᵀ [z masked to its first P entries], one row per size and right-hand side; sizes ascend.
    inside = like(np.less.outer(np.arange(P), np.asarray(sizes)).T, F)
    rows = xp.reshape(inside[None, :, None, :] * z[:, None, :, :], (B * L, n * n_rhs, P))
    u = lower.solve_transposed(rows, [size for size in sizes for _ in range(n_rhs)])
    u = xp.reshape(u, (B, L, n, n_rhs, P))
    wanted = u[..., :-1, :] if plan.watched else u
    shape = wanted.shape
    weights = xp.reshape(wanted, (B, L * n * shape[-2], P)) @ head
    into[:, :, :n, :, :] = xp.reshape(weights, (*shape[:-1], F.shape[-1]))
    if plan.watched:
        lengths = to_numpy(xp.linalg.vector_norm(u[..., -1, :], axis=-1))
        doubtful[..., :n] = ill_conditioned(norms[:, None, :], lengths, dtype_name(F))


def _primal(xp: Namespace, F: Array, targets: Array, plan: CurvePlan, into: Array, doubtful: BoolArray) -> None:
    """One factor per segment and ridge from Gram matrices summed over blocks of samples."""
    B, _, N = F.shape
    L, start, n_rhs = len(plan.ridges), 0, targets.shape[1] - plan.watched
    G = xp.zeros((B, N, N), dtype=F.dtype, device=device_of(F))
    moments = xp.zeros((B, n_rhs, N), dtype=F.dtype, device=device_of(F))
    for anchor, stop in plan.segments:
        here, last = plan.n_samples[anchor], plan.n_samples[stop - 1]
        block = F[:, start:here, :]
        gram_lower(xp.matrix_transpose(block), G)
        moments = moments + targets[:, :n_rhs, start:here] @ block
        start, right = here, moments
        if plan.watched:
            right = xp.concat([moments, xp.broadcast_to(like(probe(N), F), (B, 1, N))], axis=1)
        elif last > here:  # the samples that lean on this anchor are whitened along with its moments
            right = xp.concat([moments, F[:, here:last, :]], axis=1)
        lower, whitened = factor(_shifted(xp, G, plan.ridges), _repeated(xp, right, L))
        rows = whitened[:, : n_rhs + plan.watched, :]
        if last > here:
            sizes = [size - here for size in plan.n_samples[anchor + 1 : stop]]
            further = _lean(xp, rows, whitened[:, n_rhs:, :], targets[:, :, here:last], sizes)
            rows = xp.concat([rows, further], axis=1)
        solution = xp.reshape(lower.solve_transposed(_fresh(xp, rows)), (B, L, -1, N))
        weights = solution[:, :, : solution.shape[2] - plan.watched, :]
        into[:, :, anchor:stop, :, :] = xp.reshape(weights, (B, L, stop - anchor, n_rhs, N))
        if plan.watched:
            norms = _prefix_norms(xp, G, [N])
            lengths = to_numpy(xp.linalg.vector_norm(solution[:, :, -1, :], axis=-1))
            doubtful[..., anchor] = ill_conditioned(norms, lengths, dtype_name(F))


def _lean(xp: Namespace, a: Array, V: Array, targets: Array, sizes: list[int]) -> Array:
    """Whitened weights, shape (B · n_ridges, n_sizes · n_rhs, N), of the sizes after an anchor; see ``lapack._lean``.

    `a` has shape (B · n_ridges, n_rhs, N); V, shape (B · n_ridges, m, N), holds whitened samples, of which `sizes` are
    prefixes; targets have shape (B, n_rhs, m).
    """
    (batch, n_rhs, _), m, n = a.shape, V.shape[1], len(sizes)
    S = xp.zeros((batch, m, m), dtype=V.dtype, device=device_of(V))
    S += xp.eye(m, dtype=V.dtype, device=device_of(V))
    gram_lower(V, S)
    error = _repeated(xp, targets, batch // targets.shape[0]) - a @ xp.matrix_transpose(V)
    lower, z = factor(S, error)
    inside = like(np.less.outer(np.arange(m), np.asarray(sizes)).T, V)
    rows = xp.reshape(inside[None, :, None, :] * z[:, None, :, :], (batch, n * n_rhs, m))
    u = lower.solve_transposed(rows, [size for size in sizes for _ in range(n_rhs)])
    own = xp.reshape(xp.broadcast_to(a[:, None, :, :], (batch, n, n_rhs, a.shape[-1])), (batch, n * n_rhs, -1))
    return own + u @ V


def _fresh(xp: Namespace, rows: Array) -> Array:
    """A copy that may be overwritten."""
    return xp.asarray(rows, copy=True)


def _shifted(xp: Namespace, gram: Array, ridges: tuple[float, ...]) -> Array:
    """``gram + λ I`` for every ridge, shape (B · n_ridges, n, n)."""
    n = gram.shape[-1]
    identity = xp.eye(n, dtype=gram.dtype, device=device_of(gram))
    shifts = like(np.asarray(ridges), gram)[:, None, None] * identity
    return xp.reshape(gram[:, None, :, :] + shifts[None, ...], (gram.shape[0] * len(ridges), n, n))


def _repeated(xp: Namespace, rows: Array, n_ridges: int) -> Array:
    """Rows once per ridge, shape (B · n_ridges, n_rhs, n), in fresh memory."""
    B, n_rhs, n = rows.shape
    copies = xp.zeros((B, n_ridges, n_rhs, n), dtype=rows.dtype, device=device_of(rows))
    copies[...] = rows[:, None, :, :]
    return xp.reshape(copies, (B * n_ridges, n_rhs, n))


def _prefix_norms(xp: Namespace, lower_gram: Array, sizes: Sequence[int]) -> FloatArray:
    """Frobenius norms of leading blocks, an upper bound of the spectral ones; shape (B, n_sizes)."""
    rows = to_numpy(xp.sum(xp.tril(lower_gram) ** 2, axis=-1))
    return np.asarray(np.sqrt(2 * np.cumsum(rows, axis=-1)[:, np.asarray(sizes) - 1]))
