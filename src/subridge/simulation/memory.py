"""Memory that a trial needs, counted from the sizes of its arrays before anything is drawn.

``benchmarks/trust/memory.py`` compares the count with what trials really take.
"""

from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple

import numpy as np

from subridge.model.covariance import Dense, LowRankPlusDiagonal
from subridge.model.plan import SubsetPlan
from subridge.ridge.curves.plan import plan_curve
from subridge.ridge.curves.refined import TOGETHER_ON_A_CARD
from subridge.simulation.classification import ClassificationExperiment
from subridge.simulation.gaussian import GaussianExperiment
from subridge.simulation.training import GROUPS, noise_basis

# Room for what is not counted: vectors, panels of LAPACK, and the interpreter's own growth.
_SLACK, _SMALL = 1.15, 2**22
# Members that classify are solved in batches on a CPU too, where larger batches only fall out of the caches.
_ENOUGH_ON_A_CPU = 2**27
# More keeps a card no busier, and arrays stay below the 2³¹ entries that some kernels can address.
_ENOUGH_ON_A_CARD = 2**34


def bytes_of_arrays(value: Any) -> int:
    """Bytes of all arrays of a description, which every process that works on it holds.

    >>> import numpy as np
    >>> bytes_of_arrays((np.zeros(3), [np.zeros((2, 2))]))
    56
    """
    if isinstance(value, np.ndarray):
        return value.nbytes
    if is_dataclass(value):
        value = [getattr(value, field.name) for field in fields(value)]
    return sum(map(bytes_of_arrays, value)) if isinstance(value, tuple | list) else 0


def bytes_per_trial(e: GaussianExperiment) -> int:
    """Peak memory of one Gaussian trial: while its data are drawn, a member is trained, or errors are formed."""
    P, M, k, plan = e.n_samples[-1], e.n_features, e.n_members, e.plan_of(0)
    n_ridges, n_sizes, n_noises = len(e.ridge_table), len(e.n_samples), len(e.noise_table)
    n_patterns = len(noise_basis(e.noise_table)[0])
    rhs = 2 if n_patterns else 1  # right-hand sides of a member: labels, and noise when it is swept
    basis = 1 + n_patterns  # vectors whose combinations are the mean predictor at every noise
    curve = n_ridges * n_sizes
    # White noise, features, and the copy that colouring passes through; noise of features has its own three.
    is_low_rank = isinstance(e.finite_problem.signal_covariance, LowRankPlusDiagonal)
    sampling = (3 + is_low_rank + 2 * e.has_feature_noise) * P * M
    kept = P * M + curve * basis * M  # features and the mean predictor
    members = curve * rhs * k * M if e.keeps_members else 0
    # A member is solved, or its weights join the mean; members of one size and with the same ridges count once.
    lifted = 0 if plan.selects_features else 2 * M
    training = max(
        2 * P * N + 2 * curve * rhs * N + max(_solving(e, N, ridges, rhs), curve * basis * (2 * N + lifted))
        for N, ridges in {(int(N), tuple(e.ridge_table[:, r].tolist())) for r, N in enumerate(plan.subset_sizes)}
    )
    # Errors, what a covariance makes of them in three steps, and products before they are summed; residuals beside.
    forms = 6 * curve * basis * M + 4 * n_ridges * -(-n_sizes // min(n_sizes, GROUPS)) * basis * P
    # All members together and stacked; their errors at one noise, and what the covariances make of them.
    pairs = curve * k * M * (rhs + 4 + 2 * (rhs > 1) + 3 * e.has_feature_noise) + 2 * n_noises * curve * k**2
    peak = max(sampling, kept + members + max(training, forms, pairs if e.keeps_members else 0))
    return int(_SLACK * (8 if e.dtype == "float64" else 4) * peak) + _standing_bytes(e, plan) + _SMALL


def _solving(e: GaussianExperiment, N: int, ridges: tuple[float, ...], rhs: int) -> int:
    """Numbers that the matrices and solutions of a member of N features hold while it is trained."""
    at_once = 1 if e.device == "cpu" else len(ridges)  # LAPACK takes ridges one by one, a card all together
    sizes, most = e.n_samples, 0
    for plan in plan_curve(sizes, N, ridges, scale=e.feature_variance):
        d, leaning = plan.dual_size, max((sizes[stop - 1] - sizes[start] for start, stop in plan.segments), default=0)
        # Gram matrix, its copy per ridge that becomes the factor, a tenth for panels; then the solutions.
        dual = int(1.1 * (1 + at_once) * d * d) + 3 * at_once * plan.n_dual * rhs * d
        primal = int(1.1 * (1 + at_once) * N**2) if plan.segments else 0
        most = max(most, dual, primal + at_once * leaning * (2 * leaning + 3 * N))
    return most


def _standing_bytes(e: GaussianExperiment, plan: SubsetPlan) -> int:
    """What does not grow with trials: measurements, roots of covariances, and what single precision passes through."""
    problem, is_single = e.finite_problem, e.dtype == "float32"
    dense = [each for each in (problem.signal_covariance, problem.noise_covariance) if isinstance(each, Dense)]
    total = sum(each.n_features**2 * (20 if is_single else 16) for each in dense)
    if not plan.selects_features:
        largest = int(plan.subset_sizes.max()) * e.n_features
        if not isinstance(e.ensemble.subsets, SubsetPlan):
            # Drawn ones are kept; each is scaled, checked and made unchangeable, one after the other.
            total += 8 * int(plan.subset_sizes.sum()) * e.n_features + 24 * largest
        total += 4 * largest * is_single
    # On a CPU single precision is drawn in double precision.
    return total + (8 * e.n_samples[-1] * e.n_features if is_single and e.device == "cpu" else 0)


def trials_at_once(e: GaussianExperiment, budget: int) -> int:
    """Trials to train together within a budget in bytes."""
    # LAPACK works trial by trial: a batch would only cost memory.
    return 1 if e.device == "cpu" else min(e.n_trials, budget // bytes_per_trial(e))


class Batches(NamedTuple):
    """How many trials vote at once, and the bytes that members worked on together may take."""

    n_trials: int
    member_bytes: int


def bytes_of_votes(e: ClassificationExperiment) -> int:
    """What one trial keeps while its members vote: counts and sums of scores at every ridge, noise and size."""
    entries = len(e.ridges) * len(e.n_samples) * e.n_classes * len(e.test_features) * e.test_draws
    return entries * ((4 * len(e.readout_noises) if e.aggregation.counts_votes else 0) + 8 * (1 + e.has_noise))


def bytes_of_member(e: ClassificationExperiment, N: int) -> int:
    """What one member of N features needs while it is trained and scored, at its peak."""
    P, n, L, n_test = e.n_samples[-1], len(e.n_samples), len(e.ridges), len(e.test_features)
    rhs = e.n_classes * (1 + e.has_noise)
    # Above P = N a positive ridge may be solved on the dual side too, with a factor for each ridge.
    largest = max([N, min(P, 2 * N), *(size for size in e.n_samples if size <= N)])
    data = 3 * P * N + 3 * n_test * N + 3 * rhs * P
    at_once = 1 if e.device == "cpu" else L  # LAPACK takes ridges one by one, a card all together
    training = (1 + 2 * at_once) * largest**2 + 5 * n * rhs * largest
    if e.device != "cpu":
        training += TOGETHER_ON_A_CARD * (N**2 + 5 * rhs * (N + P))
    scores = 4 * n * rhs * n_test + e.has_noise * e.test_draws * e.n_classes * n_test
    return 8 * (data + training + 2 * L * n * rhs * N + scores)


def _parts(e: ClassificationExperiment) -> tuple[int, int, int]:
    """Bytes of the votes of a trial, of its largest member, and of the data."""
    plans = [e.plan_of(place, 0) for place in range(len(e.strategies))]
    largest = max(int(plan.subset_sizes.max()) for plan in plans)
    # One-hot labels, and the features once more where they are needed elsewhere or in single precision.
    copied, labels = e.device != "cpu" or e.dtype != "float64", len(e.features) * e.n_classes
    numbers = (len(e.features) + len(e.test_features)) * e.features.shape[1] * copied + labels
    data = (8 if e.dtype == "float64" else 4) * numbers + 8 * labels
    return bytes_of_votes(e), bytes_of_member(e, largest), data


def bytes_to_classify(e: ClassificationExperiment) -> int:
    """What one trial with its largest member needs."""
    return sum(_parts(e))


def batches_to_classify(e: ClassificationExperiment, budget: int) -> Batches:
    """Divide a budget in bytes between the votes of trials and the members they come from."""
    votes, member, data = _parts(e)
    budget -= data
    if e.device == "cpu":
        return Batches(1, max(member, min(budget - votes, _ENOUGH_ON_A_CPU)))
    # Half for the votes of many trials, the rest for the members they come from.
    trials = max(1, min(e.n_trials, budget // 2 // votes))
    return Batches(trials, max(member, min(budget - trials * votes, _ENOUGH_ON_A_CARD)))
