"""Rows that come in groups: errors of left-out groups, taken to other numbers of groups.

The model: groups are independent draws of one kind, and more data means more groups of the same sizes. The error on a
new group, measured by leaving out whole groups, splits as for independent rows into a part that stays and a variance
that fades with the sample, with ``D γ`` in place of γ, where the design effect

    D = Σ_g e_gᵀ H_gg e_g / Σ_i e_i² H_ii,        between 1 and the mean size of a row's group,

says how many rows count as one (Moulton's factor, with left-out errors e and the hat matrix H of a member); n/D is the
effective number of independent rows. Ridges are matched by rows. The model holds where errors of a group are correlated
and features at most moderately so.
"""

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.forecasting.jackknife import Spread
from subridge.forecasting.pilot import LeftOut
from subridge.forecasting.rule import TINY
from subridge.ridge.rows.pair_traces import hat_gains


def design_effects(block: LeftOut) -> FloatArray:
    """D of every member at t penalties, shape (t, k)."""
    pilot = block.pilot
    effects = np.ones(block.penalties.shape)
    largest = float((pilot.group_sums(np.ones(pilot.n_samples)) ** 2).sum()) / pilot.n_samples
    for r, member in enumerate(pilot.members):
        for t, gain in enumerate(hat_gains(member, block.penalties[:, r])):
            pulls = member.left * block.errors[t, r][:, None, :]  # (C, ρ, n)
            together = (pilot.group_sums(pulls) ** 2).sum(axis=(0, 2))
            alone = (pulls**2).sum(axis=(0, 2))
            effects[t, r] = (gain @ together) / max(float(gain @ alone), TINY)
    return np.clip(effects, 1.0, largest)


def spread_over_groups(block: LeftOut, weights: FloatArray) -> Spread:
    """Relative spread of the error of a weighted sum of members over groups, which are independent."""
    squares = (np.einsum("tk,tkcn->tcn", weights, block.errors) ** 2).sum(axis=1)
    sums, G = block.pilot.group_sums(squares), block.pilot.n_groups
    relative = sums.std(axis=1) * np.sqrt(G) / sums.sum(axis=1)
    return Spread(relative, np.full(len(weights), G - 1.0), np.zeros(len(weights)))
