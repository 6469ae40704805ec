"""The saddle point of Prop. 1, eq. 10 (saddle_point), solved on the spectrum of a member.

With the eigenvalues d_i of Σ̃_rr and the effective ridge κ̄ = 1/q̂ = κ/α, eq. 10 is one scalar equation,

    λ(κ̄) = α κ̄ - (κ̄/M) Σ_i d_i/(κ̄ + d_i),        dλ/dκ̄ = α (1 - γ_rr).

The physical branch is γ_rr < 1, on which λ grows with κ̄. It starts at a floor κ̄_min where γ_rr = 1. The ridge there is
the most negative one for which the regression has a solution.

With the shares φ_i = d_i/(κ̄ + d_i) and ψ_i = 1 - φ_i, the same equation is

    λM/κ̄ + Σφ_i = αM,    or    λM/κ̄ - Σψ_i = αM - N.

Newton's method solves the form that loses fewer digits.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from subridge.arrays.types import BoolArray, FloatArray
from subridge.model.aggregation import quotient
from subridge.model.errors import ConvergenceError, RidgeError

TwoArrays: TypeAlias = tuple[FloatArray, FloatArray]

EPS = float(np.finfo(np.float64).eps)
# Decorates formulas that meet 1/0, 0 · inf or overflow and treat these cases by ``np.where``.
quiet = np.errstate(divide="ignore", invalid="ignore", over="ignore")
_STEPS = 120  # of Newton's method; a handful is typical
# For ridges above this multiple of the largest eigenvalue, κ̄ is λ/α to all digits.
VAST = 1e150


@dataclass(frozen=True, eq=False)
class OrderParameters:
    """Solution of eq. 10 (saddle_point).

    Attributes
    ----------
    kappa : ndarray, shape (..., k)
        κ_r = λ_r + q_r.
    q, q_hat : ndarray, shape (..., k)
        q_r and q̂_r; q̂_r is inf for a ridgeless member above its interpolation threshold, and at infinite data.
    S : ndarray, shape (..., k), or None
        S_r of Prop. 2; None for a general problem, where it has no counterpart.
    gamma : ndarray, shape (..., k, k)
        γ_rr′.
    status : ndarray of bool, shape (..., k)
        True where the root was found.
    residual : ndarray, shape (..., k)
        Relative defect of the saddle-point equation at the solution.

    See Also
    --------
    subridge.order_parameters : solves for them.

    Examples
    --------
    A ridgeless member that sees half of the features, with half as many samples as those:

    >>> import subridge as sr
    >>> found = sr.order_parameters(sr.EquicorrelatedProblem(), sr.Ensemble([0.5]), 0.25)
    >>> isinstance(found, OrderParameters), found.kappa, found.effective_ridge
    (True, array([0.5]), array([2.]))
    """

    kappa: FloatArray
    q: FloatArray
    q_hat: FloatArray
    S: FloatArray | None
    gamma: FloatArray
    status: BoolArray
    residual: FloatArray

    @property
    @quiet
    def effective_ridge(self) -> FloatArray:
        """Effective ridge κ̄_r = 1/q̂_r = κ_r/α, shape (..., k)."""
        return 1.0 / self.q_hat


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Distinct positive eigenvalues of Σ̃_rr, ascending, shape (n,), with their multiplicities, of M features."""

    values: FloatArray
    counts: FloatArray
    n_features: int

    def resolvent(self, kappa_bar: FloatArray) -> FloatArray:
        """``1/(κ̄ + d_i)``, the eigenvalues of q̂_r G_r⁻¹ with G_r of eq. 7, shape (*kappa_bar.shape, n)."""
        return 1.0 / (kappa_bar[..., None] + self.values)

    @quiet
    def shares(self, kappa_bar: FloatArray) -> TwoArrays:
        """Shares φ_i that are fitted and ψ_i that are left, shape (G, n) each."""
        column = kappa_bar[:, None]
        R = self.resolvent(kappa_bar)
        return self.values * R, np.where(np.isinf(column), 1.0, column * R)

    def ridge(self, alpha: FloatArray, kappa_bar: FloatArray) -> FloatArray:
        """λ(κ̄)."""
        occupied = self.resolvent(kappa_bar) @ (self.counts * self.values) / self.n_features
        return kappa_bar * (alpha - occupied)

    @quiet
    def spare_samples(self, alpha: FloatArray) -> FloatArray:
        """αM - N to all digits, N the number of positive eigenvalues."""
        M = float(self.n_features)
        product = alpha * M
        # α as a sum of two numbers of half the digits, whose products with integers below 2^26 are exact.
        high = 134217729.0 * alpha - (134217729.0 * alpha - alpha)
        high = np.where(np.isfinite(high), high, alpha)
        rounding = (high * M - product) + (alpha - high) * M
        return np.where(np.isfinite(rounding), (product - self.counts.sum()) + rounding, product)


@quiet
def effective_ridge(
    spectrum: Spectrum, alpha: FloatArray, lam: FloatArray, *, throw: bool = True, clip: bool = False
) -> tuple[FloatArray, BoolArray]:
    """Solve eq. 10 (saddle_point) for κ̄, given one-dimensional α and λ of equal length.

    Returns κ̄ and, for each point, whether a root was found. Raises `ConvergenceError` where none was
    found, unless ``throw=False``, and `RidgeError` for a λ below the floor of the physical branch. With ``clip=True``
    such a λ is raised to the floor.
    """
    status = np.ones(alpha.shape, dtype=bool)
    largest = spectrum.values.max(initial=0.0)
    vast = lam > VAST * largest
    if not largest:  # without variance nothing is fitted, whatever the ridge
        vast = lam != 0
    kappa_bar = np.where(alpha == 0, np.inf, np.where(vast, lam / alpha, 0.0))
    inside = (alpha > 0) & np.isfinite(alpha) & ~vast
    spare = spectrum.spare_samples(alpha)
    above = inside & ((lam > 0) | (lam == 0) & (spare < 0))
    if above.any():
        pull, samples = (each[above] * spectrum.n_features for each in (lam, alpha))
        kappa_bar[above], status[above] = _non_negative(spectrum, pull, samples, spare[above])
    below = inside & (lam < 0)
    if below.any():
        kappa_bar[below], status[below] = _negative(spectrum, alpha[below], lam[below], clip=clip)
    if throw and not status.all():
        worst = status.argmin()
        raise ConvergenceError(
            f"no saddle point found at sample_ratio={alpha[worst]:g}, ridge={lam[worst]:g}; check the covariance's "
            "scale, or pass throw=False to see every status"
        )
    return kappa_bar, status


def effective_ridges(
    spectra: Sequence[Spectrum], alpha: FloatArray, lam: FloatArray, *, throw: bool = True, clip: bool = False
) -> tuple[FloatArray, BoolArray]:
    """`effective_ridge` of every member: α, λ, κ̄ and the status have shape (G, k)."""
    members = zip(spectra, alpha.T, lam.T, strict=True)
    found = zip(*(effective_ridge(*member, throw=throw, clip=clip) for member in members), strict=True)
    kappa_bar, status = map(np.column_stack, found)
    return kappa_bar, status


def floor(spectrum: Spectrum, alpha: FloatArray) -> TwoArrays:
    """κ̄_min, where γ_rr = 1, and the ridge there; α finite and positive.

    Newton's method starts where the smallest eigenvalue alone makes γ = 1. It rises to the root because γ^(-1/2) is
    concave.
    """
    d, c, M = spectrum.values, spectrum.counts, spectrum.n_features
    if not len(d):
        return np.zeros(alpha.shape), np.zeros(alpha.shape)
    kappa_bar = d[0] * (np.sqrt(c[0] / (M * alpha)) - 1.0)
    for _ in range(_STEPS):
        R = spectrum.resolvent(kappa_bar)
        squares = (R * d) ** 2
        gamma = squares @ c / (M * alpha)
        step = gamma * (np.sqrt(gamma) - 1) / ((squares * R) @ c / (M * alpha))
        kappa_bar = kappa_bar + np.maximum(step, 0.0)
        if (step <= 4 * EPS * (abs(kappa_bar) + d[0])).all():
            break
    return kappa_bar, spectrum.ridge(alpha, kappa_bar)


def _defect(
    spectrum: Spectrum, kappa_bar: FloatArray, pull: FloatArray, samples: FloatArray, spare: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """λM/κ̄ + Σφ_i - αM by the form that loses fewer digits, from λM, αM and αM - N.

    Also returns its slope αM(1 - γ_rr), which is minus the derivative by log κ̄, and the size of its terms.
    """
    R = spectrum.resolvent(kappa_bar)
    psi = R * kappa_bar[:, None]
    strength = pull / kappa_bar
    # Sums row by row do not depend on the other points of a call.
    weights = spectrum.counts * spectrum.values
    free = np.vecdot(psi, spectrum.counts)
    terms = np.minimum(abs(spare) + abs(free), samples)
    defect = np.where(terms < samples, strength - free - spare, strength + np.vecdot(R, weights) - samples)
    R *= psi
    return defect, strength + np.vecdot(R, weights), terms


def _non_negative(
    spectrum: Spectrum, pull: FloatArray, samples: FloatArray, spare: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """λ > 0, or λ = 0 below the threshold, given λM, αM and αM - N: bracketed Newton steps in log κ̄."""
    low = np.maximum(pull / samples, np.where(spare < 0, spectrum.values[0] * (-spare / samples), 0.0))
    high = (pull + spectrum.counts @ spectrum.values) / samples
    # Above the threshold λM/κ̄ exceeds αM - N: a bracket of the root's own size for tiny λ.
    high = np.where(spare > 0, np.minimum(high, pull / spare), high)
    high = np.maximum(high, low) * (1 + 1e-14)
    low = low * (1 - 1e-14)
    root = np.sqrt(low) * np.sqrt(high)
    live = np.arange(len(root))
    for _ in range(_STEPS):
        x = root[live]
        defect, gap, terms = _defect(spectrum, x, pull[live], samples[live], spare[live])
        low[live] = np.where(defect > 0, x, low[live])
        high[live] = np.where(defect < 0, x, high[live])
        step = defect / gap
        new = x * np.exp(step.clip(-300, 300))
        outside = (new <= low[live]) | (new >= high[live])
        root[live] = np.where(outside & (abs(step) > 1e-12), np.sqrt(low[live]) * np.sqrt(high[live]), new)
        live = live[abs(step) > 2e-15 * (1 + terms / gap)]
        if not len(live):
            break
    return root, ~np.isin(np.arange(len(root)), live)


def _negative(spectrum: Spectrum, alpha: FloatArray, lam: FloatArray, *, clip: bool) -> tuple[FloatArray, BoolArray]:
    """λ < 0: λ(κ̄) is convex, so Newton's method falls to the root from the ridgeless point above it."""
    lowest, least = floor(spectrum, alpha)
    if clip:
        lam = np.maximum(lam, np.minimum(least, 0.0))
    elif (lam <= least).any():
        worst = (least - lam).argmax()
        raise RidgeError(
            f"ridge={lam[worst]:g} is too negative at sample_ratio={alpha[worst]:g}: the regression has a solution "
            f"only above {least[worst]:.6g}; raise the ridge"
        )
    samples = alpha * spectrum.n_features
    spare = spectrum.spare_samples(alpha)
    pull = lam * spectrum.n_features
    kappa_bar = effective_ridge(spectrum, alpha, np.zeros_like(lam))[0]
    kappa_bar = np.where(kappa_bar > 0, kappa_bar, pull / np.where(spare > 0, spare, 1.0))  # a step from κ̄ = 0
    for _ in range(_STEPS):
        defect, gap, terms = _defect(spectrum, kappa_bar, pull, samples, spare)
        lower = np.maximum(kappa_bar * (1 + quotient(defect, gap - defect)), lowest)  # the double root at the floor
        step = lower / kappa_bar - 1
        kappa_bar = lower
        converged = abs(step) <= 1e-14 * (1 + terms / np.maximum(gap, EPS * samples))
        if converged.all():
            break
    return kappa_bar, converged | (abs(step) < 1e-6)
