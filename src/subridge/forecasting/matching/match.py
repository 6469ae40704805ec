"""The stage that finds, for every wanted size and ridge, the penalties on the pilot that stand for them."""

from dataclasses import dataclass

import numpy as np

from subridge.arrays.types import BoolArray, FloatArray
from subridge.forecasting.matching.penalties import pilot_penalties
from subridge.forecasting.pilot.pilot import Pilot


@dataclass(frozen=True, eq=False)
class MatchedRidges:
    """A table of T wanted sizes and ridges with the penalties on the pilot that have the same effective ridges.

    Attributes
    ----------
    sizes : ndarray, shape (T,)
        n′; may be infinite.
    ridges, penalties : ndarray, shape (T, k)
        λ_r at the wanted size, and p_r on the pilot, 0 where a member is out of reach.
    members_in_reach : ndarray of bool, shape (T, k)
    """

    sizes: FloatArray
    ridges: FloatArray
    penalties: FloatArray
    members_in_reach: BoolArray

    @property
    def in_reach(self) -> BoolArray:
        """Whether all members are; shape (T,)."""
        return np.asarray(self.members_in_reach.all(axis=1))

    def __getitem__(self, rows: slice | BoolArray) -> "MatchedRidges":
        return MatchedRidges(self.sizes[rows], self.ridges[rows], self.penalties[rows], self.members_in_reach[rows])


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
