"""Wrong votes on new groups, at other numbers of groups; as `metrics.misclassification` does for independent rows.

Scores are those of left-out groups, and what their fluctuation loses with more groups is that of effective rows: Δ has
γ and γ′ of `by_groups`. The standard error is that of independent groups.
"""

import numpy as np
from scipy.stats import t as student

from subridge.arrays.types import FloatArray
from subridge.forecasting.by_groups import GroupPilot, by_group, group_transfers
from subridge.forecasting.matching import MatchedRidges
from subridge.forecasting.metrics.misclassification import expected_wrong, is_wrong
from subridge.model.aggregation import first_largest
from subridge.ridge.rows.leave_sets_out import leave_sets_out


def misclassification_of_groups(
    groups: GroupPilot, wanted: MatchedRidges, one_hot: FloatArray, level: float
) -> dict[str, FloatArray]:
    """Share of wrong majority votes with its bounds, by the names of variables, each of shape (S,)."""
    share, standard_error = np.full((2, len(wanted.sizes)), np.nan)
    reached = wanted.in_reach
    if reached.any():
        share[reached], standard_error[reached] = _wrong_shares(groups, wanted[reached], one_hot)
    width = student.ppf(0.5 + level / 2, groups.sets.n_sets - 1) * standard_error
    return {
        "misclassification": share,
        "misclassification_lower": np.maximum(share - width, 0.0),
        "misclassification_upper": np.minimum(share + width, 1.0),
    }


def _wrong_shares(groups: GroupPilot, wanted: MatchedRidges, one_hot: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Share of wrong votes and its standard error at sizes in reach; each of shape (T,)."""
    n, truth, (order, starts) = groups.rows.n_samples, first_largest(one_hot), by_group(groups.sets.owners)
    shares, spreads, squared = np.empty((3, len(wanted.sizes)))
    own_shares, own_squared = _at_pilot(groups, wanted.ridges, one_hot)
    for found in group_transfers(groups, wanted):
        squared[found.rows] = found.pairs.mean(axis=(1, 2))
        surplus = (found.before - found.after) / (1 - found.after)
        for place, t in enumerate(range(found.rows.start, found.rows.start + len(found.sizes))):
            errors, direction = found.errors[place], int(np.sign(found.sizes[place] - n))
            wrong = expected_wrong(one_hot - errors, errors, truth, surplus[place], direction)
            shares[t] = np.clip(wrong.mean(), 0.0, 1.0)
            # Groups differ in size, so that the share is a ratio of sums over groups.
            sizes = np.diff(np.append(starts, n))
            apart = np.add.reduceat(wrong[order], starts) - wrong.mean() * sizes
            spreads[t] = apart.std() * np.sqrt(len(sizes)) / n * np.sqrt(len(sizes) / (len(sizes) - 1))
    proportional = np.minimum(own_shares * squared / own_squared, 1.0)
    beyond = wanted.sizes > n
    gap = np.where(beyond, 0.5 * np.abs(shares - proportional), 0.0)
    return np.where(beyond, np.minimum(shares, proportional), shares), np.hypot(spreads, gap)


def _at_pilot(groups: GroupPilot, ridges: FloatArray, one_hot: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Share of wrong votes and squared error of the mean on left-out groups at ridges (T, k); each of shape (T,)."""
    pilot, truth, found = groups.pilot, first_largest(one_hot), []
    for line in ridges:
        penalties = line * pilot.subset_sizes
        errors = np.stack(
            [
                leave_sets_out(member, pilot.targets, penalties[r : r + 1], groups.rows, groups.sets)[0]
                for r, member in enumerate(pilot.members)
            ]
        )
        wrong = is_wrong(one_hot - errors, truth).mean()
        found.append((wrong, float((errors.mean(axis=0) ** 2).sum()) / groups.rows.n_samples))
    shares, squared = np.array(found).T
    return shares, squared
