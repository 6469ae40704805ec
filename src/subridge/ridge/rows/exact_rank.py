"""The rank of rows as they are written, without rounding.

Columns that agree to the last digit, dummy variables that add up to one: dependence that holds exactly is harmless, and
the minimum-norm solution is what it should be. Dependence up to rounding is not: as numbers the columns differ, and
what a fit without ridge says hangs on their last digits. Singular values do not tell one from the other.

Arithmetic modulo a prime p does. A float is ``m 2^e`` with integers m and e, so it has a residue. The rank of the
residues is never above the exact one, and below it only if p divides a minor, by a chance of 1/p ≈ 1e-7.
"""

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from subridge.arrays.namespace import is_sparse, take_last, to_numpy
from subridge.arrays.types import Array, FloatArray, IntArray, SparseMatrix

_PRIME = 8_388_593  # the largest below 2**23, so that sums of 128 products of residues are exact in doubles
_INNER = 128
_BLOCK = 64
_DRAWS = 3


@dataclass(frozen=True, eq=False)
class RawRows:
    """The rows that a member sees, as they were given: X, shape (n, M), through a subset or a measurement matrix."""

    given: Array | SparseMatrix
    fit_intercept: bool
    subset: IntArray | None = None
    matrix: FloatArray | None = None

    def rank_is(self, rank: int, without: IntArray | None = None) -> bool:
        """Whether the centred design, less some rows, has exactly this rank, which it is known to reach.

        No design has a negative one, which comes from rounding that calls more samples alone than there are directions.

        >>> X = np.array([[0.1, 0.3], [0.2, 0.6], [0.3, 0.9]])
        >>> RawRows(X, False).rank_is(1)  # 0.3 is not three times 0.1
        False
        >>> RawRows(np.round(X * 10), False).rank_is(1)
        True
        """
        residues = self._residues if without is None else np.delete(self._residues, without, axis=0)
        return rank >= 0 and not rank_exceeds(residues, rank + int(self.fit_intercept))

    def values(self) -> FloatArray:
        """What the member sees of the rows, shape (n, N_r)."""
        return self._chosen() if self.matrix is None else self._chosen() @ self.matrix.T

    def _chosen(self) -> FloatArray:
        """The features that the member selects, or all that it measures, shape (n, ·)."""
        X, some = self.given, self.subset
        if is_sparse(X):
            return (X if some is None else X[:, some]).toarray()
        return to_numpy(X if some is None else take_last(X, some))

    @cached_property
    def _residues(self) -> FloatArray:
        found = residues_of(self._chosen())
        if self.matrix is not None:
            found = _product(found, residues_of(self.matrix).T)
        return np.hstack([found, np.ones((len(found), 1))]) if self.fit_intercept else found


def residues_of(values: FloatArray) -> FloatArray:
    """Floats modulo the prime, as whole numbers from 0 to p - 1.

    >>> residues_of(np.array([3.0, -1.0, 0.5])).astype(int).tolist()
    [3, 8388592, 4194297]
    """
    mantissa, exponent = np.frexp(np.asarray(values, dtype=np.float64))
    whole = (mantissa * 2.0**53).astype(np.int64) % _PRIME
    return np.asarray(whole * _powers()[exponent + 1200] % _PRIME, dtype=np.float64)


@cache
def _powers() -> IntArray:
    """``2^(e - 53)`` modulo the prime for exponents e from -1200 on."""
    return np.array([pow(2, e - 53, _PRIME) for e in range(-1200, 1100)], dtype=np.int64)


def rank_exceeds(residues: FloatArray, rank: int) -> bool:
    """Whether residues (n, N), whose rank is known to be at least this one, have a larger one.

    Random combinations of rows and columns leave a square matrix of one more than `rank`, whose leading blocks are all
    regular as far as its rank allows: elimination needs no pivoting, and its first zero tells the rank.
    """
    if rank >= min(residues.shape):
        return False
    rng = np.random.default_rng(rank)
    for _ in range(_DRAWS):  # a zero before its time is an accident
        rows = rng.integers(0, _PRIME, (rank + 1, residues.shape[0])).astype(np.float64)
        columns = rng.integers(0, _PRIME, (residues.shape[1], rank + 1)).astype(np.float64)
        found = _first_zero(_product(_product(rows, residues), columns))
        if found >= rank:
            return found > rank
    return False


def _reduced(x: FloatArray) -> FloatArray:
    """Whole numbers of at most 2**53 in size, modulo the prime; `np.mod` takes five times as long."""
    x = x - np.floor(x * (1 / _PRIME)) * _PRIME
    x += _PRIME * (x < 0)
    x -= _PRIME * (x >= _PRIME)
    return x


def _product(A: FloatArray, B: FloatArray) -> FloatArray:
    found = np.zeros((A.shape[0], B.shape[1]))
    for start in range(0, A.shape[1], _INNER):
        part = slice(start, start + _INNER)
        found = _reduced(found + _reduced(A[:, part] @ B[part]))
    return found


def _first_zero(S: FloatArray) -> int:
    """The place of the first pivot that is zero, or the size; S is overwritten."""
    size = len(S)
    for start in range(0, size, _BLOCK):
        stop = min(start + _BLOCK, size)
        for j in range(start, stop):
            if S[j, j] == 0:
                return j
            S[j + 1 :, j] = _reduced(S[j + 1 :, j] * pow(int(S[j, j]), -1, _PRIME))
            S[j + 1 :, j + 1 : stop] = _reduced(S[j + 1 :, j + 1 : stop] - np.outer(S[j + 1 :, j], S[j, j + 1 : stop]))
            S[j + 1 : stop, stop:] = _reduced(S[j + 1 : stop, stop:] - np.outer(S[j + 1 : stop, j], S[j, stop:]))
        S[stop:, stop:] = _reduced(S[stop:, stop:] - S[stop:, start:stop] @ S[start:stop, stop:])
    return size
