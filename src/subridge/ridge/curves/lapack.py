"""Learning curves with LAPACK, one trial at a time: the fast path on a CPU.

Every large operation goes through SciPy's BLAS and LAPACK: alternating with NumPy's would make two pools of threads
fight for the cores. SciPy wants columns first, so a C-ordered array is handed over as its transpose, without a copy.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from scipy.linalg import blas, lapack

from subridge.arrays.types import BoolArray, FloatArray
from subridge.ridge.curves.orthogonal import ill_conditioned, orthogonal_solution, probe
from subridge.ridge.curves.plan import CurvePlan

# Routines of the precision of their input. Those of LAPACK return a code beside the result: zero for success.
_Blas: TypeAlias = Callable[..., FloatArray]
_Lapack: TypeAlias = Callable[..., tuple[FloatArray, int]]


def solve_with_lapack(F: FloatArray, targets: FloatArray, plan: CurvePlan, into: FloatArray) -> None:
    """Fill `into`, shape (n_ridges, n_sizes, n_rhs, N), with the weights of the plan's ridges at every size.

    For one trial, whose features have shape (P, N), C-ordered, and targets (n_rhs, P).
    """
    doubtful = np.zeros((len(plan.ridges), len(plan.n_samples)), dtype=bool)
    if plan.n_dual:
        _dual(F, targets, plan, into, doubtful)
    if plan.n_dual < len(plan.n_samples):
        _primal(F, targets, plan, into, doubtful)
    for l, p in np.argwhere(doubtful):
        P = plan.n_samples[p]
        into[l, p] = orthogonal_solution(F[:P], targets[:, :P], plan.ridges[l])


def _dual(F: FloatArray, targets: FloatArray, plan: CurvePlan, into: FloatArray, doubtful: BoolArray) -> None:
    """All dual sizes from one factor per ridge."""
    P, n, n_rhs = plan.dual_size, plan.n_dual, len(targets)
    syrk, gemm, potrf, trtrs = _routines(F)
    head = F[:P]
    K = syrk(1.0, head.T, trans=1, lower=1)
    norms = _prefix_norms(K)[np.asarray(plan.n_samples[:n]) - 1] if plan.watched else np.empty(0)
    rhs = np.vstack([targets[:, :P], probe(P).astype(F.dtype)[None]]) if plan.watched else targets[:, :P]
    for l, lam in enumerate(plan.ridges):
        L, kept = _leading_factor(potrf, K, lam, plan.n_samples[:n])
        doubtful[l, kept:n] = True
        if not kept:
            continue
        size = plan.n_samples[kept - 1]
        z = trtrs(L, rhs[:, :size].T, lower=1)[0].T
        # u_P = L⁻ᵀ [z masked to its first P entries], one row per size and right-hand side.
        inside = np.arange(size) < np.asarray(plan.n_samples[:kept])[:, None]
        rows = (inside[:, None, :] * z).reshape(kept * len(rhs), size)
        u = trtrs(L, rows.T, lower=1, trans=1, overwrite_b=1)[0].T.reshape(kept, len(rhs), size)
        if plan.watched:
            lengths = np.linalg.norm(u[:, -1], axis=-1)
            doubtful[l, :kept] |= ill_conditioned(norms[:kept], lengths, F.dtype.name)
            u = np.ascontiguousarray(u[:, :-1])
        weights = gemm(1.0, head[:size].T, u.reshape(kept * n_rhs, size).T)
        into[l, :kept] = weights.T.reshape(kept, n_rhs, -1)


def _leading_factor(potrf: _Lapack, K: FloatArray, lam: float, sizes: tuple[int, ...]) -> tuple[FloatArray, int]:
    """Factor of the largest leading block of K + λI that is positive definite, and how many of the sizes it serves."""
    kept = len(sizes)
    while kept:
        A = K[: sizes[kept - 1], : sizes[kept - 1]].copy(order="F")
        A.T.reshape(-1)[:: len(A) + 1] += lam
        L, info = potrf(A, lower=1, overwrite_a=1, clean=0)
        if info == 0:
            return L, kept
        kept = sum(size < info for size in sizes)
    return K, 0


def _primal(F: FloatArray, targets: FloatArray, plan: CurvePlan, into: FloatArray, doubtful: BoolArray) -> None:
    """One factor per segment and ridge from Gram matrices summed over blocks of samples."""
    N, start = F.shape[1], 0
    syrk, gemm, potrf, trtrs = _routines(F)
    G = np.zeros((N, N), dtype=F.dtype, order="F")
    moments = np.zeros((N, len(targets)), dtype=F.dtype, order="F")
    for anchor, stop in plan.segments:
        block = F[start : plan.n_samples[anchor]]
        G = syrk(1.0, block.T, beta=1.0, c=G, lower=1, overwrite_c=1)
        moments = gemm(1.0, block.T, targets[:, start : start + len(block)].T, beta=1.0, c=moments, overwrite_c=1)
        start = plan.n_samples[anchor]
        rhs, norm = moments, 0.0
        if plan.watched:
            rhs, norm = np.column_stack([moments, probe(N).astype(F.dtype)]), _prefix_norms(G)[-1]
        for l, lam in enumerate(plan.ridges):
            A = G.copy(order="F")
            A.T.reshape(-1)[:: N + 1] += lam
            R, info = potrf(A, lower=1, overwrite_a=1, clean=0)
            if info:
                doubtful[l, anchor:stop] = True
                continue
            whitened = trtrs(R, rhs, lower=1)[0]
            solution = trtrs(R, whitened, lower=1, trans=1)[0]
            if plan.watched:
                length = np.linalg.norm(solution[:, -1])
                doubtful[l, anchor] = ill_conditioned(norm, length, F.dtype.name)
                solution = solution[:, :-1]
            into[l, anchor] = solution.T
            if stop > anchor + 1:
                _lean(F, targets, plan.n_samples[anchor:stop], (R, whitened), into[l, anchor + 1 : stop])


def _lean(
    F: FloatArray, targets: FloatArray, sizes: tuple[int, ...], anchor: tuple[FloatArray, FloatArray], into: FloatArray
) -> None:
    """The sizes after an anchor, from one factor of the samples between.

    With ``R Rᵀ = G + λ I`` and moments c of the anchor, ``a = R⁻¹ c``, further samples B and targets t, and
    ``V = R⁻¹ Bᵀ``: the weights are ``R⁻ᵀ (a + V (I + Vᵀ V)⁻¹ (t - Vᵀ a))``, and every prefix of B has the leading block
    of the factor of ``I + Vᵀ V``.
    """
    syrk, gemm, potrf, trtrs = _routines(F)
    (R, a), n, n_rhs = anchor, len(sizes) - 1, len(targets)
    first, m = sizes[0], sizes[-1] - sizes[0]
    V = trtrs(R, F[first : sizes[-1]].T, lower=1)[0]
    S = syrk(1.0, V, trans=1, lower=1)
    S.T.reshape(-1)[:: m + 1] += 1.0
    L = potrf(S, lower=1, overwrite_a=1, clean=0)[0]
    error = targets[:, first : sizes[-1]].T - gemm(1.0, V, a, trans_a=1)
    z = trtrs(L, error, lower=1)[0].T
    inside = np.arange(m) < np.asarray(sizes[1:])[:, None] - first
    rows = (inside[:, None, :] * z).reshape(n * n_rhs, m)
    u = trtrs(L, rows.T, lower=1, trans=1, overwrite_b=1)[0]
    x = gemm(1.0, V, u) + np.tile(a, n)
    into[...] = trtrs(R, x, lower=1, trans=1)[0].T.reshape(n, n_rhs, -1)


def _prefix_norms(lower_gram: FloatArray) -> FloatArray:
    """Frobenius norms of all leading blocks, upper bounds of the spectral ones; shape (n,)."""
    lower = np.tril(lower_gram)
    return np.asarray(np.sqrt(2 * np.cumsum(np.einsum("ij,ij->i", lower, lower))))


def _routines(F: FloatArray) -> tuple[_Blas, _Blas, _Lapack, _Lapack]:
    syrk, gemm = blas.get_blas_funcs(("syrk", "gemm"), (F,))
    potrf, trtrs = lapack.get_lapack_funcs(("potrf", "trtrs"), (F,))
    return syrk, gemm, potrf, trtrs
