"""The tie rule of votes, the same in every library and on every device.

A member votes for its largest score, the lowest class where two are equal. The ensemble takes the class with most
votes; among classes with equally many votes the largest sum of all members' scores decides, then the lowest class.
"""

import numpy as np

from subridge.arrays.namespace import device_of, is_numpy, namespace_of
from subridge.arrays.types import Array


def first_largest(scores: Array) -> Array:
    """The lowest class with the largest score; shape (..., n_classes, n) to (..., n).

    Not the library's argmax, which promises no order among equal entries on a GPU.
    """
    if is_numpy(scores):
        return np.asarray(scores.argmax(axis=-2))
    xp = namespace_of(scores)
    largest = scores[..., 0, :]
    winner = xp.zeros(largest.shape, dtype=xp.int32, device=device_of(scores))
    for c in range(1, scores.shape[-2]):
        better = scores[..., c, :] > largest
        largest = xp.where(better, scores[..., c, :], largest)
        winner = xp.where(better, xp.full_like(winner, c), winner)
    return winner


def most_votes(votes: Array, sums: Array) -> Array:
    """The class that votes decide, ties by summed scores; shapes (..., n_classes, n) to (..., n)."""
    xp = namespace_of(sums)
    leading = votes == xp.max(votes, axis=-2, keepdims=True)
    lowest = xp.asarray(-np.inf, dtype=sums.dtype, device=device_of(sums))
    return first_largest(xp.where(leading, sums, lowest))


def vote_counts(scores: Array) -> Array:
    """How many members vote for each class; scores of shape (k, n_classes, n) to (n_classes, n)."""
    xp = namespace_of(scores)
    votes = first_largest(scores)
    return xp.stack([xp.sum(xp.astype(votes == c, scores.dtype), axis=0) for c in range(scores.shape[1])])


def misclassified_share(decided: Array, targets: Array, sample_weights: Array) -> float:
    """Share of samples whose class is not the largest target; one-hot targets of shape (n_classes, n)."""
    wrong = decided != first_largest(targets)
    share = float((sample_weights * wrong).sum() / sample_weights.sum())
    return float(np.round(share, 12))  # equal counts must compare equal whatever the order of summation
