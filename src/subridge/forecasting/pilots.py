"""Many plans on one pilot sample: what they share is made once, and they are worked on side by side."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from subridge.arrays.machine import cores
from subridge.arrays.types import FloatArray
from subridge.forecasting.inputs import Sample
from subridge.forecasting.label_noise import LabelNoise, label_noise
from subridge.forecasting.pilot import Pilot, pilot_of
from subridge.spec.plan import SubsetPlan

Result = TypeVar("Result")
_MOST_WORKERS = 8  # each holds the factors of one ensemble, as large as the data


class Pilots:
    """The pilots of several plans on one sample.

    Parameters
    ----------
    sample : Sample
    plans : iterable of SubsetPlan
        All that will be asked for; they decide whether the whole Gram matrix is worth forming.
    """

    def __init__(self, sample: Sample, plans: Iterable[SubsetPlan]) -> None:
        self._sample = sample
        self._gram = _shared_gram(sample, plans)
        self._lock = Lock()
        self._noise: LabelNoise | None = None

    def of(self, plan: SubsetPlan) -> Pilot:
        """Factorise a plan."""
        pilot = pilot_of(self._sample.rows, plan, self._gram)
        if self._noise is None and plan.n_members == 1 and plan.selects_features and _is_whole(plan):
            self._noise = label_noise(pilot)
        return pilot

    def label_noise(self) -> LabelNoise:
        """ζ² from all features; a factorisation of its own unless a plan had them in one member."""
        with self._lock:
            if self._noise is None:
                M = self._sample.n_features
                self.of(SubsetPlan.from_indices([np.arange(M)], M))
            assert self._noise is not None
            return self._noise


def _is_whole(plan: SubsetPlan) -> bool:
    return int(plan.subset_sizes[0]) == plan.n_features


def _shared_gram(sample: Sample, plans: Iterable[SubsetPlan]) -> FloatArray | None:
    """``FᵀF`` of all features, where cutting blocks from it is cheaper than forming them apart."""
    rows, M = sample.rows, sample.n_features
    sizes = [plan.subset_sizes[plan.subset_sizes < sample.n - 1] for plan in plans if plan.selects_features]
    if sum(float((N.astype(float) ** 2).sum()) for N in sizes) <= M**2:
        return None
    return rows.gram()


def side_by_side(work: Callable[..., Result], arguments: Iterable[Iterable[Any]]) -> list[Result]:
    """Call `work` with each of the argument lists, one per core at a time.

    Ensembles are independent and their matrices small: a core each beats all cores on one, and does not fight with
    other programs for them.
    """
    calls = [tuple(each) for each in arguments]
    workers = min(len(calls), cores())
    if workers == 1:
        return [work(*each) for each in calls]
    with threadpool_limits(1, "blas"), ThreadPoolExecutor(min(workers, _MOST_WORKERS)) as pool:
        return list(pool.map(lambda each: work(*each), calls))
