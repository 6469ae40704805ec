"""Many plans on one pilot sample: what they share is made once."""

from collections.abc import Iterable
from threading import Lock

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.forecasting.inputs.sample import Sample
from subridge.forecasting.pilot.label_noise import LabelNoise, label_noise
from subridge.forecasting.pilot.pilot import Pilot, decompose_pilot
from subridge.model.plan import SubsetPlan


class Pilots:
    """The pilots of several plans on one sample.

    The plans are all that will be asked for: they decide whether the whole Gram matrix is worth forming.
    """

    def __init__(self, sample: Sample, plans: Iterable[SubsetPlan]) -> None:
        self._sample = sample
        self._gram = _shared_gram(sample, plans)
        self._lock = Lock()
        self._noise: LabelNoise | None = None

    def of(self, plan: SubsetPlan) -> Pilot:
        """Decompose the members of a plan."""
        pilot = decompose_pilot(self._sample.rows, plan, self._gram)
        is_whole = plan.n_members == 1 and int(plan.subset_sizes[0]) == plan.n_features
        if self._noise is None and plan.selects_features and is_whole:
            self._noise = label_noise(pilot)
        return pilot

    def label_noise(self) -> LabelNoise:
        """ζ² from all features; a decomposition of its own unless a plan had them in one member."""
        with self._lock:
            if self._noise is None:
                M = self._sample.n_features
                self.of(SubsetPlan.from_indices([np.arange(M)], M))
            assert self._noise is not None
            return self._noise


def _shared_gram(sample: Sample, plans: Iterable[SubsetPlan]) -> FloatArray | None:
    """``FᵀF`` of all features, where cutting blocks from it is cheaper than forming them apart."""
    rows, M = sample.rows, sample.n_features
    sizes = [plan.subset_sizes[plan.subset_sizes < rows.n_samples - 1] for plan in plans if plan.selects_features]
    if sum(float((N.astype(float) ** 2).sum()) for N in sizes) <= M**2:
        return None
    return rows.gram()
