"""Matrices of symbolic size whose blocks are a·I + b·11ᵀ.

A matrix with row groups of sizes n_1, n_2, ... and column groups of sizes m_1, m_2, ... is stored as two
small coefficient matrices: ``diagonal`` (the a of each block) and ``ones`` (the b). With
N = diag(m_1, m_2, ...) the algebra closes:

    (D, B) + (D', B') = (D + D', B + B')
    (D, B) · (D', B') = (D D', D B' + B D' + B N B')

so products, inverses and determinants of matrices of any size cost as much as those of a handful of blocks.
An identity part needs a square block: its row and column sizes must be the same symbol.

Coefficients are kept in SymPy's field of rational functions, where cancelling is built in; that is about a
hundred times faster than simplifying expressions. They are factored when they are read. The field treats its generators
as independent: √x and x, or sin x and cos x, would never cancel. If anything but symbols occurs, coefficients are
combined as expressions instead, and an entry is zero if it vanishes identically.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import sympy as sp
from sympy.polys.domains.domain import Domain
from sympy.polys.domains.domainelement import DomainElement
from sympy.polys.matrices import DomainMatrix


class BlockMatrix:
    """A matrix of blocks ``diagonal[i, j]·I + ones[i, j]·11ᵀ``.

    Parameters
    ----------
    row_sizes, column_sizes : sequence of expressions
        Number of rows of each row group and of columns of each column group.
    diagonal, ones : Matrix, one entry per block
        Coefficients of the identity and of the all-ones matrix. ``diagonal[i, j]`` must vanish unless
        ``row_sizes[i] == column_sizes[j]``.

    Examples
    --------
    Sherman-Morrison for a single block:

    >>> n, a, b = sp.symbols("n a b", positive=True)
    >>> matrix = a * BlockMatrix.identity([n]) + b * BlockMatrix.all_ones([n], [n])
    >>> print(matrix.inverse())
    [1/a I_{n} - b/(a*(a + b*n)) 11ᵀ]
    >>> (matrix @ matrix.inverse()).equals(BlockMatrix.identity([n]))
    True
    >>> matrix.diagonal, matrix.ones
    (Matrix([[a]]), Matrix([[b]]))
    >>> sp.factor(matrix.determinant().subs(n, 2)), matrix.subs({b: 0}).dense({n: 2})
    (a*(a + 2*b), Matrix([
    [a, 0],
    [0, a]]))
    >>> kept = BlockMatrix.selection([n, n], [1])  # a member that sees the second of two groups
    >>> print(kept.T @ kept @ BlockMatrix.by_group([n, n], [a, b]))
    [0 | 0]
    [0 | b I_{n}]
    """

    def __init__(
        self,
        row_sizes: Sequence[sp.Expr],
        column_sizes: Sequence[sp.Expr],
        diagonal: sp.MatrixBase | DomainMatrix,
        ones: sp.MatrixBase | DomainMatrix,
    ) -> None:
        self.row_sizes = tuple(sp.sympify(size) for size in row_sizes)
        self.column_sizes = tuple(sp.sympify(size) for size in column_sizes)
        self._parts = _in_one_field(diagonal, ones)
        shape = (len(self.row_sizes), len(self.column_sizes))
        for name, coefficients in zip(("diagonal", "ones"), self._parts, strict=True):
            if coefficients.shape != shape:
                raise ValueError(f"{name} has shape {coefficients.shape}, but there are {shape} blocks")
        # In a block of one entry the identity and the matrix of ones are the same; it counts as identity.
        if 1 in self.row_sizes and 1 in self.column_sizes:
            D, B = (part.to_Matrix() for part in self._parts)
            single = sp.Matrix(*shape, lambda i, j: int(self.row_sizes[i] == self.column_sizes[j] == 1))
            moved = B.multiply_elementwise(single)
            self._parts = _in_one_field(D + moved, B - moved)
        for i, j in _nonzero(self._parts[0]):
            if self.row_sizes[i] != self.column_sizes[j]:
                shape_of_block = f"{self.row_sizes[i]} by {self.column_sizes[j]}"
                raise ValueError(f"block ({i}, {j}) is {shape_of_block}: an identity part needs a square block")

    @cached_property
    def diagonal(self) -> sp.ImmutableMatrix:
        """Coefficients of the identity, factored."""
        return _factored(self._parts[0])

    @cached_property
    def ones(self) -> sp.ImmutableMatrix:
        """Coefficients of 11ᵀ, factored."""
        return _factored(self._parts[1])

    @classmethod
    def identity(cls, sizes: Sequence[sp.Expr]) -> BlockMatrix:
        """Return the identity with groups of the given sizes.

        Parameters
        ----------
        sizes : sequence of expressions
            Of the groups.
        """
        return cls.by_group(sizes, [1] * len(sizes))

    @classmethod
    def by_group(cls, sizes: Sequence[sp.Expr], values: Sequence[sp.Expr]) -> BlockMatrix:
        """Return the diagonal matrix that has one value per group.

        Parameters
        ----------
        sizes : sequence of expressions
            Of the groups.
        values : sequence of expressions
            One for each group.
        """
        return cls(sizes, sizes, sp.diag(*values), sp.zeros(len(sizes)))

    @classmethod
    def all_ones(cls, row_sizes: Sequence[sp.Expr], column_sizes: Sequence[sp.Expr]) -> BlockMatrix:
        """Return the matrix of ones, 11ᵀ.

        Parameters
        ----------
        row_sizes, column_sizes : sequence of expressions
            Of the groups of rows and of columns.
        """
        shape = (len(row_sizes), len(column_sizes))
        return cls(row_sizes, column_sizes, sp.zeros(*shape), sp.ones(*shape))

    @classmethod
    def selection(cls, sizes: Sequence[sp.Expr], groups: Sequence[int]) -> BlockMatrix:
        """Return the measurement matrix that keeps the features of the chosen groups.

        Parameters
        ----------
        sizes : sequence of expressions
            Of the groups.
        groups : sequence of int
            Which of them are kept, counted from 0.
        """
        rows = tuple(sizes[g] for g in groups)
        kept = sp.Matrix(len(groups), len(sizes), lambda i, j: int(groups[i] == j))
        return cls(rows, sizes, kept, sp.zeros(len(groups), len(sizes)))

    def __add__(self, other: BlockMatrix) -> BlockMatrix:
        if (self.row_sizes, self.column_sizes) != (other.row_sizes, other.column_sizes):
            raise ValueError("the two matrices are made of blocks of different sizes")
        D, B, D_other, B_other = _in_one_field(*self._parts, *other._parts)
        return BlockMatrix(self.row_sizes, self.column_sizes, D + D_other, B + B_other)

    def __sub__(self, other: BlockMatrix) -> BlockMatrix:
        return self + (-1) * other

    def __mul__(self, scalar: sp.Expr) -> BlockMatrix:
        D, B, factor = _in_one_field(*self._parts, sp.Matrix([[sp.sympify(scalar)]]))
        value = factor[0, 0].element
        return BlockMatrix(self.row_sizes, self.column_sizes, D.scalarmul(value), B.scalarmul(value))

    __rmul__ = __mul__

    def __matmul__(self, other: BlockMatrix) -> BlockMatrix:
        if self.column_sizes != other.row_sizes:
            raise ValueError(f"columns {self.column_sizes} do not meet rows {other.row_sizes}")
        D, B, D_other, B_other, N = _in_one_field(*self._parts, *other._parts, sp.diag(*self.column_sizes))
        ones = D * B_other + B * D_other + B * N * B_other
        return BlockMatrix(self.row_sizes, other.column_sizes, D * D_other, ones)

    @property
    def T(self) -> BlockMatrix:
        """The transpose."""
        return BlockMatrix(self.column_sizes, self.row_sizes, *(part.transpose() for part in self._parts))

    def inverse(self) -> BlockMatrix:
        """Invert: D⁻¹·I - (D + B N)⁻¹ B D⁻¹·11ᵀ, Sherman-Morrison for all groups at once.

        Raises
        ------
        ZeroDivisionError
            If the identity parts are singular, as in a block of rank one, or the whole matrix is.
        """
        D, B, N = self._square_parts()
        own = _inverse(D, "a block without identity part has rank one and no inverse")
        whole = _inverse(D + B * N, "the matrix is singular: a sum over its groups vanishes identically")
        return BlockMatrix(self.row_sizes, self.row_sizes, own, -whole * B * own)

    def determinant(self) -> sp.Expr:
        """Return det = det(D + B N) Π det(D_n)^(n-1), the product over groups of equal size n."""
        D, B, N = self._square_parts()
        result = sp.factor((D + B * N).to_Matrix().det(method="berkowitz"))
        for size in dict.fromkeys(self.row_sizes):
            places = [i for i, other in enumerate(self.row_sizes) if other == size]
            result *= sp.factor(D.extract(places, places).to_Matrix().det(method="berkowitz")) ** (size - 1)
        return result

    def _square_parts(self) -> list[DomainMatrix]:
        """D, B and N of a square matrix."""
        if self.row_sizes != self.column_sizes:
            raise ValueError("row and column groups differ: the matrix is not square by blocks")
        return _in_one_field(*self._parts, sp.diag(*self.row_sizes))

    def equals(self, other: BlockMatrix) -> bool:
        """Whether all coefficients agree identically, for positive symbols.

        Parameters
        ----------
        other : BlockMatrix
            With the same groups.

        Returns
        -------
        bool
            True if it is proved.
        """
        return not any(map(_nonzero, (self - other)._parts))

    def subs(self, values: dict[sp.Expr, sp.Expr]) -> BlockMatrix:
        """Substitute in sizes and coefficients.

        Parameters
        ----------
        values : dict of expression to expression
            As SymPy's ``subs`` takes them.

        Returns
        -------
        BlockMatrix
            Perhaps of other group sizes.
        """
        sizes = [[size.subs(values) for size in group] for group in (self.row_sizes, self.column_sizes)]
        return BlockMatrix(*sizes, *(part.to_Matrix().subs(values) for part in self._parts))

    def dense(self, sizes: dict[sp.Expr, int]) -> sp.ImmutableMatrix:
        """Write the matrix out entry by entry for given group sizes.

        Parameters
        ----------
        sizes : dict of expression to int
            A number for every group size.

        Returns
        -------
        sympy.ImmutableMatrix
            With as many rows and columns as the groups have together.
        """
        at = self.subs(sizes)
        rows = [
            [at.diagonal[i, j] * sp.eye(n, m) + at.ones[i, j] * sp.ones(n, m) for j, m in enumerate(at.column_sizes)]
            for i, n in enumerate(at.row_sizes)
        ]
        return sp.ImmutableMatrix(rows)

    def __str__(self) -> str:
        return block_text(self)

    __repr__ = __str__

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {block_latex(self)}$"


def trace(matrix: BlockMatrix) -> sp.Expr:
    """Return the trace, Σ_i n_i (D_ii + B_ii).

    Parameters
    ----------
    matrix : BlockMatrix
        X, square by blocks.

    Returns
    -------
    sympy.Expr
        Its trace, rational in the group sizes.

    Raises
    ------
    ValueError
        If row groups and column groups differ.

    Examples
    --------
    >>> n = sp.Symbol("n")
    >>> trace(BlockMatrix.identity([n]) + BlockMatrix.all_ones([n], [n]))
    2*n
    """
    D, B, N = matrix._square_parts()
    return N.domain.to_sympy(sum((N * (D + B)).diagonal(), start=N.domain.zero))


def block_text(matrix: BlockMatrix) -> str:
    """Write one line per row group, blocks separated by bars.

    Parameters
    ----------
    matrix : BlockMatrix
        What is to be written.

    Returns
    -------
    str
        As ``print`` shows a block matrix.

    Examples
    --------
    >>> n, m, c = sp.symbols("n m c")
    >>> print(block_text(BlockMatrix.identity([n, m]) + c * BlockMatrix.all_ones([n, m], [n, m])))
    [I_{n} + c 11ᵀ | c 11ᵀ]
    [c 11ᵀ | I_{m} + c 11ᵀ]
    """
    rows = _rows(matrix, str, lambda n, m: (f"I_{{{n}}}", "11ᵀ"))
    return "\n".join("[" + " | ".join(row) + "]" for row in rows)


def block_latex(matrix: BlockMatrix) -> str:
    r"""Write a LaTeX ``bmatrix``, with the size of every vector of ones.

    Parameters
    ----------
    matrix : BlockMatrix
        What is to be written.

    Returns
    -------
    str
        For a formula in LaTeX.

    Examples
    --------
    >>> n, a = sp.symbols("n a")
    >>> print(block_latex(a * BlockMatrix.identity([n])))
    \begin{bmatrix}a I_{n}\end{bmatrix}
    """
    rows = _rows(matrix, sp.latex, lambda n, m: (f"I_{{{n}}}", rf"\mathbf{{1}}_{{{n}}} \mathbf{{1}}_{{{m}}}^\top"))
    return r"\begin{bmatrix}" + r" \\ ".join(" & ".join(row) for row in rows) + r"\end{bmatrix}"


def _rows(
    matrix: BlockMatrix, text: Callable[[sp.Expr], str], units: Callable[[str, str], tuple[str, str]]
) -> list[list[str]]:
    """Write the two terms ``coefficient·unit`` of every block, without factors one and with sums in brackets."""
    rows: list[list[str]] = []
    for i, n in enumerate(matrix.row_sizes):
        rows.append([])
        for j, m in enumerate(matrix.column_sizes):
            terms = []
            for part, unit in zip((matrix.diagonal, matrix.ones), units(text(n), text(m)), strict=True):
                coefficient = part[i, j]
                written = text(coefficient)
                if coefficient in (1, -1):
                    terms.append(unit if coefficient == 1 else f"-{unit}")
                elif coefficient != 0:
                    terms.append(f"({written}) {unit}" if coefficient.is_Add else f"{written} {unit}")
            rows[-1].append(" + ".join(terms).replace("+ -", "- ") or "0")
    return rows


def _factored(coefficients: DomainMatrix) -> sp.ImmutableMatrix:
    return sp.ImmutableMatrix(coefficients.to_Matrix().applyfunc(sp.factor))


def _in_one_field(*coefficients: sp.MatrixBase | DomainMatrix) -> list[DomainMatrix]:
    """The same matrices in one field; unless all generators are symbols, that of expressions."""
    found = [
        matrix if isinstance(matrix, DomainMatrix) else DomainMatrix.from_Matrix(sp.Matrix(matrix)).to_field()
        for matrix in coefficients
    ]
    if all(_is_rational(matrix.domain) for matrix in found):
        return list(found[0].unify(*found[1:]))
    tidied = [DomainMatrix.from_Matrix(matrix.to_Matrix().applyfunc(_tidied)) for matrix in found]
    return [matrix.convert_to(sp.EX).to_dense() for matrix in tidied]


def _nonzero(coefficients: DomainMatrix) -> list[tuple[int, int]]:
    """Places of the entries that are not identically zero."""
    domain = coefficients.domain
    rows = coefficients.to_dod().items()
    return [(i, j) for i, row in rows for j, value in row.items() if not _is_zero(value, domain)]


def _inverse(matrix: DomainMatrix, reason: str) -> DomainMatrix:
    """The inverse, by the characteristic polynomial (Cayley-Hamilton); `reason` is the error message if there is none.

    Polynomials and one division per entry: dividing at every step is hundreds of times slower.
    """
    field = matrix.domain
    denominator, A = matrix.clear_denoms(convert=True)
    ring = A.domain
    _, *coefficients, last = A.charpoly()
    if _is_zero(last, ring):
        raise ZeroDivisionError(reason)
    one = DomainMatrix.eye(A.shape[0], ring)
    adjugate = one
    for coefficient in coefficients:
        adjugate = A * adjugate + one.scalarmul(coefficient)
    factor = field.convert_from(-denominator.element, ring) / field.convert_from(last, ring)
    return adjugate.convert_to(field).scalarmul(factor)


def _is_rational(domain: Domain) -> bool:
    """Whether all generators are symbols, and all numbers rational."""
    if not domain.is_Composite:
        return bool(domain.is_ZZ or domain.is_QQ)
    return bool(domain.domain.is_ZZ or domain.domain.is_QQ) and all(symbol.is_Symbol for symbol in domain.symbols)


def _is_zero(value: DomainElement, domain: Domain) -> bool:
    """Whether an element is zero for all values of its symbols, taken as positive.

    >>> x = sp.Symbol("x")
    >>> elements = map(sp.EX, (sp.sin(x) ** 2 + sp.cos(x) ** 2 - 1, sp.sqrt(x**2) - x, sp.sqrt(x) - x))
    >>> [_is_zero(element, sp.EX) for element in elements]
    [True, True, False]
    """
    return not value or (domain.is_EX and bool(sp.posify(domain.to_sympy(value))[0].equals(0)))


def _tidied(expression: sp.Expr) -> sp.Expr:
    """The same with roots of products as products of roots, for positive symbols.

    >>> x, y = sp.symbols("x y")
    >>> _tidied(sp.sqrt(x * y) * sp.sqrt(x))
    x*sqrt(y)
    """
    return sp.powdenest(sp.expand_power_base(sp.sympify(expression), force=True), force=True)
