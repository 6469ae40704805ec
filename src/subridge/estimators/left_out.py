"""Which rows an estimator leaves out together, from what the user says of them."""

from dataclasses import dataclass

import numpy as np

from subridge.arrays.namespace import to_numpy
from subridge.arrays.types import Array, ArrayLike, FloatArray
from subridge.model.aggregation import Aggregation, LinearAggregation
from subridge.model.checks import positive_integer
from subridge.model.errors import ParameterError
from subridge.ridge.rows.left_out_sets import LeftOutSets, group_labels, left_out_groups, left_out_windows
from subridge.ridge.rows.training import TrainingRows


def left_out_sets(groups: ArrayLike | None, gap: int, weights: Array | None, n_samples: int) -> LeftOutSets | None:
    """The sets that `groups`, shape (n,), or `gap` name among the rows of positive weight; None for single rows."""
    steps = 0 if isinstance(gap, int) and gap == 0 else positive_integer("gap", gap, 10**9)
    if groups is not None and steps:
        raise ParameterError(
            f"groups were given and gap={gap}: groups leave out whole groups, a gap leaves out neighbours in time; "
            "use one of them"
        )
    kept = np.arange(n_samples) if weights is None else np.flatnonzero(to_numpy(weights) > 0)
    if groups is not None:
        sets = left_out_groups(group_labels(groups, n_samples)[kept], len(kept))
        return None if sets.largest == 1 else sets
    return left_out_windows(steps, kept) if steps else None


@dataclass(frozen=True, eq=False)
class LeftOutRows:
    """The rows of a fit and the errors that members made on them when they were left out."""

    rows: TrainingRows
    errors: Array  # y_i - f_r^(-i)(x_i), shape (k, C, n)
    noise: Array | None  # readout noise of training, shape (k, C, n)

    def outputs(self, aggregation: Aggregation, weights: FloatArray | None) -> Array:
        """What the aggregate says of every row when it is left out, shape (C, n)."""
        outputs = self.rows.targets - self.errors
        if not isinstance(aggregation, LinearAggregation) or weights is None:
            return aggregation.combine(outputs)
        # Weights count from the mean of the rows that were not left out.
        means = self.rows.targets - self.rows.deviations
        return aggregation.combine(outputs - means, weights) + means
