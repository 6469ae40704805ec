"""Limits of Prop. 2: no ridge (with F_0's three branches), and infinitely many samples.

Without ridge the quadratic for σ has the roots 1 and α/ν; the smaller one is the solution, so each member is
in one of two states and a pair in one of three (up to exchange).
"""

import sympy as sp

from subridge.derivations.block_forms import limit
from subridge.derivations.equicorrelated import gamma, pair_error, random_bias
from subridge.derivations.notation import S_r, S_s, a, alpha, b, eta, k, nu, nu_r, nu_rs, nu_s, rho
from subridge.derivations.saddle_point import quadratic, t

mean_fraction = sp.Symbol(r"\bar\nu", positive=True)
mean_inverse_fraction = sp.Symbol(r"\overline{\nu^{-1}}", positive=True)


def ridgeless_sigma() -> tuple[sp.Expr, sp.Expr]:
    """Return σ at λ = 0 for α < ν and for α > ν: the two roots of the quadratic, smaller one first each.

    >>> ridgeless_sigma()
    (alpha/nu, 1)
    """
    sigma = sp.Symbol("sigma", positive=True)
    roots = sp.solve(quadratic().subs(t, 0), sigma)
    fewer, more = sorted(roots, key=lambda root: not root.has(alpha))
    return fewer, more


def _member(index: sp.Symbol, more_samples: bool) -> sp.Expr:
    """Return S of one member in one of its two ridgeless states."""
    return ridgeless_sigma()[more_samples].subs(nu, index) / a


def ridgeless_gamma(first_has_more: bool, second_has_more: bool) -> sp.Expr:
    """Return γ_rr′ at λ = 0; the flags say whether α > ν_rr and α > ν_r′r′.

    Parameters
    ----------
    first_has_more : bool
        Whether α > ν_rr.
    second_has_more : bool
        Whether α > ν_r′r′.

    Returns
    -------
    sympy.Expr
        In α and the fractions.

    Examples
    --------
    >>> ridgeless_gamma(False, False), ridgeless_gamma(True, False), ridgeless_gamma(True, True)
    (alpha*nu_rs/(nu_r*nu_s), nu_rs/nu_s, nu_rs/alpha)
    """
    return sp.factor(gamma().subs({S_r: _member(nu_r, first_has_more), S_s: _member(nu_s, second_has_more)}))


def ridgeless_random_bias() -> dict[str, sp.Expr]:
    """Return F_0(α), the ridgeless I⁰_rr′, on its three branches for ν_rr ≤ ν_r′r′.

    >>> sorted(ridgeless_random_bias())
    ['alpha < nu_r < nu_s', 'nu_r < alpha < nu_s', 'nu_r < nu_s < alpha']
    """
    branches = {
        "alpha < nu_r < nu_s": (False, False),
        "nu_r < alpha < nu_s": (True, False),
        "nu_r < nu_s < alpha": (True, True),
    }
    I0 = random_bias()
    return {
        name: sp.factor(I0.subs({S_r: _member(nu_r, first), S_s: _member(nu_s, second)}))
        for name, (first, second) in branches.items()
    }


def ridgeless_member_error(more_samples: bool) -> sp.Expr:
    """Return E_rr at λ = 0 (eqs. 179 (rho0DiagEquiCorrError), 180 (rho1DiagEquiCorrError) and their mixture).

    With more samples than features, no feature noise and every feature seen, only noise remains:

    Parameters
    ----------
    more_samples : bool
        Whether there are more samples than the member sees features, α > ν_rr.

    Returns
    -------
    sympy.Expr
        The error on that side of the threshold.

    Examples
    --------
    >>> sp.factor(ridgeless_member_error(True).subs({a: b, nu_r: 1, rho: 0}))
    (alpha*eta**2 + zeta**2)/(alpha - 1)
    """
    return sp.factor(pair_error(same=True).subs(S_r, _member(nu_r, more_samples)))


def isotropic_single_member(more_samples: bool) -> sp.Expr:
    """Return the ridgeless error of one member on isotropic data, s = 1 and ω = η = 0 (sec. 3 (SubsampSection)).

    Parameters
    ----------
    more_samples : bool
        Whether there are more samples than the member sees features, α > ν_rr.

    Returns
    -------
    sympy.Expr
        The error on that side of the threshold.

    Examples
    --------
    >>> from subridge.derivations.notation import zeta
    >>> sp.factor(isotropic_single_member(True).subs(zeta, 0))
    -alpha*(nu_r - 1)/(alpha - nu_r)
    """
    return sp.factor(ridgeless_member_error(more_samples).subs({rho: 0, a: 1, b: 1, eta: 0}))


def infinite_data_pair_error(same: bool) -> sp.Expr:
    """Return E_rr′ as α → ∞ at fixed ridge: σ → 1 and γ → 0.

    Parameters
    ----------
    same : bool
        Whether r = r′: then readout noise enters.

    Returns
    -------
    sympy.Expr
        The limit, without α.

    Examples
    --------
    >>> sp.factor(infinite_data_pair_error(same=False).subs({rho: 0, nu_rs: 0, a: b}))
    -b*(nu_r + nu_s - 1)
    """
    # σ → 1: the quadratic divided by α leaves 1 − σ = 0.
    error = sp.factor(pair_error(same).subs({S_r: 1 / a, S_s: 1 / a}))
    return limit(error, alpha, {})


def infinite_data_error() -> sp.Expr:
    """Return E_g as α → ∞ for k disjoint subsets with a common η, any sizes.

    E_rr is affine in ν_rr and 1/ν_rr and E_rr′ in ν_rr and ν_r′r′, so the double mean depends on the sizes
    through mean(ν) and mean(1/ν) only.

    The printed formula, isotropic data without feature noise:

    >>> sp.factor(infinite_data_error().subs({rho: 0, a: b}) - (
    ...     b * (1 - (2 - 1 / k) * mean_fraction) + eta**2 / k))
    0
    """
    own = sp.expand(infinite_data_pair_error(same=True))
    crossed = sp.expand(infinite_data_pair_error(same=False).subs(nu_rs, 0))
    own_mean = sum(
        own.coeff(nu_r, power) * mean for power, mean in ((0, 1), (1, mean_fraction), (-1, mean_inverse_fraction))
    )
    crossed_mean = crossed.subs({nu_r: mean_fraction, nu_s: mean_fraction})
    return sp.expand(own_mean / k + (k - 1) / k * crossed_mean)
