"""Memory that a trial needs, counted from the sizes of its arrays before anything is drawn.

``benchmarks/trust/memory.py`` compares the count with what trials really take.
"""

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from subridge.model.covariance import Autoregressive, Dense
from subridge.model.ensemble import SubsetPlan
from subridge.ridge.curves import plan_curve
from subridge.simulation.classification import ClassificationExperiment
from subridge.simulation.gaussian import GaussianExperiment

# Allowance, as a factor and in bytes, for what is not counted: vectors, panels of LAPACK, growth of the interpreter.
_SLACK, _SMALL = 1.15, 2**22
# Most training-set sizes among which the residuals of a trial are divided; with more sizes the count is too large.
_SIZES = 8
# Bytes of a batch of classifiers on a CPU; larger batches do not fit into the caches.
_ENOUGH_ON_A_CPU = 2**27
# Bytes of a batch on a GPU. More does not use it better, and arrays stay below the 2³¹ entries of some kernels.
_ENOUGH_ON_A_CARD = 2**34


def bytes_of_arrays(value: Any) -> int:
    """Bytes of all arrays of a description; each process holds them.

    >>> import numpy as np
    >>> bytes_of_arrays((np.zeros(3), [np.zeros((2, 2))]))
    56
    """
    if isinstance(value, np.ndarray):
        return value.nbytes
    if is_dataclass(value):
        value = [getattr(value, field.name) for field in fields(value)]
    return sum(map(bytes_of_arrays, value)) if isinstance(value, tuple | list) else 0


def _of_member(e: GaussianExperiment | ClassificationExperiment, N: int, ridges: tuple[float, ...], rhs: int) -> int:
    """Count of numbers that the training of a member with N features and `rhs` targets holds at its peak."""
    at_once = 1 if e.device == "cpu" else len(ridges)  # LAPACK solves ridges one by one, a GPU all at once
    ordinary, n_dual, segments = plan_curve(e.n_samples, N, ridges, scale=e.feature_scale)
    dual = e.n_samples[n_dual - 1] if n_dual else 0
    largest = max(dual, N if (segments and dual < N) or len(ordinary) < len(ridges) else 0)
    # A Gram matrix and, for each ridge, a copy that becomes the factor and another one during the solution.
    matrices = (1 + 2 * at_once) * largest**2
    solutions = len(e.n_samples) * rhs * (2 * len(ridges) * N + 5 * largest)
    return 3 * e.n_samples[-1] * N + matrices + solutions


def bytes_per_trial(e: GaussianExperiment) -> int:
    """Peak memory of a Gaussian trial: while its data are drawn, a member is trained, or errors are formed."""
    P = e.n_samples[-1]
    M = e.n_features
    plan = e.plan_of(0)
    n_points = len(e.ridge_table) * len(e.n_samples) * len(e.noise_table)
    # The predictor of the ensemble, and with pairs those of its members.
    vectors = n_points * (1 + e.ensemble.n_members * e.pairs) * M
    rhs = min(len(e.noise_table), 2)  # right-hand sides of a member: labels, and noise when it is swept
    members = {(int(N), tuple(e.ridge_table[:, r].tolist())) for r, N in enumerate(plan.subset_sizes)}
    training = max(_of_member(e, N, ridges, rhs) + 2 * n_points * N for N, ridges in members)
    # Errors, their products with covariances, and products before they are summed; and the residuals.
    residuals = 4 * n_points * P // min(len(e.n_samples), _SIZES)
    # White noise, features, and the copies made while colouring; feature noise needs as much again.
    covariances = e.finite_problem.signal_covariance, e.finite_problem.noise_covariance
    copies = 4 + isinstance(covariances[0], Autoregressive) + 2 * e.has_feature_noise
    peak = max(copies * P * M, P * M + max(vectors + training, 5 * vectors + residuals))
    # What does not grow with the number of trials: roots of covariances, projections, normals in double precision.
    standing = 20 * M**2 * sum(isinstance(each, Dense) for each in covariances)
    if not plan.selects_features and not isinstance(e.ensemble.subsets, SubsetPlan):
        # Each projection is scaled, checked and made read-only, one after the other.
        standing += 8 * M * int(plan.subset_sizes.sum() + 3 * plan.subset_sizes.max())
    if e.dtype == "float32" and e.device == "cpu":
        standing += 8 * P * M
    return int(_SLACK * np.dtype(e.dtype).itemsize * peak) + standing + _SMALL


def trials_at_once(e: GaussianExperiment, budget: int) -> int:
    """Trials to train together within a budget in bytes."""
    # LAPACK works trial by trial, so that a batch would only cost memory.
    return 1 if e.device == "cpu" else min(e.n_trials, budget // bytes_per_trial(e))


def bytes_of_votes(e: ClassificationExperiment) -> int:
    """Bytes of the votes of one trial: counts and sums of scores at every ridge, noise and size."""
    entries = len(e.ridges) * len(e.n_samples) * len(e.classes) * len(e.test_features) * e.test_draws
    return entries * (4 * len(e.readout_noises) * e.aggregation.counts_votes + 8 * (1 + e.has_noise))


def bytes_of_member(e: ClassificationExperiment, N: int) -> int:
    """Peak bytes of the training and scoring of one member with N features."""
    n_test = len(e.test_features)
    rhs = len(e.classes) * (1 + e.has_noise)
    numbers = _of_member(e, N, tuple(e.ridges.tolist()), rhs) + 3 * n_test * N + 3 * rhs * e.n_samples[-1]
    if e.device != "cpu":
        numbers += N**2 + 5 * rhs * (N + e.n_samples[-1])
    scores = 4 * len(e.n_samples) * rhs * n_test + e.has_noise * e.test_draws * len(e.classes) * n_test
    return int(_SLACK * 8 * (numbers + scores))


def bytes_of_largest_member(e: ClassificationExperiment) -> int:
    """Peak bytes of the largest member of the first trial."""
    return bytes_of_member(e, max(int(e.plan_of(place, 0).subset_sizes.max()) for place in range(len(e.strategies))))


def bytes_to_classify(e: ClassificationExperiment) -> int:
    """Bytes of one trial with its largest member, including copies of the data."""
    # One-hot labels, and a copy of the features on another device or in single precision.
    copied = e.device != "cpu" or e.dtype != "float64"
    labels = len(e.features) * len(e.classes)
    numbers = copied * (e.features.size + e.test_features.size) + labels
    data = np.dtype(e.dtype).itemsize * numbers + 8 * labels
    return bytes_of_votes(e) + bytes_of_largest_member(e) + data


def batches_to_classify(e: ClassificationExperiment, budget: int) -> tuple[int, int]:
    """How many trials vote at once, and the bytes that members worked on together may take, within a budget."""
    votes = bytes_of_votes(e)
    member = bytes_of_largest_member(e)
    left = budget - bytes_to_classify(e) + votes + member  # besides the data
    # On a GPU half of this is for the votes of many trials, and the rest is for their members.
    if e.device == "cpu":
        return 1, max(member, min(left - votes, _ENOUGH_ON_A_CPU))
    trials = max(1, min(e.n_trials, left // 2 // votes))
    return trials, max(member, min(left - trials * votes, _ENOUGH_ON_A_CARD))
