"""Reduced forms: k equal disjoint members, errors in units of s(1−c), and their expansions in 1/k.

With b = s(1−c) and a = (1+W) b, every error of Prop. 2 is b times a function of k, α, ρ, Λ = λ/b and the
noise ratios H, W, Z. All of it is written in σ = aS = (1+W)𝓢, in which it is rational;
:func:`sigma_of_ridge` puts the ridge back.

If 𝓔_k approaches 𝓔_∞ = 1 − ρ² + Wρ² from above, an infinite ensemble may be best. If it approaches from below, some
finite k is better. The sign is that of the coefficient of 1/k; where it vanishes are the phase boundaries.
"""

from functools import lru_cache

import sympy as sp

from subridge.derivations.equicorrelated import optimal_ridge, pair_error, sigma_closed_form
from subridge.derivations.notation import (
    E_bulk,
    H,
    Lam,
    S_r,
    S_s,
    W,
    Z,
    a,
    alpha,
    b,
    eta,
    k,
    lam,
    nu,
    nu_r,
    nu_rs,
    nu_s,
    rho,
    sigma,
    zeta,
)

_REDUCED = {a: (1 + W) * b, eta: sp.sqrt(H * b), zeta: sp.sqrt(Z * b), lam: Lam * b}


def _reduce(expression: sp.Expr) -> sp.Expr:
    """Divide by b, insert the noise ratios, and check that the scale drops out."""
    reduced = sp.factor((expression / b).subs(_REDUCED))
    if reduced.has(b):
        raise ValueError(f"the scale does not drop out of {reduced}")
    return reduced


@lru_cache
def own_error() -> sp.Expr:
    """Return 𝓔_rr (eqs. 204 (ErrReduced) to 208) in σ.

    >>> sp.factor(own_error().subs({sigma: 0, rho: 0}))
    H + 1
    """
    return _reduce(pair_error(same=True).subs({S_r: sigma / a, nu_r: 1 / k}))


@lru_cache
def crossed_error() -> sp.Expr:
    """Return 𝓔_rr′ of disjoint members (eqs. 209 (ErrpReduced), 210) in σ.

    >>> sp.expand(crossed_error().subs(rho, 0) * (1 + W))
    W + 1 - 2*sigma/k
    """
    disjoint = {S_r: sigma / a, S_s: sigma / a, nu_r: 1 / k, nu_s: 1 / k, nu_rs: 0}
    return _reduce(pair_error(same=False).subs(disjoint))


@lru_cache
def error() -> sp.Expr:
    """Return 𝓔 (eqs. 211 (EkReduced), 212) in σ.

    >>> sp.limit(error().subs(sigma, 1), k, sp.oo).equals(1 - rho**2 + W * rho**2)
    True
    """
    return own_error() / k + (k - 1) / k * crossed_error()


def sigma_of_ridge() -> sp.Expr:
    """Return σ = (1+W)𝓢 as a function of the reduced ridge Λ, at ν = 1/k (eqs. 195 to 202).

    >>> sigma_of_ridge().subs({Lam: 0, k: 1, alpha: 3})
    1
    """
    # lam/a = Λ/(1+W): the scale drops out before the symbols are exchanged.
    return sigma_closed_form().subs(lam, Lam * a / (1 + W)).subs(nu, 1 / k)


def ridgeless_error(more_samples: bool) -> sp.Expr:
    """Return 𝓔 at λ = 0, for α > 1/k (``more_samples``) or α < 1/k.

    Parameters
    ----------
    more_samples : bool
        Whether α > 1/k.

    Returns
    -------
    sympy.Expr
        The error on that side of the threshold.

    Examples
    --------
    >>> sp.factor(ridgeless_error(True).subs({rho: 0, W: 0, k: 1}))
    (H*alpha + Z)/(alpha - 1)
    """
    return sp.factor(error().subs(sigma, 1 if more_samples else alpha * k))


@lru_cache
def reduced_optimal_ridge() -> sp.Expr:
    """Return Λ* = λ*/(s(1−c)) at ν = 1/k.

    >>> sp.factor(reduced_optimal_ridge().subs({rho: 0, W: 0, k: 1}))
    H + Z
    """
    return _reduce(optimal_ridge().subs(nu, 1 / k))


@lru_cache
def optimal_sigma_quadratic() -> sp.Expr:
    """Return the polynomial whose smaller root is σ at λ*: νσ² − (α + h)σ + α with h free of α.

    >>> poly = sp.Poly(optimal_sigma_quadratic(), sigma)
    >>> [sp.factor(c) for c in poly.all_coeffs()[::2]]
    [1/k, alpha]
    >>> h = -poly.coeff_monomial(sigma) - alpha
    >>> sp.factor(h - (1+W)*(1 - 2*rho**2 + H + Z + (1+W)*rho**2*k)/(1 - rho**2))
    0
    """
    # νσ² − (α + ν + t)σ + α with t = λ*ν/a = Λ*/(k(1+W))
    t_star = reduced_optimal_ridge() / (k * (1 + W))
    return sigma**2 / k - (alpha + sp.factor(1 / k + t_star)) * sigma + alpha


def ridgeless_coefficient() -> sp.Expr:
    """Return the coefficient of 1/k in 𝓔_k at λ = 0 (eq. 213).

    >>> sp.factor(ridgeless_coefficient() * (1 + W) * alpha - (
    ...     (1 + W)**2 * rho**2 + alpha * (-2 + H + H*W + 2*rho**2)))
    0
    """
    excess = sp.factor(ridgeless_error(more_samples=True).subs(k, 1 / nu) - E_bulk)
    return sp.factor(sp.limit(sp.factor(excess / nu), nu, 0))


def ridgeless_boundary() -> sp.Expr:
    """Return the α at which that coefficient vanishes (eq. 214 (AnalyticalBoundaryZeroReg)).

    >>> sp.factor(ridgeless_boundary() - (1 + W)**2 * rho**2 / (2*(1 - rho**2) - H*(1 + W)))
    0
    """
    (boundary,) = sp.solve(ridgeless_coefficient(), alpha)
    return sp.factor(boundary)


def few_samples_form() -> dict[str, sp.Expr]:
    """Return e′, H and C_2 of 𝓔_k = e′ + H/k + C_2/(1 − αk), at λ = 0 and k < 1/α.

    >>> parts = few_samples_form()
    >>> total = parts["constant"] + parts["inverse"] / k + parts["pole"] / (1 - alpha * k)
    >>> sp.factor(total - ridgeless_error(more_samples=False))
    0
    """
    return _with_pole(ridgeless_error(more_samples=False), 1 - alpha * k, ("constant", "inverse"))


def many_samples_form() -> dict[str, sp.Expr]:
    """Return p_0, p_1, p_2 and C of 𝓔_k = p_0 + p_1 ν + p_2 ν² + C/(α − ν), at λ = 0, ν = 1/k < α.

    For α ≤ 1 + W, C is a sum of non-negative terms and 𝓔 is convex in ν. Beyond that it need not be: at α = 2
    without any noise C = −4 and 𝓔 is concave near ν = 1.

    >>> many_samples_form()["quadratic"]
    -2*(rho - 1)*(rho + 1)/(W + 1)
    >>> terms = (1 + W) * alpha * (H + Z) + alpha * (1 + W - alpha) + rho**2 * (1 + W - alpha) ** 2
    >>> sp.factor(many_samples_form()["pole"] - alpha * terms / (1 + W))
    0
    """
    return _with_pole(ridgeless_error(more_samples=True), alpha - 1 / k, ("constant", "linear", "quadratic"))


def _with_pole(expression: sp.Expr, gap: sp.Expr, names: tuple[str, ...]) -> dict[str, sp.Expr]:
    """Split a function of k into a pole over a gap that closes at k = 1/α, and a polynomial in ν = 1/k."""
    pole = sp.factor(sp.cancel(expression * gap).subs(k, 1 / alpha))
    rest = sp.Poly(sp.cancel((expression - pole / gap).subs(k, 1 / nu)), nu)
    return {name: sp.factor(rest.coeff_monomial(nu**power)) for power, name in enumerate(names)} | {"pole": pole}


@lru_cache
def optimal_error() -> sp.Expr:
    """Return 𝓔*_k in σ and ν = 1/k; σ is the smaller root of the quadratic at λ*.

    >>> sp.factor(optimal_error() - E_bulk - nu * (H - (1 - rho**2) * (2 - nu) * sigma / (1 + W)))
    0
    """
    # α is eliminated with the quadratic, which is linear in it; the result is then rational in σ.
    (stationary_alpha,) = sp.solve(optimal_sigma_quadratic(), alpha)
    return sp.factor(error().subs(alpha, stationary_alpha).subs(k, 1 / nu))


@lru_cache
def optimal_coefficient(aligned: bool) -> sp.Expr:
    """Return the coefficient of 1/k in 𝓔*_k (eq. 215): for ρ ≠ 0 (``aligned``) the printed H; another for ρ = 0.

    Parameters
    ----------
    aligned : bool
        Whether the teacher has a part along 1, ρ ≠ 0.

    Returns
    -------
    sympy.Expr
        The coefficient of 1/k.

    Examples
    --------
    >>> optimal_coefficient(aligned=True)
    H
    >>> sp.factor(optimal_coefficient(aligned=False) - (H - 2*alpha/((1+W)*(alpha + (1+W)*(1+H+Z)))))
    0
    """
    coefficient = uniform_optimal_coefficient()
    # For ρ ≠ 0 the ridge grows with k, so that σ_k → 0 and only the readout noise is left at order 1/k.
    return sp.factor(sp.limit(coefficient, k, sp.oo) if aligned else coefficient.subs(rho, 0))


def uniform_optimal_coefficient() -> sp.Expr:
    """Return H − 2(1−ρ²)σ_k/(1+W), which holds for large k whether or not ρ²k is large.

    σ_k is the root at λ* of the quadratic without its term σ²/k.

    >>> sp.factor(uniform_optimal_coefficient().subs(rho, 0) - optimal_coefficient(aligned=False))
    0
    """
    # The leading part of 𝓔* − 𝓔_∞ in ν at fixed σ.
    excess = sp.factor((optimal_error() - E_bulk) / nu).subs(nu, 0)
    # The smaller root tends to σ_k as k grows, while the other root goes to infinity like k.
    _, c1, c0 = sp.Poly(optimal_sigma_quadratic(), sigma).all_coeffs()
    return sp.factor(excess.subs(sigma, -c0 / c1))


def optimal_boundary() -> sp.Expr:
    """Return the boundary at λ* and ρ = 0, which the paper does not give.

    >>> sp.factor(optimal_boundary() - H*(1+W)**2*(1+H+Z)/(2 - H*(1+W)))
    0
    """
    (boundary,) = sp.solve(optimal_coefficient(aligned=False), alpha)
    return sp.factor(boundary)


def optimal_crossing() -> sp.Expr:
    """Return the α at which 𝓔*_k = 𝓔_∞ for a given k, any ρ.

    As k grows at ρ = 0 it becomes the boundary:

    >>> sp.factor(sp.limit(optimal_crossing().subs(rho, 0), k, sp.oo) - optimal_boundary())
    0
    """
    (crossing_sigma,) = sp.solve(sp.numer(sp.factor((optimal_error() - E_bulk) / nu)), sigma)
    (crossing,) = sp.solve(optimal_sigma_quadratic().subs(sigma, crossing_sigma.subs(nu, 1 / k)), alpha)
    return sp.factor(crossing)
