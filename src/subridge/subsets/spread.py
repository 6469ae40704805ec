"""How unequal Gamma-drawn subset fractions are, before and after they are scaled to sum to one."""

import numpy as np

from subridge.arrays.types import ArrayLike, FloatArray
from subridge.spec.checks import extended_non_negative, non_negative


def rescaled_spread(n_members: ArrayLike, fraction_spread: ArrayLike) -> FloatArray:
    """True standard deviation of one subset fraction after re-scaling.

    The paper draws Gamma fractions of mean 1/k and standard deviation σ = fraction_spread/k and then divides by
    their sum. The sum's own fluctuation lowers the spread to σ √[((k-1)/k) / (1 + kσ²)].

    Parameters
    ----------
    n_members : array_like
        k.
    fraction_spread : array_like
        kσ, the coefficient of variation before re-scaling.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> float(rescaled_spread(10, 1.0).round(4))
    0.0905
    """
    k = extended_non_negative("n_members", n_members)
    sigma = non_negative("fraction_spread", fraction_spread) / k
    return np.asarray(sigma * np.sqrt((k - 1) / k / (1 + k * sigma**2)))
