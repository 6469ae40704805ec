"""Proposition 2 from Proposition 1: equicorrelated features, by block algebra; its saddle point, limits and best ridge.

The M features fall into four groups: seen by member r only, by r′ only, by both, by neither. Both covariances
are then block matrices, Σ_s = b I + e 11ᵀ and Σ_0 = (a−b) I, with b = s(1−c), e = sc, a = b + ω².

Three scalings of the shared variance e are derived from the same finite-size expressions:

- e fixed, M → ∞ (``0 < c``): the printed I¹;
- e = 0 (``c = 0``): I¹ = I⁰, no direction is special;
- T = eM fixed: the uniform form, which joins the two.

**Saddle point.** In σ = aS every closed form is rational. Eliminating q and q̂ from q = aν/(ν + a q̂), q̂ = α/(λ+q)
leaves one quadratic, νσ² − (α+ν+t)σ + α = 0 with t = λν/a. Its smaller root is the solution. Read the other way, λ is
a rational function of σ; identities with radicals are proved by that substitution (see :func:`without_radical`).

**Limits.** Without ridge the quadratic for σ has the roots 1 and α/ν. The smaller one is the solution, so each member
is in one of two states and a pair in one of three (up to exchange).

**Best ridge.** E_rr depends on λ through σ only. Its derivative in σ factors into a positive factor times λ* − λ(σ),
with λ* free of σ and α: the stationary ridge is the same at every sample size, and it is the minimum.
"""

from functools import lru_cache

import sympy as sp

from subridge.derivations.block_forms import limit
from subridge.derivations.block_matrix import BlockMatrix
from subridge.derivations.notation import (
    M,
    S_r,
    S_s,
    T,
    a,
    alpha,
    b,
    e,
    eta,
    k,
    lam,
    nu,
    nu_r,
    nu_rs,
    nu_s,
    q,
    q_hat,
    rho,
    sigma,
    x_r,
    x_s,
    zeta,
)
from subridge.derivations.proposition_one import MemberPair

N_ONLY_R, N_ONLY_S, N_BOTH, N_NEITHER = GROUPS = sp.symbols("n_r n_s n_b n_0", positive=True)
FRACTIONS = {
    N_ONLY_R: (nu_r - nu_rs) * M,
    N_ONLY_S: (nu_s - nu_rs) * M,
    N_BOTH: nu_rs * M,
    N_NEITHER: (1 - nu_r - nu_s + nu_rs) * M,
}


def _covariances(sizes: tuple[sp.Symbol, ...]) -> tuple[BlockMatrix, BlockMatrix]:
    """Return Σ_s and Σ_0 (eqs. 13 (EquiCorrDataCov), 14 (IsotropicNoise))."""
    unit = BlockMatrix.identity(sizes)
    return b * unit + e * BlockMatrix.all_ones(sizes, sizes), (a - b) * unit


@lru_cache
def member_pair() -> MemberPair:
    """Return two members whose subsets may overlap, at finite symbolic size.

    >>> member_pair().n_features
    n_0 + n_b + n_r + n_s
    """
    signal, noise = _covariances(GROUPS)
    first = BlockMatrix.selection(GROUPS, [0, 2])
    second = BlockMatrix.selection(GROUPS, [1, 2])
    return MemberPair(signal, noise, first, second)


@lru_cache
def member() -> MemberPair:
    """Return one member twice: the diagonal term, derived on its own with two groups.

    >>> member().n_features
    n_0 + n_r
    """
    sizes = (N_ONLY_R, N_NEITHER)
    signal, noise = _covariances(sizes)
    kept = BlockMatrix.selection(sizes, [0])
    return MemberPair(signal, noise, kept, kept, same=True)


def saddle_point() -> sp.Eq:
    r"""Return the first saddle-point equation of Prop. 2 (eq. 19); the other, q̂ = α/(λ+q), is that of Prop. 1.

    >>> saddle_point()
    Eq(q, a*nu/(\hat{q}*a + nu))
    """
    leading = limit(member().q, M, {N_ONLY_R: nu * M, N_NEITHER: (1 - nu) * M})
    return sp.Eq(q, sp.factor(leading.subs(x_r, nu / q_hat)))


def limit_in_S(finite: sp.Expr) -> sp.Expr:
    """Return the limit M → ∞ of a quantity of `member_pair`, in S = q̂/(ν + a q̂) = 1/(x + a) instead of x = ν/q̂.

    Parameters
    ----------
    finite : sympy.Expr
        At finite size, in the group sizes and x.

    Returns
    -------
    sympy.Expr
        In the fractions ν and S.

    Examples
    --------
    >>> limit_in_S(N_BOTH / member_pair().n_features / (x_r + a))
    S_r*nu_rs
    """
    return sp.factor(limit(finite, M, FRACTIONS).subs({x_r: 1 / S_r - a, x_s: 1 / S_s - a}))


@lru_cache
def gamma() -> sp.Expr:
    """Return γ_rr′ of Prop. 2 (eqs. 15 and 183).

    >>> gamma()
    S_r*S_s*a**2*nu_rs/alpha
    """
    return limit_in_S(member_pair().gamma)


@lru_cache
def random_bias() -> sp.Expr:
    """Return I⁰_rr′ of Prop. 2 (eq. 17), the part of the error at ρ = 0 (eq. 186 (rho0OffDiagEquiCorrError)).

    >>> sp.expand(random_bias() / b)
    S_r*S_s*a*b*nu_rs - S_r*b*nu_r - S_s*b*nu_s + 1
    """
    return limit_in_S(member_pair().random_bias())


@lru_cache
def aligned_bias() -> sp.Expr:
    """Return I¹_rr′ of Prop. 2 for 0 < c < 1 (eq. 18), the error at ρ = 1 (eq. 187 (rho1OffDiagEquiCorrError)).

    >>> aligned_bias()
    (a*nu_rs - b*nu_r*nu_s)/(nu_r*nu_s)
    """
    return limit_in_S(member_pair().aligned_bias())


@lru_cache
def uniform_aligned_bias() -> sp.Expr:
    """Return I¹_rr′ at fixed T = scM, valid for weak and strong shared variance.

    >>> sp.factor(sp.limit(uniform_aligned_bias(), T, sp.oo) - aligned_bias())
    0
    >>> sp.factor(uniform_aligned_bias().subs(T, 0) - random_bias())
    0
    """
    return limit_in_S(member_pair().aligned_bias().subs(e, T / M))


@lru_cache
def random_weights() -> sp.Expr:
    """Return the product W_rr′ of the mean weights of two members at ρ = 0.

    >>> random_weights()
    S_r*S_s*b**2*nu_rs
    """
    return limit_in_S(member_pair().random_weights())


@lru_cache
def uniform_aligned_weights() -> sp.Expr:
    """Return the product W_rr′ of the mean weights of two members at ρ = 1, at fixed T = scM.

    >>> sp.factor(sp.limit(uniform_aligned_weights(), T, sp.oo))
    nu_rs/(nu_r*nu_s)
    """
    return limit_in_S(member_pair().aligned_weights().subs(e, T / M))


@lru_cache
def weight_spread() -> sp.Expr:
    """Return what shared rows add to W_rr′, in units of E_rr′ + ζ².

    >>> sp.factor(weight_spread() - gamma() / a)
    0
    """
    return limit_in_S(member_pair().weight_spread())


def on_the_diagonal(expression: sp.Expr) -> sp.Expr:
    """Set r′ = r: one subset, one S.

    Parameters
    ----------
    expression : sympy.Expr
        A quantity of a pair of members.

    Returns
    -------
    sympy.Expr
        That quantity of one member.

    Examples
    --------
    >>> on_the_diagonal(gamma())
    S_r**2*a**2*nu_r/alpha
    """
    return sp.factor(expression.subs({nu_s: nu_r, nu_rs: nu_r, S_s: S_r}))


def pair_error(same: bool = False) -> sp.Expr:
    """Return E_rr′ of Prop. 2 (eq. 16 (EquiCorrGeneralizationError)) in the unknowns S.

    Parameters
    ----------
    same : bool
        Whether r = r′: then readout noise enters.

    Returns
    -------
    sympy.Expr
        The error, in α, ν, S, a, b, ρ and the noises.

    Examples
    --------
    >>> sp.limit(pair_error(same=True), S_r, 0).subs({rho: 0, eta: 0})
    b
    """
    parts = gamma(), random_bias(), aligned_bias()
    g, I0, I1 = map(on_the_diagonal, parts) if same else parts
    noise = g * zeta**2 + (eta**2 if same else 0)
    return ((1 - rho**2) * I0 + rho**2 * I1 + noise) / (1 - g)


# The solution of the saddle point.
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


def sigma_closed_form() -> sp.Expr:
    """Return σ as a function of λ (eqs. 171, 172) in the form that loses no digits as λ → 0.

    >>> sp.simplify(sigma_closed_form().subs({lam: 0, alpha: 2, nu: 1}))
    1
    >>> sp.simplify(sigma_closed_form().subs({lam: 0, alpha: 1, nu: 2}))
    1/2
    """
    ridge = lam * nu / a
    root = sp.sqrt((alpha - nu) ** 2 + 2 * ridge * (alpha + nu) + ridge**2)
    return 2 * alpha / (alpha + nu + ridge + root)


def without_radical(expression: sp.Expr) -> sp.Expr:
    """Write an expression in λ as a rational function of σ, ν and d = α/σ − νσ > 0, and simplify it.

    The discriminant of the quadratic is d², so that no square root is left and identities can be decided. If the result
    is zero, the expression is zero for every λ on the branch of the smaller root.

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
    rational = sp.sympify(expression).subs(lam, ridge_of_sigma()).subs(alpha, sigma * (nu * sigma + gap))
    rational = rational.replace(
        lambda part: part.is_Pow and part.exp == sp.Rational(1, 2), lambda part: sp.sqrt(sp.factor(part.base))
    )
    return sp.factor(rational)


# Limits.
mean_fraction = sp.Symbol(r"\bar\nu", positive=True)
mean_inverse_fraction = sp.Symbol(r"\overline{\nu^{-1}}", positive=True)


def ridgeless_sigma() -> tuple[sp.Expr, sp.Expr]:
    """Return σ at λ = 0 (eq. 20) for α < ν and for α > ν: the two roots of the quadratic, smaller one first each.

    >>> ridgeless_sigma()
    (alpha/nu, 1)
    """
    roots = sp.solve(quadratic().subs(t, 0), sigma)
    fewer, more = sorted(roots, key=lambda root: not root.has(alpha))
    return fewer, more


def _ridgeless(expression: sp.Expr, first_has_more: bool, second_has_more: bool) -> sp.Expr:
    """Put S of both members, each in one of its two ridgeless states, into an expression of Prop. 2."""
    S = [sigma / a for sigma in ridgeless_sigma()]
    states = {S_r: S[first_has_more].subs(nu, nu_r), S_s: S[second_has_more].subs(nu, nu_s)}
    return sp.factor(expression.subs(states))


def ridgeless_gamma(first_has_more: bool, second_has_more: bool) -> sp.Expr:
    """Return γ_rr′ at λ = 0 (eqs. 20, 178, 188); the flags are α > ν_rr and α > ν_r′r′.

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
    return _ridgeless(gamma(), first_has_more, second_has_more)


def ridgeless_random_bias() -> dict[str, sp.Expr]:
    """Return F_0(α), the ridgeless I⁰_rr′ (eq. 190), on its three branches for ν_rr ≤ ν_r′r′.

    >>> sorted(ridgeless_random_bias())
    ['alpha < nu_r < nu_s', 'nu_r < alpha < nu_s', 'nu_r < nu_s < alpha']
    """
    return {
        "alpha < nu_r < nu_s": _ridgeless(random_bias(), False, False),
        "nu_r < alpha < nu_s": _ridgeless(random_bias(), True, False),
        "nu_r < nu_s < alpha": _ridgeless(random_bias(), True, True),
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
    return _ridgeless(pair_error(same=True), more_samples, more_samples)


def infinite_data_pair_error(same: bool) -> sp.Expr:
    """Return E_rr′ as α → ∞ at fixed ridge (eqs. 216, 217): σ → 1 and γ → 0.

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
    return limit(sp.factor(pair_error(same).subs({S_r: 1 / a, S_s: 1 / a})), alpha, {})


def infinite_data_error() -> sp.Expr:
    """Return E_g as α → ∞ (eq. 218) for k disjoint subsets with a common η, any sizes.

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


# The best ridge.
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

    λ*/a + 1 − a/(bν) is a sum of non-negative terms for bν ≤ a, so that λ* is never negative:

    >>> excess = a * (nu * (eta**2 + zeta**2) + rho**2 * (a - b * nu)) / ((1 - rho**2) * (b * nu) ** 2)
    >>> sp.factor(optimal_ridge() / a + 1 - a / (b * nu) - excess)
    0
    """
    # The numerator of dE/dσ is a quadratic in σ. The same combination α/σ + νσ appears in λ(σ), so that eliminating α
    # eliminates σ too.
    numerator = sp.fraction(sp.factor(sp.diff(member_error(), sigma)))[0]
    stationary_alpha = [root for root in sp.solve(numerator, alpha) if root != 0]
    (solution,) = {sp.factor(ridge_of_sigma().subs(alpha, root)) for root in stationary_alpha}
    return solution


def slope_factor() -> sp.Expr:
    """Return dE_rr/dσ divided by λ* − λ(σ) (eq. 192): positive for ρ² < 1.

    As σ falls when λ grows, E_rr falls up to λ* and rises after it: λ* is the only minimum.

    >>> slope_factor()
    -2*alpha*b**2*nu**2*sigma*(rho - 1)*(rho + 1)/(a**2*(alpha - nu*sigma**2)**2)
    """
    return sp.factor(sp.diff(member_error(), sigma) / (optimal_ridge() - ridge_of_sigma()))
