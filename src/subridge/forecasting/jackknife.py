"""How far a forecast would move with another pilot: a jackknife over its rows that refits nothing.

Leaving out row j turns the leave-one-out error of row i into ``e_i - (R_ij/R_ii) e_j``, R = I - H, so that every
delete-one value of a quadratic form in the errors costs a few products with the factors at hand.

In high dimension the delete-one jackknife is too wide: its expectation counts a part of the variance that is of degree
m in the rows m times (Efron & Stein 1981), and here higher degrees are not small. Second differences D_jl measure the
excess. For ordinary least squares with Gaussian noise the jackknife variance V_J exceeds the truth by the factor
``1 + V_2/V_J`` with ``V_2 = Σ_{j<l} D_jl²``, up to O(1/n): with κ = M/n it is 1/(1 - κ), and V_2/V_J = κ/(1 - κ).
Members that have a ridge exceed it by a little less, on Gaussian data by the power .85 of that quotient, which is what
is used throughout; docs/forecasting.md has the coverage that was measured.
"""

from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from subridge.arrays.types import FloatArray
from subridge.forecasting.pilot import Pilot

# Random signs to estimate Σ D_jl²: its relative error is about the root of one over their number.
_LEAST_SIGNS = 800
_EXPONENT = 0.85
_TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, eq=False)
class Jackknife:
    """Spread of T estimates over pilots.

    Attributes
    ----------
    influence : ndarray, shape (T, n)
        n times the change of an estimate when a row is left out.
    shrink : ndarray, shape (T,)
        By what the jackknife variance is to be multiplied, a power of ``1/(1 + V_2/V_J)``.
    allowance : ndarray, shape (T,)
        What traces that fluctuate near an interpolation threshold add, as a standard error.
    """

    influence: FloatArray
    shrink: FloatArray
    allowance: FloatArray

    @property
    def standard_error(self) -> FloatArray:
        """Shape (T,)."""
        n = self.influence.shape[-1]
        return np.asarray(np.sqrt(self.influence.var(axis=-1) / (n - 1) * self.shrink + self.allowance**2))

    def upper_factor(self, error: FloatArray, level: float) -> FloatArray:
        """By what the upper bound of a two-sided interval exceeds the error, and the error the lower; shape (T,).

        Errors are positive and their estimates skewed, hence factors.
        """
        relative = self.standard_error / np.where(error > 0, error, np.inf)
        with np.errstate(over="ignore"):  # next to a threshold nothing is known: infinite
            return np.asarray(np.exp(self.quantile(level) * relative))

    def quantile(self, level: float) -> FloatArray:
        """Half-width of a two-sided interval in standard errors, shape (T,).

        Student's, with the degrees of freedom of the variance itself: influences are of the kind of squared errors,
        whose variance is known badly from a small pilot.
        """
        squares = (self.influence - self.influence.mean(axis=-1, keepdims=True)) ** 2
        n, mean = squares.shape[-1], squares.mean(axis=-1)
        spread = squares.var(axis=-1)
        freedom = np.where(spread > 0, 2 * n * mean**2 / np.where(spread > 0, spread, 1.0), n)
        return np.asarray(student.ppf(0.5 + level / 2, np.maximum(freedom, 2.0)))


def jackknife(
    pilot: Pilot,
    penalties: FloatArray,
    errors: FloatArray,
    diagonals: FloatArray,
    form: FloatArray,
    ratios: FloatArray,
    allowance: FloatArray,
) -> Jackknife:
    """Jackknife of ``Σ_rr′ B_rr′ mean_i e_ri·e_r′i``.

    Parameters
    ----------
    pilot : Pilot
    penalties : ndarray, shape (t, k)
    errors, diagonals : ndarray, shapes (t, k, C, n) and (t, k, n)
        From ``pilot.left_out``.
    form : ndarray, shape (t, k, k)
        B, symmetric.
    ratios : ndarray, shape (t, k, k)
        ``1/(1 - γ_rr′)``: the mean over j of Σ_i R_r,ij R_r′,ij/(R_r,ii R_r′,ii).
    allowance : ndarray, shape (t,)
        Standard error to add for what is held fixed here.

    Returns
    -------
    Jackknife

    Notes
    -----
    Traces, and with them B, are held fixed: they move by O(1/n) when a row goes, the form by O(1/√n).
    """
    t, k, _, n = errors.shape
    mixed = _mix(form, errors)
    expected = _mix(form * ratios, errors)
    influence = (errors * expected).sum(axis=(1, 2))
    centred = np.empty_like(errors)
    for r in range(k):
        centred[:, r] = pilot.relative_residuals(r, penalties[:, r], diagonals[:, r], mixed[:, r])
    influence -= 2 * (errors * centred).sum(axis=(1, 2))
    centred -= expected
    diagonal = 4 * (errors * centred).sum(axis=(1, 2)) + 2 * (errors * expected).sum(axis=(1, 2))
    second = np.zeros(t)
    rng = np.random.default_rng(0)
    probes = -(-_LEAST_SIGNS // n)
    for _ in range(probes):
        signs = rng.choice([-1.0, 1.0], n)
        image = _second_differences(pilot, penalties, errors, diagonals, form, centred, signs) - diagonal * signs
        second += (image**2).sum(axis=1) / (2 * probes)
    first = influence.var(axis=1) * n
    # Where a few rows dominate, or close to a threshold, second differences explode. Rows that err independently of
    # each other are a floor, at half because errors that are bias and not noise fluctuate less.
    floor = 0.5 * (errors * mixed).sum(axis=(1, 2)).var(axis=1) * n / np.maximum(first, _TINY)
    shrink = np.maximum((first / np.maximum(first + second, _TINY)) ** _EXPONENT, np.minimum(floor, 1.0))
    return Jackknife(influence, shrink, allowance)


def _second_differences(
    pilot: Pilot,
    penalties: FloatArray,
    errors: FloatArray,
    diagonals: FloatArray,
    form: FloatArray,
    centred: FloatArray,
    signs: FloatArray,
) -> FloatArray:
    """``Σ_l D_jl s_l`` for every j, with a diagonal that belongs to no difference; shape (t, n).

    ``D_jl = 2 Σ_r C_r,jl (e_rl G_rj + e_rj G_rl) + 2 Σ_rr′ B_rr′ e_rj e_r′l (C_r C_r′)_jl``, where C_r is R_r scaled to
    a unit diagonal and G_r the residual of B e that C_r e does not explain.
    """
    k = errors.shape[1]

    def apply(r: int, vectors: FloatArray) -> FloatArray:
        return pilot.relative_residuals(r, penalties[:, r], diagonals[:, r], vectors)

    inner = np.stack([apply(r, errors[:, r] * signs) for r in range(k)], axis=1)
    image = (centred * inner).sum(axis=(1, 2))
    mixed = _mix(form, inner)
    for r in range(k):
        image += (errors[:, r] * apply(r, centred[:, r] * signs + mixed[:, r])).sum(axis=1)
    return 2 * image


def _mix(form: FloatArray, errors: FloatArray) -> FloatArray:
    """``Σ_r′ B_rr′ e_r′``, shape (t, k, C, n)."""
    t, k, C, n = errors.shape
    return (form @ errors.reshape(t, k, C * n)).reshape(errors.shape)
