"""The ensembles that advice chooses among."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from subridge.arrays.streams import Seed
from subridge.arrays.types import BoolArray
from subridge.forecasting.inputs.request import DrawnEnsemble
from subridge.model.aggregation import Mean
from subridge.model.fingerprint import stream
from subridge.model.plan import SubsetPlan
from subridge.model.subsets import Dirichlet, Equal, Overlapping, Strategy

SINGLE = "one ridge"


@dataclass(frozen=True, eq=False)
class Candidate:
    """A drawn ensemble and what it is; its ridges and its aggregation are chosen later."""

    name: str
    strategy: str  # "single", "equal", "dirichlet", "overlapping" or "given"
    ensemble: DrawnEnsemble
    fraction_spread: float = 0.0  # kσ before scaling; 0 for members of equal size


def candidates(
    varying: BoolArray,
    n_members: Sequence[int],
    fraction_spreads: Sequence[float],
    overlapping_fractions: Sequence[float],
    readout_noise: float,
    seed: Seed | None,
) -> Iterator[Candidate]:
    """One ridge on all features, then every strategy for every k that leaves each member a feature that varies.

    `varying` says which features do in the pilot, shape (M,). Where some are constant, so that a member might see no
    other, those that vary are drawn by the strategy and the others dealt out: a larger sample may have them vary.

    >>> [each.name for each in candidates(np.ones(6, dtype=bool), [2, 8], [0.0, 0.75], [0.5], 0.0, 0)]
    ['one ridge', '2 equal', '2 heterogeneous (0.75)', '2 overlapping (0.5 each)']
    """
    M, usable = len(varying), int(varying.sum())

    def drawn(strategy: Strategy, k: int) -> DrawnEnsemble:
        plan = strategy.draw(usable, stream(seed, k))
        plan = plan if usable == M else _with_constants(plan, varying)
        return DrawnEnsemble(plan, np.zeros(plan.n_members), np.full(plan.n_members, readout_noise), Mean())

    alone = DrawnEnsemble(Equal(1).draw(M, stream(seed)), np.zeros(1), np.full(1, readout_noise), Mean())
    yield Candidate(SINGLE, "single", alone)
    for k in sorted({k for k in n_members if 1 < k <= usable}):
        for spread in {f"{abs(each):g}": each for each in fraction_spreads}.values():  # one for each name
            if spread == 0:
                yield Candidate(f"{k} equal", "equal", drawn(Equal(k), k))
            else:
                name = f"{k} heterogeneous ({spread:g})"
                yield Candidate(name, "dirichlet", drawn(Dirichlet(k, spread), k), float(spread))
        for fraction in {f"{abs(each):g}": each for each in overlapping_fractions}.values():
            size = max(1, round(fraction * usable))
            name = f"{k} overlapping ({fraction:g} each)"
            yield Candidate(name, "overlapping", drawn(Overlapping((size,) * k), k))


def _with_constants(plan: SubsetPlan, varying: BoolArray) -> SubsetPlan:
    """A plan of the features that vary, with the others dealt out to its members in turn."""
    some, others, k = np.flatnonzero(varying), np.flatnonzero(~varying), plan.n_members
    subsets = [np.append(some[np.asarray(plan.measurements[r])], others[r::k]) for r in range(k)]
    return SubsetPlan.from_indices(subsets, len(varying))
