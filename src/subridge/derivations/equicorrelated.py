"""Proposition 2 from Proposition 1: equicorrelated features, by block algebra.

The M features fall into four groups: seen by member r only, by r′ only, by both, by neither. Both covariances
are then block matrices, Σ_s = b I + e 11ᵀ and Σ_0 = (a−b) I, with b = s(1−c), e = sc, a = b + ω².

Three scalings of the shared variance e are derived from the same finite-size expressions:

- e fixed, M → ∞ (``0 < c``): the printed I¹;
- e = 0 (``c = 0``): I¹ = I⁰, no direction is special;
- T = eM fixed: the uniform form, which joins the two.
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
    b,
    e,
    eta,
    nu,
    nu_r,
    nu_rs,
    nu_s,
    q,
    q_hat,
    rho,
    x_r,
    x_s,
    zeta,
)
from subridge.derivations.proposition_one import MemberPair, order_parameter_q

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
    first, second = BlockMatrix.selection(GROUPS, [0, 2]), BlockMatrix.selection(GROUPS, [1, 2])
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
    r"""Return the first saddle-point equation of Prop. 2; the other, q̂ = α/(λ+q), is that of Prop. 1.

    >>> saddle_point()
    Eq(q, a*nu/(\hat{q}*a + nu))
    """
    sizes = (N_ONLY_R, N_NEITHER)
    signal, noise = _covariances(sizes)
    finite = order_parameter_q(signal + noise, BlockMatrix.selection(sizes, [0]))
    leading = limit(finite, M, {N_ONLY_R: nu * M, N_NEITHER: (1 - nu) * M})
    return sp.Eq(q, sp.factor(leading.subs(x_r, nu / q_hat)))


def _in_terms_of_S(expression: sp.Expr) -> sp.Expr:
    """Replace x = ν/q̂ by S = q̂/(ν + a q̂) = 1/(x + a)."""
    return sp.factor(expression.subs({x_r: 1 / S_r - a, x_s: 1 / S_s - a}))


@lru_cache
def gamma() -> sp.Expr:
    """Return γ_rr′ of Prop. 2.

    >>> gamma()
    S_r*S_s*a**2*nu_rs/alpha
    """
    return _in_terms_of_S(limit(member_pair().gamma, M, FRACTIONS))


@lru_cache
def random_bias() -> sp.Expr:
    """Return I⁰_rr′ of Prop. 2, the part of the error at ρ = 0 (eq. 186 (rho0OffDiagEquiCorrError)).

    >>> sp.expand(random_bias() / b)
    S_r*S_s*a*b*nu_rs - S_r*b*nu_r - S_s*b*nu_s + 1
    """
    return _in_terms_of_S(limit(member_pair().random_bias(), M, FRACTIONS))


@lru_cache
def aligned_bias() -> sp.Expr:
    """Return I¹_rr′ of Prop. 2 for 0 < c < 1, the part of the error at ρ = 1 (eq. 187 (rho1OffDiagEquiCorrError)).

    >>> aligned_bias()
    (a*nu_rs - b*nu_r*nu_s)/(nu_r*nu_s)
    """
    return _in_terms_of_S(limit(member_pair().aligned_bias(), M, FRACTIONS))


@lru_cache
def uniform_aligned_bias() -> sp.Expr:
    """Return I¹_rr′ at fixed T = scM, valid for weak and strong shared variance.

    >>> sp.factor(sp.limit(uniform_aligned_bias(), T, sp.oo) - aligned_bias())
    0
    >>> sp.factor(uniform_aligned_bias().subs(T, 0) - random_bias())
    0
    """
    return _in_terms_of_S(limit(member_pair().aligned_bias().subs(e, T / M), M, FRACTIONS))


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
    g, I0, I1 = gamma(), random_bias(), aligned_bias()
    if same:
        g, I0, I1 = on_the_diagonal(g), on_the_diagonal(I0), on_the_diagonal(I1)
    noise = g * zeta**2 + (eta**2 if same else 0)
    return ((1 - rho**2) * I0 + rho**2 * I1 + noise) / (1 - g)
