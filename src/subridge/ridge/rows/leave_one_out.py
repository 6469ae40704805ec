"""Exact leave-one-out errors for a whole ridge path, without refitting.

``y_i - f^(-i)(x_i) = r_i / (1 - H_ii)`` with residuals r and the hat matrix H *including* the intercept's share w_i/Σw.
The identity is exact for weighted ridge regression with an unpenalised intercept.
"""

from typing import NamedTuple

import numpy as np

from subridge.arrays.namespace import like, namespace_of, to_numpy
from subridge.arrays.types import Array, FloatArray, IntArray
from subridge.ridge.rows.decomposition import MemberDecomposition, as_column, scaled_rows

_HIGH = 1e-3  # 1 - H_ii below which a difference from one has lost digits that count
_TOGETHER = 256  # samples of high leverage treated at once
_NONE = np.empty(0, dtype=np.intp)


class LeftOut(NamedTuple):
    """Errors, shape (L, C, n), what they were divided by, shape (L, n), and the samples that are alone in a direction.

    A member that spans all samples has them all alone, and none is named.
    """

    errors: Array
    diagonals: Array
    alone: IntArray


class InDirections(NamedTuple):
    """What no penalty changes: labels ``gᵀQ`` in a member's directions, shape (C, ρ), and Qᵀ squared, (ρ, n)."""

    labels: Array
    squares: Array

    @classmethod
    def of(cls, member: MemberDecomposition, targets: Array) -> "InDirections":
        """For labels of shape (C, n)."""
        return cls(targets @ member.left.T, member.left * member.left)


def leave_one_out(
    member: MemberDecomposition,
    targets: Array,
    penalties: FloatArray,
    intercept_leverage: Array,
    known: InDirections | None = None,
) -> LeftOut:
    """Errors at every left-out sample, in weighted units: ``√w_i (y_i - f^(-i)(x_i))``, and what they were divided by.

    From centred and weighted labels g, shape (C, n), penalties p = λ_r N_r, shape (L,), and leverages ``w_i/Σw`` of the
    intercept, zeros without one, shape (n,), come errors of shape (L, C, n) and diagonals ``1 - H_ii`` of shape (L, n).
    The latter are divided by p for a member that spans all samples, where they vanish with p, and zero at p = 0 for a
    sample that any other member interpolates. Those who ask more than once may say what is `known`.

    At p = 0 the minimum-norm solution is the limit p → 0⁺, for the full and for every reduced training set, so the
    errors are the limit of ``r_i/(1 - H_ii)``: where sample i is interpolated (H_ii = 1), numerator and denominator are
    both of order p and the ratio is ``(K⁺g)_i/(K⁺)_ii`` with the kernel K = FFᵀ.

    Leaving out one of three labels without features leaves the mean of the other two:

    >>> import numpy as np
    >>> from subridge.ridge.rows.training import training_rows
    >>> from subridge.ridge.rows.decomposition import decompose
    >>> from subridge.model.plan import SubsetPlan
    >>> rows = training_rows(np.ones((3, 1)), np.array([[0.0, 3.0, 6.0]]), None, True)
    >>> member = decompose(rows.member(SubsetPlan.from_indices([[0]], 1), 0), 1.0, True)
    >>> leave_one_out(member, rows.centred(rows.targets)[0], np.array([1.0]), rows.intercept_leverage).errors
    array([[[-4.5,  0. ,  4.5]]])
    """
    Qt, d = member.left, member.spectrum
    L, C, n = len(penalties), targets.shape[0], Qt.shape[1]
    A, squared = InDirections.of(member, targets) if known is None else known
    p = as_column(penalties, d)
    if member.spans_samples:
        # Both terms carry the same factor p, which cancels: no 0/0 at p = 0.
        gains = 1 / (d + p)
        diagonals = gains @ squared
        return LeftOut((scaled_rows(A, gains) @ Qt).reshape((L, C, n)) / diagonals[:, None, :], diagonals, _NONE)
    # A last row of ones adds the plain projection QQᵀ to the products for all ridges: one pass over Q each.
    gains = namespace_of(d).concat([p / (d + p), (d * 0.0 + 1.0)[None, :]], axis=0)
    fits, sums = (scaled_rows(A, gains) @ Qt).reshape((L + 1, C, n)), gains @ squared
    rest = targets - fits[-1, :, :]
    slack = 1 - intercept_leverage - sums[-1, :]
    interpolated = slack <= member.slack_noise
    if member.sharpness is not None:
        rest, slack = _refined(member, rest, slack)
        interpolated = slack <= member.sharpness**2
    numerator, denominator = fits[:-1, :, :] + rest, sums[:-1, :] + slack
    if bool(interpolated.any()):
        # A share of 1e-9 may be rounding, but what it says of the labels is the root of that: it is dropped only where
        # the penalty leaves nothing larger beside it, or where a careful decomposition resolves the root.
        kept = ~interpolated | (sums[:-1, :] > (member.slack_noise if member.sharpness is None else np.inf))
        numerator = fits[:-1, :, :] + rest * kept[:, None, :]
        denominator = sums[:-1, :] + slack * kept
    at_zero = [int(index) for index in (penalties == 0).nonzero()[0]]
    settled = bool(interpolated.any()) and bool(at_zero)
    if settled:
        limit = ((A / d) @ Qt)[:, interpolated], ((1 / d) @ squared)[interpolated]
        for index in at_zero:
            numerator[index][:, interpolated] = limit[0]
            denominator[index][interpolated] = limit[1]
    errors = numerator / denominator[:, None, :]
    if settled:
        for index in at_zero:
            denominator[index][interpolated] = 0.0
    return LeftOut(errors, denominator, np.flatnonzero(to_numpy(interpolated)))


def _refined(member: MemberDecomposition, rest: Array, slack: Array) -> tuple[Array, Array]:
    """What no direction explains, made orthogonal once more, and its share of samples of high leverage.

    A squared norm keeps twice the digits of a difference from one.
    """
    Qt, u = member.left, member.direction

    def outside(rows: Array) -> Array:
        for _ in range(2):
            rows = rows - (rows @ Qt.T) @ Qt
            rows = rows if u is None else rows - (rows @ u)[:, None] * u
        return rows

    rest = outside(rest)
    high = np.flatnonzero(to_numpy(slack) < _HIGH)
    left, new_rest, new_slack = rest, to_numpy(rest).copy(), to_numpy(slack).copy()
    for start in range(0, len(high), _TOGETHER):
        chosen = high[start : start + _TOGETHER]
        units = np.zeros((len(chosen), len(new_slack)))
        units[np.arange(len(chosen)), chosen] = 1.0
        alone = outside(like(units, Qt))
        new_slack[chosen] = to_numpy((alone * alone).sum(axis=1))
        new_rest[:, chosen] = to_numpy(left @ alone.T)
    return like(new_rest, rest), like(new_slack, slack)
