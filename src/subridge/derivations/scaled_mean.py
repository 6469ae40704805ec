"""The scaled mean of equal disjoint members: error, limits, best ridge and best size, from Prop. 1 and Prop. 2.

An ensemble Σ_r w_r f_r has the error E(w) = v − 2wᵀc + wᵀFw with c_r = E[y f_r], F_rr′ = E_rr′ − v + c_r + c_r′ and
v = E[y²]. Of all multiples of the mean the best is s = c̄/F̄ times it, and its error is v − c̄²/F̄.
"""

from functools import lru_cache

import sympy as sp

from subridge.derivations.equicorrelated import (
    gamma,
    limit_in_S,
    member_pair,
    on_the_diagonal,
    random_bias,
    uniform_aligned_bias,
)
from subridge.derivations.notation import (
    H,
    M,
    S_r,
    S_s,
    T,
    W,
    Z,
    a,
    alpha,
    b,
    k,
    nu,
    nu_r,
    nu_rs,
    nu_s,
    rho,
    sigma,
)  # fmt: skip
from subridge.derivations.notation import e as shared
from subridge.derivations.reduced import crossed_error, own_error

e = 1 + W
y = sp.Symbol("y", positive=True)  # αk below the threshold, 1/(αk) beyond it
g, m = sp.symbols("gamma m", positive=True)  # γ_rr, and m = νσ


@lru_cache
def random_cross_moment() -> sp.Expr:
    """Return c_r of Prop. 2 for the teacher's part orthogonal to 1, in S.

    >>> random_cross_moment()
    S_r*b**2*nu_r
    """
    return limit_in_S(member_pair().random_explained())


@lru_cache
def uniform_aligned_cross_moment() -> sp.Expr:
    """Return c_r for the teacher's part along 1 at fixed T = scM: (b+T)²/(T+u) with u = 1/(ν_rr S_r).

    >>> sp.factor(uniform_aligned_cross_moment() - (b + T) ** 2 / (T + 1 / (nu_r * S_r)))
    0
    """
    return limit_in_S(member_pair().aligned_explained().subs(shared, T / M))


@lru_cache
def cross_moment() -> sp.Expr:
    """Return c_r of equal members at ρ = 0 in units of s(1−c).

    >>> cross_moment()
    sigma/(k*(W + 1))
    """
    return sp.factor((random_cross_moment() / b).subs({S_r: sigma / a, nu_r: 1 / k}).subs(a, e * b))


@lru_cache
def products() -> tuple[sp.Expr, sp.Expr]:
    """Return F_rr and F_rr′ of equal disjoint members at ρ = 0: different members are uncorrelated.

    >>> products()[1]
    0
    """
    own, crossed = (error().subs(rho, 0) - 1 + 2 * cross_moment() for error in (own_error, crossed_error))
    return sp.factor(own), sp.factor(crossed)


@lru_cache
def scale() -> sp.Expr:
    """Return s = c̄/F̄ at ρ = 0.

    With all features, infinite data and no noise nothing is shrunk:

    >>> sp.limit(scale().subs({H: 0, W: 0, sigma: 1}), alpha, sp.oo)
    k
    """
    own, crossed = products()
    return sp.factor(cross_moment() / (own / k + (k - 1) / k * crossed))


@lru_cache
def error() -> sp.Expr:
    """Return 𝓔 = 1 − c̄²/F̄ of the scaled mean at ρ = 0, in σ.

    >>> sp.factor(error().subs({sigma: 1, H: 0, W: 0, Z: 0, k: 1}))
    0
    """
    return sp.factor(1 - cross_moment() * scale())


def error_by_size(more_samples: bool) -> sp.Expr:
    """Return 𝓔 at λ = 0 in y: αk = y below the threshold, αk = 1/y beyond it (``more_samples``).

    Parameters
    ----------
    more_samples : bool
        Whether αk > 1.

    Returns
    -------
    sympy.Expr
        𝓔 in y and α.

    Examples
    --------
    >>> sp.limit(error_by_size(True).subs(H, 0), y, 0).equals(infinite_ensemble_error())
    True
    """
    place = {sigma: 1, k: 1 / (alpha * y)} if more_samples else {sigma: y, k: y / alpha}
    return sp.factor(error().subs(place))


def size_bracket(more_samples: bool) -> sp.Expr:
    """Return the numerator of −d𝓔/dy at λ = 0, up to a positive factor: the same on either side of the threshold.

    It is H(1 − 2y) − (1 + Z − α/(1+W)) y²: positive at y = 0, and with one zero in (0, 1] or none.

    Parameters
    ----------
    more_samples : bool
        Whether αk > 1.

    Returns
    -------
    sympy.Expr
        The bracket, a quadratic in y.

    Raises
    ------
    ValueError
        If the slope is no positive multiple of it.

    Examples
    --------
    >>> sp.factor(size_bracket(True) - size_bracket(False))
    0
    """
    bracket = H * (1 - 2 * y) - (1 + Z - alpha / e) * y**2
    return _checked(bracket, sp.diff(1 - error_by_size(more_samples), y))


def _checked(form: sp.Expr, expression: sp.Expr) -> sp.Expr:
    """Return the form if the expression is a positive multiple of it; else raise ValueError."""
    factor = sp.cancel(expression / form)
    if not is_square_over_positive(factor):
        raise ValueError(f"the expression is not a positive multiple of {form}: {factor}")
    return form


def is_square_over_positive(factor: sp.Expr) -> bool:
    """Whether a factor is a positive product of powers and squares, so that it cannot change its sign.

    Parameters
    ----------
    factor : sympy.Expr
        A rational function of positive symbols.

    Returns
    -------
    bool
        False where it may change its sign.

    Examples
    --------
    >>> is_square_over_positive(alpha / (1 - alpha) ** 2), is_square_over_positive(alpha / (1 - alpha))
    (True, False)
    """
    constant, powers = sp.factor_list(sp.prod(sp.fraction(sp.factor(factor))))
    return bool(constant > 0) and all(base.is_positive or power % 2 == 0 for base, power in powers)


def best_size_ratio() -> sp.Expr:
    """Return y = √H/(√H + √(H + 1 + Z − α/(1+W))), where the bracket vanishes: k* is y/α or 1/(αy).

    >>> sp.simplify(size_bracket(True).subs(y, best_size_ratio()))
    0
    """
    return sp.sqrt(H) / (sp.sqrt(H) + sp.sqrt(H + 1 + Z - alpha / e))


def infinite_ensemble_error() -> sp.Expr:
    """Return 𝓔 for k → ∞ without readout noise, for any ridge; with it the limit is 1.

    Examples
    --------
    >>> sp.factor(sp.limit(error().subs(sigma, 1), k, sp.oo))
    1
    >>> infinite_ensemble_error().subs(W, 0)
    (Z + 1)/(Z + alpha + 1)
    """
    (value,) = {sp.factor(sp.limit(error().subs({H: 0, sigma: each}), k, sp.oo)) for each in (1, y)}
    return value


def one_or_two_members() -> sp.Expr:
    """Return the polynomial in α that is positive where one member beats two at λ = 0 and α > 1.

    >>> one_or_two_members().subs(H, 0)
    -Z + alpha/(W + 1) - 1
    """
    difference = sp.factor(error().subs({sigma: 1, k: 2}) - error().subs({sigma: 1, k: 1}))
    wanted = 2 * H * alpha**2 + (1 / e - 3 * H) * alpha - (1 + Z)
    return _checked(wanted, sp.numer(difference))


def ridge_bracket() -> sp.Expr:
    """Return what vanishes in σ at the best ridge; −d𝓔/dσ is a positive factor times minus it.

    Without readout noise it is the quadratic at λ*:

    >>> from subridge.derivations.reduced import optimal_sigma_quadratic
    >>> quadratic = optimal_sigma_quadratic().subs({k: 1 / nu, rho: 0, H: 0})
    >>> sp.factor(ridge_bracket().subs(H, 0) + nu**2 * sigma**3 * quadratic)
    0
    """
    fitted = (alpha + e * (1 + Z)) * sigma - nu * sigma**2 - alpha
    bracket = nu**2 * sigma**3 * fitted - e * alpha * H * (alpha - 2 * nu * sigma**2)
    return _checked(bracket, sp.diff(error().subs(k, 1 / nu), sigma))


def slope_in_member_size() -> sp.Expr:
    """Return d𝓔/dm at fixed γ: negative, so that at its best ridge a larger member is always better and k* = 1.

    Any γ < 1 that members of one size can have, larger members can have too, at m = √(ναγ).

    >>> slope_in_member_size().subs({H: 0, W: 0, Z: 0, g: sp.Rational(1, 2), m: sp.Rational(1, 2), alpha: 1})
    -1
    """
    at_gamma = sp.factor(error().subs(sigma, alpha * g / m).subs(k, alpha * g / m**2))
    return sp.factor(sp.diff(at_gamma, m))


@lru_cache
def aligned_forms() -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """Return s, the error of the mean and that of the scaled mean of k equal members at any ρ and fixed T = scM.

    Errors are in units of s(1−c). With a teacher along 1 the scale tends to one as T grows:

    >>> sp.factor(sp.limit(aligned_forms()[0], T, sp.oo))
    1
    >>> sp.factor(aligned_forms()[2].subs({rho: 0}) - error())
    0
    """
    equal = {a: e, b: 1, S_r: sigma / e, S_s: sigma / e, nu_r: 1 / k, nu_s: 1 / k, nu_rs: 0}
    bias = (1 - rho**2) * random_bias() + rho**2 * uniform_aligned_bias()
    amplified = on_the_diagonal(gamma()).subs(equal)
    member = (on_the_diagonal(bias).subs(equal) + amplified * Z + H) / (1 - amplified)
    c = ((1 - rho**2) * random_cross_moment() + rho**2 * uniform_aligned_cross_moment()).subs(equal)
    v = 1 - rho**2 + rho**2 * (1 + T)
    mean = member / k + (k - 1) / k * bias.subs(equal)
    scale_of_mean = sp.factor(c / (mean - v + 2 * c))
    return scale_of_mean, mean, v - c * scale_of_mean


def one_member_loses(T_value: int) -> bool:
    """Whether four members beat one at ρ ≠ 0, each scaled and at its best ridge: exact, by Sturm's theorem.

    Here α = 1, ρ = 1/2, H = 1, W = Z = 0, and σ = 1/2 for the four. One member has γ = σ² < 1, so that σ in (0, 1)
    covers every ridge, negative ones included.

    Parameters
    ----------
    T_value : int
        T = scM in units of s(1−c), which is cM/(1−c); positive.

    Returns
    -------
    bool
        True where the difference of the errors is positive for every σ of the one member.

    Examples
    --------
    >>> [one_member_loses(T_value) for T_value in (150, 150_000)]
    [True, True]
    """
    place = {alpha: 1, rho: sp.Rational(1, 2), H: 1, W: 0, Z: 0, T: T_value}
    error_of_one = aligned_forms()[2].subs(place).subs(k, 1)
    error_of_four = aligned_forms()[2].subs(place).subs({k: 4, sigma: sp.Rational(1, 2)})
    above, below = sp.fraction(sp.together(error_of_one - error_of_four))
    roots = sum(
        sp.Poly(part, sigma).count_roots(sp.Rational(1, 10**9), 1 - sp.Rational(1, 10**9)) for part in (above, below)
    )
    return bool(roots == 0 and (above / below).subs(sigma, sp.Rational(1, 2)) > 0)
