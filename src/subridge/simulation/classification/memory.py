"""How many trials and members are worked on at once, counted from the sizes of the arrays before anything is drawn."""

from typing import NamedTuple

from subridge.model.aggregation import Majority
from subridge.ridge.curves.refined import TOGETHER_ON_A_CARD
from subridge.simulation.classification.experiment import ClassificationExperiment

# Members are solved in batches on a CPU too, where more than this only falls out of the caches.
_ENOUGH_ON_A_CPU = 2**27
# More keeps a card no busier, and arrays stay below the 2³¹ entries that some kernels can address.
_ENOUGH_ON_A_CARD = 2**34


def bytes_of_votes(experiment: ClassificationExperiment) -> int:
    """What one trial keeps while its members vote: counts and sums of scores at every ridge, noise and size."""
    e, entries = experiment, len(experiment.n_samples) * experiment.n_classes * len(experiment.test_features)
    cases = len(e.readout_noises) * e.test_draws
    counts = 4 * cases if isinstance(e.aggregation, Majority) else 0
    return len(e.ridges) * entries * (counts + 8 * (1 + e.has_noise) * e.test_draws)


def bytes_of_member(experiment: ClassificationExperiment, n_features: int) -> int:
    """What one member needs while it is trained and scored, at its peak."""
    e, N, n = experiment, n_features, len(experiment.n_samples)
    n_dual = sum(n_features >= size for size in e.n_samples)
    P, n_test, rhs = e.n_samples[-1], len(e.test_features), e.n_classes * (1 + e.has_noise)
    d, L = e.n_samples[n_dual - 1] if n_dual else 0, len(e.ridges)
    # Above P = N a positive ridge may be solved on the dual side too, with a factor for each ridge.
    largest = max(d, min(P, 2 * N))
    data = 3 * P * N + 3 * n_test * N + 3 * rhs * P
    at_once = 1 if e.device == "cpu" else L  # LAPACK takes ridges one by one, a card all together
    training = (1 + 2 * at_once) * max(largest, N) ** 2 + 5 * n * rhs * max(largest, N)
    if e.device != "cpu":
        training += TOGETHER_ON_A_CARD * (N**2 + 5 * rhs * (N + P))
    scores = 4 * n * rhs * n_test + e.has_noise * e.test_draws * e.n_classes * n_test
    return 8 * (data + training + 2 * L * n * rhs * N + scores)


class Batches(NamedTuple):
    """How many trials vote at once, and the bytes that members worked on together may take."""

    n_trials: int
    member_bytes: int


def bytes_needed(experiment: ClassificationExperiment) -> int:
    """What one trial with its largest member needs."""
    return bytes_of_votes(experiment) + _bytes_of_largest_member(experiment) + _bytes_of_data(experiment)


def _bytes_of_data(experiment: ClassificationExperiment) -> int:
    """One-hot labels, and the features once more where they are needed elsewhere or in single precision."""
    e, size = experiment, 8 if experiment.dtype == "float64" else 4
    copied = e.device != "cpu" or e.dtype != "float64"
    numbers = (len(e.features) + len(e.test_features)) * e.features.shape[1] * copied + len(e.features) * e.n_classes
    return int(size * numbers) + 8 * len(e.features) * e.n_classes


def plan_batches(experiment: ClassificationExperiment, budget: int) -> Batches:
    """Divide a budget in bytes between the votes of trials and the members they come from."""
    votes, member = bytes_of_votes(experiment), _bytes_of_largest_member(experiment)
    budget -= _bytes_of_data(experiment)
    if experiment.device == "cpu":
        return Batches(1, max(member, min(budget - votes, _ENOUGH_ON_A_CPU)))
    # Half for the votes of many trials, the rest for the members they come from.
    trials = max(1, min(experiment.n_trials, budget // 2 // votes))
    return Batches(trials, max(member, min(budget - trials * votes, _ENOUGH_ON_A_CARD)))


def _bytes_of_largest_member(experiment: ClassificationExperiment) -> int:
    plans = [experiment.plan_of(place, 0) for place in range(len(experiment.strategies))]
    largest = max(int(plan.subset_sizes.max()) for plan in plans)
    return bytes_of_member(experiment, largest)
