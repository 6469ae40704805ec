"""Prop. 1 by the second route: the fixed point of Loureiro et al., with its normalisation corrected.

Their theorem works with p-dimensional features padded by zeros, covariances Σ̄_kk′ = √(ν_kk ν_k′k′) Σ̃_kk′ and
ridges ν_kk λ_k. In the eigenbases of :mod:`~subridge.derivations.replica` the padding drops out, and so
do the ν. The paper's R_k lacks 1/p. With this factor the route gives Prop. 1, but places the readout noise differently:
each of the K² terms E_kk′ includes (1/K²) Σ_k η_k², and E_kk has no η_k². Their mean E_g is the same.
"""

import sympy as sp

from subridge.derivations.notation import alpha, nu_r, nu_s, q_hat, zeta
from subridge.derivations.replica import (
    B,
    averaged,
    canonical,
    d,
    eta_r,
    f,
    i,
    j,
    lam_r,
    lam_s,
    r_hat,
    signal_power,
    solve_linear,
    t,
    u,
)

V_hat, V_hat_other = sp.symbols("Vhat Vhat_s", positive=True)
_Q = sp.Symbol("Q", real=True)

# Eigenvalues of G_k = ν_kk λ_k I + V̂_k Σ̄_kk, and Ā_kΣ_sθ = √ν_kk t, in the eigenbases.
_G_r = nu_r * (lam_r + V_hat * d[i])
_G_s = nu_s * (lam_s + V_hat_other * f[j])


def fixed_point() -> sp.Expr:
    """Return V_k (eq. 150 (Vsp)); V̂_k = α/(1+V_k) is the other equation.

    Examples
    --------
    With V̂ = λq̂ it is q/λ, so both equations become those of Prop. 1 (eq. 10 (saddle_point)):

    >>> from subridge.derivations.replica import is_identically_zero
    >>> q = averaged(d[i] / (1 + q_hat * d[i]))
    >>> is_identically_zero(as_in_proposition_one(fixed_point()) - q / lam_r)
    True
    """
    return averaged(nu_r * d[i] / _G_r)


def channel_overlap(m_sum: sp.Expr, J_overlap: sp.Expr, Lambda: sp.Expr, noise: sp.Expr) -> sp.Expr:
    """Return Q_kk′, solved from eqs. 152 (QhatofQ) and 154 (QofQhat).

    Parameters
    ----------
    m_sum : expression
        m_k + m_k′.
    J_overlap, Lambda : expression
        J_kk′ and Λ_kk′.
    noise : expression
        Variance of the training labels about the target.

    Returns
    -------
    sympy.Expr
        Q_kk′ without itself on the right.

    Examples
    --------
    >>> channel_overlap(sp.S.Zero, sp.S.Zero, sp.S.One, sp.S.Zero)
    Vhat*Vhat_s
    """
    weight = V_hat * V_hat_other
    Q_hat = weight / alpha * (noise + signal_power - m_sum + _Q)
    return solve_linear(_Q - Q_hat * J_overlap - weight * Lambda, _Q)


def crossed_error() -> sp.Expr:
    """Return E_kk′ = ρ − m_k − m_k′ + Q_kk′ (eq. 161, k ≠ k′), without the constant readout term.

    >>> from subridge.derivations import replica
    >>> from subridge.derivations.replica import is_identically_zero
    >>> is_identically_zero(as_in_proposition_one(crossed_error()) - replica.crossed_error())
    True
    """
    m_sum = V_hat * averaged(nu_r * t[i] ** 2 / _G_r) + V_hat_other * averaged(nu_s * u[j] ** 2 / _G_s)
    # The roots √ν of Σ̄ and of Ā pair up to ν_kk ν_k′k′.
    both = nu_r * nu_s / (_G_r * _G_s)
    J_overlap = averaged(both * B[i, j] ** 2)
    Lambda = averaged(both * t[i] * B[i, j] * u[j])
    return signal_power - m_sum + channel_overlap(m_sum, J_overlap, Lambda, zeta**2)


def member_error() -> sp.Expr:
    """Return E_kk (eq. 163) without the constant readout term: label noise ζ² + η_k² in training.

    Examples
    --------
    It is E_rr of Prop. 1 less η_r²:

    >>> from subridge.derivations import replica
    >>> from subridge.derivations.replica import is_identically_zero
    >>> difference = as_in_proposition_one(member_error()) - (replica.member_error() - eta_r**2)
    >>> is_identically_zero(difference)
    True
    """
    m_sum = 2 * V_hat * averaged(nu_r * t[i] ** 2 / _G_r)
    J_overlap = averaged((nu_r * d[i] / _G_r) ** 2)
    Lambda = averaged(nu_r**2 * t[i] ** 2 * d[i] / _G_r**2)
    Q = channel_overlap(m_sum, J_overlap, Lambda, zeta**2 + eta_r**2).subs(V_hat_other, V_hat)
    return signal_power - m_sum + Q


def as_in_proposition_one(expression: sp.Expr) -> sp.Expr:
    r"""Rename V̂_k to λ_k q̂_k, the re-scaling that connects the two routes.

    Parameters
    ----------
    expression : sympy.Expr
        In V̂_k, as that route has it.

    Returns
    -------
    sympy.Expr
        In λ_k and q̂_k, with sums in their canonical form.

    Examples
    --------
    >>> as_in_proposition_one(V_hat)
    \hat{q}*lambda_r
    """
    return canonical(expression.subs({V_hat: lam_r * q_hat, V_hat_other: lam_s * r_hat}))
