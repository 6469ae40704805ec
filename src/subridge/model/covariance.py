"""Covariances of data and noise: one constructor per structure, one interface for all."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg

from subridge.arrays.namespace import geometric_scan, like, namespace_of, rows_times
from subridge.arrays.types import Array, ArrayLike, FloatArray, IntArray
from subridge.model.checks import (
    Fingerprinted,
    finite_array,
    non_negative,
    one_number,
    positive_integer,
    refuse_beyond_memory,
    stream,
    truth,
    within,
)
from subridge.model.errors import CovarianceError

__all__ = [
    "Autoregressive",
    "Covariance",
    "Dense",
    "LowRankPlusDiagonal",
    "as_covariance",
    "autoregressive",
    "dense",
    "diagonal",
    "equicorrelated",
    "from_data",
    "isotropic",
    "low_rank",
    "power_law",
]

# Eigenvalues this far below zero, relative to the largest entry, are rounding of a semi-definite matrix.
_SEMIDEFINITE_SLACK = 1e-10
MOST_FEATURES = 10**7  # of a covariance that is built from a few numbers
_STEEPEST = 40.0  # exponent of a power law: with the most features its eigenvalues stay in the range of floats


class Covariance(Fingerprinted, ABC):
    """A symmetric positive semi-definite M×M matrix, defined by what it can compute.

    To add one, subclass as a frozen dataclass, implement the abstract members, and write a constructor function here.

    Attributes
    ----------
    n_features : int
        Number of features, M.

    Examples
    --------
    >>> import numpy as np, subridge as sr
    >>> Sigma = sr.covariance.equicorrelated(3, 2.0, 0.5)
    >>> Sigma.n_features, Sigma.variances_of_features()
    (3, array([2., 2., 2.]))
    >>> Sigma.block(np.array([0]), np.array([0, 1]))
    array([[2., 1.]])
    >>> Sigma.apply(np.ones(3)), Sigma.apply_rows(np.ones((1, 3)))
    (array([4., 4., 4.]), array([[4., 4., 4.]]))
    >>> Sigma.scaled(2.0).apply(np.ones(3))
    array([8., 8., 8.])
    >>> Sigma.dense()
    array([[2., 1., 1.],
           [1., 2., 1.],
           [1., 1., 2.]])

    It is a diagonal plus one factor, so that a sample takes 3 + 1 standard normals:

    >>> d, F = Sigma.diagonal_plus_low_rank()
    >>> d, F.shape, Sigma.white_size
    (array([1., 1., 1.]), (3, 1), 4)
    >>> Sigma.colour(np.ones((10, 4))).shape
    (10, 3)
    """

    n_features: int

    @abstractmethod
    def block(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Sub-block ``Σ[rows][:, columns]``.

        Parameters
        ----------
        rows : ndarray of int, shape (n,)
            Features, counted from 0.
        columns : ndarray of int, shape (m,)
            Features, counted from 0.

        Returns
        -------
        ndarray, shape (n, m)
            Covariances of the features in `rows` with those in `columns`.
        """

    @abstractmethod
    def apply_rows(self, rows: Array) -> Array:
        """Multiply rows by the covariance, ``rows @ Σ``.

        Parameters
        ----------
        rows : array, shape (..., M)
            Rows in any supported array library.

        Returns
        -------
        array, shape (..., M)
            The products, in the library and on the device of the rows.
        """

    @abstractmethod
    def scaled(self, factor: float) -> "Covariance":
        """The covariance ``factor · Σ``.

        Parameters
        ----------
        factor : float
            The factor, not negative.

        Returns
        -------
        Covariance
            A covariance of the same kind.
        """

    @abstractmethod
    def colour(self, white: Array) -> Array:
        """Turn standard normals into samples with this covariance.

        Parameters
        ----------
        white : array, shape (..., white_size)
            Independent standard normals, in any supported array library.

        Returns
        -------
        array, shape (..., M)
            Samples in the library and on the device of the normals.
        """

    def apply(self, vectors: FloatArray) -> FloatArray:
        """Multiply columns by the covariance, ``Σ @ vectors``.

        Parameters
        ----------
        vectors : ndarray, shape (M,) or (M, n)
            One column, or n of them.

        Returns
        -------
        ndarray, shape (M,) or (M, n)
            One column per column of `vectors`.
        """
        return self.apply_rows(vectors.T).T

    @property
    def white_size(self) -> int:
        """Number of standard normals that one sample needs."""
        return self.n_features

    def dense(self) -> FloatArray:
        """The full matrix, shape (M, M)."""
        everything = np.arange(self.n_features)
        return self.block(everything, everything)

    def variances_of_features(self) -> FloatArray:
        """The diagonal of Σ, shape (M,), gathered from small blocks."""
        pieces = np.array_split(np.arange(self.n_features), -(-self.n_features // 64))
        # Copies, because a view of a diagonal keeps its block alive.
        return np.concatenate([self.block(piece, piece).diagonal().copy() for piece in pieces])

    def diagonal_plus_low_rank(self) -> tuple[FloatArray, FloatArray] | None:
        """``(d, F)`` with ``Σ = diag(d) + F Fᵀ`` and F of shape (M, few), or None if no such form is cheap."""
        return None


@dataclass(frozen=True, eq=False, repr=False)
class Dense(Covariance):
    """Any symmetric positive semi-definite matrix; see `dense`.

    Parameters
    ----------
    matrix : ndarray, shape (M, M)
        The matrix Σ.

    Raises
    ------
    CovarianceError
        If the matrix is not square, not symmetric, or has a negative eigenvalue.
    DataError
        If it has entries that are NaN or infinite.
    ParameterError
        If it has entries beyond 1e100.

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
        scale = within("covariance", abs(matrix).max(), 0.0, 1e100)
        asymmetry = abs(matrix - matrix.T).max()
        if asymmetry > _SEMIDEFINITE_SLACK * scale:
            raise CovarianceError(
                f"covariance must be symmetric, but entries differ from their mirror by up to {asymmetry:.3g}; "
                "pass (matrix + matrix.T) / 2 if the difference is rounding"
            )
        # Cholesky of the slightly lifted matrix is ten times cheaper than its eigenvalues.
        lifted = matrix + _SEMIDEFINITE_SLACK * scale * np.eye(len(matrix))
        if scale > 0 and scipy.linalg.lapack.dpotrf(lifted, overwrite_a=True)[1]:
            lowest = scipy.linalg.eigvalsh(matrix, subset_by_index=[0, 0])[0]
            raise CovarianceError(
                f"covariance must be positive semi-definite, but its smallest eigenvalue is {lowest:.3g}; "
                "clip negative eigenvalues, or check how it was estimated"
            )
        self._set(matrix=matrix, n_features=len(matrix))

    def block(self, rows: IntArray, columns: IntArray) -> FloatArray:
        return self.matrix[np.ix_(rows, columns)]

    def apply_rows(self, rows: Array) -> Array:
        return rows_times(rows, self.matrix)

    @cached_property
    def root(self) -> FloatArray:
        """A matrix L with ``L Lᵀ = Σ``, shape (M, M): the Cholesky factor, or from eigenvectors if Σ is singular."""
        try:
            return np.asarray(np.linalg.cholesky(self.matrix))
        except np.linalg.LinAlgError:
            values, vectors = np.linalg.eigh(self.matrix)
            return np.asarray(vectors * np.sqrt(values.clip(0.0, None)))

    def scaled(self, factor: float) -> "Dense":
        return Dense(factor * self.matrix)

    def colour(self, white: Array) -> Array:
        return rows_times(white, self.root.T)


def dense(matrix: ArrayLike) -> Dense:
    """Covariance from a full matrix.

    Parameters
    ----------
    matrix : array_like, shape (M, M)
        A symmetric positive semi-definite matrix.

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
    ParameterError
        If it has entries beyond 1e100.

    Examples
    --------
    >>> import subridge as sr
    >>> sr.covariance.dense([[1.0, 0.5], [0.5, 1.0]]).n_features
    2
    """
    return Dense(matrix)  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False, repr=False)
class LowRankPlusDiagonal(Covariance):
    """``diag(variances) + factor @ factor.T``; see `low_rank`.

    Parameters
    ----------
    variances : ndarray, shape (M,)
        The diagonal d, not negative.
    factor : ndarray, shape (M, rank)
        The factor F; the rank may be zero.

    Raises
    ------
    CovarianceError
        If the shapes do not fit together.
    ParameterError
        If a variance is negative.
    DataError
        If something is NaN or infinite.

    Examples
    --------
    >>> import numpy as np
    >>> LowRankPlusDiagonal(np.ones(2), np.array([[1.0], [2.0]])).dense()
    array([[2., 2.],
           [2., 5.]])
    """

    variances: FloatArray
    factor: FloatArray

    def __post_init__(self) -> None:
        variances = non_negative("variances", self.variances)
        factor = finite_array("factor", self.factor)
        if factor.ndim != 2 or variances.shape != factor.shape[:1] or not variances.size:
            raise CovarianceError(
                f"factor must have shape (n_features, rank) and variances (n_features,), got {factor.shape} and "
                f"{variances.shape}"
            )
        self._set(variances=variances, factor=factor, n_features=len(variances))

    def block(self, rows: IntArray, columns: IntArray) -> FloatArray:
        low_rank = self.factor[rows] @ self.factor[columns].T
        return low_rank + np.where(np.equal.outer(rows, columns), self.variances[rows][:, None], 0.0)

    def apply_rows(self, rows: Array) -> Array:
        own = rows * like(self.variances, rows)
        if not self.factor.shape[1]:
            return own
        return own + rows_times(rows_times(rows, self.factor), self.factor.T)

    @property
    def white_size(self) -> int:
        return self.n_features + int(self.factor.shape[1])

    def scaled(self, factor: float) -> "LowRankPlusDiagonal":
        return LowRankPlusDiagonal(factor * self.variances, np.sqrt(factor) * self.factor)

    def colour(self, white: Array) -> Array:
        coloured = white[..., : self.n_features] * like(np.sqrt(self.variances), white)
        if not self.factor.shape[1]:
            return coloured
        return coloured + rows_times(white[..., self.n_features :], self.factor.T)

    def diagonal_plus_low_rank(self) -> tuple[FloatArray, FloatArray]:
        return self.variances, self.factor


def low_rank(factor: ArrayLike, variances: ArrayLike = 0.0) -> LowRankPlusDiagonal:
    """Low rank plus diagonal, ``diag(variances) + factor @ factor.T``.

    Parameters
    ----------
    factor : array_like, shape (M, rank), or (M,) for rank one
        F of ``Σ = diag(d) + F Fᵀ``.
    variances : array_like, shape () or (M,)
        The diagonal d, not negative; a number stands for all features.

    Returns
    -------
    LowRankPlusDiagonal
        A covariance that is applied and sampled in O(M · rank).

    Raises
    ------
    CovarianceError
        If the shapes do not fit together.
    ParameterError
        If a variance is negative.
    DataError
        If something is NaN or infinite.

    Examples
    --------
    >>> import subridge as sr
    >>> sr.covariance.low_rank([[1.0], [2.0]], 0.5).dense()
    array([[1.5, 2. ],
           [2. , 4.5]])
    """
    F = np.atleast_2d(finite_array("factor", factor).T).T
    d = finite_array("variances", variances)
    return LowRankPlusDiagonal(d if d.ndim else np.full(len(F), d), F)


def diagonal(variances: ArrayLike) -> LowRankPlusDiagonal:
    """Independent features with the given variances.

    Parameters
    ----------
    variances : array_like, shape (M,)
        Variances of the features, not negative.

    Returns
    -------
    LowRankPlusDiagonal
        A diagonal covariance.

    Raises
    ------
    ParameterError, DataError
        If a variance is negative, NaN or infinite.

    Examples
    --------
    >>> import subridge as sr
    >>> sr.covariance.diagonal([1.0, 2.0]).dense()
    array([[1., 0.],
           [0., 2.]])
    """
    d = np.atleast_1d(finite_array("variances", variances))
    return LowRankPlusDiagonal(d, np.zeros((len(d), 0)))


def isotropic(n_features: int, variance: float = 1.0) -> LowRankPlusDiagonal:
    """Independent features of one variance, eq. 14 (IsotropicNoise).

    Parameters
    ----------
    n_features : int
        Number of features, M.
    variance : float
        Variance of every feature.

    Returns
    -------
    LowRankPlusDiagonal
        The variance times the identity.

    Raises
    ------
    ParameterError
        If `n_features` is not a positive integer, or the variance is negative.

    Examples
    --------
    >>> import subridge as sr
    >>> sr.covariance.isotropic(3, 0.1).n_features
    3
    """
    size = positive_integer("n_features", n_features, MOST_FEATURES)
    return diagonal(np.full(size, one_number("variance", non_negative("variance", variance))))


def equicorrelated(n_features: int, data_scale: float = 1.0, correlation: float = 0.0) -> LowRankPlusDiagonal:
    """Equal correlation of any two features: ``s [(1 - c) I + c 1 1ᵀ]``, eq. 13 (EquiCorrDataCov).

    Parameters
    ----------
    n_features : int
        Number of features, M.
    data_scale : float
        Variance s of every feature.
    correlation : float
        Correlation c in [0, 1] of any two features.

    Returns
    -------
    LowRankPlusDiagonal
        A diagonal and one factor.

    Raises
    ------
    ParameterError
        If a parameter lies outside its range.

    Examples
    --------
    >>> import subridge as sr
    >>> sr.covariance.equicorrelated(2, 2.0, 0.25).dense()
    array([[2. , 0.5],
           [0.5, 2. ]])
    """
    M = positive_integer("n_features", n_features, MOST_FEATURES)
    s = one_number("data_scale", non_negative("data_scale", data_scale))
    c = one_number("correlation", within("correlation", correlation, 0.0, 1.0))
    return LowRankPlusDiagonal(np.full(M, s * (1 - c)), np.full((M, int(s * c > 0)), np.sqrt(s * c)))


def power_law(n_features: int, exponent: float, scale: float = 1.0, *, seed: int | None = None) -> Covariance:
    """Covariance with eigenvalues ``scale · i**(-exponent)``, i = 1..M.

    Parameters
    ----------
    n_features : int
        Number of features, M.
    exponent : float
        How fast the eigenvalues fall; 0 makes all equal.
    scale : float
        The largest eigenvalue, not negative.
    seed : int, optional
        None keeps the features as eigenvectors (a diagonal matrix); a seed rotates them by a random orthogonal
        matrix, so that every feature has a share in every eigenvector.

    Returns
    -------
    Covariance
        A diagonal one, or with a seed a dense one.

    Raises
    ------
    BudgetError
        If it would not fit into memory.
    ParameterError
        If `n_features` is not a positive integer, or the scale is negative.

    Examples
    --------
    >>> import subridge as sr
    >>> sr.covariance.power_law(3, 1.0).dense().diagonal()
    array([1.        , 0.5       , 0.33333333])
    """
    M = positive_integer("n_features", n_features, MOST_FEATURES)
    falls = one_number("exponent", within("exponent", exponent, -_STEEPEST, _STEEPEST))
    values = one_number("scale", non_negative("scale", scale)) * np.arange(1.0, M + 1) ** -falls
    if seed is None:
        return diagonal(values)
    refuse_beyond_memory(f"a rotation of {M:,} features", 40 * M**2, "take fewer, or seed=None for a diagonal matrix")
    # Q of a Gaussian matrix is Haar distributed up to signs of columns, which do not matter to the covariance.
    basis = np.linalg.qr(stream(seed).standard_normal((M, M)))[0]
    matrix = (basis * values) @ basis.T
    return Dense((matrix + matrix.T) / 2)


def from_data(X: ArrayLike, *, centre: bool = True) -> Covariance:
    """Empirical covariance of the rows of X, of low rank if there are fewer rows than features.

    Parameters
    ----------
    X : array_like, shape (n_samples, M)
        Samples, one per row.
    centre : bool
        Subtract the mean of each feature first (normalised by n_samples, not n_samples - 1).

    Returns
    -------
    Covariance
        The covariance of M features.

    Raises
    ------
    ParameterError
        If `centre` is neither True nor False.
    CovarianceError
        If X is not two-dimensional.
    DataError
        If it holds NaN or infinity.

    Examples
    --------
    >>> import subridge as sr
    >>> sr.covariance.from_data([[1.0, 0.0], [-1.0, 0.0]]).dense()
    array([[1., 0.],
           [0., 0.]])
    """
    data = finite_array("X", X)
    if data.ndim != 2 or not data.size:
        raise CovarianceError(f"X must have shape (n_samples, n_features), got {data.shape}")
    if truth("centre", centre):
        data = data - data.mean(axis=0)
    rows, M = data.shape
    return LowRankPlusDiagonal(np.zeros(M), data.T / np.sqrt(rows)) if rows < M else Dense(data.T @ data / rows)


@dataclass(frozen=True, eq=False, repr=False)
class Autoregressive(Covariance):
    """``Σ_ij = variance · decay**|i - j|``; see `autoregressive`.

    Parameters
    ----------
    size : int
        Number of features, M.
    decay : float
        Correlation of neighbours, in [-1, 1].
    variance : float
        Variance of every feature.

    Raises
    ------
    ParameterError
        If a parameter lies outside its range.

    Examples
    --------
    >>> import numpy as np
    >>> Autoregressive(3, 0.5, 1.0).apply_rows(np.array([1.0, 0.0, 0.0]))
    array([1.  , 0.5 , 0.25])
    """

    size: int
    decay: float
    variance: float

    def __post_init__(self) -> None:
        M = positive_integer("n_features", self.size, MOST_FEATURES)
        self._set(
            size=M,
            n_features=M,
            decay=one_number("decay", within("decay", self.decay, -1.0, 1.0)),
            variance=one_number("variance", non_negative("variance", self.variance)),
        )

    def block(self, rows: IntArray, columns: IntArray) -> FloatArray:
        # A table of powers: N² look-ups instead of N² calls of pow.
        powers = self.variance * self.decay ** np.arange(self.size, dtype=float)
        return powers[np.abs(np.subtract.outer(rows, columns))]

    def apply_rows(self, rows: Array) -> Array:
        # A forward and a backward recursion share the diagonal: O(M) a row.
        xp = namespace_of(rows)
        backward = xp.flip(geometric_scan(xp.flip(rows, axis=-1), self.decay), axis=-1)
        return self.variance * (geometric_scan(rows, self.decay) + backward - rows)

    def variances_of_features(self) -> FloatArray:
        return np.full(self.size, self.variance)

    def scaled(self, factor: float) -> "Autoregressive":
        return Autoregressive(self.size, self.decay, factor * self.variance)

    def colour(self, white: Array) -> Array:
        # x_1 = z_1, x_i = decay x_(i-1) + √(1 - decay²) z_i.
        rest = float(np.sqrt(1 - self.decay * self.decay)) * white[..., 1:]
        start = namespace_of(white).concat([white[..., :1], rest], axis=-1)
        return float(np.sqrt(self.variance)) * geometric_scan(start, self.decay)


def autoregressive(n_features: int, decay: float, variance: float = 1.0) -> Autoregressive:
    """First-order autoregressive features, ``Σ_ij = variance · decay**|i - j|``.

    Parameters
    ----------
    n_features : int
        Number of features, M.
    decay : float
        Correlation of neighbours, in [-1, 1].
    variance : float
        Variance of every feature.

    Returns
    -------
    Autoregressive
        A covariance that is applied and sampled in O(M).

    Raises
    ------
    ParameterError
        If a parameter lies outside its range.

    Examples
    --------
    >>> import subridge as sr
    >>> sr.covariance.autoregressive(3, 0.5).dense()
    array([[1.  , 0.5 , 0.25],
           [0.5 , 1.  , 0.5 ],
           [0.25, 0.5 , 1.  ]])
    """
    return Autoregressive(n_features, decay, variance)


def as_covariance(value: "Covariance | ArrayLike") -> Covariance:
    """Turn an M×M array into a covariance; a covariance is returned as it is.

    Parameters
    ----------
    value : Covariance or array_like, shape (M, M)
        A covariance, or its matrix.

    Returns
    -------
    Covariance
        The covariance of M features.

    Examples
    --------
    >>> as_covariance([[1.0, 0.0], [0.0, 2.0]]).n_features
    2
    """
    return value if isinstance(value, Covariance) else dense(value)
