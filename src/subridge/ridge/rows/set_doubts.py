"""How far rounding may have moved the errors of rows that are left out together; the reasoning is that of `doubt`.

For a set s of rows, whose part of the residual operator has the least eigenvalue λ_s, the errors move by up to
``Δ_s = 2 s (‖Wg‖ + ‖e_s‖)/λ_s``. Where a set spans directions alone, all are taken relative to the largest weight
inside of the member's directions.
"""

import numpy as np

from subridge.arrays.namespace import namespace_of, to_numpy
from subridge.arrays.types import Array, BoolArray, FloatArray
from subridge.ridge.rows.decomposition import MemberDecomposition
from subridge.ridge.rows.doubt import EPS, NOTICED, largest_ratio
from subridge.ridge.rows.exact_rank import RawRows

_CLEAR = 1e-10  # relative error that need not be known better


class SetDoubts:
    """What moved, set by set, of a member at L penalties.

    `inside` are squared shares ``(Qᵀg)²`` of labels in the member's directions, shape (C, ρ), and `outside` the squared
    norms of what no direction explains, shape (C,).
    """

    def __init__(
        self,
        member: MemberDecomposition,
        penalties: FloatArray,
        inside: FloatArray,
        outside: FloatArray,
        raw: RawRows | None,
    ) -> None:
        d = to_numpy(member.spectrum)
        self._rank, self._raw, self._spans = len(d), raw, member.spans_samples
        self._floors = d.min(initial=np.inf if len(d) else 0.0) + penalties  # d_min + p
        p, largest = penalties[:, None], d.max(initial=0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            squared = np.where(self._floors > 0, 4 * EPS * (largest + penalties) / self._floors, 0.0)
        self._shares = squared if member.sharpness is None else np.full(len(penalties), member.sharpness)
        self._least_possible = self._floors / np.maximum(largest + penalties, 1e-300)
        self._inside = np.sqrt((self._floors[:, None] / (d + p)) @ inside.T)
        self._outside = np.sqrt((p / (d + p)) @ inside.T + outside)
        self._lost = member.dropped / (member.dropped + penalties) if member.dropped else penalties * 0.0
        self._moved, self._total = np.zeros_like(self._inside), np.zeros_like(self._inside)
        self._least = np.ones(len(penalties))

    def gaps(self, B: Array, index: int) -> FloatArray:
        """Least eigenvalues of blocks of ``Q (d + p)⁻¹ Qᵀ``, shape (G, m, m), relative to the largest possible; (G,).

        Where the least possible one would do, it stands for all.
        """
        if 2 * self._shares[index] < _CLEAR * self._least_possible[index]:
            return np.full(B.shape[0], self._least_possible[index])
        least = to_numpy(namespace_of(B).linalg.eigvalsh(B))[:, 0]
        return np.asarray(np.maximum(least * self._floors[index], 0.0))

    def lost(self, gaps: FloatArray, index: int) -> BoolArray:
        """Whether sets of such gaps lose more digits than may be lost without a word."""
        return np.asarray(2 * self._shares[index] > NOTICED * gaps)

    def add(
        self, errors: Array, gaps: FloatArray, index: int, counted: BoolArray | None = None, *, alone: bool = False
    ) -> None:
        """Sets with errors (C, G, m) and gaps (G,) at one penalty, of which those are `counted`, shape (G,), or all.

        `alone` says that they span directions alone.
        """
        squares = to_numpy((errors * errors).sum(axis=-1))
        if counted is not None:
            squares, gaps = squares[:, counted], gaps[counted]
        energy = (self._inside if alone or self._spans else self._outside)[index][:, None]
        moved = 2 * self._shares[index] * (energy + np.sqrt(squares)) / np.maximum(gaps, 1e-300)
        self._least[index] = min(self._least[index], float(gaps.min(initial=1.0)))
        self._moved[index] += (moved**2).sum(axis=-1)
        self._total[index] += squares.sum(axis=-1)

    def add_refitted(self, errors: Array, moved: FloatArray) -> None:
        """A set that was refitted, with errors (L, C, m) and Δ (L, C)."""
        self._moved += moved**2
        self._total += to_numpy((errors * errors).sum(axis=-1))

    def largest(self) -> float:
        """The largest relative error of all penalties and targets."""
        of_rank = float(np.max(self._lost / np.maximum(self._least, 1e-300)))
        if of_rank > NOTICED and (self._raw is None or self._raw.rank_is(self._rank)):
            of_rank = 0.0
        return max(of_rank, largest_ratio(self._moved, self._total))
