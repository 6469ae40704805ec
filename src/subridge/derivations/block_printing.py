"""Text and LaTeX of block matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import sympy as sp

if TYPE_CHECKING:
    from subridge.derivations.block_matrix import BlockMatrix

Writer: TypeAlias = Callable[[sp.Expr], str]


def _term(coefficient: sp.Expr, unit: str, text: Writer) -> str:
    """Write ``coefficient·unit``, leaving out a factor one and bracketing a sum."""
    if coefficient == 1:
        return unit
    if coefficient == -1:
        return f"-{unit}"
    written = text(coefficient)
    return f"({written}) {unit}" if coefficient.is_Add else f"{written} {unit}"


def _block(matrix: BlockMatrix, i: int, j: int, text: Writer, units: tuple[str, str]) -> str:
    terms = [
        _term(coefficient, unit, text)
        for coefficient, unit in zip((matrix.diagonal[i, j], matrix.ones[i, j]), units, strict=True)
        if coefficient != 0
    ]
    return " + ".join(terms).replace("+ -", "- ") or "0"


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
    >>> import sympy as sp
    >>> from subridge.derivations.block_matrix import BlockMatrix
    >>> n, m, c = sp.symbols("n m c")
    >>> print(block_text(BlockMatrix.identity([n, m]) + c * BlockMatrix.all_ones([n, m], [n, m])))
    [I_{n} + c 11ᵀ | c 11ᵀ]
    [c 11ᵀ | I_{m} + c 11ᵀ]
    """
    lines = []
    for i, rows in enumerate(matrix.row_sizes):
        units = (f"I_{{{rows}}}", "11ᵀ")
        blocks = [_block(matrix, i, j, str, units) for j in range(len(matrix.column_sizes))]
        lines.append("[" + " | ".join(blocks) + "]")
    return "\n".join(lines)


def block_latex(matrix: BlockMatrix) -> str:
    r"""Write a LaTeX ``bmatrix`` whose ones carry their sizes.

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
    >>> import sympy as sp
    >>> from subridge.derivations.block_matrix import BlockMatrix
    >>> n, a = sp.symbols("n a")
    >>> print(block_latex(a * BlockMatrix.identity([n])))
    \begin{bmatrix}a I_{n}\end{bmatrix}
    """
    rows = []
    for i, n in enumerate(matrix.row_sizes):
        blocks = []
        for j, m in enumerate(matrix.column_sizes):
            sizes = sp.latex(n), sp.latex(m)
            units = f"I_{{{sizes[0]}}}", rf"\mathbf{{1}}_{{{sizes[0]}}} \mathbf{{1}}_{{{sizes[1]}}}^\top"
            blocks.append(_block(matrix, i, j, sp.latex, units))
        rows.append(" & ".join(blocks))
    return r"\begin{bmatrix}" + r" \\ ".join(rows) + r"\end{bmatrix}"
