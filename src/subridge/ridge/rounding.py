"""How far rounding may have moved left-out errors, and what is done about it: nothing is lost without a warning.

The formulas are in `member`; here is what surrounds them.

- `Doubts` estimates the relative error of left-out errors. If R = WᵀW is the residual operator and the vectors We_i
  are known up to s, the left-out errors of a row or set with least eigenvalue λ of R_ss move by up to
  ``s ‖Wg‖/λ + ‖e_s‖ (2 s/√λ + s²/λ)``. If a row is alone in a direction it has no share outside of the member's
  directions, and W is taken inside of them, relative to its largest weight there.
- `decompose_carefully` keeps the digits of columns of mixed scales, n ≈ N_r and tiny ridges.
- `perturbed` moves rows within their rounding: what this changes in a refit is taken for the error of its rounding.
- `rank_is` decides whether a direction is exactly zero or as small as rounding, which singular values cannot decide:
  columns that agree to the last digit are harmless, columns that agree up to rounding are not.
- `warn_of_doubt` warns the user if a doubt remains.
"""

import warnings
from collections.abc import Callable
from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import lapack

from subridge.arrays.namespace import is_sparse, like, take_last, to_numpy
from subridge.arrays.types import Array, BoolArray, FloatArray, IntArray
from subridge.model.errors import AccuracyWarning

if TYPE_CHECKING:
    from subridge.ridge.member import LeftOut, MemberFit

EPS = float(np.finfo(np.float64).eps)
ORTHONORMAL_NOISE = 30 * EPS  # of a sum of squares that should be one; measured up to 8 eps at n = 2000
GOOD_ENOUGH = 2e-9  # estimated relative error up to which a Gram or kernel matrix serves
NOTICED = 1e-7  # relative error above which the user is warned
CLEAR = 1e-10  # relative error that need not be known better
_TINY = 1e-300
_GRADED = 1e2  # ratio of column norms above which Jacobi rotations are worth their price
_HIGH = 1e-3  # 1 - H_ii below which a difference from one has lost digits that count


def warn_of_doubt(doubt: float) -> None:
    """Warn of left-out errors that may be off by this share of themselves, if it is above 1e-7."""
    if doubt > NOTICED:
        # A power of ten, so that many members of much the same doubt give one warning and not one each.
        extent = f"up to {10.0 ** np.ceil(np.log10(doubt)):.0e} of themselves" if doubt < 1 else "more than themselves"
        warnings.warn(
            f"left-out errors may be off by {extent}: other features explain some features up to rounding, at a ridge "
            "too small to hide it; drop such features, scale the others, or raise the ridge",
            AccuracyWarning,
            stacklevel=4,
        )


# -- a decomposition that keeps the digits --------------------------------------------------------


def decompose_carefully(
    Ft: FloatArray, direction: FloatArray | None, room: int
) -> tuple[FloatArray, FloatArray, FloatArray, float, float]:
    """Decompose rows given as Fᵀ, shape (N_r, n), whose samples leave `room` dimensions.

    Returns Qᵀ (ρ, n), d (ρ,) ascending, Vᵀ (ρ, N_r), the relative uncertainty of the space that Q spans, and a bound
    of d in the directions that were taken for rounding, zero if there are none.

    The intercept's `direction` u is taken along as one more column, larger than all others, so that it comes out first
    and mixes with nothing. The rank is judged with every column at its own scale. Columns of very different scales are
    decomposed by one-sided Jacobi rotations, which find every direction to the accuracy that its columns allow.

    >>> decompose_carefully(np.array([[1e-9, 0, 0], [0, 1e9, 0]]), None, 3)[1]
    array([1.e-18, 1.e+18])
    """
    N, n = Ft.shape
    norms = np.sqrt(np.sum(Ft**2, axis=1))
    live = np.flatnonzero(norms > 0)
    F, norms, size = Ft[live].T, norms[live], max(n, len(live))
    if not len(norms) or not room:
        return np.zeros((0, n)), np.zeros(0), np.zeros((0, N)), EPS, 0.0
    scaled = np.linalg.svd(F / norms, compute_uv=False)
    rank = min(int((scaled > 4 * size * EPS * scaled[0]).sum()), room)
    sharpness = 4 * EPS * np.sqrt(size) * scaled[0] / scaled[rank - 1]
    first = int(direction is not None)
    if direction is not None:
        F = np.hstack([F, (2 * np.sqrt((norms**2).sum()) * direction)[:, None]])
    Q, s, Vt = _by_rotations(F) if norms.max() > _GRADED * norms.min() else np.linalg.svd(F, full_matrices=False)
    kept = slice(first, first + rank)
    right = np.zeros((rank, N))
    right[:, live] = Vt[kept, : len(live)][::-1]
    rest = 0.0
    if rank < min(len(live), room):  # what is left of large dependent columns mixes with directions that are as small
        rest = float(s[first + rank :].max(initial=0.0)) + EPS * np.sqrt(max(F.shape)) * float(norms.max())
        sharpness = max(sharpness, (rest / s[first + rank - 1]) ** 2)
    left = np.ascontiguousarray(Q[:, kept][:, ::-1].T)
    return left, s[kept][::-1] ** 2, right, float(sharpness), rest**2


def _by_rotations(A: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Singular vectors and values, descending, each to the accuracy that the columns' scales allow."""
    n, m = A.shape
    s, U, V, work, _, failed = lapack.dgejsv(A if n >= m else A.T, joba=2, jobu=0, jobv=0)
    if failed:
        return np.linalg.svd(A, full_matrices=False)
    (Q, V), rank = (U, V) if n >= m else (V, U), min(n, m)
    return np.asarray(Q[:, :rank]), np.asarray(s[:rank] * (work[0] / work[1])), np.asarray(V[:, :rank].T)


def perturbed(Ft: FloatArray, seed: int) -> FloatArray:
    """Rows as Fᵀ, shape (N_r, n), with every column of F moved by about the backward error of a decomposition."""
    scale = 4 * EPS * np.sqrt(max(Ft.shape) / Ft.shape[1] * (Ft**2).sum(axis=1))
    return np.asarray(Ft + scale[:, None] * np.random.default_rng(seed).standard_normal(Ft.shape))


def orthogonal_again(Qt: Array, u: Array | None, rest: Array, slack: Array) -> tuple[Array, Array]:
    """What no direction explains of labels (C, n), made orthogonal once more, and the diagonal of P (n,).

    For rows of high leverage P_ii is computed as a squared norm, which keeps twice the digits of a difference from one.
    """

    def outside(rows: Array) -> Array:
        for _ in range(2):
            rows = rows - (rows @ Qt.T) @ Qt
            rows = rows if u is None else rows - (rows @ u)[:, None] * u
        return rows

    rest = outside(rest)
    high = np.flatnonzero(to_numpy(slack) < _HIGH)  # about as many rows as there are directions, at most
    new_rest, new_slack, units = to_numpy(rest).copy(), to_numpy(slack).copy(), np.zeros((len(high), slack.shape[0]))
    units[np.arange(len(high)), high] = 1.0
    alone = outside(like(units, Qt))
    new_slack[high] = to_numpy((alone * alone).sum(axis=1))
    new_rest[:, high] = to_numpy(rest @ alone.T)
    return like(new_rest, rest), like(new_slack, slack)


# -- doubts -------------------------------------------------------------------------------------


class Doubts:
    """What rounding moves in the left-out errors of a member at L penalties, with centred, weighted labels (C, n).

    A row or set has a *gap*, the least eigenvalue of R_ss relative to the largest weight of W; `shares`, shape (L,),
    are the uncertainty s.
    """

    def __init__(self, fit: "MemberFit", penalties: FloatArray, targets: Array) -> None:
        d = to_numpy(fit.spectrum)
        smallest, largest = (float(d[0]), float(d[-1])) if len(d) else (0.0, 0.0)
        self.fit, self.penalties, self.targets, self.floors = fit, penalties, targets, smallest + penalties
        condition = (largest + penalties) / np.maximum(self.floors, _TINY)
        self.shares = 4 * EPS * condition if fit.sharpness is None else np.full(len(penalties), fit.sharpness)
        self.least_gaps = self.floors / np.maximum(largest + penalties, _TINY)  # possible for a member that spans
        self.lost = fit.dropped / (fit.dropped + penalties) if fit.dropped else penalties * 0.0
        self._moved, self._total, self._of_rank = np.zeros(()), np.zeros(()), 0.0

    @cached_property
    def energies(self) -> FloatArray:
        """‖Wg‖, or inside of the member's directions if it spans all samples; shape (L, C)."""
        d, p, A = to_numpy(self.fit.spectrum), self.penalties[:, None], self.targets @ self.fit.left.T
        squares = to_numpy(A * A).T
        if self.fit.spans_samples:
            return np.sqrt((self.floors[:, None] / (d + p)) @ squares)
        rest = self.targets - A @ self.fit.left
        return np.sqrt((p / (d + p)) @ squares + to_numpy((rest * rest).sum(axis=1)))

    def exceed(self, limit: float, gaps: FloatArray) -> BoolArray:
        """Whether sets of such gaps, shape (L, S), may be off by more than a share `limit` of themselves."""
        return np.asarray(2 * self.shares[:, None] > limit * gaps)

    def moved(self, sizes: FloatArray, gaps: FloatArray) -> FloatArray:
        """How far errors of such sizes move, shape (L, C, S), by their gaps, shape (L, S)."""
        s, gaps = self.shares[:, None, None], np.maximum(gaps, _TINY)[:, None, :]
        return s * self.energies[:, :, None] / gaps + sizes * (2 * s / np.sqrt(gaps) + s**2 / gaps)

    def add(self, sizes: FloatArray, moved: FloatArray, gaps: FloatArray | None = None) -> None:
        """Rows or sets whose errors have norms (L, C, S) and move so far; with their gaps unless they were refitted."""
        self._moved, self._total = self._moved + (moved**2).sum(axis=-1), self._total + (sizes**2).sum(axis=-1)
        if gaps is not None:
            least = np.maximum(gaps.min(axis=1, initial=1.0), _TINY)
            self._of_rank = max(self._of_rank, float(np.max(self.lost / least)))

    def largest(self) -> float:
        """The largest relative error of all penalties and targets."""
        rank = int(self.fit.spectrum.shape[0])
        if not rank:  # also if squares of columns that vary are less than any float
            return 0.0 if self.floors.all() or rank_is(self.fit, 0) else 1.0
        of_rank = 0.0 if self._of_rank > NOTICED and rank_is(self.fit, rank) else self._of_rank
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # 0/0 counts as zero, inf/inf as infinite
            ratios = np.where(self._moved > 0, np.sqrt(self._moved / self._total), 0.0)
        return max(of_rank, float(np.nan_to_num(ratios, nan=np.inf, posinf=np.inf).max()))


def doubt_of_rows(fit: "MemberFit", targets: Array, penalties: FloatArray, found: "LeftOut") -> float:
    """Estimate of the relative rounding error of left-out errors, the largest of all penalties and targets.

    `targets` are centred and weighted labels g, shape (C, n), `found` their left-out errors by `MemberFit.left_out`.
    """
    assert found.diagonals is not None
    doubts, alone, rank = Doubts(fit, penalties, targets), found.alone, int(fit.spectrum.shape[0])
    if not rank:
        return doubts.largest()
    gaps = to_numpy(found.diagonals) * (doubts.floors[:, None] if fit.spans_samples else 1.0)
    if fit.sharpness is None:
        if not gaps.all() and not rank_is(fit, rank - len(alone), alone):  # rows that are alone, by a limit
            return 1.0
        least = np.clip(np.where(gaps > 0, gaps, np.inf).min(axis=1), _TINY, 1.0)
        return float(np.max((doubts.shares + doubts.lost) / least))
    # If one direction is left outside that all rows share, R is zzᵀ there up to a factor that cancels: left-out errors
    # are the same whether z is dropped or kept.
    if fit.rows.room - rank == 1 and not len(alone):
        doubts.lost = doubts.lost * 0.0
    sizes = abs(to_numpy(found.errors))
    moved = doubts.moved(sizes, gaps)
    if not fit.spans_samples and len(alone):
        # If the penalty hides what lies outside of the member's directions, it does not matter whether that is zero.
        moved[np.ix_(penalties == 0, np.arange(sizes.shape[1]), alone)] = np.inf
        doubtful = (moved**2).sum(axis=-1) > NOTICED**2 * (sizes**2).sum(axis=-1)
        if doubtful.any() and rank_is(fit, rank - len(alone), alone):
            d, Qt, p = to_numpy(fit.spectrum), to_numpy(fit.left), penalties[:, None]
            weights = doubts.floors[:, None] / (d + p)
            doubts.energies = np.sqrt(weights @ (to_numpy(targets @ fit.left.T) ** 2).T)
            moved[:, :, alone] = doubts.moved(sizes[:, :, alone], weights @ Qt[:, alone] ** 2)
    doubts.add(sizes, moved, np.where(gaps > 0, gaps, 1.0))
    return doubts.largest()


# -- the exact rank -------------------------------------------------------------------------------

# Arithmetic modulo a prime distinguishes exact dependence from rounding. A float is m 2^e with integers m and e, so it
# has a residue. The rank of the residues is never above the exact one, and below it only if the prime divides a minor,
# by a chance of about 1e-7.
_PRIME = 8_388_593  # the largest below 2**23, so that sums of 128 products of residues are exact in doubles
_INNER, _DRAWS = 128, 3


def seen_rows(fit: "MemberFit", read: Callable[[Array | IntArray], FloatArray] = np.asarray) -> FloatArray | None:
    """What a member sees of the rows as given, shape (n, N_r), in numbers or in residues; None after training."""
    X, A = fit.rows.given, fit.measurement
    if X is None:
        return None
    if A.ndim == 1:
        return read(X[:, A].toarray() if is_sparse(X) else to_numpy(take_last(X, A)))
    table, matrix = read(X.toarray() if is_sparse(X) else to_numpy(X)), read(A).T
    return table @ matrix if read is np.asarray else _product(table, matrix)


def rank_is(fit: "MemberFit", rank: int, without: IntArray | None = None) -> bool:
    """Whether a member's centred rows, less some of them, have exactly this rank, which they are known to reach.

    No rows have a negative one, which comes from rounding that calls more rows alone than there are directions. Rows
    that are no longer at hand count as exactly dependent.
    """
    if fit.residues is None:
        return True
    residues = fit.residues if without is None else np.delete(fit.residues, without, axis=0)
    return rank >= 0 and not rank_exceeds(residues, rank + int(fit.rows.fit_intercept))


def residues_of_rows(fit: "MemberFit") -> FloatArray | None:
    """Residues of the rows that a member sees, with a column of ones for the intercept; None after training."""
    residues = seen_rows(fit, residues_of)
    if residues is None or not fit.rows.fit_intercept:
        return residues
    return np.hstack([residues, np.ones((len(residues), 1))])


def residues_of(values: Array | IntArray) -> FloatArray:
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
    regular as far as its rank allows: elimination needs no pivoting, and its first zero pivot gives the rank.
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
    for j in range(len(S)):
        if S[j, j] == 0:
            return j
        factors = _reduced(S[j + 1 :, j] * pow(int(S[j, j]), -1, _PRIME))
        S[j + 1 :, j + 1 :] = _reduced(S[j + 1 :, j + 1 :] - np.outer(factors, S[j, j + 1 :]))
    return len(S)
