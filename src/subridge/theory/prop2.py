"""Proposition 2: the error in closed form for equicorrelated data with isotropic feature noise.

With b = s(1-c), a = b + ω² and the share σ_r = a S_r of its bulk that member r fits, eq. 16
(EquiCorrGeneralizationError) is

    E_rs = [(1-ρ²) I⁰_rs + ρ² I¹_rs + γ_rs ζ² + δ_rs η_r²]/(1 - γ_rs),        γ_rs = ν_rs σ_r σ_s/α.

Its parts as printed, eqs. 15 and 17 to 20, stand first. The functions after them compute the same, without differences
that lose digits. A bias is a tuple of terms, as `rounding` needs their sizes. A member that sees a fraction f_r of the
rows has the sample ratio f_r α, and γ_rs has the factor f_rs/(f_r f_s). All arguments broadcast; pairs r, s are the
last two axes.
"""

from typing import Any, NamedTuple

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.model.aggregation import MemberMoments, Outputs, of_pairs, outer, quotient
from subridge.model.checks import refuse_beyond_memory
from subridge.model.errors import RidgeError
from subridge.theory import rounding
from subridge.theory.grid import EquicorrelatedGrid, output_products, readout
from subridge.theory.saddle_point import EPS, OrderParameters, TwoArrays, quiet

_INFINITE_DATA = 1e300  # above this B + root overflows, and 1/α is zero


def printed_forms(b: Any, a: Any, alpha: Any, nu: tuple[Any, Any, Any], S: tuple[Any, Any]) -> tuple[Any, Any, Any]:
    """I⁰_rs (eq. 17), I¹_rs for c > 0 (eq. 18) and γ_rs (eq. 15) as printed, for complex numbers or many digits.

    `nu` is ν_rr, ν_ss, ν_rs and `S` is S_r, S_s. With plain numbers they lose digits, see `unaligned_bias`.
    """
    nu_r, nu_s, nu_rs = nu
    S_r, S_s = S
    I_0 = b * (1 - b * nu_r * S_r - b * nu_s * S_s + nu_rs * (a * S_r) * (b * S_s))
    I_1 = (a * nu_rs - b * nu_r * nu_s) / (nu_r * nu_s)
    return I_0, I_1, nu_rs * (a * S_r) * (a * S_s) / alpha


def printed_S(a: Any, alpha: Any, nu: Any, lam: Any) -> Any:
    """S_r = q̂_r/(ν_rr + a q̂_r) (eq. 15) where q_r and q̂_r solve eq. 19; at λ = 0 that is eq. 20."""
    t = lam * nu / a
    root = np.sqrt((alpha - nu) ** 2 + 2 * t * (alpha + nu) + t**2)
    return 2 * alpha / (a * (alpha + nu + t + root))


class Bulk(NamedTuple):
    """The share of its bulk that a member fits, all of one shape."""

    sigma: FloatArray  # σ = a S, in [0, 1] for λ ≥ 0
    per_alpha: FloatArray  # σ/α, α that of the rows it sees
    free: FloatArray  # 1 - σ
    gap: FloatArray  # 1 - γ_rr
    shaky: FloatArray  # factor by which rounding is amplified near the floor of a negative ridge, else one


@quiet
def bulk(alpha: FloatArray, nu: FloatArray, t: FloatArray) -> Bulk:
    """Solve the saddle point of eq. 19, νσ² - Bσ + α = 0 with B = α + ν + t, where t = λν/a is the scaled ridge.

    σ = 2α/(B + √[(α-ν)² + 2t(α+ν) + t²]), and the square root is written as a product. t = inf is a member without a
    bulk. For t < 0 the root exists down to -(√α-√ν)².
    """
    sum_of_roots = np.sqrt(alpha) + np.sqrt(nu)
    apart = (alpha - nu) / sum_of_roots  # √α - √ν, exact where the two are close
    idle = np.isinf(t)
    far = alpha >= _INFINITE_DATA
    near = np.where(far, np.inf, t + apart * apart)
    if (near < -8 * EPS * abs(t)).any():
        raise RidgeError(
            "ridge is too negative: with subset fraction ν the regression has a solution only above "
            "-(a/ν)(√sample_ratio - √ν)², a = data_scale (1 - correlation) + feature_noise²; raise the ridge"
        )
    near = np.maximum(near, 0.0)
    root = np.sqrt(t + sum_of_roots * sum_of_roots) * np.sqrt(near)
    B = alpha + nu + t
    ahead = alpha - nu - t
    per_alpha = np.where(far | idle, 0.0, 2.0 / (B + root))
    free = np.where(ahead > 0, 4 * t * (alpha / (root + ahead)) / (B + root), (root - ahead) / (B + root))
    shaky = np.where(t < 0, (abs(t) + apart * apart) / np.where(near > 0, near, 1.0), 1.0)
    gap = np.where(far | idle, 1.0, root * per_alpha)
    gap = np.where((t == 0) & (abs(alpha - nu) <= 4 * EPS * nu), 0.0, gap)  # α and ν are rounded themselves
    sigma = np.where(idle, 0.0, np.where(far, 1.0, alpha * per_alpha))
    free = np.where(idle, 1.0, np.where(far, 0.0, free))
    return Bulk(sigma, per_alpha, free, gap, np.where(far | idle, 1.0, shaky))


@quiet  # with few samples κ̄ may overflow
def bulk_of_members(grid: EquicorrelatedGrid) -> tuple[Bulk, FloatArray]:
    """The share of its bulk that each member fits, and its effective ridge κ̄ = (a/ν)(1 - σ)/σ, shape (..., k)."""
    nu = grid.own
    a = grid.a[..., None]
    alpha = grid.alpha[..., None] * grid.seen
    # Without a bulk (c = 1, ω = 0) there is nothing to fit in it, for any ridge: σ = 0.
    found = bulk(alpha, nu, np.where(a == 0, np.inf, grid.lam * nu / a))
    # The sample ratio of a member that sees some of the rows is a product, whose rounding 1 - γ_rr amplifies.
    found = found._replace(shaky=np.where(grid.seen < 1, np.maximum(found.shaky, 1.0 / found.gap), found.shaky))
    kappa_bar = np.where(a == 0, np.maximum(grid.lam, 0.0) / alpha, a / nu * (found.free / found.sigma))
    return found, np.where(alpha == 0, np.inf, np.where(np.isinf(alpha), 0.0, kappa_bar))


def unaligned_bias(
    b: FloatArray, pure: FloatArray, lost: FloatArray, nu: tuple[FloatArray, ...], free: TwoArrays
) -> tuple[FloatArray, ...]:
    """Terms of I⁰_rs = b - (b²/a)(ν_rr σ_r + ν_ss σ_s - ν_rs σ_r σ_s), eq. 17.

    It is the bias of the teacher's part orthogonal to 1. The first term is from features that neither member sees, the
    others are what noise and ridge leave of the rest. `pure` is b/a, `lost` is ω²/a, `nu` is ν_rr, ν_ss, ν_rs and
    `free` is 1 - σ_r, 1 - σ_s.
    """
    nu_r, nu_s, nu_rs = nu
    free_r, free_s = free
    only_s = nu_s - nu_rs
    kept = b * pure
    return (
        b * ((1 - nu_r) - only_s),
        b * (nu_r + only_s) * lost,
        kept * ((nu_r - nu_rs) * free_r),
        kept * (only_s * free_s),
        kept * (nu_rs * (free_r * free_s)),
    )


def aligned_bias(
    b: FloatArray, omega2: FloatArray, nu: tuple[FloatArray, ...], own: FloatArray
) -> tuple[FloatArray, ...]:
    """Terms of I¹_rs = a ν_rs/(ν_rr ν_ss) - b, eq. 18: the bias of the teacher's part along 1 for c > 0 and M → ∞.

    It does not depend on the ridge. `own` marks r = s, where ν_rs = ν_rr.
    """
    nu_r, nu_s, nu_rs = nu
    rest = np.where(own, (1 - nu_r) / nu_r, (nu_rs - nu_r * nu_s) / (nu_r * nu_s))
    return b * rest, omega2 * (np.where(own, 1.0, nu_rs / nu_s) / nu_r)


def missed_unaligned(b: FloatArray, gain: FloatArray, nu: FloatArray, sigma: FloatArray) -> FloatArray:
    """Power of the teacher's part orthogonal to 1 that a member misses; `gain` is b²/a."""
    return b - gain * (nu * sigma)


@quiet
def equicorrelated_moments(grid: EquicorrelatedGrid, *, outputs: bool) -> tuple[MemberMoments, FloatArray]:
    """E_rr′ of eq. 16 (EquiCorrGeneralizationError), what members miss of the target, and its power.

    Also returns a bound of the absolute rounding error of the pairs, shape (..., k, k). With `outputs` the moments of
    the outputs are computed as well. At finite M the teacher's part along 1 has a form that holds for every T = s c M.
    """
    shape = grid.alpha.shape
    refuse_beyond_memory("the risk of so many members and points", 100 * grid.nu.size, "take fewer of both")
    grid = grid.lean()
    found, kappa_bar = bulk_of_members(grid)
    fit, lack, lack_size = shares_along(grid, kappa_bar)
    b, a, omega2, alpha, z2, rho, L = (
        field[..., None, None]
        for field in (grid.b, grid.a, grid.omega2, grid.alpha, grid.zeta**2, grid.rho, grid.b + grid.T)
    )
    is_finite = np.isfinite(grid.T).all()
    nu = *of_pairs(grid.own), grid.nu
    nu_r, nu_s, nu_rs = nu
    own = np.eye(grid.nu.shape[-1], dtype=bool)
    pure = np.where(a > 0, b / a, 0.0)
    lost = np.where(a > 0, omega2 / a, 0.0)
    bias, size = _sum(unaligned_bias(b, pure, lost, nu, of_pairs(found.free)))
    # The share that neither sees is a difference of fractions, whose own rounding counts.
    size = size + b * (abs(1 - nu_r) + abs(nu_s - nu_rs)) / 4
    along, along_size = _sum(aligned_bias(b, omega2, nu, own))
    along_size = np.where(own, along_size, along_size + 2 * b)
    if is_finite:  # I¹_rs uniform in T: I⁰_rs for T → 0 and I¹_rs for T → ∞
        fitted = outer(fit)
        along = fitted * along + L * outer(lack)
        along_size = fitted * along_size + L * outer(lack_size)
    noise = gamma_of(grid, found) * z2 + readout(grid)
    top = mixed(rho, bias, along) + noise
    size = mixed(rho, size, along_size) + noise
    # 1 - γ_rs from those of the members and from where they differ, with y = σ/√f.
    y_r, y_s = of_pairs(found.sigma / np.sqrt(grid.seen))
    common = nu_rs * (grid.rows / np.sqrt(outer(grid.seen)))
    unlike = (nu_r - common) * y_r**2 + (nu_s - common) * y_s**2 + common * (y_r - y_s) ** 2
    gap = 0.5 * (np.add(*of_pairs(found.gap)) + quotient(unlike, alpha))
    E = np.where(gap > 0, top / gap, np.where(top == 0, 0.0, np.inf))
    # For T → ∞ the power L = b + T along 1 is infinite, and what a member misses of it tends to u - b.
    b = b[..., 0]
    missed_along = L[..., 0] * lack if is_finite else kappa_bar + a[..., 0] / grid.own - b
    missed = mixed(rho[..., 0], missed_unaligned(b, b * pure[..., 0], grid.own, found.sigma), missed_along)
    power = mixed(grid.rho, grid.b, grid.b + grid.T)
    bounds = rounding.closed_form_doubt(found, E, size, gap, z2)

    def whole(x: FloatArray) -> FloatArray:
        return np.array(np.broadcast_to(x, (*shape, *x.shape[len(shape) :])), order="C")

    known = None
    if outputs:
        c, F = _outputs(grid, found, fit, E)
        known = Outputs(*map(whole, (c, F, *rounding.closed_form_outputs_doubt(found, c, F), np.zeros(()))))
    return MemberMoments(whole(E), whole(missed), whole(power), known), whole(bounds)


def _sum(terms: tuple[FloatArray, ...]) -> TwoArrays:
    """The sum of the terms, and of their absolute values."""
    return np.asarray(sum(terms)), np.asarray(sum(map(abs, terms)))


@quiet
def shares_along(grid: EquicorrelatedGrid, kappa_bar: FloatArray) -> tuple[FloatArray, ...]:
    """The share L/(T + u) of the teacher's part along 1 that a member fits, the share left, and the size of its terms.

    The power along 1 is L = b + T with T = s c M, and u = κ̄ + a/ν. All have shape (..., k). With shares f_r fitted and
    l_r left, the bias along 1 is f_r f_s I¹_rs + L l_r l_s.
    """
    T, a, b, omega2 = (field[..., None] for field in (grid.T, grid.a, grid.b, grid.omega2))
    extra = (b * (1 - grid.own) + omega2) / grid.own  # u - b - κ̄
    whole = T + kappa_bar + a / grid.own
    blind = np.isinf(whole)  # no data
    idle = whole == 0  # nothing along 1
    fit = np.where(np.isinf(T), 1.0, np.where(blind | idle, 0.0, (b + T) / whole))
    return fit, *(
        np.where(blind, 1.0, np.where(idle, 0.0, (part + extra) / whole)) for part in (kappa_bar, abs(kappa_bar))
    )


def _outputs(grid: EquicorrelatedGrid, found: Bulk, fit: FloatArray, E: FloatArray) -> TwoArrays:
    """c_r and F_rs = D_rs + γ_rs (E_rs + ζ²) + δ_rs η_r² of the outputs, in which no term is a difference.

    Orthogonal to 1, c = ν σ b²/a and D = ν_rs σ_r σ_s b²/a. Along it, with the shares f of `shares_along` and
    L = b + T, c = L f_r and D = f_r f_s (T + a ν_rs/(ν_rr ν_ss)).
    """
    a, b, rho, T = (field[..., None, None] for field in (grid.a, grid.b, grid.rho, grid.T))
    own = grid.own
    gain = np.where(a > 0, b**2 / a, 0.0)
    both = T + a * (grid.nu / outer(own))
    c = mixed(rho[..., 0], gain[..., 0] * (own * found.sigma), (b + T)[..., 0] * fit)
    D = mixed(rho, gain * (grid.nu * outer(found.sigma)), outer(fit) * both)
    return c, output_products(grid, D, gamma_of(grid, found), E)


def gamma_of(grid: EquicorrelatedGrid, found: Bulk) -> FloatArray:
    """γ_rs = ν_rs σ_r σ_s f_rs/(f_r f_s α), eq. 15 where all members see all rows."""
    shared = grid.rows / grid.seen[..., None]
    return grid.nu * found.sigma[..., None] * found.per_alpha[..., None, :] * shared


@quiet
def mixed(rho: FloatArray, across: FloatArray, along: FloatArray) -> FloatArray:
    """``(1-ρ²) across + ρ² along``, for the teacher's parts orthogonal to 1 and along it; 0 · inf counts as 0."""
    return (1 - rho) * (1 + rho) * across + np.where(rho**2 > 0, rho**2 * along, 0.0)


@quiet
def equicorrelated_order_parameters(grid: EquicorrelatedGrid) -> OrderParameters:
    """Order parameters of Prop. 2 on the grid: S and γ of eq. 15, q and q̂ of eq. 19."""
    found, kappa_bar = bulk_of_members(grid)
    a = grid.a[..., None]
    q = np.where(np.isinf(kappa_bar), a, kappa_bar * a / (kappa_bar + a / grid.own))
    q = np.where((a == 0) | (kappa_bar == 0), 0.0, q)
    S = 1.0 / (grid.own * kappa_bar + a)
    status = np.ones(q.shape, dtype=bool)
    return OrderParameters(grid.lam + q, q, 1.0 / kappa_bar, S, gamma_of(grid, found), status, np.zeros(q.shape))


@quiet
def scaled_optimum(b: FloatArray, a: FloatArray, nu: FloatArray, rho: FloatArray, noise: FloatArray) -> FloatArray:
    """ν(1 + λ*/a), where the derivative of E_rr by λ vanishes, eq. 193 (optreg_local); ν = 0 gives the limit ν → 0.

    `rho` is the share of the teacher along 1 and `noise` is ζ² + η².
    """
    along = np.where(rho > 0, a * rho / nu, 0.0)
    return a * (noise + along + b * (1 - 2 * rho)) / (b**2 * (1 - rho))


@quiet
def best_member_ridge(b: FloatArray, a: FloatArray, nu: FloatArray, rho: FloatArray, noise: FloatArray) -> FloatArray:
    """λ* of eq. 193 (optreg_local), as in `scaled_optimum`: independent of α and never negative, up to rounding."""
    lam = a * (scaled_optimum(b, a, nu, rho, noise) / nu - 1)
    excess = rho * (a / nu - b) + noise
    # b = 0 or |ρ| = 1: the ridge acts through γ only, so the error always falls unless there is nothing to amplify.
    lam = np.where(abs(lam) < 1e-14 * a, 0.0, lam)  # zero up to rounding is zero
    return np.where(b * (1 - rho) == 0, np.where((excess > 0) & (a > 0), np.inf, 0.0), lam)
