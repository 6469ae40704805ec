"""Learning curves on any array library, batched over trials and ridges: made for a GPU."""

from typing import Any

import array_api_compat
import numpy as np

from subridge.arrays.cholesky import factor, gram_lower
from subridge.arrays.namespace import like, to_numpy
from subridge.ridge.curves.orthogonal import ill_conditioned, orthogonal_solution, probe
from subridge.ridge.curves.plan import CurvePlan


def solve_batched(F: Any, targets: Any, plan: CurvePlan, into: Any) -> None:
    """Fill the weights of one plan.

    Parameters
    ----------
    F : array, shape (B, P, N)
    targets : array, shape (B, n_rhs, P)
    plan : CurvePlan
    into : array, shape (B, n_ridges, n_sizes, n_rhs, N)
        Receives the weights of ``plan.ridges`` at every size.
    """
    xp = array_api_compat.array_namespace(F)
    if plan.watched:  # one right-hand side more, whose solution measures conditioning
        extra = xp.broadcast_to(like(probe(targets.shape[-1]), F), (targets.shape[0], 1, targets.shape[-1]))
        targets = xp.concat([targets, extra], axis=1)
    suspects = []
    if plan.n_dual:
        suspects.append(_dual(xp, F, targets, plan, into))
    if plan.n_dual < len(plan.n_samples):
        suspects.append(_primal(xp, F, targets, plan, into))
    if plan.watched:
        _replace(F, targets[:, :-1, :], plan, np.concatenate(suspects, axis=-1), into)


def _dual(xp: Any, F: Any, targets: Any, plan: CurvePlan, into: Any) -> Any:
    """All dual sizes from one factor per ridge; returns which are ill conditioned, shape (B, n_ridges, n_dual)."""
    sizes, P = plan.n_samples[: plan.n_dual], plan.dual_size
    (B, n_rhs), L, n = (targets.shape[0], targets.shape[1]), len(plan.ridges), plan.n_dual
    head = F[:, :P, :]
    K = gram_lower(head, xp.zeros((B, P, P), dtype=F.dtype, device=array_api_compat.device(F)))
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
    if not plan.watched:
        return None
    lengths = to_numpy(xp.linalg.vector_norm(u[..., -1, :], axis=-1))
    return ill_conditioned(norms[:, None, :], lengths, _name(F))


def _primal(xp: Any, F: Any, targets: Any, plan: CurvePlan, into: Any) -> Any:
    """One factor per segment and ridge from Gram matrices summed over blocks of samples."""
    B, _, N = F.shape
    L, start, verdicts, n_rhs = len(plan.ridges), 0, [], targets.shape[1] - plan.watched
    G = xp.zeros((B, N, N), dtype=F.dtype, device=array_api_compat.device(F))
    moments = xp.zeros((B, n_rhs, N), dtype=F.dtype, device=array_api_compat.device(F))
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
            verdicts.append(ill_conditioned(norms, lengths, _name(F)))
    return np.stack(verdicts, axis=-1) if verdicts else None


def _lean(xp: Any, a: Any, V: Any, targets: Any, sizes: list[int]) -> Any:
    """Whitened weights of the sizes after an anchor; see the function of this name in ``curve_lapack``.

    Parameters
    ----------
    a : array, shape (B · n_ridges, n_rhs, N)
    V : array, shape (B · n_ridges, m, N)
        Whitened samples.
    targets : array, shape (B, n_rhs, m)
    sizes : list of int
        Lengths of the prefixes of V.

    Returns
    -------
    array, shape (B · n_ridges, n_sizes · n_rhs, N)
    """
    (batch, n_rhs, _), m, n = a.shape, V.shape[1], len(sizes)
    S = xp.zeros((batch, m, m), dtype=V.dtype, device=array_api_compat.device(V))
    S += xp.eye(m, dtype=V.dtype, device=array_api_compat.device(V))
    gram_lower(V, S)
    error = _repeated(xp, targets, batch // targets.shape[0]) - a @ xp.matrix_transpose(V)
    lower, z = factor(S, error)
    inside = like(np.less.outer(np.arange(m), np.asarray(sizes)).T, V)
    rows = xp.reshape(inside[None, :, None, :] * z[:, None, :, :], (batch, n * n_rhs, m))
    u = lower.solve_transposed(rows, [size for size in sizes for _ in range(n_rhs)])
    own = xp.reshape(xp.broadcast_to(a[:, None, :, :], (batch, n, n_rhs, a.shape[-1])), (batch, n * n_rhs, -1))
    return own + u @ V


def _fresh(xp: Any, rows: Any) -> Any:
    """A copy that may be overwritten."""
    return xp.asarray(rows, copy=True)


def _replace(F: Any, targets: Any, plan: CurvePlan, suspects: Any, into: Any) -> None:
    """Solve the ill-conditioned entries again by an orthogonal factorisation."""
    for b, l, p in np.argwhere(suspects):
        P = plan.n_samples[p]
        into[int(b), int(l), int(p), :, :] = orthogonal_solution(
            F[int(b), :P, :], targets[int(b), :, :P], plan.ridges[l]
        )


def _shifted(xp: Any, gram: Any, ridges: tuple[float, ...]) -> Any:
    """``gram + λ I`` for every ridge, shape (B · n_ridges, n, n)."""
    n = gram.shape[-1]
    identity = xp.eye(n, dtype=gram.dtype, device=array_api_compat.device(gram))
    shifts = like(np.asarray(ridges), gram)[:, None, None] * identity
    return xp.reshape(gram[:, None, :, :] + shifts[None, ...], (gram.shape[0] * len(ridges), n, n))


def _repeated(xp: Any, rows: Any, n_ridges: int) -> Any:
    """Rows once per ridge, shape (B · n_ridges, n_rhs, n), in fresh memory."""
    B, n_rhs, n = rows.shape
    copies = xp.zeros((B, n_ridges, n_rhs, n), dtype=rows.dtype, device=array_api_compat.device(rows))
    copies[...] = rows[:, None, :, :]
    return xp.reshape(copies, (B * n_ridges, n_rhs, n))


def _prefix_norms(xp: Any, lower_gram: Any, sizes: Any) -> Any:
    """Frobenius norms of leading blocks, an upper bound of the spectral ones; shape (B, n_sizes)."""
    rows = to_numpy(xp.sum(xp.tril(lower_gram) ** 2, axis=-1))
    return np.sqrt(2 * np.cumsum(rows, axis=-1)[:, np.asarray(sizes) - 1])


def _name(array: Any) -> str:
    return str(array.dtype).rpartition(".")[2]
