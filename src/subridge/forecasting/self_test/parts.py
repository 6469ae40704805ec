"""Parts of the pilot that stand for smaller pilots: halves and quarters, several draws of each."""

from collections.abc import Iterator

import numpy as np

from subridge.arrays.namespace import is_sparse
from subridge.arrays.types import IntArray
from subridge.forecasting.pilot.pilot import Pilot, decompose_pilot
from subridge.ridge.rows.training import TrainingRows, training_rows
from subridge.spec.errors import DataError
from subridge.spec.plan import SubsetPlan

_LEAST = 10  # rows of a part
_MANY = 1000  # rows of a pilot that needs one draw only: what it shows of itself has less noise


def part_rows(n: int) -> list[IntArray]:
    """Row numbers of every part: two halves of each of two draws (one for many rows), and two quarters of each.

    Examples
    --------
    >>> [len(part) for part in part_rows(80)]
    [40, 40, 20, 20, 40, 40, 20, 20]
    """
    rng, parts = np.random.default_rng(0), []
    for _ in range(2 if n <= _MANY else 1):
        order = rng.permutation(n)
        parts += [order[: n // 2], order[n // 2 : 2 * (n // 2)]]
        parts += [order[start : start + n // 4] for start in (0, n // 2)]
    return [np.sort(part) for part in parts if len(part) >= _LEAST]


def part_pilots(rows: TrainingRows, plan: SubsetPlan) -> Iterator[tuple[IntArray, Pilot]]:
    """Every part with the members of a plan decomposed on it; one in which none sees any variation is left out."""
    for part in part_rows(rows.n_samples):
        table = rows.features[part] if is_sparse(rows.features) else rows.features[:, part].T
        try:
            yield part, decompose_pilot(training_rows(table, rows.targets[:, part], None, rows.fit_intercept), plan)
        except DataError:
            continue
