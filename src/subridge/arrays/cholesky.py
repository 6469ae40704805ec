"""Batched Cholesky factors and triangular solves made of matrix products.

Vendor routines factor a batch of large matrices one by one, or with kernels for small ones. A left-looking blocked
factorisation consists mostly of batched matrix products, which are the fastest operation of a GPU. The inverse of every
diagonal block is kept, so that triangular solves are matrix products as well.
"""

from dataclasses import dataclass

from subridge.arrays.namespace import cholesky_or_nan, eye_like, namespace_of
from subridge.arrays.types import Array

# Columns per panel, of which the library factors the diagonal block. Chosen on one H200 by benchmarks/engine_gpu.py
# --tune; a multiple of a warp.
PANEL = 128
_BLOCK = 1024  # rows per block of a product of which only the lower triangle is needed


@dataclass(frozen=True, eq=False)
class BlockedFactor:
    """``L`` with ``L Lᵀ = A`` for a batch of matrices, and the inverses of its diagonal blocks.

    `lower`, shape (batch, n, n), holds L in the lower triangle; entries above the diagonal blocks are not defined. The
    keys of `inverses` are the begin and end (j, e) of each block, and its values have shape (batch, e - j, e - j).
    """

    lower: Array
    inverses: dict[tuple[int, int], Array]

    def solve_forward(self, rows: Array) -> Array:
        """Solve ``L z = t`` for every row t, shape (batch, n_rows, n), overwritten with the result."""
        for (j, e), inverse in self.inverses.items():
            subtract_product(rows[:, :, j:e], rows[:, :, :j], self.lower[:, j:e, :j].mT)
            rows[:, :, j:e] = rows[:, :, j:e] @ inverse.mT
        return rows

    def solve_transposed(self, rows: Array, lengths: list[int] | None = None) -> Array:
        """Solve ``Lᵀ u = z`` for every row z, shape (batch, n_rows, n), overwritten with the result.

        Row i and its solution are zero from entry ``lengths[i]`` on, so that later blocks are skipped; lengths ascend.
        """
        for (j, e), inverse in reversed(self.inverses.items()):
            first = 0 if lengths is None else sum(length <= j for length in lengths)
            subtract_product(rows[:, first:, j:e], rows[:, first:, e:], self.lower[:, e:, j:e])
            rows[:, first:, j:e] = rows[:, first:, j:e] @ inverse
        return rows


def factor(matrices: Array, panel: int = PANEL) -> BlockedFactor:
    """Factor a batch of positive definite matrices, shape (batch, n, n), which are overwritten.

    Only the lower triangle is read. A matrix that is not positive definite gives NaN from its failing block on. Nearly
    all of the n³/3 operations are products of shape (n - j) × panel × j.
    """
    inverses = {}
    for j, e in _panels(matrices.shape[-1], panel):
        subtract_product(matrices[:, j:, j:e], matrices[:, j:, :j], matrices[:, j:e, :j].mT)
        block = cholesky_or_nan(matrices[:, j:e, j:e])
        inverse = _inverse(block)
        matrices[:, j:e, j:e] = block
        matrices[:, e:, j:e] = matrices[:, e:, j:e] @ inverse.mT
        inverses[j, e] = inverse
    return BlockedFactor(matrices, inverses)


def gram_lower(rows: Array, into: Array) -> Array:
    """Add the lower triangle of ``rows @ rowsᵀ`` to `into`, by block rows: half the operations of the full product."""
    for j, e in _panels(rows.shape[-2], _BLOCK):
        into[:, j:e, :e] += rows[:, j:e, :] @ rows[:, :e, :].mT
    return into


def _panels(n: int, length: int) -> list[tuple[int, int]]:
    """Begin and end of each panel of n rows or columns.

    >>> _panels(5, 2)
    [(0, 2), (2, 4), (4, 5)]
    """
    return [(j, min(j + length, n)) for j in range(0, n, length)]


def subtract_product(base: Array, left: Array, right: Array) -> None:
    """``base -= left @ right`` on a view, in one fused call where the library has one."""
    if hasattr(base, "baddbmm_"):
        base.baddbmm_(left, right, alpha=-1)
    else:
        base[...] = base - left @ right


def _inverse(lower: Array) -> Array:
    """Inverses of small triangular blocks, shape (batch, n, n)."""
    linalg = namespace_of(lower).linalg
    if hasattr(linalg, "solve_triangular"):
        return linalg.solve_triangular(lower, eye_like(lower, lower.shape[-1]), upper=False)
    return linalg.inv(lower)
