"""Members of many trials that are trained together: those of like size, padded to the longest."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from subridge.arrays.types import FloatArray, IntArray
from subridge.simulation.classification.experiment import ClassificationExperiment
from subridge.simulation.classification.memory import bytes_of_member

# Longest member of a batch over its shortest: operations spent on zeros against batches fewer.
_PADDED_BY, _PADDED_ANYWAY = 1.25, 16


@dataclass(frozen=True, eq=False)
class Members:
    """Members of several trials that are trained together, in ascending order of their sizes."""

    ensembles: IntArray  # which trial of the batch each belongs to, shape (G,)
    numbers: IntArray  # which member r of its ensemble each is, shape (G,)
    columns: list[IntArray]  # the features of each

    @property
    def sizes(self) -> IntArray:
        return np.array([len(index) for index in self.columns])

    def padded(self) -> tuple[IntArray, FloatArray]:
        """Columns of equal length, and factors 1/√N_r on them that are zero where a column only pads."""
        sizes = self.sizes
        columns = np.zeros((len(sizes), sizes.max()), dtype=np.int64)
        scales = np.zeros(columns.shape)
        for g, index in enumerate(self.columns):
            columns[g, : len(index)] = index
            scales[g, : len(index)] = 1 / np.sqrt(len(index))
        return columns, scales


def grouped_members(e: ClassificationExperiment, place: int, trials: IntArray, member_bytes: int) -> Iterator[Members]:
    """Members of all trials in ascending order of their sizes, those of like size together."""
    found = []
    for b, trial in enumerate(trials):
        plan = e.plan_of(place, int(trial))
        found += [(len(index), b, r, index) for r, index in enumerate(plan.measurements)]
    found.sort(key=lambda member: member[:3])
    for members in _of_like_size(found):
        each = bytes_of_member(e, members[-1][0])
        for part in np.array_split(np.arange(len(members)), -(-len(members) * each // member_bytes)):
            if part.size:
                chosen = [members[i] for i in part]
                ensembles, numbers = (np.array([member[i] for member in chosen]) for i in (1, 2))
                yield Members(ensembles, numbers, [member[3] for member in chosen])


def _of_like_size(members: list[tuple[int, int, int, IntArray]]) -> Iterator[list[tuple[int, int, int, IntArray]]]:
    """Runs of sorted members of which the longest pads the shortest little: by a quarter, or a few features."""
    start = 0
    for end in range(1, len(members) + 1):
        if end == len(members) or members[end][0] > _PADDED_BY * members[start][0] + _PADDED_ANYWAY:
            yield members[start:end]
            start = end
