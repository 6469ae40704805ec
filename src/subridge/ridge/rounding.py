"""How far rounding may have moved left-out errors, and what is done about it: nothing is lost without a warning.

The formulas are in `member`; here is what surrounds them.

- `doubt_of_rows` and `SetDoubts` estimate the relative error of left-out errors. If R = WᵀW is the residual operator
  and the vectors We_i are known up to s, the left-out error of row i moves by up to ``s ‖Wg‖/R_ii + |e_i| (2 s/√R_ii +
  s²/R_ii)``, those of a set with least eigenvalue λ_s of R_ss by about ``2 s (‖Wg‖ + ‖e_s‖)/λ_s``. If a row is alone in
  a direction it has no share outside of the member's directions, and W is taken inside of them, relative to its largest
  weight there.
- `decompose_carefully` keeps the digits of columns of mixed scales, n ≈ N_r and tiny ridges.
- `perturbed` moves rows within their rounding: what this changes in a refit is taken for the error of its rounding.
- `rank_is` decides whether a direction is exactly zero or as small as rounding, which singular values cannot decide:
  columns that agree to the last digit are harmless, columns that agree up to rounding are not.
- `warn_of_doubt` warns the user if a doubt remains.
"""

import warnings
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import lapack

from subridge.arrays.namespace import is_sparse, like, namespace_of, take_last, to_numpy
from subridge.arrays.types import Array, BoolArray, FloatArray, IntArray
from subridge.model.errors import AccuracyWarning

if TYPE_CHECKING:
    from subridge.ridge.member import LeftOut, MemberFit

EPS = float(np.finfo(np.float64).eps)
ORTHONORMAL_NOISE = 30 * EPS  # of a sum of squares that should be one; measured up to 8 eps at n = 2000
GOOD_ENOUGH = 2e-9  # estimated relative error up to which a Gram or kernel matrix serves
NOTICED = 1e-7  # relative error above which the user is warned
_CLEAR = 1e-10  # relative error that need not be known better
_TINY = 1e-300
_GRADED = 1e2  # ratio of column norms above which Jacobi rotations are worth their price
_HIGH = 1e-3  # 1 - H_ii below which a difference from one has lost digits that count
_TOGETHER = 256  # rows of high leverage treated at once


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
    return Ft + scale[:, None] * np.random.default_rng(seed).standard_normal(Ft.shape)


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
    high = np.flatnonzero(to_numpy(slack) < _HIGH)
    new_rest, new_slack = to_numpy(rest).copy(), to_numpy(slack).copy()
    for start in range(0, len(high), _TOGETHER):
        chosen = high[start : start + _TOGETHER]
        units = np.zeros((len(chosen), len(new_slack)))
        units[np.arange(len(chosen)), chosen] = 1.0
        alone = outside(like(units, Qt))
        new_slack[chosen] = to_numpy((alone * alone).sum(axis=1))
        new_rest[:, chosen] = to_numpy(rest @ alone.T)
    return like(new_rest, rest), like(new_slack, slack)


# -- doubts about rows left out one by one --------------------------------------------------------


def doubt_of_rows(fit: "MemberFit", targets: Array, penalties: FloatArray, found: "LeftOut") -> float:
    """Estimate of the relative rounding error of left-out errors, the largest of all penalties and targets.

    `targets` are centred and weighted labels g, shape (C, n), `found` their left-out errors by `MemberFit.left_out`.
    """
    assert found.diagonals is not None
    d, gaps, rank = to_numpy(fit.spectrum), to_numpy(found.diagonals), int(fit.spectrum.shape[0])
    if not rank:  # also if squares of columns that vary are less than any float
        return 0.0 if penalties.all() or rank_is(fit, 0) else 1.0
    settled = not gaps.min(axis=1).all()  # rows that are alone, by a limit
    least = np.where(gaps > 0, gaps, np.inf).min(axis=1) if settled else gaps.min(axis=1)
    least = np.clip(least * (d.min() + penalties) if fit.spans_samples else least, _TINY, 1.0)
    lost = fit.dropped / (fit.dropped + penalties) if fit.dropped else penalties * 0.0
    if fit.sharpness is None:
        if settled and not rank_is(fit, rank - len(found.alone), found.alone):
            return 1.0
        return float(np.max((4 * EPS * d.max() / (d.min() + penalties) + lost) / least))
    of_rank = float(np.max(lost / least))
    # If one direction is left outside that all rows share, R is zzᵀ there up to a factor that cancels: left-out errors
    # are the same whether z is dropped or kept.
    one_short = fit.rows.room - rank == 1 and not len(found.alone)
    if of_rank > NOTICED and (one_short or rank_is(fit, rank)):
        of_rank = 0.0
    g, errors, p = to_numpy(targets), to_numpy(found.errors), penalties[:, None]
    Qt = to_numpy(fit.left)
    A, weights = g @ Qt.T, (d.min() + p) / (d + p)  # (C, ρ), (L, ρ)
    inside = _moved(fit.sharpness, weights @ Qt**2, weights @ (A**2).T, errors)
    if fit.spans_samples:
        return max(of_rank, _largest_ratio(inside, errors))
    energies = (p / (d + p)) @ (A**2).T + ((g - A @ Qt) ** 2).sum(axis=1)  # (L, C)
    outside, alone = _moved(fit.sharpness, gaps, energies, errors), found.alone
    outside[np.ix_(penalties == 0, np.arange(len(g)), alone)] = np.inf
    # If the penalty hides what lies outside, it does not matter whether that is zero.
    if _largest_ratio(outside, errors) > NOTICED and len(alone) and rank_is(fit, rank - len(alone), alone):
        outside[:, :, alone] = inside[:, :, alone]
    return max(of_rank, _largest_ratio(outside, errors))


def _moved(s: float, gaps: FloatArray, energies: FloatArray, errors: FloatArray) -> FloatArray:
    """How far errors (L, C, n) move, from R_ii (L, n) and ‖Wg‖² (L, C)."""
    gaps = np.maximum(gaps, _TINY)[:, None, :]
    return s * np.sqrt(energies)[:, :, None] / gaps + abs(errors) * (2 * s / np.sqrt(gaps) + s**2 / gaps)


def _largest_ratio(above: FloatArray, below: FloatArray) -> float:
    """The largest ratio of root sums of squares over the last axis; 0/0 counts as zero, inf/inf as infinite."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        above, below = (above**2).sum(axis=-1), (below**2).sum(axis=-1)
        ratios = np.where(above > 0, np.sqrt(above / below), 0.0)
    return float(np.nan_to_num(ratios, nan=np.inf, posinf=np.inf).max())


# -- doubts about sets of rows --------------------------------------------------------------------


class SetDoubts:
    """What rounding moved, set by set, of a member at L penalties, with labels (C, n)."""

    def __init__(self, fit: "MemberFit", penalties: FloatArray, targets: Array) -> None:
        d, A = to_numpy(fit.spectrum), targets @ fit.left.T
        self._fit, p, largest = fit, penalties[:, None], d.max(initial=0.0)
        self._floors = d.min(initial=np.inf if len(d) else 0.0) + penalties  # d_min + p
        with np.errstate(divide="ignore", invalid="ignore"):
            squared = np.where(self._floors > 0, 4 * EPS * (largest + penalties) / self._floors, 0.0)
        self._shares = squared if fit.sharpness is None else np.full(len(penalties), fit.sharpness)
        self._least_possible = self._floors / np.maximum(largest + penalties, _TINY)
        squares = to_numpy(A * A)
        if fit.spans_samples:  # ‖Wg‖, relative to the largest weight inside of the member's directions
            self._energies = np.sqrt((self._floors[:, None] / (d + p)) @ squares.T)
        else:
            rest = targets - A @ fit.left
            self._energies = np.sqrt((p / (d + p)) @ squares.T + to_numpy((rest * rest).sum(axis=1)))
        self._lost = fit.dropped / (fit.dropped + penalties) if fit.dropped else penalties * 0.0
        self._moved, self._total = np.zeros_like(self._energies), np.zeros_like(self._energies)
        self._least = np.ones(len(penalties))

    def gaps(self, B: Array, index: int) -> FloatArray:
        """Least eigenvalues of blocks of ``Q (d + p)⁻¹ Qᵀ``, shape (G, m, m), relative to the largest possible; (G,).

        If the least possible one would do, it stands for all.
        """
        if 2 * self._shares[index] < _CLEAR * self._least_possible[index]:
            return np.full(B.shape[0], self._least_possible[index])
        least = to_numpy(namespace_of(B).linalg.eigvalsh(B))[:, 0]
        return np.asarray(np.maximum(least * self._floors[index], 0.0))

    def are_lost(self, gaps: FloatArray, index: int) -> BoolArray:
        """Whether sets of such gaps lose more digits than may be lost without a warning."""
        return np.asarray(2 * self._shares[index] > NOTICED * gaps)

    def add(self, errors: Array, gaps: FloatArray, index: int, counted: BoolArray) -> None:
        """Sets with errors (C, G, m) and gaps (G,) at one penalty, of which some are `counted`, shape (G,)."""
        squares, gaps = to_numpy((errors * errors).sum(axis=-1))[:, counted], gaps[counted]
        energy = self._energies[index][:, None]
        moved = 2 * self._shares[index] * (energy + np.sqrt(squares)) / np.maximum(gaps, _TINY)
        self._least[index] = min(self._least[index], float(gaps.min(initial=1.0)))
        self._moved[index] += (moved**2).sum(axis=-1)
        self._total[index] += squares.sum(axis=-1)

    def add_refitted(self, errors: FloatArray, moved: FloatArray) -> None:
        """A set that was refitted, with errors (L, C, m) and how far they moved (L, C)."""
        self._moved += moved**2
        self._total += (errors**2).sum(axis=-1)

    def largest(self) -> float:
        """The largest relative error of all penalties and targets."""
        of_rank = float(np.max(self._lost / np.maximum(self._least, _TINY)))
        if of_rank > NOTICED and rank_is(self._fit, len(self._fit.spectrum)):
            of_rank = 0.0
        return max(of_rank, _largest_ratio(np.sqrt(self._moved)[..., None], np.sqrt(self._total)[..., None]))


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
