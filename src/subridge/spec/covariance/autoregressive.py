"""Correlations that decay geometrically with distance, sampled by recursion."""

from dataclasses import dataclass

import numpy as np

from subridge.arrays.namespace import first_order_recursion, geometric_scan, namespace_of
from subridge.arrays.types import Array, FloatArray, IntArray
from subridge.model.checks import non_negative, positive_integer, within
from subridge.model.covariance import Covariance


@dataclass(frozen=True, eq=False)
class Autoregressive(Covariance):
    """``Σ_ij = variance · decay**|i - j|``; see `autoregressive`.

    Parameters
    ----------
    size : int
        M.
    decay : float
        In [-1, 1].
    variance : float
        Of every feature.

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
        object.__setattr__(self, "size", positive_integer("n_features", self.size))
        object.__setattr__(self, "decay", float(within("decay", self.decay, -1.0, 1.0)))
        object.__setattr__(self, "variance", float(non_negative("variance", self.variance)))

    @property
    def n_features(self) -> int:
        return self.size

    def block(self, rows: IntArray, columns: IntArray) -> FloatArray:
        # A table of powers: N² look-ups instead of N² calls of pow.
        powers = self.variance * self.decay ** np.arange(self.size, dtype=np.float64)
        return np.asarray(powers[np.abs(np.subtract.outer(rows, columns))])

    def apply_rows(self, rows: Array) -> Array:
        # A forward and a backward recursion share the diagonal: O(M) a row.
        xp = namespace_of(rows)
        forward = geometric_scan(rows, self.decay)
        backward = xp.flip(geometric_scan(xp.flip(rows, axis=-1), self.decay), axis=-1)
        return self.variance * (forward + backward - rows)

    def variances_of_features(self) -> FloatArray:
        return np.full(self.size, self.variance)

    def scaled(self, factor: float) -> "Autoregressive":
        return Autoregressive(self.size, self.decay, factor * self.variance)

    def colour(self, white: Array) -> Array:
        return float(np.sqrt(self.variance)) * first_order_recursion(white, self.decay)


def autoregressive(n_features: int, decay: float, variance: float = 1.0) -> Autoregressive:
    """First-order autoregressive features, ``Σ_ij = variance · decay**|i - j|``.

    Parameters
    ----------
    n_features : int
        M.
    decay : float
        Correlation of neighbours, in [-1, 1].
    variance : float
        Of every feature.

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
