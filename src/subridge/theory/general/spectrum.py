"""The saddle point on a spectrum: one bracketed scalar root for every sample ratio and ridge at once.

With eigenvalues d_i of Σ̃_rr and the effective ridge κ̄ = 1/q̂, eq. 10 (saddle_point) reads

    λ(κ̄) = α κ̄ - (κ̄/M) Σ_i d_i/(κ̄ + d_i),        dλ/dκ̄ = α (1 - γ_rr),

so the physical branch is γ_rr < 1, on which λ grows with κ̄. It starts at a floor κ̄_min where γ_rr = 1; the ridge
there is the most negative one for which the regression has a solution.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import elementwise

from subridge.arrays.types import BoolArray, FloatArray
from subridge.spec.errors import ConvergenceError, RidgeError

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
        return np.asarray(self.resolvent(kappa_bar) ** 2 @ (self.counts * self.values**2) / (self.n_features * alpha))


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
    interpolating = finite & (lam == 0) & (alpha < spectrum.threshold)
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
    """λ > 0, or λ = 0 below the threshold: 1 - λ/κ - (1/M) Σ d/(κ + α d) grows with κ and has one root."""
    d, weighted = spectrum.values, spectrum.counts * spectrum.values / spectrum.n_features

    def defect(kappa: FloatArray, alpha: FloatArray, lam: FloatArray) -> FloatArray:
        return 1.0 - lam / kappa - (1.0 / (kappa[:, None] + alpha[:, None] * d)) @ weighted

    spare = spectrum.threshold - alpha
    low = np.maximum(lam, np.where(spare > 0, d[0] * spare, 0.0))
    high = lam + weighted.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        # Above the threshold κ cannot exceed λ/(1 - threshold/α): a bracket of the root's own size for tiny λ.
        high = np.where(spare < 0, np.minimum(high, lam * alpha / -spare), high)
    kappa, status = _root(defect, low, np.maximum(high, low), alpha, lam)
    return kappa / alpha, status


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

    return _root(defect, low, high, alpha, lam)


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
