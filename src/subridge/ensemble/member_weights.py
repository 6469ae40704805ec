"""Aggregation weights that minimise the ensemble's error."""

import numpy as np
from scipy.optimize import nnls

from subridge.arrays.types import ArrayLike, FloatArray
from subridge.spec.checks import real_array
from subridge.spec.errors import ParameterError


def member_weights(pairs: ArrayLike, *, simplex: bool = True) -> FloatArray:
    """Weights w with sum one that minimise ``wᵀ E w``.

    Parameters
    ----------
    pairs : array_like, shape (..., k, k)
        E_rr′, from `risk` or estimated. Members of infinite error get weight zero.
    simplex : bool
        Keep every weight non-negative; otherwise w = E⁻¹1/(1ᵀE⁻¹1).

    Returns
    -------
    ndarray, shape (..., k)

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
    values, vectors = np.linalg.eigh((finite + finite.T) / 2)
    if not simplex:
        # Members that duplicate each other make E singular; the solution of least norm shares their weight.
        solution = np.linalg.lstsq(finite, np.ones(len(finite)), rcond=None)[0]
        weights[usable] = solution / solution.sum()
        return weights
    # An estimated E may be slightly indefinite; negative curvature is noise and is clipped.
    root = np.sqrt(np.clip(values, 0.0, None))[:, None] * vectors.T
    if values[-1] <= 0:
        weights[usable] = 1 / usable.sum()
        return weights
    # min |root w|² + (1ᵀw - 1)² over w ≥ 0 has its solution along the constrained one, because both are homogeneous.
    scale = np.sqrt(values[-1])
    solution = nnls(np.vstack([root / scale, np.ones(len(finite))]), np.append(np.zeros(len(finite)), 1.0))[0]
    weights[usable] = solution / solution.sum()
    return weights
