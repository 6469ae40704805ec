"""Covariances of data and noise: one constructor per structure, one interface for all."""

from subridge.arrays.types import ArrayLike
from subridge.model.covariance import (
    Autoregressive,
    Covariance,
    Dense,
    LowRankPlusDiagonal,
    autoregressive,
    dense,
    diagonal,
    equicorrelated,
    from_data,
    isotropic,
    low_rank,
    power_law,
)

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


def as_covariance(value: "Covariance | ArrayLike") -> Covariance:
    """A covariance as it is; a plain M×M array as a dense one.

    Parameters
    ----------
    value : Covariance or array_like, shape (M, M)
        What a user may hand over as a covariance.

    Returns
    -------
    Covariance
        With M features.

    Examples
    --------
    >>> as_covariance([[1.0, 0.0], [0.0, 2.0]]).n_features
    2
    """
    return value if isinstance(value, Covariance) else dense(value)
