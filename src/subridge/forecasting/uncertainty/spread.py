"""The spread of estimates over pilot samples, and the intervals that follow from it."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from subridge.arrays.types import FloatArray
from subridge.forecasting.rowwise import RowWise

_OF_SQUARES = 8**0.5  # skewness of squared Gaussian errors


def of_order_one(values: FloatArray) -> FloatArray:
    """Values (..., n) times a power of two, so that the largest are about 1 and no power of them leaves the floats.

    >>> of_order_one(np.array([3e-200, -6e-200])).round(3)
    array([ 0.287, -0.574])
    """
    return np.asarray(np.ldexp(values, -np.frexp(abs(values).max(axis=-1, keepdims=True))[1]))


@dataclass(frozen=True, eq=False)
class Spread(RowWise):
    """Spread of T estimates over pilots, from a jackknife."""

    influence: FloatArray  # n times the change of an estimate when a row is left out, shape (T, n)
    shrink: FloatArray  # factor of the jackknife variance, a power of 1/(1 + V_2/V_J), shape (T,)
    allowance: FloatArray  # standard error of traces that fluctuate near an interpolation threshold, shape (T,)
    freedom: FloatArray  # independent numbers that the estimate rests on, at most n, shape (T,)

    def scaled(self, factors: FloatArray) -> "Spread":
        """The spread of the estimates times given factors, shape (T,)."""
        return Spread(self.influence * factors[:, None], self.shrink, self.allowance * factors, self.freedom)

    @property
    def standard_error(self) -> FloatArray:
        """Shape (T,)."""
        n = self.influence.shape[-1]
        return np.asarray(np.sqrt(self.influence.var(axis=-1) / (n - 1) * self.shrink + self.allowance**2))

    def interval_factor(self, error: FloatArray, level: float) -> FloatArray:
        """By what the upper bound of a two-sided interval exceeds the error, and the error the lower; shape (T,).

        Errors are positive and their estimates skewed, hence factors.
        """
        relative = self.standard_error / np.where(error > 0, error, np.inf)
        with np.errstate(over="ignore"):  # next to a threshold nothing is known: infinite
            return np.asarray(np.exp(self._quantile(level) * relative))

    def lean(self, error: FloatArray, level: float) -> FloatArray:
        """What to add to the logarithm of an upper bound where tails are heavier than of squared Gaussian errors; (T,).

        A mean of n skewed numbers, of skewness G, is more often too small than too large. Johnson's correction (1978)
        moves its bounds by ``G (1 + 2q²)/(6√n)`` standard errors; here by what G exceeds √8, which Gaussian errors
        have.
        """
        # Leaving out a row that errs much lowers the estimate, hence the sign.
        centred = of_order_one(self.influence.mean(axis=-1, keepdims=True) - self.influence)
        n, spread = centred.shape[-1], np.sqrt((centred**2).mean(axis=-1))
        skewness = (centred**3).mean(axis=-1) / np.where(spread > 0, spread, np.inf) ** 3
        excess = np.maximum(skewness - _OF_SQUARES, 0.0) / np.sqrt(n)
        relative = self.standard_error / np.where(error > 0, error, np.inf)
        return np.asarray(relative * excess * (1 + 2 * self._quantile(level) ** 2) / 6)

    def _quantile(self, level: float) -> FloatArray:
        """Half-width of a two-sided interval in standard errors, shape (T,).

        Student's, with the degrees of freedom of the variance itself: influences are of the kind of squared errors,
        whose variance is known badly from a small pilot. Next to a threshold residuals have few dimensions, and however
        many rows there are their errors are as few independent numbers.
        """
        squares = of_order_one(self.influence - self.influence.mean(axis=-1, keepdims=True)) ** 2
        n, mean = squares.shape[-1], squares.mean(axis=-1)
        spread = squares.var(axis=-1)
        freedom = np.where(spread > 0, 2 * n * mean**2 / np.where(spread > 0, spread, 1.0), n)
        return np.asarray(student.ppf(0.5 + level / 2, np.minimum(np.maximum(freedom, 2.0), self.freedom)))
