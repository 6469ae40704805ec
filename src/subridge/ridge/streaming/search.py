"""The common ridge of a streamed ensemble, by the trace form of its mean's error."""

from dataclasses import dataclass

import numpy as np

from subridge.arrays.namespace import to_numpy
from subridge.arrays.types import ArrayLike, FloatArray
from subridge.model.plan import SubsetPlan
from subridge.ridge.search_path import Outcome, default_ridges, extended_search, given_ridges, is_material
from subridge.ridge.streaming.members import MomentPath, moment_path
from subridge.ridge.streaming.moments import RowMoments


@dataclass(frozen=True, eq=False)
class MomentSearch:
    """Ridges (L, k), members along them, and the error of their mean at each, shape (L,)."""

    ridges: FloatArray
    path: MomentPath
    losses: FloatArray


def path_of_moments(moments: RowMoments, plan: SubsetPlan, ridges: FloatArray, fit_intercept: bool) -> MomentSearch:
    """Solve every member at ridges of shape (L, k)."""
    path = moment_path(moments, plan, ridges, fit_intercept)
    return MomentSearch(ridges, path, path.pairs.mean(axis=(1, 2)))


def search_moments(moments: RowMoments, plan: SubsetPlan, given: ArrayLike | None, fit_intercept: bool) -> MomentSearch:
    """Evaluate `given` ridges, common to the members, or a path that fits the data and goes on where it ends too soon.

    A stream is solved anew at every batch, and the first batches are small: nothing is warned of.
    """
    spread = float(np.trace(to_numpy(moments.target_gram))) / moments.total_weight

    def evaluate(path: FloatArray) -> Outcome[MomentSearch]:
        found = path_of_moments(moments, plan, np.repeat(path[:, None], plan.n_members, axis=1), fit_intercept)
        best, last = int(np.argmin(found.losses)), len(path) - 1
        error = float(found.losses[best])
        if last == 0 or 0 < best < last or not np.isfinite(error):
            return Outcome(found, error, None, False)
        falling = is_material(error, float(found.losses[1 if best == 0 else last - 1]), spread)
        return Outcome(found, error, "lower" if best == 0 else "upper", falling)

    if given is not None:
        return evaluate(given_ridges(given)).found
    start = default_ridges(moments.column_squares(fit_intercept), moments.n_samples, int(plan.subset_sizes.max()))
    return extended_search(start, evaluate)[1].found
