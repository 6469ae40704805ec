"""A covariance given by all its entries."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg

from subridge.arrays.namespace import rows_times
from subridge.arrays.types import Array, ArrayLike, FloatArray, IntArray
from subridge.model.checks import finite_array
from subridge.model.covariance import Covariance
from subridge.model.errors import CovarianceError

# Eigenvalues this far below zero, relative to the largest entry, are rounding of a semi-definite matrix.
_SEMIDEFINITE_SLACK = 1e-10


@dataclass(frozen=True, eq=False)
class Dense(Covariance):
    """Any symmetric positive semi-definite matrix; see `dense`.

    Parameters
    ----------
    matrix : ndarray, shape (M, M)
        Σ.

    Raises
    ------
    CovarianceError
        If the matrix is not square, not symmetric, or has a negative eigenvalue.
    DataError
        If it has entries that are NaN or infinite.

    Examples
    --------
    >>> import numpy as np
    >>> Dense(np.array([[4.0, 2.0], [2.0, 5.0]])).root
    array([[2., 0.],
           [1., 2.]])
    """

    matrix: FloatArray

    def __post_init__(self) -> None:
        matrix = finite_array("covariance", self.matrix)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
            raise CovarianceError(f"covariance must be a square matrix, got shape {matrix.shape}")
        scale = float(np.abs(matrix).max())
        asymmetry = float(np.abs(matrix - matrix.T).max())
        if asymmetry > _SEMIDEFINITE_SLACK * scale:
            raise CovarianceError(
                f"covariance must be symmetric, but entries differ from their mirror by up to {asymmetry:.3g}; "
                "pass (matrix + matrix.T) / 2 if the difference is rounding"
            )
        if scale > 0 and not _is_semidefinite(matrix, _SEMIDEFINITE_SLACK * scale):
            lowest = float(scipy.linalg.eigvalsh(matrix, subset_by_index=[0, 0])[0])
            raise CovarianceError(
                f"covariance must be positive semi-definite, but its smallest eigenvalue is {lowest:.3g}; "
                "clip negative eigenvalues, or check how it was estimated"
            )
        object.__setattr__(self, "matrix", matrix)

    @property
    def n_features(self) -> int:
        return int(self.matrix.shape[0])

    def block(self, rows: IntArray, columns: IntArray) -> FloatArray:
        return self.matrix[np.ix_(rows, columns)]

    def apply_rows(self, rows: Array) -> Array:
        return rows_times(rows, self.matrix)

    def variances_of_features(self) -> FloatArray:
        return self.matrix.diagonal().copy()

    def scaled(self, factor: float) -> "Dense":
        return Dense(factor * self.matrix)

    @cached_property
    def root(self) -> FloatArray:
        """A matrix L with ``L Lᵀ = Σ``, shape (M, M): Cholesky's, or one of eigenvectors where Σ is singular."""
        try:
            return np.asarray(np.linalg.cholesky(self.matrix))
        except np.linalg.LinAlgError:
            values, vectors = np.linalg.eigh(self.matrix)
            return np.asarray(vectors * np.sqrt(np.clip(values, 0.0, None)))

    def colour(self, white: Array) -> Array:
        return rows_times(white, self.root.T)


def _is_semidefinite(matrix: FloatArray, slack: float) -> bool:
    """Cholesky of the slightly lifted matrix: ten times cheaper than its eigenvalues."""
    lifted = matrix + slack * np.eye(len(matrix))
    return int(scipy.linalg.lapack.dpotrf(lifted, overwrite_a=True)[1]) == 0


def dense(matrix: ArrayLike) -> Dense:
    """Covariance from a full matrix.

    Parameters
    ----------
    matrix : array_like, shape (M, M)
        Symmetric positive semi-definite.

    Returns
    -------
    Dense
        The matrix as a covariance.

    Raises
    ------
    CovarianceError
        If the matrix is not square, not symmetric, or has a negative eigenvalue.
    DataError
        If it has entries that are NaN or infinite.

    Examples
    --------
    >>> import subridge as sr
    >>> sr.covariance.dense([[1.0, 0.5], [0.5, 1.0]]).n_features
    2
    """
    return Dense(finite_array("covariance", matrix))
