"""Small matrices of coefficients, one entry per block, in SymPy's field of rational functions.

The field takes its generators for independent: √x beside x, or sin x beside cos x, would never cancel. Where anything
but symbols occurs, matrices meet as expressions instead, and an entry is zero where it `vanishes`.
"""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp
from sympy.polys.constructor import construct_domain
from sympy.polys.domains.domain import Domain
from sympy.polys.domains.domainelement import DomainElement
from sympy.polys.matrices import DomainMatrix

from subridge.derivations.vanishing import tidied, vanishes


def to_field(coefficients: sp.MatrixBase | DomainMatrix) -> DomainMatrix:
    """The coefficients in their own field."""
    if isinstance(coefficients, DomainMatrix):
        return coefficients
    matrix = sp.Matrix(coefficients)
    found = DomainMatrix.from_Matrix(matrix).to_field()
    return found if _is_rational(found.domain) else _meet([matrix])[0]


def common(*matrices: DomainMatrix) -> list[DomainMatrix]:
    """The same matrices in one field."""
    if all(_is_rational(matrix.domain) for matrix in matrices):
        return list(matrices[0].unify(*matrices[1:]))
    return _meet([matrix.to_Matrix() for matrix in matrices])


def plus(left: DomainMatrix, right: DomainMatrix) -> DomainMatrix:
    """The sum."""
    left, right = common(left, right)
    return left + right


def times(*factors: DomainMatrix) -> DomainMatrix:
    """The product."""
    product = factors[0]
    for factor in factors[1:]:
        product, factor = common(product, factor)
        product = product * factor
    return product


def nonzero(coefficients: DomainMatrix) -> list[tuple[int, int]]:
    """Places of the entries that are not identically zero."""
    domain = coefficients.domain
    rows = coefficients.to_dod().items()
    return [(i, j) for i, row in rows for j, value in row.items() if not _is_zero(value, domain)]


def inverse(D: DomainMatrix, B: DomainMatrix, sizes: DomainMatrix) -> tuple[DomainMatrix, DomainMatrix]:
    """Both parts of the inverse of D·I + B·11ᵀ: D⁻¹ and -(D + B N)⁻¹ B D⁻¹.

    Adjugates of polynomials and one division per entry: dividing at every step is hundreds of times slower.
    """
    D, B, sizes = common(D, B, sizes)
    domain = D.domain
    (D, below_D), (B, below_B), (W, below_W) = (_over_one_denominator(part) for part in (D, B, D + B * sizes))
    (adjugate_D, det_D), (adjugate_W, det_W) = _adjugate(D), _adjugate(W)
    if _is_zero(det_D, D.domain):
        raise ZeroDivisionError("a block without identity part has rank one and no inverse")
    if _is_zero(det_W, W.domain):
        raise ZeroDivisionError("the matrix is singular: a sum over its groups vanishes identically")
    own = _divided(adjugate_D, below_D, det_D, domain)
    across = _divided(adjugate_W * B * adjugate_D, -below_W * below_D, det_W * det_D * below_B, domain)
    return own, across


def determinant(coefficients: DomainMatrix) -> sp.Expr:
    """The determinant, as an expression."""
    numerator, denominator = _over_one_denominator(coefficients)
    value, ring = _adjugate(numerator)[1], numerator.domain
    return sp.factor(ring.to_sympy(value) / ring.to_sympy(denominator) ** len(coefficients.to_list()))


def _is_rational(domain: Domain) -> bool:
    """Whether all generators are symbols, and all numbers rational."""
    if not domain.is_Composite:
        return bool(domain.is_ZZ or domain.is_QQ)
    return bool(domain.domain.is_ZZ or domain.domain.is_QQ) and all(symbol.is_Symbol for symbol in domain.symbols)


def _meet(matrices: Sequence[sp.MatrixBase]) -> list[DomainMatrix]:
    """Matrices of expressions in one field that knows how its generators depend on each other."""
    domain, elements = construct_domain([tidied(x) for matrix in matrices for x in matrix], field=True)
    values = iter(elements)
    return [
        DomainMatrix([[next(values) for _ in range(matrix.cols)] for _ in range(matrix.rows)], matrix.shape, domain)
        for matrix in matrices
    ]


def _is_zero(value: DomainElement, domain: Domain) -> bool:
    return not value or (not _is_rational(domain) and vanishes(domain.to_sympy(value)))


def _over_one_denominator(matrix: DomainMatrix) -> tuple[DomainMatrix, DomainElement]:
    """A matrix of polynomials and what it is divided by."""
    denominator, numerator = matrix.clear_denoms(convert=True)
    return numerator, denominator.element


def _adjugate(matrix: DomainMatrix) -> tuple[DomainMatrix, DomainElement]:
    """The adjugate and the determinant, from the characteristic polynomial p: adj A = ±(p(A) - p(0))/A."""
    n, domain = matrix.shape[0], matrix.domain
    first, *coefficients = matrix.charpoly()
    one = DomainMatrix.eye(n, domain)
    adjugate = one.scalarmul(first)
    for coefficient in coefficients[:-1]:
        adjugate = matrix * adjugate + one.scalarmul(coefficient)
    sign = domain.convert((-1) ** n)
    return adjugate.scalarmul(-sign), sign * coefficients[-1]


def _divided(matrix: DomainMatrix, factor: DomainElement, divisor: DomainElement, field: Domain) -> DomainMatrix:
    ring = matrix.domain
    return matrix.convert_to(field).scalarmul(field.convert_from(factor, ring) / field.convert_from(divisor, ring))
