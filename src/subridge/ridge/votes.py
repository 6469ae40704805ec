"""Votes of a classifying ensemble (sec. LinClassPredictionSection): the tie rule and calibrated probabilities."""

from typing import Any

import array_api_compat
import numpy as np

from subridge.arrays.namespace import like
from subridge.arrays.types import FloatArray

Array = Any


def vote_counts(scores: Array) -> Array:
    """How many members give each class its largest score.

    Parameters
    ----------
    scores : array, shape (k, C, n)
        One score per member, class and sample. A member whose largest scores tie votes for the lowest class.

    Returns
    -------
    array, shape (C, n)

    Examples
    --------
    >>> import numpy as np
    >>> vote_counts(np.array([[[0.9], [0.1]], [[0.2], [0.8]], [[0.6], [0.4]]]))
    array([[2.],
           [1.]])
    """
    xp = array_api_compat.array_namespace(scores)
    votes = xp.argmax(scores, axis=1)  # (k, n)
    counts = [xp.astype(votes == c, scores.dtype).sum(axis=0) for c in range(scores.shape[1])]
    return xp.stack(counts)


def ranked_votes(scores: Array) -> Array:
    """Votes plus a fraction of a vote that orders ties by the summed scores.

    Parameters
    ----------
    scores : array, shape (k, C, n)

    Returns
    -------
    array, shape (C, n)
        Its largest entry is the ensemble's class: most votes; among equals the largest summed score; among equals the
        lowest class.

    Notes
    -----
    The fraction is ``s/(3(1+|s|))`` of the summed score s, between -1/3 and 1/3: it can never outvote a member.

    Examples
    --------
    >>> import numpy as np
    >>> ranked_votes(np.array([[[0.9], [0.0]], [[0.0], [0.6]]])).round(3)
    array([[1.158],
           [1.125]])
    """
    total = scores.sum(axis=0)
    return vote_counts(scores) + total / (3 * (1 + abs(total)))


def fit_temperature(decision: Array, labels: Array, weights: Array) -> float:
    """Inverse temperature β of ``softmax(β decision)`` that suits leave-one-out decisions best.

    Parameters
    ----------
    decision : array, shape (C, n)
        Decision values of left-out samples.
    labels : array, shape (C, n)
        One-hot.
    weights : array, shape (n,)

    Returns
    -------
    float
        The minimiser of the cross-entropy. Labels are smoothed by one pseudo-sample spread evenly over the classes (for
        two classes and β alone this is Platt's correction), so that β stays finite when no left-out sample is
        misclassified.

    Notes
    -----
    A temperature keeps the order of the classes, so the most probable class is the predicted one. The problem is
    convex in β; the root of its derivative is bracketed by doubling and then bisected.

    Examples
    --------
    >>> import numpy as np
    >>> decision = np.array([[1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    >>> labels = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
    >>> round(fit_temperature(decision, labels, np.ones(4)), 3)
    0.847
    """
    C, n = decision.shape
    smoothed = labels * (n / (n + 1)) + 1 / (C * (n + 1))
    observed = float((weights * (smoothed * decision).sum(axis=0)).sum())

    def slope(beta: float) -> float:
        return float((weights * (softmax(decision, beta) * decision).sum(axis=0)).sum()) - observed

    low, high = _LEAST_BETA, 1.0
    if slope(low) >= 0:  # the decisions say nothing, or less than nothing
        return low
    while slope(high) < 0 and high < 1e8:
        low, high = high, 2 * high
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    return 0.5 * (low + high)


# Positive, so that the most probable class remains the predicted one even where votes carry no information.
_LEAST_BETA = 1e-3


def softmax(decision: Array, beta: float) -> Array:
    """Probabilities over the first axis; shape (C, n).

    Examples
    --------
    >>> import numpy as np
    >>> softmax(np.array([[0.0], [np.log(3.0)]]), 1.0)
    array([[0.25],
           [0.75]])
    """
    xp = array_api_compat.array_namespace(decision)
    powers = xp.exp(beta * (decision - xp.max(decision, axis=0, keepdims=True)))
    return powers / powers.sum(axis=0)


def one_hot(codes: FloatArray, n_classes: int, example: Array | None = None) -> Array:
    """Labels in {0, 1}, shape (C, n), in the library of the example."""
    table = (np.arange(n_classes)[:, None] == np.asarray(codes)[None, :]).astype(np.float64)
    return table if example is None else like(table, example)
