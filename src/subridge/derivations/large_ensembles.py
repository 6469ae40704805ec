"""Expansions in 1/k of the reduced error, at λ = 0 and at λ*, and the phase boundaries that follow.

Where 𝓔_k approaches 𝓔_∞ = 1 − ρ² + Wρ² from above, an infinite ensemble may be best; where it approaches from
below, some finite k is better. The sign is that of the coefficient of 1/k.
"""

from functools import lru_cache

import sympy as sp

from subridge.derivations.notation import E_bulk, alpha, k, nu, rho, sigma
from subridge.derivations.reduced import error, optimal_sigma_quadratic, ridgeless_error


def ridgeless_coefficient() -> sp.Expr:
    """Return the coefficient of 1/k in 𝓔_k at λ = 0.

    >>> from subridge.derivations.notation import H, W
    >>> sp.factor(ridgeless_coefficient() * (1 + W) * alpha - (
    ...     (1 + W)**2 * rho**2 + alpha * (-2 + H + H*W + 2*rho**2)))
    0
    """
    excess = sp.factor(ridgeless_error(more_samples=True).subs(k, 1 / nu) - E_bulk)
    return sp.factor(sp.limit(sp.factor(excess / nu), nu, 0))


def ridgeless_boundary() -> sp.Expr:
    """Return the α at which that coefficient vanishes (eq. 214 (AnalyticalBoundaryZeroReg)).

    >>> from subridge.derivations.notation import H, W
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
    expression = ridgeless_error(more_samples=False)
    pole = sp.factor(sp.cancel(expression * (1 - alpha * k)).subs(k, 1 / alpha))
    rest = sp.Poly(sp.cancel((expression - pole / (1 - alpha * k)).subs(k, 1 / nu)), nu)
    constant, inverse = (sp.factor(rest.coeff_monomial(nu**power)) for power in (0, 1))
    return {"constant": constant, "inverse": inverse, "pole": pole}


def many_samples_form() -> dict[str, sp.Expr]:
    """Return p_0, p_1, p_2 and C of 𝓔_k = p_0 + p_1 ν + p_2 ν² + C/(α − ν), at λ = 0, ν = 1/k < α.

    For α ≤ 1 + W, C is a sum of non-negative terms and 𝓔 is convex in ν. Beyond that it need not be: at α = 2
    without any noise C = −4 and 𝓔 is concave near ν = 1.

    >>> many_samples_form()["quadratic"]
    -2*(rho - 1)*(rho + 1)/(W + 1)
    >>> from subridge.derivations.notation import H, W, Z
    >>> terms = (1 + W) * alpha * (H + Z) + alpha * (1 + W - alpha) + rho**2 * (1 + W - alpha) ** 2
    >>> sp.factor(many_samples_form()["pole"] - alpha * terms / (1 + W))
    0
    """
    expression = sp.factor(ridgeless_error(more_samples=True).subs(k, 1 / nu))
    pole = sp.factor(sp.cancel(expression * (alpha - nu)).subs(nu, alpha))
    rest = sp.Poly(sp.cancel(expression - pole / (alpha - nu)), nu)
    names = ("constant", "linear", "quadratic")
    form = {name: sp.factor(rest.coeff_monomial(nu**power)) for power, name in enumerate(names)}
    return {**form, "pole": pole}


@lru_cache
def optimal_error() -> sp.Expr:
    """Return 𝓔*_k in σ and ν = 1/k; σ is the smaller root of the quadratic at λ*.

    >>> from subridge.derivations.notation import H, W
    >>> sp.factor(optimal_error() - E_bulk - nu * (H - (1 - rho**2) * (2 - nu) * sigma / (1 + W)))
    0
    """
    # α is eliminated with the quadratic, which is linear in it; the result is then rational in σ.
    (stationary_alpha,) = sp.solve(optimal_sigma_quadratic(), alpha)
    return sp.factor(error().subs(alpha, stationary_alpha).subs(k, 1 / nu))


def _root_of_linear_part() -> sp.Expr:
    """Return σ_k: the smaller root tends to it as k grows, while the other root goes to infinity like k."""
    _, c1, c0 = sp.Poly(optimal_sigma_quadratic(), sigma).all_coeffs()
    return sp.factor(-c0 / c1)


@lru_cache
def optimal_coefficient(aligned: bool) -> sp.Expr:
    """Return the coefficient of 1/k in 𝓔*_k: for ρ ≠ 0 (``aligned``), or for ρ = 0, where H is wrong.

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
    >>> from subridge.derivations.notation import H, W, Z
    >>> optimal_coefficient(aligned=True)
    H
    >>> sp.factor(optimal_coefficient(aligned=False) - (H - 2*alpha/((1+W)*(alpha + (1+W)*(1+H+Z)))))
    0
    """
    if aligned:
        # h grows like k, so that σ → 0 and only the readout noise is left at order 1/k.
        h = -sp.Poly(optimal_sigma_quadratic(), sigma).coeff_monomial(sigma) - alpha
        growth = sp.limit(sp.factor(h / k), k, sp.oo)
        if growth == 0:
            raise ValueError("σ keeps a finite limit: the member does not switch off")
        value = sp.S.Zero
    else:
        value = _root_of_linear_part().subs(rho, 0)
    excess = sp.factor((optimal_error() - E_bulk) / nu).subs(sigma, value)
    return sp.factor((excess if aligned else excess.subs(rho, 0)).subs(nu, 0))


def uniform_optimal_coefficient() -> sp.Expr:
    """Return H − 2(1−ρ²)σ_k/(1+W), which holds for large k whether or not ρ²k is large.

    σ_k is the root at λ* of the quadratic without its term σ²/k.

    >>> sp.factor(uniform_optimal_coefficient().subs(rho, 0) - optimal_coefficient(aligned=False))
    0
    """
    # The leading part of 𝓔* − 𝓔_∞ in ν at fixed σ.
    excess = sp.factor(sp.factor((optimal_error() - E_bulk) / nu).subs(nu, 0))
    return sp.factor(excess.subs(sigma, _root_of_linear_part()))


def optimal_boundary() -> sp.Expr:
    """Return the boundary at λ* and ρ = 0, which the paper holds to be out of reach.

    >>> from subridge.derivations.notation import H, W, Z
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
