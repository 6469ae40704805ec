"""The effective ridge κ̄ = 1/q̂ as the variable in which Prop. 1 is explicit, for any spectrum.

Solving the saddle point for λ instead of q̂ needs no root finding: λ(κ̄) is a sum over eigenvalues, and it
increases with κ̄ wherever γ_rr < 1. That is what makes bracketed root finding in κ̄ safe.
"""

import sympy as sp

from subridge.derivations.notation import alpha, q_hat
from subridge.derivations.spectral_sums import canonical, d, i, over_first

effective_ridge = sp.Symbol(r"\bar\kappa", positive=True)


def order_parameter_q() -> sp.Expr:
    """Return q = (1/M) Σ_i d_i/(1 + q̂ d_i), eq. 10 (saddle_point) in the eigenbasis of Σ̃_rr.

    >>> order_parameter_q().subs(q_hat, 0)
    Sum(d[i], (i, 1, N_r))/M
    """
    return over_first(d[i] / (1 + q_hat * d[i]))


def gamma() -> sp.Expr:
    """Return γ_rr = (1/(αM)) Σ_i (d_i/(κ̄ + d_i))².

    >>> gamma().subs(effective_ridge, 0).doit()
    N_r/(M*alpha)
    """
    return over_first((d[i] / (effective_ridge + d[i])) ** 2) / alpha


def ridge() -> sp.Expr:
    """Return λ = α κ̄ − (κ̄/M) Σ_i d_i/(κ̄ + d_i).

    >>> ridge().subs(effective_ridge, 0)
    0
    """
    # λ = α/q̂ − q with q̂ = 1/κ̄
    q = order_parameter_q().subs(q_hat, 1 / effective_ridge)
    term = sp.factor(q.atoms(sp.Sum).pop().function)
    return alpha * effective_ridge - effective_ridge * over_first(term / effective_ridge)


def ridge_slope() -> sp.Expr:
    """Return dλ/dκ̄, which equals α(1 − γ_rr).

    >>> from subridge.derivations.spectral_sums import is_identically_zero
    >>> is_identically_zero(ridge_slope() - alpha * (1 - gamma()))
    True
    """
    return canonical(sp.diff(ridge(), effective_ridge))
