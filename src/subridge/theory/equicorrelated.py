"""Prop. 2: equicorrelated data with isotropic feature noise, in closed form."""

from dataclasses import dataclass

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.spec.problem import EquicorrelatedProblem
from subridge.theory.bulk import bulk_overlap
from subridge.theory.divergence import over_one_minus
from subridge.theory.order_parameters import OrderParameters


@dataclass(frozen=True, eq=False)
class Grid:
    """Parameters broadcast to one grid: scalars (...), members (..., k), pairs (..., k, k)."""

    problem: EquicorrelatedProblem
    alpha: FloatArray
    nu: FloatArray
    lam: FloatArray
    eta: FloatArray

    @property
    def signal(self) -> FloatArray:
        """b = s(1 - c)."""
        return np.asarray(self.problem.data_scale * (1 - self.problem.correlation))

    @property
    def bulk_variance(self) -> FloatArray:
        """a = s(1 - c) + ω²."""
        return np.asarray(self.signal + self.problem.feature_noise**2)

    @property
    def own(self) -> FloatArray:
        """ν_rr, shape (..., k)."""
        return np.diagonal(self.nu, axis1=-2, axis2=-1)

    def overlaps(self) -> tuple[FloatArray, FloatArray]:
        """σ_r and σ_r/α, shape (..., k)."""
        a = self.bulk_variance[..., None]
        with np.errstate(divide="ignore", invalid="ignore"):
            t = self.lam * self.own / a
        # Without a bulk (c = 1, ω = 0) there is nothing to fit in it, for any ridge: σ = 0.
        t = np.where(a == 0, np.inf, t)
        return bulk_overlap(self.alpha[..., None], self.own, t)

    def kappa_bar(self) -> FloatArray:
        """Effective ridge κ̄_r, shape (..., k): the larger root of α κ̄² - h κ̄ - λa/ν = 0, h = λ + a(1 - α/ν)."""
        a, alpha, lam = self.bulk_variance[..., None], self.alpha[..., None], self.lam
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            h = lam + a * (1 - alpha / self.own)
            # At the floor of a negative ridge the radicand is zero; rounding must not make it less.
            root = np.sqrt(np.maximum(h**2 + 4 * alpha * lam * a / self.own, 0.0))
            kappa_bar = np.where(h > 0, (h + root) / (2 * alpha), 2 * lam * a / self.own / (root - h))
        kappa_bar = np.where((h <= 0) & (lam == 0), 0.0, kappa_bar)
        kappa_bar = np.where(np.isinf(alpha), 0.0, kappa_bar)
        return np.where(alpha == 0, np.inf, kappa_bar)


def equicorrelated_pairs(grid: Grid, n_features: int | None) -> FloatArray:
    """E_rr′ of eq. EquiCorrGeneralizationError, shape (..., k, k)."""
    sigma, per_alpha = grid.overlaps()
    gamma = grid.nu * sigma[..., :, None] * per_alpha[..., None, :]
    rho = grid.problem.alignment[..., None, None]
    zeta = grid.problem.label_noise[..., None, None]
    bias = (1 - rho**2) * _orthogonal(grid, sigma) + rho**2 * _aligned(grid, sigma, n_features)
    noise = gamma * zeta**2 + np.eye(grid.nu.shape[-1]) * grid.eta[..., :, None] ** 2
    return over_one_minus(bias, noise, gamma, np.broadcast_to(grid.signal[..., None, None], bias.shape))


def _orthogonal(grid: Grid, sigma: FloatArray) -> FloatArray:
    """I⁰_rr′: the teacher's part orthogonal to 1."""
    b, a = grid.signal[..., None, None], grid.bulk_variance[..., None, None]
    share = np.divide(b, a, out=np.zeros_like(a), where=a > 0)
    fitted = (grid.own * sigma)[..., :, None] + (grid.own * sigma)[..., None, :]
    both = grid.nu * sigma[..., :, None] * sigma[..., None, :]
    return np.asarray(b * (1 - share * fitted + share * both))


def _aligned(grid: Grid, sigma: FloatArray, n_features: int | None) -> FloatArray:
    """I¹_rr′: the teacher's part along 1; the limit M → ∞, or the form uniform in T = s c M."""
    b, a = grid.signal[..., None, None], grid.bulk_variance[..., None, None]
    own = grid.own
    limit = a * grid.nu / (own[..., :, None] * own[..., None, :]) - b
    c = grid.problem.correlation[..., None, None]
    if n_features is None:
        return np.where(c > 0, limit, _orthogonal(grid, sigma))
    T = grid.problem.data_scale[..., None, None] * c * n_features
    L = b + T
    u = grid.kappa_bar() + grid.bulk_variance[..., None] / own
    u_r, u_s = u[..., :, None], u[..., None, :]
    with np.errstate(invalid="ignore", divide="ignore"):
        uniform = L * ((u_r - b) * (u_s - b) + L * limit) / ((T + u_r) * (T + u_s))
    return np.where(np.isinf(u_r + u_s), L, np.where((T + u_r) * (T + u_s) == 0, 0.0, uniform))


def equicorrelated_order_parameters(grid: Grid) -> OrderParameters:
    """Order parameters of Prop. 2 on the grid."""
    sigma, per_alpha = grid.overlaps()
    a, kappa_bar = grid.bulk_variance[..., None], grid.kappa_bar()
    shape = sigma.shape
    with np.errstate(divide="ignore", invalid="ignore"):
        q_hat = 1.0 / kappa_bar
        q = np.where(np.isinf(kappa_bar), a, kappa_bar * a / (kappa_bar + a / grid.own))
        S = np.where(np.isinf(kappa_bar), 0.0, 1.0 / (grid.own * kappa_bar + a))
    q = np.where((a == 0) | (kappa_bar == 0), 0.0, q)
    return OrderParameters(
        kappa=np.broadcast_to(grid.lam + q, shape),
        q=np.broadcast_to(q, shape),
        q_hat=np.broadcast_to(q_hat, shape),
        S=np.broadcast_to(S, shape),
        gamma=grid.nu * sigma[..., :, None] * per_alpha[..., None, :],
        status=np.ones(shape, dtype=bool),
        residual=np.zeros(shape),
    )
