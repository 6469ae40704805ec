"""Reduced forms: k equal disjoint members, errors in units of s(1−c).

With b = s(1−c) and a = (1+W) b, every error of Prop. 2 is b times a function of k, α, ρ, Λ = λ/b and the
noise ratios H, W, Z. All of it is written in σ = aS = (1+W)𝓢, in which it is rational;
:func:`sigma_of_ridge` puts the ridge back.
"""

from functools import lru_cache

import sympy as sp

from subridge.derivations.equicorrelated import pair_error
from subridge.derivations.notation import (
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
from subridge.derivations.optimal_ridge import optimal_ridge
from subridge.derivations.saddle_point import ridge_of_sigma, sigma_closed_form

_REDUCED = {a: (1 + W) * b, eta: sp.sqrt(H * b), zeta: sp.sqrt(Z * b), lam: Lam * b}


def _reduce(expression: sp.Expr) -> sp.Expr:
    """Divide by b, put the noise ratios in, and check that the scale is gone."""
    reduced = sp.factor((expression / b).subs(_REDUCED))
    if reduced.has(b):
        raise ValueError(f"the scale does not drop out of {reduced}")
    return reduced


@lru_cache
def own_error() -> sp.Expr:
    """Return 𝓔_rr (eq. 204 (ErrReduced)) in σ.

    >>> sp.factor(own_error().subs({sigma: 0, rho: 0}))
    H + 1
    """
    return _reduce(pair_error(same=True).subs({S_r: sigma / a, nu_r: 1 / k}))


@lru_cache
def crossed_error() -> sp.Expr:
    """Return 𝓔_rr′ of disjoint members (eq. 209 (ErrpReduced)) in σ.

    >>> sp.expand(crossed_error().subs(rho, 0) * (1 + W))
    W + 1 - 2*sigma/k
    """
    disjoint = {S_r: sigma / a, S_s: sigma / a, nu_r: 1 / k, nu_s: 1 / k, nu_rs: 0}
    return _reduce(pair_error(same=False).subs(disjoint))


@lru_cache
def error() -> sp.Expr:
    """Return 𝓔 (eq. 211 (EkReduced)) in σ.

    >>> sp.limit(error().subs(sigma, 1), k, sp.oo).equals(1 - rho**2 + W * rho**2)
    True
    """
    return own_error() / k + (k - 1) / k * crossed_error()


def paper_own_error(calS: sp.Expr) -> sp.Expr:
    """Return 𝓔_rr as printed, (N_1 + N_2)/D, for a given 𝓢.

    Parameters
    ----------
    calS : sympy.Expr
        𝓢 = σ/(1+W).

    Returns
    -------
    sympy.Expr
        𝓔_rr of the paper.

    Examples
    --------
    >>> sp.factor(paper_own_error(sigma / (1 + W)) - own_error())
    0
    """
    N_1 = alpha * (H + 1) * k + calS * (calS * (W + 1) * (alpha + W * Z + Z) - 2 * alpha)
    N_2 = alpha * rho**2 * (k - calS) * (W * (k + calS) + k + calS - 2)
    return (N_1 + N_2) / (alpha * k - calS**2 * (W + 1) ** 2)


def paper_crossed_error(calS: sp.Expr) -> sp.Expr:
    """Return 𝓔_rr′ as printed, for a given 𝓢.

    Parameters
    ----------
    calS : sympy.Expr
        𝓢 = σ/(1+W).

    Returns
    -------
    sympy.Expr
        𝓔_rr′ of the paper.

    Examples
    --------
    >>> sp.factor(paper_crossed_error(sigma / (1 + W)) - crossed_error())
    0
    """
    return 2 * (rho**2 - 1) * calS / k - 2 * rho**2 + 1


def sigma_of_ridge() -> sp.Expr:
    """Return σ as a function of the reduced ridge Λ, at ν = 1/k.

    >>> sigma_of_ridge().subs({Lam: 0, k: 1, alpha: 3})
    1
    """
    # lam/a = Λ/(1+W): the scale drops out before the symbols are exchanged.
    return sigma_closed_form().subs(lam, Lam * a / (1 + W)).subs(nu, 1 / k)


def reduced_ridge_of_sigma() -> sp.Expr:
    """Return Λ as a function of σ, at ν = 1/k.

    >>> sp.factor(reduced_ridge_of_sigma().subs(k, 1) - (1 + W) * (1 - sigma) * (alpha - sigma) / sigma)
    0
    """
    return _reduce(ridge_of_sigma().subs(nu, 1 / k))


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
