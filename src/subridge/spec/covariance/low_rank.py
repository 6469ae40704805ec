"""Covariances of the form diag(d) + F Fᵀ: diagonal, isotropic, equicorrelated, power law, low rank."""

from dataclasses import dataclass

import numpy as np

from subridge.arrays.namespace import like, rows_times
from subridge.arrays.types import Array, ArrayLike, FloatArray, IntArray
from subridge.model.checks import finite_array, non_negative, positive_integer, within
from subridge.model.covariance import Covariance, Dense
from subridge.model.errors import CovarianceError


@dataclass(frozen=True, eq=False)
class LowRankPlusDiagonal(Covariance):
    """``diag(variances) + factor @ factor.T``; see `low_rank`.

    Parameters
    ----------
    variances : ndarray, shape (M,)
        Not negative.
    factor : ndarray, shape (M, rank)
        The rank may be zero.

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
        if variances.ndim != 1 or not variances.size:
            raise CovarianceError(f"variances must have shape (n_features,), got {variances.shape}")
        if factor.ndim != 2 or len(factor) != len(variances):
            raise CovarianceError(f"factor must have shape ({len(variances)}, rank), got {factor.shape}")
        object.__setattr__(self, "variances", variances)
        object.__setattr__(self, "factor", factor)

    @property
    def n_features(self) -> int:
        return len(self.variances)

    def block(self, rows: IntArray, columns: IntArray) -> FloatArray:
        low_rank = self.factor[rows] @ self.factor[columns].T
        return np.asarray(low_rank + np.where(np.equal.outer(rows, columns), self.variances[rows][:, None], 0.0))

    def apply_rows(self, rows: Array) -> Array:
        own = rows * like(self.variances, rows)
        if not self.factor.shape[1]:
            return own
        return own + rows_times(rows_times(rows, self.factor), self.factor.T)

    def scaled(self, factor: float) -> "LowRankPlusDiagonal":
        return LowRankPlusDiagonal(factor * self.variances, np.sqrt(factor) * self.factor)

    @property
    def white_size(self) -> int:
        return self.n_features + int(self.factor.shape[1])

    def colour(self, white: Array) -> Array:
        own, shared = white[..., : self.n_features], white[..., self.n_features :]
        coloured = own * like(np.sqrt(self.variances), white)
        return coloured + rows_times(shared, self.factor.T) if self.factor.shape[1] else coloured

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
    F, d = finite_array("factor", factor), finite_array("variances", variances)
    if F.ndim == 1:
        F = F[:, None]
    if d.ndim == 0:
        d = np.full(len(F), float(d))
    return LowRankPlusDiagonal(d, F)


def diagonal(variances: ArrayLike) -> LowRankPlusDiagonal:
    """Independent features with the given variances.

    Parameters
    ----------
    variances : array_like, shape (M,)
        Not negative.

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
        M.
    variance : float
        Of every feature.

    Returns
    -------
    LowRankPlusDiagonal
        The variance times the identity.

    Raises
    ------
    ParameterError
        If `n_features` is no positive integer, or the variance is negative.

    Examples
    --------
    >>> import subridge as sr
    >>> sr.covariance.isotropic(3, 0.1).n_features
    3
    """
    return diagonal(np.full(positive_integer("n_features", n_features), float(variance)))


def equicorrelated(n_features: int, data_scale: float = 1.0, correlation: float = 0.0) -> LowRankPlusDiagonal:
    """Equal correlation of any two features: ``s [(1 - c) I + c 1 1ᵀ]``, eq. 13 (EquiCorrDataCov).

    Parameters
    ----------
    n_features : int
        M.
    data_scale : float
        s, the variance of every feature.
    correlation : float
        c in [0, 1].

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
    M = positive_integer("n_features", n_features)
    s = float(non_negative("data_scale", data_scale))
    c = float(within("correlation", correlation, 0.0, 1.0))
    columns = 1 if s * c > 0 else 0
    return LowRankPlusDiagonal(np.full(M, s * (1 - c)), np.full((M, columns), np.sqrt(s * c)))


def power_law(n_features: int, exponent: float, scale: float = 1.0, *, seed: int | None = None) -> Covariance:
    """Covariance with eigenvalues ``scale · i**(-exponent)``, i = 1..M.

    Parameters
    ----------
    n_features : int
        M.
    exponent : float
        How fast the eigenvalues fall; 0 makes all equal.
    scale : float
        The largest eigenvalue, not negative.
    seed : int, optional
        None keeps the features as eigenvectors (a diagonal matrix); a seed rotates them by a random orthogonal
        matrix, so that every feature carries a bit of every eigenvector.

    Returns
    -------
    Covariance
        A diagonal one, or with a seed a dense one.

    Raises
    ------
    ParameterError
        If `n_features` is no positive integer, or the scale is negative.

    Examples
    --------
    >>> import subridge as sr
    >>> sr.covariance.power_law(3, 1.0).dense().diagonal()
    array([1.        , 0.5       , 0.33333333])
    """
    M = positive_integer("n_features", n_features)
    values = float(non_negative("scale", scale)) * np.arange(1.0, M + 1) ** -float(exponent)
    if seed is None:
        return diagonal(values)
    # QR of a Gaussian matrix; the law of a·Qᵀ is Haar up to column signs, which the covariance does not see.
    basis = np.linalg.qr(np.random.default_rng(seed).standard_normal((M, M)))[0]
    matrix = (basis * values) @ basis.T
    return Dense((matrix + matrix.T) / 2)


def from_data(X: ArrayLike, *, centre: bool = True) -> Covariance:
    """Empirical covariance of the rows of X; low rank in form when rows are fewer than features.

    Parameters
    ----------
    X : array_like, shape (n_samples, M)
        Samples, one per row.
    centre : bool
        Subtract the mean of each feature first (normalised by n_samples, not n_samples - 1).

    Returns
    -------
    Covariance
        With M features.

    Raises
    ------
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
    if centre:
        data = data - data.mean(axis=0)
    rows = len(data)
    if rows < data.shape[1]:
        return LowRankPlusDiagonal(np.zeros(data.shape[1]), data.T / np.sqrt(rows))
    return Dense(data.T @ data / rows)
