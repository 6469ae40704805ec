"""Numeric versions of derived expressions, for comparison with code that was written by hand."""

from collections.abc import Callable, Sequence

import sympy as sp
from sympy.utilities.iterables import flatten

from subridge.derivations.equicorrelated import gamma, pair_error, sigma_closed_form
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
from subridge.derivations.reduced import error, sigma_of_ridge

lam_r, lam_s = sp.symbols("lambda_r lambda_s", real=True)


def numeric_version(
    expression: sp.Expr, arguments: Sequence[sp.Symbol | tuple[sp.Symbol, ...]]
) -> Callable[..., float]:
    """Compile an expression to a function of numbers or arrays, in the order of the arguments.

    Parameters
    ----------
    expression : sympy.Expr
        What is to be computed.
    arguments : sequence of symbols, or of tuples of them
        What the function takes, in this order.

    Returns
    -------
    callable
        A function of numbers or arrays.

    Raises
    ------
    ValueError
        If the expression holds a symbol that is not an argument.

    Examples
    --------
    >>> float(numeric_version(nu / alpha, [nu, alpha])(1.0, 2.0))
    0.5
    """
    missing = expression.free_symbols - set(flatten(arguments))
    if missing:
        raise ValueError(f"no argument for {sorted(map(str, missing))}")
    compiled: Callable[..., float] = sp.lambdify(list(arguments), expression, modules="numpy", cse=True)
    return compiled


def _solved(expression: sp.Expr) -> sp.Expr:
    """Put the closed form of S into an expression of Prop. 2."""
    S = sigma_closed_form() / a
    return expression.subs({S_r: S.subs({nu: nu_r, lam: lam_r}), S_s: S.subs({nu: nu_s, lam: lam_s})})


def gamma_function() -> Callable[..., float]:
    """Return γ_rr′ as a function of (α, ν_rr, ν_r′r′, ν_rr′, λ_r, λ_r′, a).

    Examples
    --------
    Without ridge and with more samples than features it is ν/α:

    >>> round(float(gamma_function()(2.0, 0.5, 0.5, 0.5, 0.0, 0.0, 1.3)), 12)
    0.25
    """
    return numeric_version(_solved(gamma()), [alpha, nu_r, nu_s, nu_rs, lam_r, lam_s, a])


def pair_error_function(same: bool) -> Callable[..., float]:
    """Return E_rr′ of Prop. 2 as a function of (α, fractions, ridges, (a, b), (ζ, η), ρ).

    ``fractions`` is (ν_rr, ν_r′r′, ν_rr′) and ``ridges`` is (λ_r, λ_r′); on the diagonal the second and third
    fraction and the second ridge are not used.

    Parameters
    ----------
    same : bool
        Whether r = r′.

    Returns
    -------
    callable
        A function of numbers or arrays.

    Examples
    --------
    >>> error_rr = pair_error_function(same=True)
    >>> fractions, ridges, variances, noises = (0.5, 0.5, 0.5), (0.1, 0.1), (1.03, 0.78), (0.3, 0.2)
    >>> round(float(error_rr(0.3, fractions, ridges, variances, noises, 0.6)), 10)
    1.5446786589
    """
    arguments = [alpha, (nu_r, nu_s, nu_rs), (lam_r, lam_s), (a, b), (zeta, eta), rho]
    return numeric_version(_solved(pair_error(same)), arguments)


def reduced_error_function() -> Callable[..., float]:
    """Return 𝓔 as a function of (k, α, ρ, Λ, H, W, Z).

    >>> round(float(reduced_error_function()(1, 0.7, 0.3, 0.0, 0.2, 0.1, 0.4)), 10)
    2.1539393939
    """
    return numeric_version(error().subs(sigma, sigma_of_ridge()), [k, alpha, rho, Lam, H, W, Z])
