"""Disjoint subsets that use every feature, from the wanted shares of the members."""

import numpy as np

from subridge.arrays.types import FloatArray, IntArray
from subridge.model.checks import positive_integer
from subridge.model.errors import SubsetError
from subridge.model.plan import MOST_FEATURES, SubsetPlan


def disjoint_plan(shares: FloatArray, n_features: int, rng: np.random.Generator) -> SubsetPlan:
    """Draw disjoint subsets whose sizes are proportional to the shares, shape (k,)."""
    sizes = rounded_sizes(shares, n_features)
    parts = np.split(rng.permutation(int(sizes.sum())), np.cumsum(sizes)[:-1])
    return SubsetPlan.from_indices([np.sort(part) for part in parts], n_features)


def rounded_sizes(shares: FloatArray, n_features: int) -> IntArray:
    """Integers proportional to the shares that sum to M, each at least 1: largest remainder after one apiece.

    >>> rounded_sizes(np.array([0.5, 0.3, 0.2]), 8)
    array([4, 2, 2])
    """
    M, k = positive_integer("n_features", n_features, MOST_FEATURES), len(shares)
    if k > M:
        raise SubsetError(f"n_features={M} cannot serve n_members={k}: every member needs a feature; lower n_members")
    wanted = shares / shares.sum() * M
    sizes = np.maximum(np.floor(wanted).astype(np.int64), 1)
    while sizes.sum() > M:  # members lifted to one feature take it from the most over-served
        surplus = np.where(sizes > 1, sizes - wanted, -np.inf)
        sizes[int(np.argmax(surplus))] -= 1
    left = M - int(sizes.sum())
    sizes[np.argsort(sizes - wanted, kind="stable")[:left]] += 1
    return np.asarray(sizes)
