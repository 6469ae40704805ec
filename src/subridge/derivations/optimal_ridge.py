"""λ*, the ridge that minimises the error of one member, and why it does not depend on α.

E_rr depends on λ through σ only. Its derivative in σ factors into a positive factor times λ* − λ(σ), with λ*
free of σ and α: the stationary ridge is the same at every sample size, and it is the minimum.
"""

from functools import lru_cache

import sympy as sp

from subridge.derivations.equicorrelated import aligned_bias, on_the_diagonal, pair_error, random_bias
from subridge.derivations.notation import S_r, a, alpha, b, eta, nu, nu_r, rho, sigma, zeta
from subridge.derivations.saddle_point import ridge_of_sigma


@lru_cache
def member_error() -> sp.Expr:
    """Return E_rr as a function of σ = aS.

    >>> sp.limit(member_error(), sigma, 0).subs({rho: 0, eta: 0})
    b
    """
    return sp.factor(pair_error(same=True).subs({S_r: sigma / a, nu_r: nu}))


@lru_cache
def optimal_ridge() -> sp.Expr:
    """Return λ* for 0 < c < 1 (eq. 193 (optreg_local)), by setting dE_rr/dσ to zero.

    >>> optimal_ridge().has(alpha)
    False
    >>> sp.factor(optimal_ridge().subs({rho: 0, nu: 1, a: b}))
    eta**2 + zeta**2
    """
    # The numerator of dE/dσ is a quadratic in σ; the same combination α/σ + νσ appears in λ(σ), so α and σ
    # leave together when α is eliminated.
    numerator = sp.fraction(sp.factor(sp.diff(member_error(), sigma)))[0]
    stationary_alpha = [root for root in sp.solve(numerator, alpha) if root != 0]
    (solution,) = {sp.factor(ridge_of_sigma().subs(alpha, root)) for root in stationary_alpha}
    return solution


def slope_factor() -> sp.Expr:
    """Return dE_rr/dσ divided by λ* − λ(σ): positive for ρ² < 1.

    As σ falls when λ grows, E_rr falls up to λ* and rises after it: λ* is the only minimum.

    >>> slope_factor()
    -2*alpha*b**2*nu**2*sigma*(rho - 1)*(rho + 1)/(a**2*(alpha - nu*sigma**2)**2)
    """
    slope = sp.diff(member_error(), sigma)
    return sp.factor(slope / (optimal_ridge() - ridge_of_sigma()))


def stationarity_bracket() -> sp.Expr:
    """Return the bracket of the paper's stationarity condition, with (1−c)² as it must be.

    dE_rr/dS is 2/(1−γ) times it. The second term below carries s²(1−c)² = b², where the paper prints
    s²(1−c²).

    >>> slope = sp.diff(pair_error(same=True), S_r)
    >>> gamma_rr = a**2 * nu_r * S_r**2 / alpha
    >>> sp.factor(slope - 2 / (1 - gamma_rr) * stationarity_bracket())
    0
    """
    gamma_rr = a**2 * nu_r * S_r**2 / alpha
    I0, I1 = on_the_diagonal(random_bias()), on_the_diagonal(aligned_bias())
    mixture = (1 - rho**2) * I0 + rho**2 * I1 + zeta**2 + eta**2
    first = a**2 * nu_r / (alpha * (1 - gamma_rr)) * S_r * mixture
    return first + (1 - rho**2) * b**2 * nu_r * (a * S_r - 1)


def isotropic_optimal_ridge() -> sp.Expr:
    """Return λ* at c = 0, feature noise included; b is then s.

    >>> sp.factor(isotropic_optimal_ridge() - a * (a * (zeta**2 + eta**2 + b) / (b**2 * nu) - 1))
    0
    """
    # At c = 0 no direction is special: the error is that of ρ = 0.
    return sp.factor(optimal_ridge().subs(rho, 0))


def excess_over_isotropic_bound() -> sp.Expr:
    """Return λ*/a + 1 − a/(bν), a sum of non-negative terms for bν ≤ a: λ* is never negative.

    >>> expected = a * (nu * (eta**2 + zeta**2) + rho**2 * (a - b * nu)) / ((1 - rho**2) * (b * nu) ** 2)
    >>> sp.factor(excess_over_isotropic_bound() - expected)
    0
    """
    return sp.factor(optimal_ridge() / a + 1 - a / (b * nu))
