"""Ridge and minimum-norm solutions by orthogonal factorisation: slower than Cholesky, accurate at any conditioning."""

import numpy as np
import scipy.linalg

from subridge.arrays.namespace import dtype_name, is_numpy, namespace_of
from subridge.arrays.types import Array, ArrayLike, BoolArray, FloatArray

# An estimated condition number of the Gram matrix beyond which a Cholesky solution is replaced. It keeps eight digits
# of float64 and is not reached five samples away from a threshold (N up to a few thousand).
_WORST_CONDITION = {"float64": 3e7, "float32": 1e5}


def orthogonal_solution(F: Array, targets: Array, lam: float) -> Array:
    """Minimise ``|F w - t|² + λ |w|²``; at λ = 0 the minimum-norm solution.

    F has shape (P, N), targets (n_rhs, P), the solution (n_rhs, N).

    >>> orthogonal_solution(np.array([[1.0, 1.0]]), np.array([[2.0]]), 0.0)
    array([[1., 1.]])
    """
    P, N = F.shape
    cutoff = float(np.finfo(dtype_name(F)).eps) * max(P, N)
    if is_numpy(F):
        if lam > 0:
            F = np.vstack([F, np.sqrt(lam) * np.eye(N, dtype=F.dtype)])
            targets = np.concatenate([targets, np.zeros((len(targets), N), dtype=F.dtype)], axis=1)
        return np.asarray(scipy.linalg.lstsq(F, targets.T, cond=cutoff, lapack_driver="gelsd", check_finite=False)[0].T)
    xp = namespace_of(F)
    U, s, Vt = xp.linalg.svd(F, full_matrices=False)
    kept = s > cutoff * xp.max(s)
    filtered = xp.where(kept, s / xp.where(kept, s * s + lam, xp.ones_like(s)), xp.zeros_like(s))
    solution: Array = ((targets @ U) * filtered) @ Vt
    return solution


def probe(n: int) -> FloatArray:
    """A fixed vector of signs, shape (n,): the size of its solution tells how ill conditioned a system is."""
    return np.random.default_rng(20231127).choice([-1.0, 1.0], n)


def ill_conditioned(gram_norm: ArrayLike, solution_norm: ArrayLike, dtype: str) -> BoolArray:
    """Whether a Gram matrix of this norm, solving the probe with this norm, is too ill conditioned for Cholesky.

    ``|A⁻¹ g|`` is about ``|A⁻¹|`` for a vector g of random signs, whose share of any eigenvector is about one.
    NaN, from a failed factorisation, counts as ill conditioned.
    """
    return np.asarray(~(np.multiply(gram_norm, solution_norm) < _WORST_CONDITION[dtype]))
