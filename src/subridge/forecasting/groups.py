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


def design_effects(block: LeftOut) -> FloatArray:
    """D of every member at t penalties, shape (t, k)."""
    pilot, effects = block.pilot, np.ones(block.penalties.shape)
    for r, fit in enumerate(pilot.members):
        for t, gain in enumerate(fit.hat_gains(block.penalties[:, r])):
            pulls = fit.left * block.errors[t, r][:, None, :]  # (C, ρ, n)
            together, alone = ((each**2).sum(axis=(0, 2)) for each in (pilot.group_sums(pulls), pulls))
            effects[t, r] = (gain @ together) / max(float(gain @ alone), TINY)
    sizes = pilot.group_sums(np.ones(pilot.rows.n_samples))
    return np.clip(effects, 1.0, float((sizes**2).sum() / sizes.sum()))


def spread_over_groups(block: LeftOut, weights: FloatArray, error: FloatArray) -> Spread:
    """Spread of the errors (t,) of a weighted sum of members over groups, which are independent."""
    squares = (np.einsum("tk,tkcn->tcn", weights, block.errors) ** 2).sum(axis=1)
    sums, G = block.pilot.group_sums(squares), block.pilot.n_groups
    relative = sums.std(axis=1) * np.sqrt(G) / sums.sum(axis=1)
    return Spread(relative * error, np.full(len(weights), G - 1.0), np.zeros(len(weights)))
