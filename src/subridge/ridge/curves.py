"""Weights of members along whole learning curves: one factorisation per ridge serves every training-set size.

Counted operations decide which side of the problem is factored for which size. With F of shape (P, N) and n_P training
sets that are prefixes of one sample, a ridge λ costs

- dual, all sizes up to P_d at once: one factor of P_d × P_d, P_d³/3 operations, and 2 P_d² per size for the solve; all
  ridges share the Gram matrix, P_d² N;
- primal, one size: one factor of N × N, N³/3; all ridges share the Gram matrices of all prefixes, together P N²;
- anchored, a primal size P_0 and the sizes up to P_0 + m after it: in the coordinates that whiten the anchor's matrix
  the m further samples are a small dual problem, whose factor serves all its prefixes. This takes N³/3 for the anchor,
  N² m to whiten, m² N for the Gram matrix and m³/3 for its factor.

The cheapest split of the sorted sizes into a dual head and anchored segments is found by dynamic programming.

A NumPy array is solved trial by trial and ridge by ridge with LAPACK, an array of another library in one batch on its
device. Every large operation on a CPU goes through SciPy's BLAS and LAPACK: alternating with NumPy's would make two
pools of threads compete for the cores. SciPy's routines expect Fortran order, so a C-ordered array is passed as its
transpose, without a copy.

Ridgeless solutions are refined. A Gram matrix loses half of the digits of its features, and at P ≈ N all of them. But
its factor is still accurate enough to *correct* a solution whose residual is computed from the features themselves
(corrected seminormal equations, Björck 1987): each step multiplies the error by about cond(F)² · 1e-16. An orthogonal
factorisation is needed only if the correction does not converge.
"""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from scipy.linalg import blas, lapack

from subridge.arrays.cholesky import BlockedFactor, factor, gram_lower
from subridge.arrays.machine import blas_threads
from subridge.arrays.namespace import (
    batched_product,
    device_of,
    dtype_name,
    eye_like,
    is_numpy,
    like,
    namespace_of,
    to_numpy,
)
from subridge.arrays.types import Array, BoolArray, FloatArray, IntArray

# Corrections applied, and the largest relative size of the last one that counts as converged. The remaining error is
# smaller than the last correction by the ratio of the last two, so 1e-6 leaves nine digits or more.
_STEPS = 2
_SETTLED = {"float64": 1e-6, "float32": 1e-3}

# -- which side to factor --------------------------------------------------------------------------

# The dual factor beyond P = N loses about 2e-15/λ of the weights (float64, features of unit variance): below this ridge
# sizes beyond N are solved on the primal side, and solutions are refined.
_DELICATE = {"float64": 1e-7, "float32": 1e-2}

# A factorisation of a small matrix runs below the rate of a product: n³/3 operations take the time of (n³ + c n²)/3
# in a product. Fitted to LAPACK at n = 200 to 2000 (10 to 34 GFLOP/s a core, products 50 to 70).
_FACTOR_OVERHEAD = 1400.0
# Every factorisation also takes copies, calls and two solves, some 50 µs.
_CALL_OVERHEAD = 3e6
_PLACES = 200  # most places at which a segment may begin

Segments: TypeAlias = tuple[tuple[int, int], ...]


def plan_curve(
    n_samples: Sequence[int], n_features: int, ridges: Sequence[float], *, scale: float = 1.0, dtype: str = "float64"
) -> tuple[list[int], int, Segments]:
    """Places of the ordinary ridges, the number of sizes that these take on the dual side, and segments of the others.

    All other ridges are so small that solutions are refined. A segment is a range of places; its first size is solved
    on the primal side and anchors the rest. Sizes ascend strictly, `n_features` is N of one member, and `scale` is the
    mean squared entry of the unscaled features, the unit in which a ridge counts as small.
    """
    ordinary = [place for place, lam in enumerate(ridges) if lam > 0 and lam >= _DELICATE[dtype] * scale]
    return ordinary, *cheapest_split(tuple(n_samples), n_features, len(ordinary))


@lru_cache(maxsize=256)
def cheapest_split(n_samples: tuple[int, ...], n_features: int, n_ridges: int) -> tuple[int, Segments]:
    """Number of dual sizes and the anchored segments after them, with the fewest operations.

    Segments begin at no more than `_PLACES` places, spread evenly over the sizes, so that the time to plan is bounded.
    """
    n = len(n_samples)
    N = n_features
    steps = min(len(n_samples), _PLACES)
    places = [n * step // steps for step in range(steps + 1)]
    tails = {n: (0.0, n)}  # costs from a place on, and where the first segment stops
    for at, start in reversed([*enumerate(places[:-1], 1)]):
        tails[start] = min(
            (n_ridges * segment_cost(n_samples, N, start, stop) + tails[stop][0], stop) for stop in places[at:]
        )
    gram = n_samples[-1] * N * N
    n_dual = min(places, key=lambda i: dual_cost(n_samples, N, n_ridges, i) + tails[i][0] + gram * (i < n))
    starts = [n_dual]
    while starts[-1] < n:
        starts.append(tails[starts[-1]][1])
    return n_dual, tuple(pairwise(starts))


def dual_cost(n_samples: Sequence[int], n_features: int, n_ridges: int, n_dual: int) -> float:
    """Operations of the first `n_dual` sizes solved dually; solves, slower than products, count twice."""
    N = n_features
    d = n_samples[n_dual - 1] if n_dual else 0
    return d * d * N + n_ridges * (factor_cost(d) + 2 * n_dual * d * (d + N))


def segment_cost(n_samples: Sequence[int], n_features: int, start: int, stop: int) -> float:
    """Operations of one ridge on a segment: its anchor, and the sizes that depend on it; whitening counts twice."""
    N = n_features
    m = n_samples[stop - 1] - n_samples[start]
    solves = 2 * (stop - start - 1) * (m * m + m * N + N * N)
    return factor_cost(N) + 4 * N * N + (m * N * (2 * N + m) + factor_cost(m) + solves)


def factor_cost(n: int) -> float:
    """Operations of a Cholesky factorisation, with the overhead of a small matrix."""
    return (n**3 + _FACTOR_OVERHEAD * n * n) / 3 + _CALL_OVERHEAD if n else 0.0


# -- one member, many trials and ridges -----------------------------------------------------------


def weights_along_curve(
    F: Array, targets: Array, n_samples: Sequence[int], ridges: Sequence[float], *, scale: float = 1.0
) -> Array:
    """Train one member on the first P samples, for every P and every ridge; shape (B, n_ridges, n_sizes, n_rhs, N).

    Minimises ``Σ_μ (w·F_μ - t_μ)² + λ |w|²`` over the first P rows; λ = 0 gives the minimum-norm solution. F, shape (B,
    P_max, N), holds the features of the member in B trials, scaled by 1/√N. Targets, shape (B, n_rhs, P_max), are
    labels of one or several targets, or labels and readout noise. Sizes ascend strictly; `scale` is the mean square of
    the features before they were scaled, the unit in which a ridge counts as small.

    With ``K = F Fᵀ`` over all samples and ``L Lᵀ = K + λ I``, the factor of any prefix is the leading block of L. So
    ``z = L⁻¹ t`` serves all P, and ``L⁻ᵀ`` applied to z masked to its first P entries gives every dual solution. If the
    N × N side is cheaper or more accurate it is used instead.
    """
    sizes = tuple(int(P) for P in n_samples)
    B, _, N = F.shape
    weights = _zeros(F, B, len(ridges), len(sizes), targets.shape[1], N)
    ordinary, n_dual, segments = plan_curve(sizes, N, ridges, scale=scale, dtype=dtype_name(F))
    kept = [ridges[place] for place in ordinary]
    for trial in [slice(b, b + 1) for b in range(B)] if is_numpy(F) else [slice(None)]:
        rows = F[trial, ...]
        labels = targets[trial, ...]
        for place, ridge in enumerate(ridges):
            if place not in ordinary:
                weights[trial, place, ...] = refined_curve(rows, labels, sizes, np.full(rows.shape[0], N), ridge)
        if kept:
            found = solve_curve(rows, labels, sizes, kept, n_dual, segments)
            for source, place in enumerate(ordinary):
                weights[trial, place, ...] = found[:, source, ...]
    return weights


def solve_curve(
    F: Array, targets: Array, sizes: Sequence[int], ridges: Sequence[float], n_dual: int, segments: Segments
) -> Array:
    """Weights at ordinary ridges by a dual head and anchored segments, shape (B, n_ridges, n_sizes, n_rhs, N).

    A segment has one factor per ridge, from Gram matrices summed over blocks of samples. With ``R Rᵀ = G + λ I`` and
    moments c of its first size, its anchor, ``a = R⁻¹ c``, further samples B and targets t, and ``V = R⁻¹ Bᵀ``: the
    weights of the other sizes are ``R⁻ᵀ (a + V (I + Vᵀ V)⁻¹ (t - Vᵀ a))``, and every prefix of B has the leading block
    of the factor of ``I + Vᵀ V``.
    """
    xp = namespace_of(F)
    B, _, N = F.shape
    n_rhs = targets.shape[1]
    weights = _zeros(F, B, len(ridges), len(sizes), n_rhs, N)
    # Ridges that are solved at once.
    together = [slice(l, l + 1) for l in range(len(ridges))] if is_numpy(F) else [slice(None)]
    if n_dual:
        head = F[:, : sizes[n_dual - 1], :]
        K = _add_gram(head, _zeros(F, B, head.shape[1], head.shape[1]))
        for part in together:
            kept = weights[:, part, :n_dual, :, :]
            right = xp.repeat(targets[:, :, : K.shape[1]], len(ridges[part]), axis=0)
            lower, z = _factor(_shifted(K, ridges[part]), right)
            u = xp.reshape(_masked_back_solve(lower, z, sizes[:n_dual]), (B, -1, K.shape[1]))
            kept[...] = xp.reshape(batched_product(u, head), kept.shape)
    if segments:
        G = _zeros(F, B, N, N)
        moments = _zeros(F, B, n_rhs, N)
    start = 0
    for anchor, stop in segments:
        here = sizes[anchor]
        last = sizes[stop - 1]
        _add_gram(F[:, start:here, :].mT, G)
        moments = moments + batched_product(targets[:, :, start:here], F[:, start:here, :])
        start = here
        right = xp.concat([moments, F[:, here:last, :]], axis=1)
        for part in together:
            L = len(ridges[part])
            lower, whitened = _factor(_shifted(G, ridges[part]), xp.repeat(right, L, axis=0))
            rows = a = whitened[:, :n_rhs, :]
            if last > here:
                V = whitened[:, n_rhs:, :]
                further = [size - here for size in sizes[anchor + 1 : stop]]
                S = _zeros(F, B * L, last - here, last - here) + eye_like(F, last - here)
                error = xp.repeat(targets[:, :, here:last], L, axis=0) - batched_product(a, V.mT)
                u = _masked_back_solve(*_factor(_add_gram(V, S), error), further)
                added = a[:, None, :, :] + xp.reshape(batched_product(u, V), (B * L, len(further), n_rhs, N))
                rows = xp.concat([a, xp.reshape(added, (B * L, -1, N))], axis=1)
            solved = lower.solve_transposed(rows)
            weights[:, part, anchor:stop, :, :] = xp.reshape(solved, (B, L, stop - anchor, n_rhs, N))
    if is_numpy(F):  # a matrix that is not positive definite up to rounding gives NaN
        for b, l, p in np.argwhere(np.isnan(weights[:, :, :, 0, 0])).tolist():
            first = slice(sizes[p])
            weights[b, l, p] = orthogonal_solution(F[b, first], targets[b, :, first], ridges[l])
    return weights


def _masked_back_solve(lower: "BlockedFactor | _LapackFactor", z: Array, sizes: Sequence[int]) -> Array:
    """``L⁻ᵀ`` applied to rows z (batch, n_rhs, P), masked to the first entries of every size, ascending.

    Shape (batch, n_sizes · n_rhs, P).
    """
    batch, n_rhs, P = z.shape
    inside = like(np.arange(P) < np.asarray(sizes)[:, None], z)[None, :, None, :]
    rows = namespace_of(z).reshape(inside * z[:, None, :, :], (batch, len(sizes) * n_rhs, P))
    return lower.solve_transposed(rows, [size for size in sizes for _ in range(n_rhs)])


def _shifted(gram: Array, ridges: Sequence[float]) -> Array:
    """``gram + λ I`` for every ridge, shape (B · n_ridges, n, n), in fresh memory."""
    xp = namespace_of(gram)
    n = gram.shape[-1]
    copies = xp.repeat(gram, len(ridges), axis=0)
    diagonals = xp.reshape(copies, (gram.shape[0], len(ridges), n * n))[..., :: n + 1]
    diagonals += like(np.asarray(ridges), gram)[:, None]
    return copies


def _zeros(example: Array, *shape: int) -> Array:
    return namespace_of(example).zeros(shape, dtype=example.dtype, device=device_of(example))


# -- factors --------------------------------------------------------------------------------------


class _LapackFactor:
    """As `BlockedFactor`, for C-ordered NumPy matrices whose upper triangles are known.

    In Fortran order these are the lower triangles, which OpenBLAS factors in two thirds of the time of the upper ones.
    """

    def __init__(self, matrices: FloatArray) -> None:
        potrf, self._trtrs = lapack.get_lapack_funcs(("potrf", "trtrs"), (matrices,))
        self._lower = []
        for matrix in matrices:
            lower, failed = potrf(matrix.T, lower=1, overwrite_a=1, clean=0)
            self._lower.append(np.full_like(lower, np.nan) if failed else lower)

    def _solve(self, rows: FloatArray, trans: int) -> FloatArray:
        for lower, each in zip(self._lower, rows, strict=True):
            each[...] = self._trtrs(lower, each.T, lower=1, trans=trans, overwrite_b=1)[0].T
        return rows

    def solve_forward(self, rows: FloatArray) -> FloatArray:
        """Solve ``L z = t`` for every row t, shape (batch, n_rows, n), overwritten with the result."""
        return self._solve(rows, 0)

    def solve_transposed(self, rows: FloatArray, lengths: list[int] | None = None) -> FloatArray:
        """Solve ``Lᵀ u = z`` for every row z, shape (batch, n_rows, n), overwritten with the result."""
        return self._solve(rows, 1)


def _factor(matrices: Array, rows: Array) -> tuple["BlockedFactor | _LapackFactor", Array]:
    """Factor matrices (batch, n, n) and solve ``L z = t`` for rows (batch, n_rows, n); both are overwritten."""
    lower = _LapackFactor(matrices) if is_numpy(matrices) else factor(matrices)
    return lower, lower.solve_forward(rows)


def _add_gram(rows: Array, into: Array) -> Array:
    """Add the triangle of ``rows @ rowsᵀ`` that is factored, shape (batch, n, n), to `into`."""
    if not is_numpy(rows):
        return gram_lower(rows, into)
    (syrk,) = blas.get_blas_funcs(("syrk",), (rows,))
    for each, gram in zip(rows, into, strict=True):
        flipped = each.flags.c_contiguous
        syrk(1.0, each.T if flipped else each, beta=1.0, c=gram.T, trans=flipped, lower=1, overwrite_c=1)
    return into


def orthogonal_solution(F: Array, targets: Array, lam: float) -> Array:
    """Minimise ``|F w - t|² + λ |w|²`` by singular values; at λ = 0 the minimum-norm solution.

    F has shape (..., P, N), targets (..., n_rhs, P), the solution (..., n_rhs, N). It is slower than Cholesky factors
    and accurate at any conditioning.

    >>> orthogonal_solution(np.array([[1.0, 1.0]]), np.array([[2.0]]), 0.0)
    array([[1., 1.]])
    """
    xp = namespace_of(F)
    U, s, Vt = xp.linalg.svd(F, full_matrices=False)
    kept = s > float(np.finfo(dtype_name(F)).eps) * max(F.shape[-2:]) * s[..., :1]
    filtered = kept * s / xp.where(kept, s * s + lam, 1.0)
    solution: Array = ((targets @ U) * filtered[..., None, :]) @ Vt
    return solution


# -- many members of different sizes, refined -----------------------------------------------------


def refined_curve(
    F: Array, targets: Array, n_samples: Sequence[int], member_sizes: IntArray, ridge: float = 0.0
) -> Array:
    """Refined weights on the first P samples, for every P, shape (G, n_sizes, n_rhs, N), of G members.

    Features, shape (G, P_max, N), are scaled by 1/√N_g and zero from column N_g on; `member_sizes`, ascending, are
    these N_g. Targets have shape (G, n_rhs, P_max); sizes ascend strictly. At each training-set size, members with
    fewer features are solved on the primal side, the others on the dual side. Members whose corrections do not converge
    are solved by an orthogonal factorisation.
    """
    xp = namespace_of(F)
    G, _, N = F.shape
    sizes = [int(P) for P in n_samples]
    weights = _zeros(F, G, len(sizes), targets.shape[1], N)
    largest = max((P for P in sizes if member_sizes[-1] >= P), default=0)
    kernel = _zeros(F, G, largest, largest) + ridge * eye_like(F, largest)
    if largest:
        _add_gram(F[:, :largest, :], kernel)
    # A one on the diagonal of every padded feature keeps the factor regular; its weight is zero.
    padded = like(np.arange(N) >= np.asarray(member_sizes)[:, None], F)
    gram = (padded[:, :, None] + ridge) * eye_like(F, N)
    left = []  # members that do not converge, and at which size
    for place, (start, P) in enumerate(pairwise([0, *sizes])):
        _add_gram(F[:, start:P, :].mT, gram)
        split = int(member_sizes.searchsorted(P))  # the members before it are on the primal side
        for part, matrices in (slice(0, split), gram), (slice(split, G), kernel[:, :P, :P]):
            if part.start < part.stop:
                own = xp.asarray(matrices[part, ...], copy=True)
                found, settled = _refined(F[part, :P, :], targets[part, :, :P], own, ridge, matrices is gram)
                weights[part, place, :, :] = found
                left += [(part.start + g, place) for g in np.flatnonzero(~settled).tolist()]

    def solve(which: tuple[int, int]) -> FloatArray:
        g, place = which
        P = sizes[place]
        return orthogonal_solution(to_numpy(F[g, :P, : member_sizes[g]]), to_numpy(targets[g, :, :P]), ridge)

    if not left:
        return weights
    # The host is faster than a GPU on one small matrix, and all its cores are free while a GPU works.
    workers = 1 if is_numpy(F) else os.cpu_count() or 1
    with blas_threads(1 if workers > 1 else None), ThreadPoolExecutor(workers) as pool:
        for (g, place), solution in zip(left, pool.map(solve, left), strict=True):
            weights[g, place, ...] = 0.0
            weights[g, place, :, : solution.shape[-1]] = like(solution, F)
    return weights


def _refined(rows: Array, labels: Array, matrices: Array, ridge: float, is_primal: bool) -> tuple[Array, BoolArray]:
    """Weights of some members at one size, shape (G, n_rhs, N), and which of them have converged; shape (G,).

    Matrices are ``FᵀF + λ`` if `is_primal`, else ``FFᵀ + λ``, as `_add_gram` leaves them, and overwritten.
    """
    right = batched_product(labels, rows) if is_primal else namespace_of(labels).asarray(labels, copy=True)
    lower, z = _factor(matrices, right)
    u = lower.solve_transposed(z)
    w = step = u if is_primal else batched_product(u, rows)
    for _ in range(_STEPS):
        rest = labels - batched_product(w, rows.mT)
        gradient = (batched_product(rest, rows) if is_primal else rest) - ridge * u
        change = lower.solve_transposed(lower.solve_forward(gradient))
        step = change if is_primal else batched_product(change, rows)
        u = u + change
        w = w + step
    moved, whole = (to_numpy((each * each).sum(axis=(1, 2))) ** 0.5 for each in (step, w))
    # Labels that are all zero have weights of zero, which count as converged; NaN does not.
    return w, np.asarray(moved <= _SETTLED[dtype_name(w)] * whole)
