"""The saddle point on a spectrum: one bracketed scalar root for every sample ratio and ridge at once.

With eigenvalues d_i of Σ̃_rr and the effective ridge κ̄ = 1/q̂, eq. 10 (saddle_point) reads

    λ(κ̄) = α κ̄ - (κ̄/M) Σ_i d_i/(κ̄ + d_i),        dλ/dκ̄ = α (1 - γ_rr),

so the physical branch is γ_rr < 1, on which λ grows with κ̄. It starts at a floor κ̄_min where γ_rr = 1; the ridge
there is the most negative one for which the regression has a solution.

In units of the largest eigenvalue, with shares φ_i = d_i/(κ̄ + d_i) and ψ_i = 1 - φ_i, the same equation is

    λM/κ̄ + Σφ_i = αM,    or    λM/κ̄ - Σψ_i = αM - N,

and αM(1 - γ_rr) = λM/κ̄ + Σφ_iψ_i, in which nothing cancels for λ ≥ 0. Newton's method on log κ̄ solves whichever of
the two cancels less.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import elementwise

from subridge.arrays.types import BoolArray, FloatArray
from subridge.model.errors import ConvergenceError, RidgeError

_STEPS = 120  # of Newton's method, each bracketed; a handful is the rule
# Ridges below this share of the largest eigenvalue are solved in a smaller unit, in which they do not underflow.
_FAINT, _FAINT_UNIT = 1e-200, 2.0**-332
# Entries of the temporary (grid × eigenvalues) array: 32 MB, large enough for full speed, small enough for caches.
_BLOCK = 4_000_000


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Distinct positive eigenvalues of Σ̃_rr, shape (n,), with their multiplicities; zeros are left out. M features."""

    values: FloatArray
    counts: FloatArray
    n_features: int

    @property
    def threshold(self) -> float:
        """Interpolation threshold rank(A Σ Aᵀ)/M."""
        return float(self.counts.sum()) / self.n_features

    def resolvent(self, kappa_bar: FloatArray) -> FloatArray:
        """``1/(κ̄ + d_i)``, shape (*kappa_bar.shape, n)."""
        return np.asarray(1.0 / (kappa_bar[..., None] + self.values))

    def ridge(self, alpha: FloatArray, kappa_bar: FloatArray) -> FloatArray:
        """λ(κ̄)."""
        occupied = self.resolvent(kappa_bar) @ (self.counts * self.values) / self.n_features
        return np.asarray(kappa_bar * (alpha - occupied))

    def overlap(self, q_hat: FloatArray) -> FloatArray:
        """q = (1/M) Σ_i d_i/(1 + q̂ d_i)."""
        terms = self.counts * self.values / (1.0 + q_hat[..., None] * self.values)
        return np.asarray(terms.sum(axis=-1) / self.n_features)

    def gamma(self, alpha: FloatArray, kappa_bar: FloatArray) -> FloatArray:
        """γ_rr = (1/αM) Σ_i d_i²/(κ̄ + d_i)²."""
        shares = self.resolvent(kappa_bar) * self.values
        return np.asarray(shares**2 @ self.counts / (self.n_features * alpha))

    def spare_samples(self, alpha: FloatArray) -> FloatArray:
        """αM - N to all digits, N the number of positive eigenvalues."""
        M = float(self.n_features)
        product = alpha * M
        high, low = _split(alpha)
        with np.errstate(invalid="ignore"):
            rounding = (high * M - product) + low * M
            return np.where(np.isinf(product), product, (product - self.counts.sum()) + rounding)


@dataclass(frozen=True, eq=False)
class Root:
    """κ̄ with the solver's verdict, all of one shape."""

    kappa_bar: FloatArray
    status: BoolArray
    residual: FloatArray


def effective_ridge(spectrum: Spectrum, alpha: FloatArray, lam: FloatArray, *, throw: bool = True) -> Root:
    """Solve eq. 10 (saddle_point) for κ̄, given one-dimensional α and λ of equal length.

    Raises `RidgeError` for a negative λ below the floor of the physical branch, and `ConvergenceError` where a root was
    not found; with ``throw=False`` the status says so instead.
    """
    kappa_bar, status = np.zeros(alpha.shape), np.ones(alpha.shape, dtype=bool)
    kappa_bar[alpha == 0] = np.inf
    if not len(spectrum.values):  # a member that sees nothing: it predicts zero, whatever its ridge
        return Root(np.where(alpha == 0, np.inf, 1.0), status, np.zeros(alpha.shape))
    finite = (alpha > 0) & np.isfinite(alpha)
    interpolating = finite & (lam == 0) & (spectrum.spare_samples(alpha) < 0)
    for case, solve in ((finite & (lam > 0) | interpolating, _non_negative), (finite & (lam < 0), _negative)):
        chosen = np.flatnonzero(case)
        step = max(1, _BLOCK // max(1, len(spectrum.values)))
        for start in range(0, len(chosen), step):
            part = chosen[start : start + step]
            kappa_bar[part], status[part] = solve(spectrum, alpha[part], lam[part])
    if throw and not status.all():
        worst = int(np.argmin(status))
        raise ConvergenceError(
            f"no saddle point found at sample_ratio={alpha[worst]:g}, ridge={lam[worst]:g}; check the covariance's "
            "scale, or pass throw=False to see every status"
        )
    return Root(kappa_bar, status, _residual(spectrum, alpha, lam, kappa_bar))


def floor(spectrum: Spectrum, alpha: FloatArray) -> tuple[FloatArray, FloatArray]:
    """κ̄_min, where γ_rr = 1, and the ridge there; α finite and positive."""
    d, c, M = spectrum.values, spectrum.counts, spectrum.n_features
    if not len(d):
        return np.zeros(alpha.shape), np.zeros(alpha.shape)

    def excess(kappa_bar: FloatArray, alpha: FloatArray) -> FloatArray:
        return spectrum.gamma(alpha, kappa_bar) - 1.0

    # Lower end: the smallest eigenvalue alone makes γ one. Upper end: all eigenvalues moved to the one that weighs most
    # (the largest for κ̄ > 0, the smallest for κ̄ < 0) make it one.
    low = d[0] * (np.sqrt(c[0] / (M * alpha)) - 1.0)
    reach = np.sqrt(spectrum.threshold / alpha) - 1.0
    kappa_min = _root(excess, low, np.where(reach > 0, d[-1], d[0]) * reach, alpha)[0]
    return kappa_min, spectrum.ridge(alpha, kappa_min)


def _non_negative(spectrum: Spectrum, alpha: FloatArray, lam: FloatArray) -> tuple[FloatArray, BoolArray]:
    """λ > 0, or λ = 0 below the threshold: one root, in a bracket of its own size."""
    faint = (lam > 0) & (lam < _FAINT * spectrum.values[-1])
    if not faint.any():
        return _bracketed(spectrum, alpha, lam, float(spectrum.values[-1]))
    root, status = np.empty(lam.shape), np.empty(lam.shape, dtype=bool)
    for rows, share in ((faint, _FAINT_UNIT), (~faint, 1.0)):
        root[rows], status[rows] = _bracketed(spectrum, alpha[rows], lam[rows], share * float(spectrum.values[-1]))
    return root, status


def _bracketed(spectrum: Spectrum, alpha: FloatArray, lam: FloatArray, unit: float) -> tuple[FloatArray, BoolArray]:
    """The root by bracketed Newton steps in log κ̄, in this unit of the eigenvalues."""
    M = spectrum.n_features
    d, c = spectrum.values / unit, spectrum.counts
    samples, spare, pull = alpha * M, spectrum.spare_samples(alpha), lam / unit * M
    low = np.maximum(pull / samples, np.where(spare < 0, d[0] * (-spare / samples), 0.0))
    high = (pull + c @ d) / samples
    with np.errstate(divide="ignore", invalid="ignore"):
        # Above the threshold λM/κ̄ exceeds αM - N: a bracket of the root's own size for tiny λ.
        high = np.where(spare > 0, np.minimum(high, pull / spare), high)
    low, high = low * (1 - 1e-14), np.maximum(high, low) * (1 + 1e-14)
    root = np.sqrt(low) * np.sqrt(high)
    live = np.arange(len(root))
    for _ in range(_STEPS):
        x = root[live]
        R = 1.0 / (x[:, None] + d)
        strength = pull[live] / x
        fitted, free = R @ (c * d), x * (R @ c)
        gap = strength + x * (R**2 @ (c * d))
        by_free = np.abs(spare[live]) + free < samples[live]
        defect = np.where(by_free, strength - free - spare[live], strength + fitted - samples[live])  # falls with κ̄
        low[live] = np.where(defect > 0, x, low[live])
        high[live] = np.where(defect < 0, x, high[live])
        step = defect / gap
        new = x * np.exp(np.clip(step, -300, 300))
        outside = (new <= low[live]) | (new >= high[live])
        new = np.where(outside & (np.abs(step) > 1e-12), np.sqrt(low[live]) * np.sqrt(high[live]), new)
        root[live] = new
        rounding = 2e-15 * (1 + np.where(by_free, free, samples[live]) / gap)
        live = live[np.abs(step) > rounding]
        if not len(live):
            break
    status = np.ones(len(root), dtype=bool)
    status[live] = False
    return root * unit, status


def _negative(spectrum: Spectrum, alpha: FloatArray, lam: FloatArray) -> tuple[FloatArray, BoolArray]:
    """λ < 0: between the floor of the branch and its ridgeless point λ(κ̄) rises from λ_min to 0."""
    low, lowest = floor(spectrum, alpha)
    if (lam <= lowest).any():
        worst = int(np.argmax(lowest - lam))
        raise RidgeError(
            f"ridge={lam[worst]:g} is too negative at sample_ratio={alpha[worst]:g}: the regression has a solution "
            f"only above {lowest[worst]:.6g}; raise the ridge"
        )
    high = effective_ridge(spectrum, alpha, np.zeros_like(lam)).kappa_bar

    def defect(kappa_bar: FloatArray, alpha: FloatArray, lam: FloatArray) -> FloatArray:
        return spectrum.ridge(alpha, kappa_bar) - lam

    kappa_bar, status = _root(defect, low, high, alpha, lam)
    return _polished(spectrum, alpha, lam, kappa_bar), status


def _polished(spectrum: Spectrum, alpha: FloatArray, lam: FloatArray, kappa_bar: FloatArray) -> FloatArray:
    """A few steps of Newton's method on the form of the equation that cancels less."""
    d, c, M = spectrum.values, spectrum.counts, spectrum.n_features
    spare = spectrum.spare_samples(alpha)
    for _ in range(6):
        fitted = d / (kappa_bar[:, None] + d)
        free = kappa_bar[:, None] / (kappa_bar[:, None] + d)
        pull = lam * M / kappa_bar
        gap = pull + (fitted * free) @ c
        by_free = np.abs(spare) + np.abs(free) @ c < alpha * M
        defect = np.where(by_free, pull - free @ c - spare, pull + fitted @ c - alpha * M)
        step = np.divide(defect, gap, out=np.zeros_like(gap), where=gap > 0)
        new = kappa_bar * (1 + np.clip(step, -0.5, 0.5))
        kappa_bar = np.where(new > -d[0], new, kappa_bar)
    return kappa_bar


def _split(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """x as a sum of two numbers of half the digits, so that products with integers below 2^26 are exact."""
    with np.errstate(over="ignore", invalid="ignore"):
        high = 134217729.0 * x - (134217729.0 * x - x)
    high = np.where(np.isfinite(high), high, x)
    with np.errstate(invalid="ignore"):
        return high, np.where(np.isinf(x), 0.0, x - high)


def _root(
    function: Callable[..., FloatArray], low: FloatArray, high: FloatArray, *args: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """Bracketed roots of an elementwise function.

    An analytic bracket may touch the root, and then rounding decides on which side: an end where the function is
    nothing but rounding is the root itself.
    """
    f_low, f_high = function(low, *args), function(high, *args)
    root = np.where(np.abs(f_low) < np.abs(f_high), low, high)
    status = np.minimum(np.abs(f_low), np.abs(f_high)) < 1e-9
    inside = np.flatnonzero(np.sign(f_low) * np.sign(f_high) < 0)
    if len(inside):
        found = elementwise.find_root(
            function, (low[inside], high[inside]), args=tuple(a[inside] for a in args), maxiter=400
        )
        root[inside] = np.where(found.success, found.x, root[inside])
        status[inside] |= found.success
    return root, status


def _residual(spectrum: Spectrum, alpha: FloatArray, lam: FloatArray, kappa_bar: FloatArray) -> FloatArray:
    """|λ(κ̄) - λ| relative to the larger of λ and ακ̄, the terms that cancel."""
    residual = np.zeros(alpha.shape)
    inner = np.isfinite(alpha) & np.isfinite(kappa_bar) & (kappa_bar != 0)
    if inner.any():
        a, k = alpha[inner], kappa_bar[inner]
        scale = np.maximum(np.abs(lam[inner]), np.abs(a * k))
        residual[inner] = np.abs(spectrum.ridge(a, k) - lam[inner]) / scale
    return residual
