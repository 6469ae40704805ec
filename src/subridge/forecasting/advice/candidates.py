"""The ensembles that advice chooses among."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from subridge.arrays.streams import Seed
from subridge.ensemble.aggregation import Mean
from subridge.forecasting.inputs.request import DrawnEnsemble
from subridge.spec.plan import SubsetPlan
from subridge.spec.seeding import stream
from subridge.subsets import Dirichlet, Equal, Overlapping

SINGLE = "one ridge"


@dataclass(frozen=True, eq=False)
class Candidate:
    """A drawn ensemble and what it is; its ridges and its aggregation are chosen later."""

    name: str
    strategy: str  # "single", "equal", "dirichlet", "overlapping" or "given"
    ensemble: DrawnEnsemble
    fraction_spread: float = 0.0  # kσ before scaling; 0 for members of equal size


def candidates(
    n_features: int,
    n_members: Sequence[int],
    fraction_spreads: Sequence[float],
    overlapping_fractions: Sequence[float],
    readout_noise: float,
    seed: Seed | None,
) -> Iterator[Candidate]:
    """One ridge on all features, then every strategy for every k that leaves each member a feature.

    >>> [each.name for each in candidates(6, [2, 8], [0.0, 0.75], [0.5], 0.0, 0)]
    ['one ridge', '2 equal', '2 heterogeneous (0.75)', '2 overlapping (0.5 each)']
    """
    M = n_features

    def with_noise(plan: SubsetPlan) -> DrawnEnsemble:
        return DrawnEnsemble(plan, np.zeros(plan.n_members), np.full(plan.n_members, readout_noise), Mean())

    yield Candidate(SINGLE, "single", with_noise(Equal(1).draw(M, stream(seed))))
    for k in sorted({k for k in n_members if 1 < k <= M}):
        for spread in dict.fromkeys(fraction_spreads):
            if spread == 0:
                yield Candidate(f"{k} equal", "equal", with_noise(Equal(k).draw(M, stream(seed, k))))
            else:
                plan = Dirichlet(k, spread).draw(M, stream(seed, k))
                yield Candidate(f"{k} heterogeneous ({spread:g})", "dirichlet", with_noise(plan), float(spread))
        for fraction in dict.fromkeys(overlapping_fractions):
            size = max(1, round(fraction * M))
            plan = Overlapping((size,) * k).draw(M, stream(seed, k))
            yield Candidate(f"{k} overlapping ({fraction:g} each)", "overlapping", with_noise(plan))
