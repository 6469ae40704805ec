"""Traces of the members' residual operators I - H_r and of their products, for a table of penalties.

A member that spans all samples has I - H_r of order p, so for it the operator is taken divided by p, ``(FFᵀ + p)⁻¹``:
what is built from these traces does not depend on the scale of an operator, and p = 0 needs no special case.
"""

from collections.abc import Sequence

import numpy as np

from subridge.arrays.types import Array, FloatArray
from subridge.ridge.rows.decomposition import MemberDecomposition, as_column


def hat_gains(member: MemberDecomposition, penalties: FloatArray) -> Array:
    """Eigenvalues ``d/(d+p)`` of the hat matrix; shape (T, ρ)."""
    d = member.spectrum
    return d / (d + as_column(penalties, d))


def residual_gains(member: MemberDecomposition, penalties: FloatArray) -> Array:
    """Eigenvalues of the residual operator on the member's own directions, shape (T, ρ); see above for its scale."""
    d = member.spectrum
    p = as_column(penalties, d)
    return 1 / (d + p) if member.spans_samples else p / (d + p)


def residual_pair_traces(
    members: Sequence[MemberDecomposition], penalties: FloatArray, n: int, intercept: int
) -> FloatArray:
    """``tr((I - H_r)(I - H_r′))`` for every pair of members, shape (T, k, k), from a table of penalties, shape (T, k).

    There are n samples; `intercept` is 1 if the data were centred, else 0. The squared overlaps ``(Q_rᵀQ_r′)²`` are
    formed once per pair, n ρ_r ρ_r′ multiplications, and serve the table; in all n (Σρ)²/2, as much as one Gram matrix
    of all features where subsets are disjoint.

    Two members that see the two halves of an orthogonal design, without ridge:

    >>> from subridge.ridge.rows.design import DenseDesign
    >>> from subridge.ridge.rows.decomposition import decompose
    >>> basis = np.linalg.qr(np.vander(np.linspace(-1, 1, 6), 4))[0].T
    >>> members = [decompose(DenseDesign(basis[:2]), 0.0, False), decompose(DenseDesign(basis[2:]), 0.0, False)]
    >>> residual_pair_traces(members, np.zeros((1, 2)), 6, 0)[0].round(12)
    array([[4., 2.],
           [2., 4.]])
    """
    T, k = penalties.shape
    traces = np.empty((T, k, k))
    spanning = [member.spans_samples for member in members]
    rests = [residual_gains(member, penalties[:, r]) for r, member in enumerate(members)]
    hats = [hat_gains(member, penalties[:, r]) for r, member in enumerate(members)]
    # A spanning member is best described by what it leaves, any other by what it takes.
    gains = [rest if spans else hat for rest, hat, spans in zip(rests, hats, spanning, strict=True)]
    totals = [gain.sum(axis=1) for gain in gains]
    lefts = np.concatenate([member.left for member in members[1:]]) if k > 1 else None
    joined, ends = np.concatenate(gains, axis=1), np.cumsum([gain.shape[1] for gain in gains])
    for r, member in enumerate(members):
        spare = 0 if spanning[r] else n - intercept - member.spectrum.shape[0]
        traces[:, r, r] = (rests[r] ** 2).sum(axis=1) + spare
        if lefts is None or r == k - 1:
            break
        overlaps = (member.left @ lefts[ends[r] - ends[0] :].T) ** 2
        common = (gains[r] @ overlaps) * joined[:, ends[r] :]
        # A member of constant columns has no directions; `reduceat` would take the next member's first for its sum.
        starts, empty = ends[r:-1] - ends[r], np.diff(ends[r:]) == 0
        sums = np.where(empty, 0.0, np.add.reduceat(np.pad(common, ((0, 0), (0, 1))), starts, axis=1))
        for s in range(r + 1, k):
            both = sums[:, s - r - 1]
            if spanning[r] and spanning[s]:
                pair = both
            elif spanning[r] or spanning[s]:
                pair = totals[r if spanning[r] else s] - both
            else:
                pair = n - intercept - totals[r] - totals[s] + both
            traces[:, r, s] = traces[:, s, r] = pair
    return traces
