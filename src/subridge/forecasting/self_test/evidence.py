"""What a self-test says of every point of a curve."""

from dataclasses import dataclass

import numpy as np

from subridge.arrays.types import FloatArray

# A doubling's fall as a share of the one before. Variance alone would have a half, a power law one. Anything between .5
# and .7 serves the development sets of benchmarks/tournament alike.
DECAY = 0.6


@dataclass(frozen=True, eq=False)
class Evidence:
    """For S points of a curve; each array of shape (S,)."""

    slopes: FloatArray  # change of the log error over the last doubling up to the pilot's size; NaN where unknown
    scatter: FloatArray  # root mean square of the rule's misses per doubling; NaN where it could not be tested

    @classmethod
    def of_scatter(cls, scatter: float, n_points: int) -> "Evidence":
        """Where the slopes of these very points were not looked at."""
        return cls(np.full(n_points, np.nan), np.full(n_points, scatter))

    def continued(self, doublings: FloatArray) -> FloatArray:
        """Change of the log error after some doublings, by the law; a rise is noise. Shape (S,).

        >>> Evidence(np.array([-0.1, 0.1]), np.ones(2)).continued(np.array([2.0, 2.0])).round(3)
        array([-0.096,  0.   ])
        """
        steps = DECAY * (1 - DECAY**doublings) / (1 - DECAY)
        return np.asarray(np.minimum(np.nan_to_num(self.slopes), 0.0) * steps)
