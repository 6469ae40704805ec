"""Numbers made from block matrices: traces, quadratic forms, and their leading order in the size.

These are the contractions that Prop. 1 is written in; with N_r = ν_r M they are rational in M, so that the
limit M → ∞ is read off from the degrees of numerator and denominator.
"""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp

from subridge.derivations.block_matrix import BlockMatrix

__all__ = ["gaussian_form", "gaussian_form_variance", "leading_order", "limit", "ones_form", "trace"]


def trace(matrix: BlockMatrix) -> sp.Expr:
    """Return the trace, Σ_i n_i (D_ii + B_ii).

    Examples
    --------
    >>> n = sp.Symbol("n")
    >>> trace(BlockMatrix.identity([n]) + BlockMatrix.all_ones([n], [n]))
    2*n
    """
    if matrix.row_sizes != matrix.column_sizes:
        raise ValueError("the trace needs a matrix that is square by blocks")
    sizes = matrix.row_sizes
    return sp.factor(sum(n * (matrix.diagonal[i, i] + matrix.ones[i, i]) for i, n in enumerate(sizes)))


def ones_form(matrix: BlockMatrix) -> sp.Expr:
    """Return 1ᵀ X 1, the sum of all entries.

    Examples
    --------
    >>> n, m = sp.symbols("n m")
    >>> ones_form(BlockMatrix.all_ones([n], [m]))
    m*n
    """
    rows = sp.Matrix([matrix.row_sizes])
    columns = sp.Matrix(matrix.column_sizes)
    # An identity part sits in a square block, so n of its entries are one.
    diagonal = sum(rows[i] * sum(matrix.diagonal[i, :]) for i in range(len(rows)))
    return sp.factor(diagonal + (rows * matrix.ones * columns)[0, 0])


def gaussian_form(
    matrix: BlockMatrix, covariance: BlockMatrix | None = None, mean: sp.Expr = sp.S.Zero
) -> sp.Expr:
    """Return E[gᵀ X g] for g ~ N(mean·1, covariance); the covariance is the identity unless given.

    Examples
    --------
    >>> n, b = sp.symbols("n b")
    >>> gaussian_form(b * BlockMatrix.all_ones([n], [n]))
    b*n
    """
    spread = trace(matrix if covariance is None else matrix @ covariance)
    return sp.factor(spread + sp.sympify(mean) ** 2 * ones_form(matrix))


def gaussian_form_variance(matrix: BlockMatrix, covariance: BlockMatrix | None = None) -> sp.Expr:
    """Return Var[gᵀ X g] = tr[(X + Xᵀ) C (X + Xᵀ) C]/2 for g ~ N(0, C).

    It shows when a form concentrates: divided by the squared mean it must vanish as M → ∞.

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
    expression : rational in the group sizes
    size : the symbol M
    fractions : group size → what it becomes, e.g. ``{N: nu * M}``

    Examples
    --------
    >>> N, M, nu, a, b = sp.symbols("N M nu a b", positive=True)
    >>> leading_order(N * a / (a + N * b), M, {N: nu * M})
    a/b
    """
    numerator, denominator = sp.fraction(sp.together(sp.sympify(expression).subs(fractions)))
    top, bottom = sp.Poly(numerator, size), sp.Poly(denominator, size)
    if top.is_zero:
        return sp.S.Zero
    return sp.factor(top.LC() / bottom.LC()) * size ** (top.degree() - bottom.degree())


def limit(expression: sp.Expr, size: sp.Symbol, fractions: Mapping[sp.Expr, sp.Expr]) -> sp.Expr:
    """Return the finite limit as the size grows; raise if there is none.

    Examples
    --------
    >>> N, M, nu = sp.symbols("N M nu", positive=True)
    >>> limit((N + 1) / (M + 1), M, {N: nu * M})
    nu
    """
    leading = leading_order(expression, size, fractions)
    power = sp.degree(sp.fraction(leading)[0], size) - sp.degree(sp.fraction(leading)[1], size)
    if leading != 0 and power > 0:
        raise ValueError(f"the expression grows like {size}**{power}: {leading}")
    return leading if leading == 0 or power == 0 else sp.S.Zero
