"""Aggregation weights that minimise the ensemble's error."""

import numpy as np
from scipy.optimize import nnls

from subridge.arrays.types import ArrayLike, FloatArray
from subridge.model.checks import real_array
from subridge.model.errors import ParameterError
from subridge.model.moments import least_nonnegative


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
    stack = E.reshape(-1, *E.shape[-2:])
    own = np.diagonal(stack, axis1=1, axis2=2)
    if simplex and bool((np.isfinite(own) & (own > 0)).all()):
        weights = _on_simplex(stack)
    else:
        weights = np.array([_weights(matrix, simplex) for matrix in stack])
    return weights.reshape(E.shape[:-1])


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
    if simplex:
        weights[usable] = _on_simplex(finite[None, ...])[0]
        return weights
    # Members that duplicate each other make E singular; the solution of least norm shares their weight.
    likeness, b = _likeness(finite)
    values, vectors = np.linalg.eigh(likeness)
    kept = np.abs(values) > len(values) * np.finfo(np.float64).eps * np.abs(values).max()
    solution = vectors[:, kept] @ ((vectors[:, kept].T @ b) / values[kept]) * b
    weights[usable] = solution / solution.sum()
    return weights


def _on_simplex(E: FloatArray) -> FloatArray:
    """Weights (m, k) of members of finite errors, none of them zero."""
    likeness, b = _likeness((E + np.swapaxes(E, -1, -2)) / 2)
    # min yᵀAy - 2bᵀy over y ≥ 0 has its solution along that with bᵀy = 1, and so has |root y|² + (bᵀy - 1)².
    solution, known = least_nonnegative(likeness, b)
    for i in np.flatnonzero(~known):
        values, vectors = np.linalg.eigh(likeness[i])
        # An estimated E may be slightly indefinite; negative curvature is noise and is clipped.
        root = np.sqrt(np.clip(values, 0.0, None))[:, None] * vectors.T
        solution[i] = nnls(np.vstack([root, b[i]]), np.append(np.zeros(len(root)), 1.0))[0]
    solution = solution * b
    return np.asarray(solution / solution.sum(axis=-1, keepdims=True))


def _likeness(E: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Pairs (..., k, k) in units of the members' own errors, and what a unit is beside the least, (..., k)."""
    size = np.sqrt(np.diagonal(E, axis1=-2, axis2=-1))
    return E / size[..., :, None] / size[..., None, :], size.min(axis=-1, keepdims=True) / size
