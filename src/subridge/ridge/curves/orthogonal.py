"""Ridge and minimum-norm solutions by orthogonal factorisation: slower than Cholesky, accurate at any conditioning."""

from typing import Any

import array_api_compat
import numpy as np
import scipy.linalg

# An estimated condition number of the Gram matrix beyond which a Cholesky solution is replaced. It keeps eight digits
# of float64 and is not reached five samples away from a threshold (N up to a few thousand).
_WORST_CONDITION = {"float64": 3e7, "float32": 1e5}


def orthogonal_solution(F: Any, targets: Any, lam: float) -> Any:
    """Minimise ``|F w - t|² + λ |w|²``; at λ = 0 the minimum-norm solution.

    Parameters
    ----------
    F : array, shape (P, N)
    targets : array, shape (n_rhs, P)
    lam : float

    Returns
    -------
    array, shape (n_rhs, N)

    Examples
    --------
    >>> orthogonal_solution(np.array([[1.0, 1.0]]), np.array([[2.0]]), 0.0)
    array([[1., 1.]])
    """
    P, N = F.shape
    if isinstance(F, np.ndarray):
        cutoff = float(np.finfo(F.dtype).eps) * max(P, N)
        if lam > 0:
            F = np.vstack([F, np.sqrt(lam) * np.eye(N, dtype=F.dtype)])
            targets = np.concatenate([targets, np.zeros((len(targets), N), dtype=F.dtype)], axis=1)
        return scipy.linalg.lstsq(F, targets.T, cond=cutoff, lapack_driver="gelsd", check_finite=False)[0].T
    xp = array_api_compat.array_namespace(F)
    U, s, Vt = xp.linalg.svd(F, full_matrices=False)
    cutoff = float(xp.finfo(F.dtype).eps) * max(P, N)
    kept = s > cutoff * xp.max(s)
    filtered = xp.where(kept, s / xp.where(kept, s * s + lam, xp.ones_like(s)), xp.zeros_like(s))
    return ((targets @ U) * filtered) @ Vt


def probe(n: int) -> Any:
    """A fixed vector of signs, shape (n,): the size of its solution tells how ill conditioned a system is."""
    return np.random.default_rng(20231127).choice([-1.0, 1.0], n)


def ill_conditioned(gram_norm: Any, solution_norm: Any, dtype: str) -> Any:
    """Whether a Gram matrix of this norm, solving the probe with this norm, is too ill conditioned for Cholesky.

    ``|A⁻¹ g|`` is about ``|A⁻¹|`` for a vector g of random signs, whose share of any eigenvector is about one.
    NaN, from a failed factorisation, counts as ill conditioned.
    """
    return ~(gram_norm * solution_norm < _WORST_CONDITION[dtype])
