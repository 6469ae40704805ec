"""A worked example that is not in the paper: two groups of features.

Features of one group share the variance e, features of different groups only g < e; the rest is as in
Prop. 2. Two directions of the data are special instead of one. Only the covariance changes, and the same functions
derive the closed form:

- γ, I⁰ and the saddle point are those of Prop. 2: a few strong directions do not change the bulk;
- I¹_rr = a(φ_A²/μ_A + φ_B²/μ_B) − b, where the group makes up the fraction φ of all features and the member
  sees the fractions μ_A, μ_B of all features in the two groups. For μ = νφ this is Prop. 2's a/ν − b; an
  uneven draw costs more;
- a member that sees one group only has an error that grows with M, unless g = e.
"""

from functools import lru_cache

import sympy as sp

from subridge.derivations.block_forms import leading_order, limit
from subridge.derivations.block_matrix import BlockMatrix
from subridge.derivations.notation import M, a, b, e
from subridge.derivations.proposition_one import MemberPair

g = sp.Symbol("g", positive=True)  # variance that features of different groups share
SIZES = sp.symbols("n_A m_A n_B m_B", positive=True)  # seen and unseen features of group A, then of group B
mu_A, mu_B = fractions_of_member = sp.symbols("mu_A mu_B", positive=True)
tau_A, tau_B = fractions_of_rest = sp.symbols("tau_A tau_B", positive=True)
_FRACTIONS = {size: part * M for size, part in zip(SIZES, (mu_A, tau_A, mu_B, tau_B), strict=True)}


@lru_cache
def member_pair(same: bool) -> MemberPair:
    """Return one member twice, or the member and the one that sees all that it does not see.

    Parameters
    ----------
    same : bool
        Whether r = r′.

    Returns
    -------
    MemberPair
        The two members, or one twice.

    Examples
    --------
    >>> member_pair(same=True).n_features
    m_A + m_B + n_A + n_B
    """
    shared = sp.Matrix(4, 4, lambda i, j: e if (i < 2) == (j < 2) else g)
    signal = BlockMatrix(SIZES, SIZES, b * sp.eye(4), shared)
    noise = (a - b) * BlockMatrix.identity(SIZES)
    first = BlockMatrix.selection(SIZES, [0, 2])
    second = first if same else BlockMatrix.selection(SIZES, [1, 3])
    return MemberPair(signal, noise, first, second, same=same)


def _limit(finite: sp.Expr) -> sp.Expr:
    """M → ∞; the four fractions add up to one."""
    return sp.factor(limit(finite, M, _FRACTIONS).subs(tau_B, 1 - mu_A - mu_B - tau_A))


def saddle_point_q() -> sp.Expr:
    """Return q of a member, at q̂ = ν/x.

    >>> from subridge.derivations.notation import x_r
    >>> sp.factor(saddle_point_q() - a * x_r / (a + x_r))
    0
    """
    return _limit(member_pair(same=True).q)


@lru_cache
def gamma(same: bool) -> sp.Expr:
    """Return γ of the member with itself, or with the member that sees the rest.

    Parameters
    ----------
    same : bool
        Whether r = r′.

    Returns
    -------
    sympy.Expr
        In the limit M → ∞.

    Examples
    --------
    >>> gamma(same=False)
    0
    """
    return _limit(member_pair(same).gamma)


@lru_cache
def random_bias() -> sp.Expr:
    """Return I⁰ of the member with the member that sees the rest, for weights drawn at random.

    >>> from subridge.derivations.notation import S_r, S_s, x_r, x_s
    >>> nu = sum(fractions_of_member)
    >>> in_S = random_bias().subs({x_r: 1 / S_r - a, x_s: 1 / S_s - a})
    >>> sp.factor(in_S - b * (1 - b * nu * S_r - b * (1 - nu) * S_s))
    0
    """
    return _limit(member_pair(same=False).random_bias())


@lru_cache
def aligned_bias(same: bool) -> sp.Expr:
    """Return I¹, for weights that are all equal.

    Parameters
    ----------
    same : bool
        Whether r = r′.

    Returns
    -------
    sympy.Expr
        In the limit M → ∞.

    Examples
    --------
    >>> mu_A, mu_B = fractions_of_member
    >>> phi_A = mu_A + fractions_of_rest[0]
    >>> sp.factor(aligned_bias(same=True) - (a * (phi_A**2 / mu_A + (1 - phi_A)**2 / mu_B) - b))
    0
    >>> aligned_bias(same=False)
    -b
    """
    return _limit(member_pair(same).aligned_bias())


def blind_member_growth() -> sp.Expr:
    """Return the leading term of I¹ for a member that sees all of group A and nothing of group B.

    >>> blind_member_growth()
    M*phi**2*(e - g)*(e + g)/e
    """
    phi = sp.Symbol("phi", positive=True)  # fraction of features in the group that is not seen
    sizes = sp.symbols("n_A n_B", positive=True)
    signal = BlockMatrix(sizes, sizes, b * sp.eye(2), sp.Matrix([[e, g], [g, e]]))
    kept = BlockMatrix.selection(sizes, [0])
    pair = MemberPair(signal, (a - b) * BlockMatrix.identity(sizes), kept, kept, same=True)
    return leading_order(pair.aligned_bias(), M, {sizes[0]: (1 - phi) * M, sizes[1]: phi * M})
