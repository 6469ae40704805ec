"""Misclassification by majority vote: exact on left-out rows at the pilot's size, taken to others by noise.

At the effective ridge of the wanted size, a member's score for a left-out row has the right mean over training sets but
the fluctuation of the pilot's size. The two differ by a Gaussian vector over members and classes with covariance

    Δ = Ê_(rc)(r′c′) (γ_rr′ - γ′_rr′)/(1 - γ′_rr′),        γ at n and γ′ at n′.

For n′ < n noise of covariance -Δ is added. For n′ > n there is too much of it: noise of covariance s Δ is added for
several s ≥ 0 and the share of wrong votes is continued along a line to s = -1 (simulation and extrapolation, Cook &
Stefanski 1994). On mixtures of Gaussians that is accurate, on deep features too high, where the share at n times the
quotient of squared errors at n′ and n does better, which the self-test has corrected. Their geometric mean is taken.
docs/forecasting.md has the figures.
"""

from typing import ClassVar

import numpy as np
from scipy.stats import norm

from subridge.arrays.types import Array, FloatArray
from subridge.forecasting.curve.curve import ForecastCurve
from subridge.forecasting.inputs.sample import Sample
from subridge.forecasting.matching import MatchedRidges
from subridge.forecasting.metrics.base import Estimate, Metric
from subridge.forecasting.pilot.left_out import left_out
from subridge.forecasting.pilot.pilot import Pilot
from subridge.forecasting.transfer.variance import split_variance
from subridge.model.aggregation import first_largest, most_votes, vote_counts

_DOSES = np.array([0.0, 0.5, 1.0, 1.5, 2.0])  # s
_DRAWS = 4000  # noisy rows per dose, at least


class Misclassification(Metric):
    """Share of wrong majority votes, in reach; a member has one vote whatever its weight.

    At n′ = n the share is the exact leave-one-out one. Its standard error is that of n independent rows, and half of
    what the two ways to continue it differ by.
    """

    name: ClassVar[str] = "misclassification"
    label: ClassVar[str] = "misclassified by majority vote"
    of_votes: ClassVar[bool] = True

    def applies_to(self, sample: Sample) -> bool:
        return sample.class_names is not None

    def forecast(self, sample: Sample, pilot: Pilot, curve: ForecastCurve, level: float) -> Estimate:
        share, standard_error = np.full((2, len(curve.wanted.sizes)), np.nan)
        reached = curve.wanted.in_reach
        if reached.any():
            fall = curve.fall[reached]
            share[reached], standard_error[reached] = _wrong_shares(
                pilot, curve.wanted[reached], fall, sample.rows.targets
            )
        width = norm.ppf(0.5 + level / 2) * standard_error
        return share, np.maximum(share - width, 0.0), np.minimum(share + width, 1.0)


def _wrong_shares(
    pilot: Pilot, wanted: MatchedRidges, fall: FloatArray, one_hot: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Share of wrong votes and its standard error at sizes in reach; each (T,), as the `fall` of squared errors is."""
    n, sizes, truth = pilot.n_samples, wanted.sizes, first_largest(one_hot)
    shares, spreads = np.empty((2, len(sizes)))
    for block in left_out(pilot, wanted.penalties):
        variance = split_variance(block, sizes[block.rows])
        surplus = (variance.gamma_pilot - variance.gamma_new) / np.maximum(1 - variance.gamma_new, 1e-12)
        for t, errors in enumerate(block.errors, start=block.rows.start):
            scores, direction = one_hot - errors, int(np.sign(sizes[t] - n))
            wrong = expected_wrong(scores, errors, truth, surplus[t - block.rows.start], direction)
            shares[t] = np.clip(wrong.mean(), 0.0, 1.0)
            spreads[t] = wrong.std() / np.sqrt(n - 1)
    proportional = np.minimum(_at_pilot(pilot, wanted.ridges, one_hot) * fall, 1.0)
    gap = np.where(sizes > n, 0.5 * np.abs(shares - proportional), 0.0)
    return np.where(sizes > n, np.sqrt(shares * proportional), shares), np.hypot(spreads, gap)


def _at_pilot(pilot: Pilot, ridges: FloatArray, one_hot: FloatArray) -> FloatArray:
    """Share of wrong votes at the pilot's own size; shape (T,)."""
    truth, shares = first_largest(one_hot), np.empty(len(ridges))
    for block in left_out(pilot, ridges * pilot.subset_sizes):
        shares[block.rows] = [is_wrong(one_hot - errors, truth).mean() for errors in block.errors]
    return shares


def expected_wrong(
    scores: FloatArray, errors: FloatArray, truth: Array, surplus: FloatArray, direction: int
) -> FloatArray:
    """Expected wrongness of every row's vote, which extrapolation may put outside of [0, 1]; shape (n,).

    Scores and errors (k, C, n) are those of left-out rows, `surplus` (k, k) is Δ/Ê, and `direction` says whether the
    wanted size is smaller than the pilot's (-1), the same (0) or larger (1).
    """
    plain = is_wrong(scores, truth)
    if direction == 0:
        return plain
    k, C, n = errors.shape
    flat = errors.reshape(k * C, n)
    covariance = (flat @ flat.T / n) * np.kron(surplus, np.ones((C, C)))
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2 * direction)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    doses = _DOSES if direction > 0 else np.array([0.0, 1.0])
    # The same noise for every size: a curve without the noise of its own making.
    rng, repeats = np.random.default_rng(0), -(-_DRAWS // n)
    shares = [plain]
    for dose in doses[1:]:
        total = np.zeros(n)
        for _ in range(repeats):
            noise = (root @ rng.standard_normal((k * C, n))).reshape(errors.shape)
            total += is_wrong(scores + np.sqrt(dose) * noise, truth)
        shares.append(total / repeats)
    if direction < 0:
        return shares[-1]
    # The value at s = -1 of the least-squares line, as weights on the doses.
    centred = doses - doses.mean()
    weights = 1 / len(doses) + (-1 - doses.mean()) * centred / (centred @ centred)
    return np.asarray(np.tensordot(weights, np.array(shares), axes=1))


def is_wrong(scores: FloatArray, truth: Array) -> FloatArray:
    """1 where the members' vote is wrong, from scores (k, C, n) and the numbers of true classes (n,); shape (n,)."""
    decided = most_votes(vote_counts(scores), scores.sum(axis=0))
    return np.asarray(decided != truth, dtype=np.float64)
