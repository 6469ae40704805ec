"""Numbers made from block matrices: quadratic forms, and their leading order in the size.

These are the contractions that Prop. 1 is written in; with N_r = ν_r M they are rational in M, so that the
limit M → ∞ is read off from the degrees of numerator and denominator.
"""

from collections import defaultdict
from collections.abc import Mapping

import sympy as sp
from sympy.polys.fields import FracElement

from subridge.derivations.block_matrix import BlockMatrix, trace


def ones_form(matrix: BlockMatrix) -> sp.Expr:
    """Return 1ᵀ X 1, the sum of all entries.

    Parameters
    ----------
    matrix : BlockMatrix
        X, with groups of symbolic size.

    Returns
    -------
    sympy.Expr
        Rational in the group sizes.

    Examples
    --------
    >>> n, m = sp.symbols("n m")
    >>> ones_form(BlockMatrix.all_ones([n], [m]))
    m*n
    """
    # 1ᵀ X 1 is the trace of the 1 × 1 matrix that is left when both sides are multiplied by ones.
    left = BlockMatrix.all_ones([1], matrix.row_sizes)
    right = BlockMatrix.all_ones(matrix.column_sizes, [1])
    return trace(left @ matrix @ right)


def gaussian_form(matrix: BlockMatrix, covariance: BlockMatrix | None = None, mean: sp.Expr = sp.S.Zero) -> sp.Expr:
    """Return E[gᵀ X g] for g ~ N(mean·1, covariance); the covariance is the identity unless given.

    Parameters
    ----------
    matrix : BlockMatrix
        X, with groups of symbolic size.
    covariance : BlockMatrix, optional
        C; None is the identity.
    mean : sympy.Expr
        Of every entry of g.

    Returns
    -------
    sympy.Expr
        Rational in the group sizes.

    Examples
    --------
    >>> n, b = sp.symbols("n b")
    >>> gaussian_form(b * BlockMatrix.all_ones([n], [n]))
    b*n
    """
    spread = trace(matrix if covariance is None else matrix @ covariance)
    return spread + sp.sympify(mean) ** 2 * ones_form(matrix) if mean != 0 else spread


def gaussian_form_variance(matrix: BlockMatrix, covariance: BlockMatrix | None = None) -> sp.Expr:
    """Return Var[gᵀ X g] = tr[(X + Xᵀ) C (X + Xᵀ) C]/2 for g ~ N(0, C).

    It shows when a form concentrates: divided by the squared mean it must vanish as M → ∞.

    Parameters
    ----------
    matrix : BlockMatrix
        X, with groups of symbolic size.
    covariance : BlockMatrix, optional
        C; None is the identity.

    Returns
    -------
    sympy.Expr
        Rational in the group sizes.

    Examples
    --------
    >>> n = sp.Symbol("n")
    >>> gaussian_form_variance(BlockMatrix.identity([n]))
    2*n
    """
    symmetric = matrix + matrix.T
    product = symmetric if covariance is None else symmetric @ covariance
    return trace(product @ product) / 2


def leading_order(expression: sp.Expr, size: sp.Symbol, fractions: Mapping[sp.Expr, sp.Expr]) -> sp.Expr:
    """Return the leading term, coefficient · size^power, as the size grows at fixed fractions.

    Parameters
    ----------
    expression : sympy.Expr
        Rational in the group sizes.
    size : sympy.Symbol
        M.
    fractions : mapping of expression to expression
        What each group size becomes, a multiple of M, for example ``{N: nu * M}``.

    Returns
    -------
    sympy.Expr
        The leading term; 0 for 0.

    Raises
    ------
    ValueError
        If a group size is no multiple of M.

    Examples
    --------
    >>> N, M, nu, a, b = sp.symbols("N M nu a b", positive=True)
    >>> leading_order(N * a / (a + N * b), M, {N: nu * M})
    a/b
    """
    found = _expansion(sp.sympify(expression), size, fractions, lowest=None)
    return sp.Add(*[sp.factor(coefficient.as_expr()) * size**power for power, coefficient in found.items()])


def limit(expression: sp.Expr, size: sp.Symbol, fractions: Mapping[sp.Expr, sp.Expr]) -> sp.Expr:
    """Return the finite limit as the size grows; raise if there is none.

    Parameters
    ----------
    expression : sympy.Expr
        Rational in the group sizes.
    size : sympy.Symbol
        M.
    fractions : mapping of expression to expression
        What each group size becomes, a multiple of M, for example ``{N: nu * M}``.

    Returns
    -------
    sympy.Expr
        The limit, without M.

    Raises
    ------
    ValueError
        If the expression grows without bound, or a group size is no multiple of M.

    Examples
    --------
    >>> N, M, nu = sp.symbols("N M nu", positive=True)
    >>> limit((N + 1) / (M + 1), M, {N: nu * M})
    nu
    """
    # Term by term: long division down to size⁰ needs a few coefficients only, a common denominator needs all.
    totals: dict[int, list[sp.Expr]] = defaultdict(list)
    for term in sp.Add.make_args(sp.sympify(expression)):
        for power, coefficient in _expansion(term, size, fractions, lowest=0).items():
            totals[power].append(coefficient.as_expr())
    for power in sorted(totals, reverse=True):
        total = sp.cancel(sp.Add(*totals[power]))
        if power > 0 and total != 0:
            raise ValueError(f"the expression grows like {size}**{power}, with coefficient {total}")
    return sp.factor(sp.cancel(sp.Add(*totals[0])))


def _expansion(
    expression: sp.Expr, size: sp.Symbol, fractions: Mapping[sp.Expr, sp.Expr], lowest: int | None
) -> dict[int, FracElement]:
    """Return the coefficients of size^p about infinite size, from the leading power down to `lowest`.

    With `lowest` None, the leading one only; nothing for zero. Every group size is a multiple of the size, so powers of
    the size are total degrees in the group sizes. Fractions are put in only in the degrees that are needed.
    """
    scales = {size: sp.S.One, **{group: sp.cancel(value / size) for group, value in fractions.items()}}
    if any(scale.has(size) for scale in scales.values()):
        raise ValueError(f"every group size must be a multiple of {size}")
    symbols = set(scales) | expression.free_symbols.union(*[scale.free_symbols for scale in scales.values()])
    field = sp.QQ.frac_field(*sorted(symbols, key=str))
    ring = field.field.ring
    substitutions = [(ring(group), ring(scale)) for group, scale in scales.items()]
    positions = [ring.symbols.index(group) for group in scales]

    def coefficient(terms: Mapping[tuple[int, ...], sp.Expr]) -> FracElement:
        return field.field(ring.from_dict(dict(terms)).compose(substitutions))

    ratio, by_degree, leading = field.from_sympy(expression), [], []
    for polynomial in (ratio.numer, ratio.denom):
        graded: dict[int, dict[tuple[int, ...], sp.Expr]] = defaultdict(dict)
        for powers, value in polynomial.terms():
            graded[sum(powers[p] for p in positions)][powers] = value
        by_degree.append(graded)
        leading.append(next((d for d in sorted(graded, reverse=True) if coefficient(graded[d])), None))
    (top, bottom), (first, low) = by_degree, leading
    if low is None:
        raise ValueError(f"at the fractions {dict(fractions)} the denominator of {expression} vanishes identically")
    found: dict[int, FracElement] = {}
    if first is None:
        return found
    for power in range(first - low, (first - low if lowest is None else lowest) - 1, -1):
        taken = [value * coefficient(bottom.get(low + power - p, {})) for p, value in found.items()]
        rest = coefficient(top.get(low + power, {})) - sum(taken, start=field.zero)
        found[power] = rest / coefficient(bottom[low])
    return found
