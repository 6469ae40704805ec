"""Aggregation weights that minimise the ensemble's error."""

import numpy as np
from scipy.optimize import nnls

from subridge.arrays.types import ArrayLike, FloatArray
from subridge.spec.checks import real_array
from subridge.spec.errors import ParameterError

_APART = 1e-4  # share of a member's power that the others do not explain


def member_weights(pairs: ArrayLike, *, simplex: bool = True) -> FloatArray:
    """The weights w with sum one that minimise ``wᵀ E w``.

    Parameters
    ----------
    pairs : array_like, shape (..., k, k)
        E_rr′, from `risk` or estimated. Members of infinite error get weight zero.
    simplex : bool
        Keep every weight non-negative; otherwise w = E⁻¹1/(1ᵀE⁻¹1).

    Returns
    -------
    ndarray, shape (..., k)
        One weight per member.

    Raises
    ------
    ParameterError
        If `pairs` is no square matrix, or every member's error is infinite.
    DataError
        If it holds NaN.

    Examples
    --------
    >>> member_weights([[1.0, 0.0], [0.0, 3.0]])
    array([0.75, 0.25])
    """
    E = real_array("pairs", pairs)
    if E.ndim < 2 or E.shape[-1] != E.shape[-2]:
        raise ParameterError(f"pairs must have shape (..., k, k), got {E.shape}")
    k = E.shape[-1]
    weights = [_weights(matrix, simplex) for matrix in E.reshape(-1, k, k)]
    return np.array(weights).reshape(E.shape[:-1])


def _weights(E: FloatArray, simplex: bool) -> FloatArray:
    usable = np.isfinite(np.diagonal(E))
    weights = np.zeros(len(E))
    if not usable.any():
        raise ParameterError("every member has infinite error; no weighting makes it finite")
    finite = E[np.ix_(usable, usable)]
    finite = (finite + finite.T) / 2
    own = np.diagonal(finite)
    if (own <= 0).any():  # a member without error needs no help; equals share
        weights[usable] = (own <= 0) / (own <= 0).sum()
        return weights
    # With a unit diagonal what is small is the members' likeness, not their scale.
    size = np.sqrt(own)
    likeness, b = finite / size[:, None] / size, size.min() / size
    inside = interior(likeness, b) if simplex else None
    if inside is not None:
        weights[usable] = inside * b / (inside @ b)
        return weights
    values, vectors = np.linalg.eigh(likeness)
    if simplex:
        # An estimated E may be slightly indefinite; negative curvature is noise and is clipped.
        root = np.sqrt(np.clip(values, 0.0, None))[:, None] * vectors.T
        # min |root y|² + (bᵀy - 1)² over y ≥ 0 has its solution along the constrained one: both are homogeneous.
        scaled = nnls(np.vstack([root, b]), np.append(np.zeros(len(b)), 1.0))[0]
    else:
        # Members that duplicate each other make E singular; the solution of least norm shares their weight.
        kept = np.abs(values) > len(values) * np.finfo(np.float64).eps * np.abs(values).max()
        scaled = vectors[:, kept] @ ((vectors[:, kept].T @ b) / values[kept])
    solution = scaled * b
    weights[usable] = solution / solution.sum()
    return weights


def interior(A: FloatArray, b: FloatArray) -> FloatArray | None:
    """``A⁻¹b`` for A of unit diagonal, where members are apart and none of it is negative; else None.

    Then it is the best of all y ≥ 0, at a tenth of the cost of a search.
    """
    try:
        root = np.linalg.cholesky(A)
    except np.linalg.LinAlgError:
        return None
    if np.diagonal(root).min() ** 2 < _APART:
        return None
    found: FloatArray = np.asarray(np.linalg.solve(A, b), dtype=np.float64)
    return found if (found >= 0).all() else None
