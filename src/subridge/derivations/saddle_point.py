"""The solution of Prop. 2's saddle point, in the variable σ = aS in which every closed form is rational.

Eliminating q and q̂ from q = aν/(ν + a q̂), q̂ = α/(λ+q) leaves one quadratic, νσ² − (α+ν+t)σ + α = 0 with
t = λν/a. Its smaller root is the solution. Read the other way, λ is a rational function of σ; identities
with radicals are proved by that substitution (see :func:`without_radical`).
"""

from functools import lru_cache

import sympy as sp

from subridge.derivations.equicorrelated import saddle_point
from subridge.derivations.notation import a, alpha, lam, nu, q_hat, sigma

t = sp.Symbol("t", nonnegative=True)
gap = sp.Symbol("d", positive=True)  # α/σ − νσ, positive for the smaller root


@lru_cache
def quadratic() -> sp.Expr:
    """Return the polynomial in σ whose smaller root solves Prop. 2's saddle point, with t = λν/a.

    >>> quadratic()
    alpha + nu*sigma**2 + sigma*(-alpha - nu - t)
    """
    # σ = aS = a q̂/(ν + a q̂), so q̂ = νσ/(a(1−σ)); put into both equations and clear denominators.
    q_hat_of_sigma = nu * sigma / (a * (1 - sigma))
    q_of_sigma = sp.factor(saddle_point().rhs.subs(q_hat, q_hat_of_sigma))
    second = sp.together(q_hat_of_sigma * (lam + q_of_sigma) - alpha).subs(lam, a * t / nu)
    numerator = sp.expand(sp.cancel(sp.fraction(sp.factor(second))[0]))
    return sp.collect(sp.expand(numerator / sp.Poly(numerator, sigma).coeff_monomial(1) * alpha), sigma)


def ridge_of_sigma() -> sp.Expr:
    """Return λ as a function of σ.

    >>> sp.factor(ridge_of_sigma() - a * (1 - sigma) * (alpha - nu * sigma) / (nu * sigma))
    0
    """
    return sp.factor(a / nu * sp.solve(quadratic(), t)[0])


def reduced_ridge_of_sigma() -> sp.Expr:
    """Return t = λν/a as a function of σ.

    >>> reduced_ridge_of_sigma().subs(sigma, 1)
    0
    """
    return sp.factor(sp.solve(quadratic(), t)[0])


def sigma_closed_form() -> sp.Expr:
    """Return σ as a function of λ in the form that loses no digits as λ → 0.

    >>> sp.simplify(sigma_closed_form().subs({lam: 0, alpha: 2, nu: 1}))
    1
    >>> sp.simplify(sigma_closed_form().subs({lam: 0, alpha: 1, nu: 2}))
    1/2
    """
    ridge = lam * nu / a
    root = sp.sqrt((alpha - nu) ** 2 + 2 * ridge * (alpha + nu) + ridge**2)
    return 2 * alpha / (alpha + nu + ridge + root)


def paper_order_parameters() -> tuple[sp.Expr, sp.Expr]:
    """Return q and q̂ as printed (eqs. 171 (q_equicorr), 172 (qhat_equicorr)).

    >>> printed_q, _ = paper_order_parameters()
    >>> without_radical(printed_q - a * (1 - sigma))
    0
    """
    root = sp.sqrt(a**2 * alpha**2 + 2 * a * alpha * (lam - a) * nu + (a + lam) ** 2 * nu**2)
    printed_q = (root - a * alpha + (a - lam) * nu) / (2 * nu)
    printed_q_hat = (root + a * alpha - (a + lam) * nu) / (2 * a * lam)
    return printed_q, printed_q_hat


def without_radical(expression: sp.Expr) -> sp.Expr:
    """Write an expression in λ as a rational function of σ, ν and d = α/σ − νσ > 0, and simplify it.

    The discriminant of the quadratic is d², so the square root goes away and identities can be decided.
    Zero out means zero for every λ on the branch of the smaller root.

    Parameters
    ----------
    expression : sympy.Expr
        In λ, with the square root of the saddle point.

    Returns
    -------
    sympy.Expr
        Rational, without λ.

    Examples
    --------
    >>> without_radical(sigma_closed_form() - sigma)
    0
    """
    chosen = {lam: ridge_of_sigma()}
    rational = sp.sympify(expression).subs(chosen).subs(alpha, sigma * (nu * sigma + gap))
    rational = rational.replace(
        lambda part: part.is_Pow and part.exp == sp.Rational(1, 2), lambda part: sp.sqrt(sp.factor(part.base))
    )
    return sp.factor(rational)


def q_of_sigma() -> sp.Expr:
    """Return q = a(1−σ), which is positive exactly when σ < 1.

    >>> q_of_sigma()
    -a*(sigma - 1)
    """
    return sp.factor(saddle_point().rhs.subs(q_hat, nu * sigma / (a * (1 - sigma))))
