"""The exact rank of a matrix of floats: is a direction zero, or as small as rounding errors?

Singular values do not distinguish the two. Columns that agree exactly are harmless, columns that agree only up to
rounding are not. Arithmetic modulo a prime distinguishes them: a float is m 2^e with integers m and e, so it has a
residue. The rank of the residues is never above the exact one, and below it only if the prime divides a minor, which
has a probability of about 1e-9. All powers of two differ modulo this prime; modulo 2^31 - 1 only 31 of them do.
"""

from functools import cache

import numpy as np

from subridge.arrays.types import Array, IntArray

PRIME = 2**31 - 19  # products of residues fit into 63 bits


def residues_of(values: Array | IntArray) -> IntArray:
    """Floats modulo the prime, as whole numbers from 0 to p - 1.

    >>> residues_of(np.array([3.0, -1.0, 0.5])).tolist()
    [3, 2147483628, 1073741815]
    """
    mantissa, exponent = np.frexp(np.asarray(values, dtype=float))
    whole = (mantissa * 2.0**53).astype(np.int64) % PRIME
    return whole * _powers()[exponent + 1200] % PRIME


@cache
def _powers() -> IntArray:
    """``2^(e - 53)`` modulo the prime for exponents e from -1200 on."""
    return np.array([pow(2, e - 53, PRIME) for e in range(-1200, 1100)], dtype=np.int64)


def product_of_residues(A: IntArray, B: IntArray) -> IntArray:
    """``A @ B`` modulo the prime, by thirds of the bits of B, so that sums of up to 2**21 products fit into 63 bits."""
    high, middle, low = (A @ (B >> shift & 0x7FF) % PRIME for shift in (22, 11, 0))
    return ((high << 22) + (middle << 11) + low) % PRIME


def rank_of_residues(residues: IntArray) -> int:
    """The rank of a matrix modulo the prime, by elimination: as many steps as the rank, each over the whole matrix."""
    A = residues.copy()
    rank = 0
    for j in range(A.shape[1]):
        pivots = np.flatnonzero(A[rank:, j])
        if pivots.size:
            A[[rank, rank + pivots[0]]] = A[[rank + pivots[0], rank]]
            row = A[rank, j:] * pow(int(A[rank, j]), -1, PRIME) % PRIME
            rank += 1
            A[rank:, j:] = (A[rank:, j:] - A[rank:, j, None] * row) % PRIME
    return rank


def rank_is_at_most(residues: IntArray, most: int) -> bool:
    """Whether a matrix modulo the prime has no higher rank; its leading block alone often shows that it has."""
    leading = residues[: most + 1, : most + 1]
    return rank_of_residues(leading) <= most and rank_of_residues(residues) <= most
