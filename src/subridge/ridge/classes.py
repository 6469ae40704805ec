"""Classes: probabilities calibrated on left-out decisions, and votes of many ensembles counted at once."""

from collections.abc import Sequence

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.special import log_softmax

from subridge.arrays.namespace import add_at_first, count_at, device_of, is_tensor, namespace_of, to_numpy
from subridge.arrays.types import Array, FloatArray, IntArray
from subridge.model.aggregation import Aggregation, first_largest, most_votes

_LEAST_BETA = 1e-3  # positive, so that the most probable class is the predicted one even if votes are uninformative
_LEAST_SHARE = 1e-300  # of a probability, so that its logarithm is finite
_LARGEST_BETA = 1e8  # beyond this, probabilities are zero and one to the last digit


def fit_temperature(decision: Array, labels: Array, weights: Array) -> float:
    """Inverse temperature β of ``softmax(β decision)`` that minimises the cross-entropy of left-out decisions.

    Decision values and one-hot labels have shape (C, n), weights (n,). Labels are smoothed by one pseudo-sample spread
    evenly over the classes (for two classes and β alone this is Platt's correction), so that β stays finite if no
    left-out sample is misclassified. A temperature keeps the order of the classes. The problem is convex in β; the root
    of its derivative is bracketed by doubling.
    """
    C, n = decision.shape
    smoothed = labels * (n / (n + 1)) + 1 / (C * (n + 1))
    observed = float((weights * (smoothed * decision).sum(axis=0)).sum())

    def slope(beta: float) -> float:
        return float((weights * (softmax(decision, beta) * decision).sum(axis=0)).sum()) - observed

    low = _LEAST_BETA
    high = 1.0
    if slope(low) >= 0:  # the decisions are uninformative
        return low
    while slope(high) < 0:
        if high > _LARGEST_BETA:
            return high
        low = high
        high = 2 * high
    return float(brentq(slope, low, high, xtol=1e-14 * low))


def fit_bias(decision: Array, labels: Array, weights: Array, beta: float) -> tuple[float, FloatArray]:
    """Inverse temperature β and one bias b per class, shape (C,), of ``softmax(β (decision + b))``; starts from `beta`.

    With a bias per class, the problem of `fit_temperature` becomes a logistic regression with one slope, which is
    convex in β and β b. The bias corrects the ridge, which shrinks the scores of rare classes more than others.
    """
    values, y, w = (to_numpy(each) for each in (decision, labels, weights))
    C, n = values.shape
    smoothed = y * (n / (n + 1)) + 1 / (C * (n + 1))

    def loss(parameters: FloatArray) -> tuple[float, FloatArray]:
        logits = log_softmax(parameters[0] * values + parameters[1:, None], axis=0)
        residual = (np.exp(logits) - smoothed) * w
        slopes = np.append((residual * values).sum(), residual.sum(axis=1))
        return -(smoothed * logits * w).sum() / w.sum(), slopes / w.sum()

    bounds = [(_LEAST_BETA, _LARGEST_BETA)] + [(None, None)] * C
    found = minimize(loss, np.append(beta, np.zeros(C)), jac=True, method="L-BFGS-B", bounds=bounds).x
    return float(found[0]), (found[1:] - found[1:].mean()) / found[0]


def log_loss(decision: Array, beta: float, labels: Array, weights: Array) -> float:
    """Mean cross-entropy of ``softmax(β decision)``, with one-hot labels of shape (C, n) and weights (n,)."""
    own = to_numpy((softmax(decision, beta) * labels).sum(axis=0))
    return -float(np.average(np.log(np.maximum(own, _LEAST_SHARE)), weights=to_numpy(weights)))


def softmax(decision: Array, beta: float) -> Array:
    """Probabilities over the first axis; shape (C, n)."""
    xp = namespace_of(decision)
    powers = xp.exp(beta * (decision - xp.max(decision, axis=0, keepdims=True)))
    return powers / xp.sum(powers, axis=0)


class Tally:
    """Votes of B ensembles, filled member by member, at several readout noises η at once.

    Scores are linear in the noise: ``s + η d``, with s the score of the noise-free member and d the change by unit
    noise. `shape` is (B, n_sizes, n_classes, n_test), and `example` has the library, dtype and device of the scores.
    If the aggregation does not count votes, the largest sum of scores wins.
    """

    def __init__(
        self, noises: Sequence[float], shape: tuple[int, int, int, int], example: Array, aggregation: Aggregation
    ) -> None:
        xp = namespace_of(example)
        place = device_of(example)
        self.noises = [float(eta) for eta in noises]
        self._quiet = xp.zeros(shape, dtype=example.dtype, device=place)
        self._noisy = xp.zeros_like(self._quiet) if any(self.noises) else None
        n_votes = aggregation.counts_votes * len(noises)
        self._votes = [xp.zeros(shape, dtype=xp.int32, device=place) for _ in range(n_votes)]

    def add(self, ensembles: IntArray, quiet: Array, noisy: Array | None = None) -> None:
        """Count the votes of G members; `ensembles`, shape (G,), has the number of each member's ensemble.

        Scores s and d have shape (G, n_sizes, n_classes, n_test); without noise d is not needed.
        """
        add_at_first(self._quiet, ensembles, quiet)
        if self._noisy is not None and noisy is not None:
            add_at_first(self._noisy, ensembles, noisy)
        for votes, eta in zip(self._votes, self.noises, strict=False):
            count_at(votes, ensembles, first_largest(_at_noise(eta, quiet, noisy)))

    def decide(self, case: int) -> Array:
        """The class that every ensemble predicts at one noise, shape (B, n_sizes, n_test)."""
        sums = _at_noise(self.noises[case], self._quiet, self._noisy)
        return most_votes(self._votes[case], sums) if self._votes else first_largest(sums)


def _at_noise(eta: float, quiet: Array, noisy: Array | None) -> Array:
    if noisy is None or not eta:
        return quiet
    return quiet.add(noisy, alpha=eta) if is_tensor(quiet) else quiet + eta * noisy  # in one pass on a GPU
