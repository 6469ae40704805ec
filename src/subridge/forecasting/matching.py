"""The stage that finds, for every wanted size and ridge, the penalties on the pilot that stand for them.

Degrees of freedom, bias and γ n of a member depend on data only through its effective ridge ``κ̄ = p/(n - df)``, where p
is the penalty on unscaled features and df the trace of the hat matrix, intercept included. The pilot at penalty p
therefore speaks for every (n′, p′) with ``p′/(n′ - df(p)) = p/(n - df(p))``.
"""

from dataclasses import dataclass

import numpy as np

from subridge.arrays.types import BoolArray, FloatArray
from subridge.forecasting.pilot.pilot import Pilot
from subridge.forecasting.rowwise import RowWise

_HALVINGS = 44  # from some 100 in log p to ten digits


@dataclass(frozen=True, eq=False)
class MatchedRidges(RowWise):
    """T wanted sizes and ridges with the penalties on the pilot that have the same effective ridges."""

    sizes: FloatArray  # n′, which may be infinite, shape (T,)
    ridges: FloatArray  # λ_r at the wanted size, shape (T, k)
    penalties: FloatArray  # p_r on the pilot, 0 where a member is out of reach, shape (T, k)
    members_in_reach: BoolArray  # shape (T, k)

    @property
    def in_reach(self) -> BoolArray:
        """Whether all members are; shape (T,)."""
        return np.asarray(self.members_in_reach.all(axis=1))


def match_ridges(pilot: Pilot, sizes: FloatArray, ridges: FloatArray) -> MatchedRidges:
    """Match sizes of shape (T,) and ridges of shape (T, k).

    Left-out errors are those of n - 1 rows, so a penalty is lowered by what keeps the effective ridge of those; at the
    pilot's own size it is the wanted one.
    """
    n, wanted = pilot.n_samples, ridges * pilot.subset_sizes
    columns = [
        pilot_penalties(member.spectrum, n, pilot.intercept, sizes, wanted[:, r])
        for r, member in enumerate(pilot.members)
    ]
    penalties, in_reach = (np.stack(parts, axis=1) for parts in zip(*columns, strict=True))
    left = n - pilot.degrees_of_freedom(penalties)
    lowered = penalties * np.maximum(1 - 1 / np.maximum(left, 1.0), 0.0)
    return MatchedRidges(sizes, ridges, np.where((sizes == n)[:, None], penalties, lowered), in_reach)


def pilot_penalties(
    spectrum: FloatArray, n: int, intercept: int, sizes: FloatArray, penalties: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """Penalties p at which the pilot has the effective ridge of wanted sizes n′ and penalties p′; which are in reach.

    `spectrum` holds the positive eigenvalues d of the member's n × n kernel, `intercept` is 1 if the data were centred,
    which takes one degree of freedom, and sizes, penalties and both results have shape (T,).

    ``F(p) = n′ - df(p) - p′ (n - df(p))/p`` ascends in p; its root is the answer. At p → 0 the last factor is Σ 1/d for
    a member that spans all samples and infinite for any other. In reach means ``κ̄(n′, p′) ≥ κ̄(n, 0)``; p is 0 out of
    reach. A member with fewer features than rows has κ̄(n, 0) = 0: no limit.

    Four times the samples with the same penalty have a smaller effective ridge; with none, the pilot cannot tell:

    >>> pilot, in_reach = pilot_penalties(np.array([1.0, 2.0]), 2, 0, np.array([2.0, 8.0, 8.0]), np.array([1, 9.0, 0]))
    >>> pilot.round(3), in_reach
    (array([1.   , 1.195, 0.   ]), array([ True,  True, False]))
    """
    if not len(spectrum):  # constant columns: the mean is predicted, whatever the penalty
        return penalties.astype(float), np.ones(len(sizes), dtype=bool)
    spare = n - intercept - len(spectrum)  # directions of the samples that the member cannot reach
    edge = sizes - intercept - len(spectrum)  # F at p → 0, but for its last term
    if spare:
        in_reach = np.ones(len(sizes), dtype=bool)
        interior = np.isfinite(sizes) & ((penalties > 0) | (edge < 0))
    else:
        at_zero = edge - penalties * (1 / spectrum).sum()
        in_reach = at_zero <= 0
        interior = at_zero < 0
    pilot = np.zeros(len(sizes))
    if interior.any():
        pilot[interior] = _roots(spectrum, intercept, spare, sizes[interior], penalties[interior])
    return pilot, in_reach


def _roots(spectrum: FloatArray, intercept: int, spare: int, sizes: FloatArray, penalties: FloatArray) -> FloatArray:
    """Bisection in log p for all sizes at once: with few sizes and many members a general solver is mostly overhead."""

    def below(log_p: FloatArray) -> BoolArray:
        p = np.exp(log_p)[:, None]
        shares = 1 / (spectrum + p)
        with np.errstate(over="ignore", divide="ignore"):  # penalties next to the smallest floats take all
            taken = shares @ spectrum + penalties * (shares.sum(axis=1) + spare / p[:, 0])
        return np.asarray(sizes - intercept < taken)

    # df(p) < Σd/p falls below n′ - intercept, and p′ n/p below what is left, for p beyond `high`. At `low` a root is
    # zero for all purposes.
    room = sizes - intercept
    high = np.log(4 * (spectrum.sum() + penalties * (len(spectrum) + spare)) / room + spectrum[-1])
    low = np.log(np.minimum(spectrum[0], np.where(penalties > 0, penalties, spectrum[0]))) - 60.0
    lost = ~below(low)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        under = below(middle)
        low, high = np.where(under, middle, low), np.where(under, high, middle)
    return np.where(lost, 0.0, np.exp(0.5 * (low + high)))
