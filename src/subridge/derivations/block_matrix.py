"""Matrices of symbolic size whose blocks are a·I + b·11ᵀ.

A matrix with row groups of sizes n_1, n_2, ... and column groups of sizes m_1, m_2, ... is stored as two
small coefficient matrices: ``diagonal`` (the a of each block) and ``ones`` (the b). With
N = diag(m_1, m_2, ...) the algebra closes:

    (D, B) + (D', B') = (D + D', B + B')
    (D, B) · (D', B') = (D D', D B' + B D' + B N B')

so products, inverses and determinants of matrices of any size cost as much as those of a handful of blocks.
An identity part needs a square block: its row and column sizes must be the same symbol.

Coefficients are kept in SymPy's field of rational functions, where cancelling is built in; that is about a
hundred times faster than simplifying expressions. They are factored when they are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import sympy as sp
from sympy.polys.matrices import DomainMatrix

from subridge.derivations.block_printing import block_latex, block_text
from subridge.derivations.coefficients import common, determinant, inverse, nonzero, plus, times, to_field
from subridge.derivations.vanishing import vanishes


def _sizes(values: Sequence[sp.Expr]) -> DomainMatrix:
    return to_field(sp.diag(*values))


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
    >>> matrix.diagonal, matrix.ones, [part.shape for part in matrix.in_field()]
    (Matrix([[a]]), Matrix([[b]]), [(1, 1), (1, 1)])
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
        self._diagonal, self._ones = to_field(diagonal), to_field(ones)
        shape = (len(self.row_sizes), len(self.column_sizes))
        for name, coefficients in (("diagonal", self._diagonal), ("ones", self._ones)):
            if coefficients.shape != shape:
                raise ValueError(f"{name} has shape {coefficients.shape}, but there are {shape} blocks")
        for i, j in nonzero(self._diagonal):
            rows, columns = self.row_sizes[i], self.column_sizes[j]
            if rows != columns:
                raise ValueError(f"block ({i}, {j}) is {rows} by {columns}: an identity part needs a square block")

    @cached_property
    def diagonal(self) -> sp.ImmutableMatrix:
        """Coefficients of the identity, factored."""
        return sp.ImmutableMatrix(self._diagonal.to_Matrix().applyfunc(sp.factor))

    @cached_property
    def ones(self) -> sp.ImmutableMatrix:
        """Coefficients of 11ᵀ, factored."""
        return sp.ImmutableMatrix(self._ones.to_Matrix().applyfunc(sp.factor))

    def in_field(self) -> tuple[DomainMatrix, DomainMatrix]:
        """Return both coefficient matrices as they are kept, for arithmetic."""
        return self._diagonal, self._ones

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

    def _check_same_shape(self, other: BlockMatrix) -> None:
        if (self.row_sizes, self.column_sizes) != (other.row_sizes, other.column_sizes):
            raise ValueError("the two matrices are made of blocks of different sizes")

    def __add__(self, other: BlockMatrix) -> BlockMatrix:
        self._check_same_shape(other)
        return BlockMatrix(
            self.row_sizes, self.column_sizes,
            plus(self._diagonal, other._diagonal), plus(self._ones, other._ones),
        )  # fmt: skip

    def __sub__(self, other: BlockMatrix) -> BlockMatrix:
        return self + (-1) * other

    def __neg__(self) -> BlockMatrix:
        return (-1) * self

    def __mul__(self, scalar: sp.Expr) -> BlockMatrix:
        factor = to_field(sp.Matrix([[sp.sympify(scalar)]]))
        diagonal, ones, factor = common(self._diagonal, self._ones, factor)
        value = factor[0, 0].element
        return BlockMatrix(self.row_sizes, self.column_sizes, diagonal.scalarmul(value), ones.scalarmul(value))

    __rmul__ = __mul__

    def __matmul__(self, other: BlockMatrix) -> BlockMatrix:
        if self.column_sizes != other.row_sizes:
            raise ValueError(f"columns {self.column_sizes} do not meet rows {other.row_sizes}")
        D, B, D_other, B_other = self._diagonal, self._ones, other._diagonal, other._ones
        inner = times(B, _sizes(self.column_sizes), B_other)
        ones = plus(plus(times(D, B_other), times(B, D_other)), inner)
        return BlockMatrix(self.row_sizes, other.column_sizes, times(D, D_other), ones)

    @property
    def T(self) -> BlockMatrix:
        """The transpose."""
        return BlockMatrix(self.column_sizes, self.row_sizes, self._diagonal.transpose(), self._ones.transpose())

    def _require_square(self) -> None:
        if self.row_sizes != self.column_sizes:
            raise ValueError("row and column groups differ: the matrix is not square by blocks")

    def inverse(self) -> BlockMatrix:
        """Invert: D⁻¹·I - (D + B N)⁻¹ B D⁻¹·11ᵀ, Sherman-Morrison for all groups at once.

        Raises
        ------
        ZeroDivisionError
            If the identity parts are singular, as in a block of rank one, or the whole matrix is.
        """
        self._require_square()
        own, across = inverse(*self._apart(), _sizes(self.row_sizes))
        return BlockMatrix(self.row_sizes, self.row_sizes, own, across)

    def determinant(self) -> sp.Expr:
        """Return det = det(D + B N) Π det(D_n)^(n-1), the product over groups of equal size n."""
        self._require_square()
        D, B = self._apart()
        result = determinant(plus(D, times(B, _sizes(self.row_sizes))))
        for size in dict.fromkeys(self.row_sizes):
            places = [i for i, other in enumerate(self.row_sizes) if other == size]
            result *= determinant(D.extract(places, places)) ** (size - 1)
        return result

    def _apart(self) -> tuple[DomainMatrix, DomainMatrix]:
        """Both parts, with blocks of one entry, which are either, counted to the identity."""
        single = [i for i, size in enumerate(self.row_sizes) if size == 1]
        if not single:
            return self._diagonal, self._ones
        D, B = (part.to_Matrix() for part in (self._diagonal, self._ones))
        for i in single:
            for j in single:
                D[i, j], B[i, j] = D[i, j] + B[i, j], sp.S.Zero
        return to_field(D), to_field(B)

    def equals(self, other: BlockMatrix) -> bool:
        """Whether all coefficients agree identically, symbols being positive.

        Parameters
        ----------
        other : BlockMatrix
            With the same groups.

        Returns
        -------
        bool
            True where it is proved.
        """
        self._check_same_shape(other)
        difference = self - other
        if not nonzero(difference._diagonal) and not nonzero(difference._ones):
            return True
        for i, rows in enumerate(self.row_sizes):
            for j, columns in enumerate(self.column_sizes):
                own, ones = difference.diagonal[i, j], difference.ones[i, j]
                # In a block of one entry the identity and the matrix of ones are the same.
                parts = [own + ones] if rows == columns == 1 else [own, ones]
                if not all(vanishes(part) for part in parts):
                    return False
        return True

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
        return BlockMatrix(
            [size.subs(values) for size in self.row_sizes],
            [size.subs(values) for size in self.column_sizes],
            self._diagonal.to_Matrix().subs(values), self._ones.to_Matrix().subs(values),
        )  # fmt: skip

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
        rows, columns = [int(n) for n in at.row_sizes], [int(m) for m in at.column_sizes]
        groups = [
            [at.diagonal[i, j] * sp.eye(n, m) + at.ones[i, j] * sp.ones(n, m) for j, m in enumerate(columns)]
            for i, n in enumerate(rows)
        ]
        return sp.ImmutableMatrix(sp.Matrix.vstack(*[sp.Matrix.hstack(*row) for row in groups]))

    def __str__(self) -> str:
        return block_text(self)

    __repr__ = __str__

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {block_latex(self)}$"
