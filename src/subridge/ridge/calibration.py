"""Probabilities of classes, calibrated on the decisions of left-out samples."""

from scipy.optimize import brentq

from subridge.arrays.namespace import namespace_of
from subridge.arrays.types import Array

# Positive, so that the most probable class remains the predicted one even where votes carry no information.
_LEAST_BETA = 1e-3
# Beyond this, probabilities are zero and one to the last digit.
_LARGEST_BETA = 1e8


def fit_temperature(decision: Array, labels: Array, weights: Array) -> float:
    """Inverse temperature β of ``softmax(β decision)`` that minimises the cross-entropy of leave-one-out decisions.

    Decision values and one-hot labels have shape (C, n), weights (n,). Labels are smoothed by one pseudo-sample spread
    evenly over the classes (for two classes and β alone this is Platt's correction), so that β stays finite when no
    left-out sample is misclassified. A temperature keeps the order of the classes, so the most probable class is the
    predicted one. The problem is convex in β; the root of its derivative is bracketed by doubling.
    """
    C, n = decision.shape
    smoothed = labels * (n / (n + 1)) + 1 / (C * (n + 1))
    observed = float((weights * (smoothed * decision).sum(axis=0)).sum())

    def slope(beta: float) -> float:
        return float((weights * (softmax(decision, beta) * decision).sum(axis=0)).sum()) - observed

    low, high = _LEAST_BETA, 1.0
    if slope(low) >= 0:  # the decisions say nothing, or less than nothing
        return low
    while slope(high) < 0:
        if high > _LARGEST_BETA:
            return high
        low, high = high, 2 * high
    return float(brentq(slope, low, high, xtol=1e-14 * low))


def softmax(decision: Array, beta: float) -> Array:
    """Probabilities over the first axis; shape (C, n)."""
    xp = namespace_of(decision)
    powers = xp.exp(beta * (decision - xp.max(decision, axis=0, keepdims=True)))
    return powers / xp.sum(powers, axis=0)
