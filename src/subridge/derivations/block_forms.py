"""Numbers made from block matrices: quadratic forms, and their leading order in the size.

Prop. 1 is written in these forms. With N_r = ν_r M they are rational in M, so that the limit M → ∞ follows from the
degrees of numerator and denominator.
"""

from collections.abc import Mapping

import sympy as sp

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
    return spread + mean**2 * ones_form(matrix)


def gaussian_form_variance(matrix: BlockMatrix, covariance: BlockMatrix | None = None) -> sp.Expr:
    """Return Var[gᵀ X g] = tr[(X + Xᵀ) C (X + Xᵀ) C]/2 for g ~ N(0, C).

    A form concentrates if this, divided by the squared mean, vanishes as M → ∞.

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
        What each group size becomes, a polynomial in M, for example ``{N: nu * M}``.

    Returns
    -------
    sympy.Expr
        The leading term; 0 for 0.

    Raises
    ------
    ValueError
        If the denominator vanishes at these fractions.

    Examples
    --------
    >>> N, M, nu, a, b = sp.symbols("N M nu a b", positive=True)
    >>> leading_order(N * a / (a + N * b), M, {N: nu * M})
    a/b
    """
    top, bottom = _ratio(sp.sympify(expression), size, fractions)
    return sp.factor(top.LC() / bottom.LC()) * size ** (top.degree() - bottom.degree()) if top else sp.S.Zero


def limit(expression: sp.Expr, size: sp.Symbol, fractions: Mapping[sp.Expr, sp.Expr]) -> sp.Expr:
    """Return the finite limit as the size grows; raise if there is none.

    Parameters
    ----------
    expression : sympy.Expr
        Rational in the group sizes.
    size : sympy.Symbol
        M.
    fractions : mapping of expression to expression
        What each group size becomes, a polynomial in M, for example ``{N: nu * M}``.

    Returns
    -------
    sympy.Expr
        The limit, without M.

    Raises
    ------
    ValueError
        If the expression grows without bound, or its denominator vanishes at these fractions.

    Examples
    --------
    >>> N, M, nu = sp.symbols("N M nu", positive=True)
    >>> limit((N + 1) / (M + 1), M, {N: nu * M})
    nu
    """
    # Term by term: a common denominator would be much longer.
    total = sp.Poly(0, size)
    for term in sp.Add.make_args(sp.sympify(expression)):
        top, bottom = _ratio(term, size, fractions)
        total += top.div(bottom)[0]
    if total.degree() > 0:
        raise ValueError(f"the expression grows like {size}**{total.degree()}, with coefficient {total.LC()}")
    return sp.factor(total.as_expr())


def _ratio(expression: sp.Expr, size: sp.Symbol, fractions: Mapping[sp.Expr, sp.Expr]) -> tuple[sp.Poly, sp.Poly]:
    """Numerator and denominator as polynomials in the size, at these fractions."""
    top, bottom = (sp.Poly(part.subs(fractions), size) for part in expression.as_numer_denom())
    if bottom.is_zero:
        raise ValueError(f"at the fractions {dict(fractions)} the denominator of {expression} vanishes identically")
    return top, bottom
