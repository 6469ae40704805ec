"""How unequal Gamma-drawn subset fractions are, before and after they are scaled to sum to one."""

import numpy as np
from scipy.special import gammaln, xlogy

from subridge.arrays.types import ArrayLike, FloatArray
from subridge.model.checks import extended_non_negative, non_negative
from subridge.model.errors import ParameterError


def rescaled_spread(n_members: ArrayLike, fraction_spread: ArrayLike) -> FloatArray:
    """True standard deviation of one subset fraction after re-scaling.

    The paper draws Gamma fractions of mean 1/k and standard deviation σ = fraction_spread/k and then divides by
    their sum. The sum's own fluctuation lowers the spread to σ √[((k-1)/k) / (1 + kσ²)].

    Parameters
    ----------
    n_members : array_like, shape (...)
        k, at least 1.
    fraction_spread : array_like, shape (...)
        kσ, the coefficient of variation before re-scaling.

    Returns
    -------
    ndarray, shape (...)
        Standard deviation of a fraction, a share of all features.

    Raises
    ------
    ParameterError
        If there is less than one member, or the spread is negative.

    Examples
    --------
    >>> float(rescaled_spread(10, 1.0).round(4))
    0.0905
    """
    k = extended_non_negative("n_members", n_members)
    if (k < 1).any():
        raise ParameterError(f"n_members must be at least 1, got {k.min():g}")
    spread = non_negative("fraction_spread", fraction_spread)
    return np.asarray(spread / k * np.sqrt((1 - 1 / k) / (1 + spread**2 / k)))


def fraction_density(fraction: ArrayLike, n_members: ArrayLike, fraction_spread: ArrayLike) -> FloatArray:
    """Density of the Gamma draw Γ_{k,σ}(ν) behind a subset fraction, not re-scaled; sec. C (HomHetEnsemblingSection).

    Parameters
    ----------
    fraction : array_like, shape (...)
        ν > 0.
    n_members : array_like, shape (...)
        k; the mean is 1/k.
    fraction_spread : array_like, shape (...)
        kσ > 0, the coefficient of variation.

    Returns
    -------
    ndarray, shape (...)
        Density at ν.

    Raises
    ------
    ParameterError
        If a parameter is negative.

    Examples
    --------
    >>> float(fraction_density(0.1, 10, 1.0).round(4))  # an exponential of mean 1/10
    3.6788
    """
    nu = non_negative("fraction", fraction)
    k = extended_non_negative("n_members", n_members)
    shape = non_negative("fraction_spread", fraction_spread) ** -2
    rate = shape * k  # shape over mean
    return np.asarray(np.exp(xlogy(shape, rate) + xlogy(shape - 1, nu) - rate * nu - gammaln(shape)))
