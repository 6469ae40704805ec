"""How far rounding may have moved left-out errors.

With the residual operator R = WᵀW of a member, a left-out error is ``⟨We_i, Wg⟩/‖We_i‖²``, so that an uncertainty s of
the vector We_i moves it by up to

    Δ_i = s ‖Wg‖/R_ii + |e_i| (2 s/√R_ii + s²/R_ii).

A sample that is alone in a direction has no share outside the member's directions, so that W is taken inside of them,
relative to its largest weight there, as for a member that spans all samples.

That a direction, or a sample's share outside, is zero and not merely as small as rounding is a decision no singular
value can make. Where the answer hangs on it, the exact rank of the rows as given makes it.
"""

import numpy as np

from subridge.arrays.namespace import to_numpy
from subridge.arrays.types import Array, FloatArray, IntArray
from subridge.ridge.rows.decomposition import MemberDecomposition
from subridge.ridge.rows.exact_rank import RawRows
from subridge.ridge.rows.leave_one_out import LeftOut

EPS = float(np.finfo(np.float64).eps)
NOTICED = 1e-7  # relative error from which on the caller is told


def doubt(
    member: MemberDecomposition, targets: Array, penalties: FloatArray, found: LeftOut, raw: RawRows | None
) -> float:
    """Estimate of the relative rounding error of left-out errors, the largest of all penalties and targets.

    `targets` are centred and weighted labels g, shape (C, n), `found` what `leave_one_out` says of them, and `raw` the
    rows as they were given, without which dependence up to rounding counts as exact.
    """
    rank = int(member.spectrum.shape[0])
    lost = member.dropped / (member.dropped + penalties) if member.dropped else penalties * 0.0
    if not rank:  # also where squares of columns that vary are less than any float
        return 0.0 if penalties.all() or _is_exact(raw, 0) else 1.0
    gaps, d = to_numpy(found.diagonals), to_numpy(member.spectrum)
    least = gaps.min(axis=1)  # of every penalty
    settled = not least.all()  # samples that are alone, by a limit
    if settled:
        least = np.where(gaps > 0, gaps, np.inf).min(axis=1)
    if member.spans_samples:
        least = least * (d.min() + penalties)
    least = np.clip(least, 1e-300, 1.0)
    if member.sharpness is None:
        if settled and not _is_exact(raw, rank, found.alone):
            return 1.0
        return float(np.max((4 * EPS * d.max() / (d.min() + penalties) + lost) / least))
    of_rank = float(np.max(lost / least))
    if of_rank > NOTICED and (_is_one_short(member, found) or _is_exact(raw, rank)):
        of_rank = 0.0
    return max(of_rank, _of_rounding(member, to_numpy(targets), penalties, found, raw))


def _is_exact(raw: RawRows | None, rank: int, alone: IntArray | None = None) -> bool:
    """Whether the rank, without samples that are alone in a direction each, is exact."""
    if raw is None:
        return True
    return raw.rank_is(rank) if alone is None else raw.rank_is(rank - len(alone), without=alone)


def _is_one_short(member: MemberDecomposition, found: LeftOut) -> bool:
    """Whether one direction is left outside that all samples share.

    Then R is ``zzᵀ`` there, up to a factor that cancels: left-out errors are the same whether z is dropped or kept.
    """
    room = int(member.left.shape[1]) - int(member.direction is not None)
    return room - int(member.spectrum.shape[0]) == 1 and not len(found.alone)


def _of_rounding(
    member: MemberDecomposition, g: FloatArray, penalties: FloatArray, found: LeftOut, raw: RawRows | None
) -> float:
    errors = to_numpy(found.errors)
    inside = _inside(member, g, penalties, errors)
    if member.spans_samples:
        return _largest(inside, errors)
    outside, alone = _outside(member, g, penalties, found), found.alone
    outside[np.ix_(penalties == 0, np.arange(len(g)), alone)] = np.inf
    cautious = _largest(outside, errors)
    # Where the penalty hides what lies outside, it does not matter whether that is zero.
    if cautious <= NOTICED or not len(alone) or not _is_exact(raw, len(member.spectrum), alone):
        return cautious
    outside[:, :, alone] = inside[:, :, alone]
    return _largest(outside, errors)


def _inside(member: MemberDecomposition, g: FloatArray, penalties: FloatArray, errors: FloatArray) -> FloatArray:
    Qt, d = to_numpy(member.left), to_numpy(member.spectrum)
    weights = (d.min() + penalties)[:, None] / (d + penalties[:, None])  # (L, ρ)
    return _moved(member, weights @ Qt**2, weights @ ((g @ Qt.T) ** 2).T, errors)


def _outside(member: MemberDecomposition, g: FloatArray, penalties: FloatArray, found: LeftOut) -> FloatArray:
    Qt, d = to_numpy(member.left), to_numpy(member.spectrum)
    weights, A = penalties[:, None] / (d + penalties[:, None]), g @ Qt.T
    energies = weights @ (A**2).T + ((g - A @ Qt) ** 2).sum(axis=1)  # (L, C)
    return _moved(member, to_numpy(found.diagonals), energies, to_numpy(found.errors))


def _moved(member: MemberDecomposition, gaps: FloatArray, energies: FloatArray, errors: FloatArray) -> FloatArray:
    """Δ, shape (L, C, n), from R_ii (L, n) and ‖Wg‖² (L, C)."""
    assert member.sharpness is not None
    s, gaps = member.sharpness, np.maximum(gaps, 1e-300)[:, None, :]
    return s * np.sqrt(energies)[:, :, None] / gaps + abs(errors) * (2 * s / np.sqrt(gaps) + s**2 / gaps)


def _largest(moved: FloatArray, errors: FloatArray) -> float:
    """Root mean square of Δ beside that of the errors, the largest of all penalties and targets."""
    with np.errstate(over="ignore"):
        return largest_ratio((moved**2).sum(axis=-1), (errors**2).sum(axis=-1))


def largest_ratio(above: FloatArray, below: FloatArray) -> float:
    """The largest ratio of roots of sums of squares; zero beside zero is nothing, infinite beside infinite anything."""
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios = np.where(above > 0, np.sqrt(above / below), 0.0)
    return float(np.nan_to_num(ratios, nan=np.inf, posinf=np.inf).max())
