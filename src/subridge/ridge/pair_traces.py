"""Traces of the members' residual operators I - H_r and of their products, for a table of penalties.

A member that spans all samples has I - H_r of order p, so for it the operator is taken divided by p, ``(FFᵀ + p)⁻¹``:
what is built from these traces does not depend on the scale of an operator, and p = 0 needs no special case.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.ridge.factor import MemberFactor, as_column

Array = Any


def hat_gains(factor: MemberFactor, penalties: FloatArray) -> Array:
    """Eigenvalues ``d/(d+p)`` of the hat matrix; shape (T, ρ)."""
    d = factor.spectrum
    return d / (d + as_column(penalties, d))


def residual_gains(factor: MemberFactor, penalties: FloatArray) -> Array:
    """Eigenvalues of the residual operator on the member's own directions, shape (T, ρ); see above for its scale."""
    d = factor.spectrum
    p = as_column(penalties, d)
    return 1 / (d + p) if factor.spans_samples else p / (d + p)


def residual_pair_traces(factors: Sequence[MemberFactor], penalties: FloatArray, n: int, intercept: int) -> FloatArray:
    """``tr((I - H_r)(I - H_r′))`` for every pair of members.

    Parameters
    ----------
    factors : sequence of MemberFactor, length k
    penalties : ndarray, shape (T, k)
        p of every member in every row of the table.
    n : int
        Samples.
    intercept : int
        1 if the data were centred, else 0.

    Returns
    -------
    ndarray, shape (T, k, k)

    Notes
    -----
    The squared overlaps ``(Q_rᵀQ_r′)²`` are formed once per pair, n ρ_r ρ_r′ multiplications, and serve the table; in
    all n (Σρ)²/2, as much as one Gram matrix of all features where subsets are disjoint.

    Examples
    --------
    Two members that see the two halves of an orthogonal design, without ridge:

    >>> from subridge.ridge.design import DenseDesign
    >>> from subridge.ridge.factor import factorise
    >>> basis = np.linalg.qr(np.vander(np.linspace(-1, 1, 6), 4))[0].T
    >>> factors = [factorise(DenseDesign(basis[:2]), 0.0, False), factorise(DenseDesign(basis[2:]), 0.0, False)]
    >>> residual_pair_traces(factors, np.zeros((1, 2)), 6, 0)[0].round(12)
    array([[4., 2.],
           [2., 4.]])
    """
    T, k = penalties.shape
    traces = np.empty((T, k, k))
    spanning = [factor.spans_samples for factor in factors]
    rests = [residual_gains(factor, penalties[:, r]) for r, factor in enumerate(factors)]
    hats = [hat_gains(factor, penalties[:, r]) for r, factor in enumerate(factors)]
    # A spanning member is best described by what it leaves, any other by what it takes.
    gains = [rest if spans else hat for rest, hat, spans in zip(rests, hats, spanning, strict=True)]
    totals = [gain.sum(axis=1) for gain in gains]
    lefts, joined = np.concatenate([factor.left for factor in factors]), np.concatenate(gains, axis=1)
    ends = np.cumsum([gain.shape[1] for gain in gains])
    for r, factor in enumerate(factors):
        spare = 0 if spanning[r] else n - intercept - factor.spectrum.shape[0]
        traces[:, r, r] = (rests[r] ** 2).sum(axis=1) + spare
        if r == k - 1:
            break
        overlaps = (factor.left @ lefts[ends[r] :].T) ** 2
        common = (gains[r] @ overlaps) * joined[:, ends[r] :]
        sums = np.add.reduceat(common, ends[r:-1] - ends[r], axis=1)
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
