"""Sums over eigenvalues: the language in which Prop. 1 holds for arbitrary covariances.

In the eigenbases of Σ̃_rr (eigenvalues d_i) and Σ̃_r′r′ (eigenvalues f_j) every trace of the replica
calculation is a sum over i, over j, or over both with the overlaps B_ij. Two expressions are equal for every
spectrum if their coefficients agree once all sums are brought to one form; :func:`canonical` does that.
"""

import sympy as sp

from subridge.derivations.notation import M

i, j = sp.symbols("i j", integer=True, positive=True)
n_first, n_second = sp.symbols("N_r N_s", integer=True, positive=True)
d, f = sp.IndexedBase("d", positive=True), sp.IndexedBase("f", positive=True)  # eigenvalues of members r, r′
t, u = sp.IndexedBase("t", real=True), sp.IndexedBase("u", real=True)  # A_rΣ_s w*/√ν_rr in the eigenbases
B = sp.IndexedBase("B", real=True)  # Σ̃_rr′ between the two eigenbases


def over_first(term: sp.Expr) -> sp.Expr:
    """Return (1/M) Σ_i term.

    Parameters
    ----------
    term : sympy.Expr
        In the eigenvalues d_i of the first member.

    Returns
    -------
    sympy.Sum
        Over the eigenvalues of the first member.

    Examples
    --------
    >>> over_first(d[i])
    Sum(d[i], (i, 1, N_r))/M
    """
    return sp.Sum(term, (i, 1, n_first)) / M


def over_second(term: sp.Expr) -> sp.Expr:
    """Return (1/M) Σ_j term.

    Parameters
    ----------
    term : sympy.Expr
        In the eigenvalues f_j of the second member.

    Returns
    -------
    sympy.Sum
        Over the eigenvalues of the second member.

    Examples
    --------
    >>> over_second(f[j])
    Sum(f[j], (j, 1, N_s))/M
    """
    return sp.Sum(term, (j, 1, n_second)) / M


def over_pairs(term: sp.Expr) -> sp.Expr:
    """Return (1/M) Σ_ij term.

    Parameters
    ----------
    term : sympy.Expr
        In the eigenvalues of both.

    Returns
    -------
    sympy.Sum
        Over all pairs of eigenvalues.

    Examples
    --------
    >>> over_pairs(B[i, j]**2)
    Sum(B[i, j]**2, (i, 1, N_r), (j, 1, N_s))/M
    """
    return sp.Sum(term, (i, 1, n_first), (j, 1, n_second)) / M


def _canonical_sum(total: sp.Sum) -> sp.Expr:
    """Split a sum into partial fractions of its eigenvalues, constants in front."""
    term = total.function
    for eigenvalue in (d[i], f[j]):
        if term.has(eigenvalue) and not term.has(sp.log):
            plain = sp.Dummy("x")
            term = sp.expand(term.subs(eigenvalue, plain))
            term = sp.Add(*[sp.apart(part, plain) for part in sp.Add.make_args(term)]).subs(plain, eigenvalue)
    pieces = []
    for part in sp.Add.make_args(sp.expand(term)):
        # Factored first: partial fractions leave constants multiplied into the denominators.
        constant, dependent = sp.factor(part).as_independent(i, j, as_Add=False)
        pieces.append(constant * (_size(total) if dependent == 1 else sp.Sum(dependent, *total.limits)))
    return sp.Add(*pieces)


def _size(total: sp.Sum) -> sp.Expr:
    return sp.Mul(*[upper - lower + 1 for _, lower, upper in total.limits])


def canonical(expression: sp.Expr) -> sp.Expr:
    """Bring every sum to partial fractions with the constants outside.

    Parameters
    ----------
    expression : sympy.Expr
        With sums over eigenvalues.

    Returns
    -------
    sympy.Expr
        Equal to it; equal sums look equal in it.

    Examples
    --------
    >>> x = sp.Symbol("x", positive=True)
    >>> canonical(over_first(d[i] / (x + d[i])))
    (N_r - x*Sum(1/(x + d[i]), (i, 1, N_r)))/M
    """
    return sp.sympify(expression).replace(lambda part: isinstance(part, sp.Sum), _canonical_sum)


def _atoms(expression: sp.Expr) -> tuple[sp.Expr, dict[sp.Expr, sp.Symbol]]:
    sums = {total: sp.Dummy(f"s{n}") for n, total in enumerate(sorted(expression.atoms(sp.Sum), key=str))}
    return expression.xreplace(sums), sums


def is_identically_zero(expression: sp.Expr) -> bool:
    """Whether an expression in sums vanishes for every spectrum.

    Parameters
    ----------
    expression : sympy.Expr
        With sums over eigenvalues.

    Returns
    -------
    bool
        True where it is proved.

    Examples
    --------
    >>> x = sp.Symbol("x", positive=True)
    >>> left = sp.diff(over_first(sp.log(1 + x * d[i])), x)
    >>> is_identically_zero(left - over_first(d[i] / (1 + x * d[i])))
    True
    """
    plain, _ = _atoms(canonical(expression))
    return bool(sp.factor(plain) == 0)


def solve_linear(equation: sp.Expr, unknown: sp.Symbol) -> sp.Expr:
    """Solve an equation that is linear in one unknown, with sums as coefficients.

    Parameters
    ----------
    equation : sympy.Expr
        What is to be zero.
    unknown : sympy.Symbol
        What to solve for.

    Returns
    -------
    sympy.Expr
        The unknown, in everything else.

    Raises
    ------
    ValueError
        If the equation is not linear in the unknown.

    Examples
    --------
    >>> y = sp.Symbol("y")
    >>> solve_linear(2 * y - over_first(d[i]), y)
    Sum(d[i], (i, 1, N_r))/(2*M)
    """
    plain, sums = _atoms(sp.sympify(equation))
    constant, slope = plain.subs(unknown, 0), sp.diff(plain, unknown)
    if slope.has(unknown):
        raise ValueError(f"the equation is not linear in {unknown}")
    return sp.factor(-constant / slope).xreplace({symbol: total for total, symbol in sums.items()})
