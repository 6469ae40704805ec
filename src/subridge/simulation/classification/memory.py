"""How many trials and members are worked on at once, counted from the sizes of the arrays before anything is drawn."""

from subridge.arrays.devices import free_memory, release
from subridge.ridge.curves.refined import TOGETHER_ON_A_CARD
from subridge.simulation.classification.experiment import ClassificationExperiment
from subridge.spec.errors import BudgetError

# Members are solved in batches on a CPU too, where more than this only falls out of the caches.
_ENOUGH_ON_A_CPU = 2**27
# More keeps a card no busier, and arrays stay below the 2³¹ entries that some kernels can address.
_ENOUGH_ON_A_CARD = 2**34


def bytes_of_votes(experiment: ClassificationExperiment) -> int:
    """What one trial keeps while its members vote: counts and sums of scores at every ridge, noise and size."""
    e, entries = experiment, len(experiment.n_samples) * experiment.n_classes * len(experiment.test_features)
    cases = len(e.readout_noises) * e.test_draws
    counts = 4 * cases if e.voting == "majority" else 0
    return len(e.ridges) * entries * (counts + 8 * (1 + e.has_noise) * e.test_draws)


def bytes_of_member(experiment: ClassificationExperiment, n_features: int, n_dual: int) -> int:
    """What one member needs while it is trained and scored, at its peak."""
    e, N, n = experiment, n_features, len(experiment.n_samples)
    P, n_test, rhs = e.n_samples[-1], len(e.test_features), e.n_classes * (1 + e.has_noise)
    d, L = e.n_samples[n_dual - 1] if n_dual else 0, len(e.ridges)
    # Above P = N a positive ridge may be solved on the dual side too, with a factor for each ridge.
    largest = max(d, min(P, 2 * N))
    data = 3 * P * N + 3 * n_test * N + 3 * rhs * P
    training = (2 + 2 * L) * max(largest, N) ** 2 + 5 * n * rhs * max(largest, N)
    if e.device != "cpu":
        training += TOGETHER_ON_A_CARD * (N**2 + 5 * rhs * (N + P))
    scores = 4 * n * rhs * n_test + e.has_noise * e.test_draws * e.n_classes * n_test
    return 8 * (data + training + 2 * L * n * rhs * N + scores)


def plan_classification(experiment: ClassificationExperiment, memory: int | None, share: int) -> tuple[int, int]:
    """Trials at once, and the bytes that members worked on together may take.

    Raises
    ------
    BudgetError
        When one trial with its largest member does not fit.
    """
    release(experiment.device)
    budget = (free_memory(experiment.device) // 2 if memory is None else memory) // share
    votes = bytes_of_votes(experiment)
    sizes = [int(experiment.plan_of(place, 0).subset_sizes.max()) for place in range(len(experiment.strategies))]
    member = bytes_of_member(experiment, max(sizes), sum(max(sizes) >= P for P in experiment.n_samples))
    if votes + member > budget:
        raise BudgetError(
            f"one trial needs about {(votes + member) / 2**20:.0f} MiB but the run may use {budget / 2**20:.0f} MiB"
            f"{f' in each of {share} processes' if share > 1 else ''}; raise Run(memory=), or use fewer test samples, "
            "training-set sizes or noises at once"
        )
    if experiment.device == "cpu":
        return 1, max(member, min(budget - votes, _ENOUGH_ON_A_CPU))
    # Half for the votes of many trials, the rest for the members they come from.
    trials = max(1, min(experiment.n_trials, budget // 2 // votes))
    return int(trials), max(member, min(int(budget - trials * votes), _ENOUGH_ON_A_CARD))
