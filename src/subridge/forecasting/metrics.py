"""What is forecast. A metric is a class here, listed in `METRICS`."""

from abc import ABC, abstractmethod
from typing import ClassVar, TypeAlias

import numpy as np
from scipy.stats import t as student

from subridge.arrays.types import Array, FloatArray
from subridge.forecasting.pilot import Pilot, Sample
from subridge.forecasting.rule import RULE, Curve
from subridge.model.aggregation import first_largest, most_votes, vote_counts

# Values of a metric, lower and upper bounds, each of shape (S,); NaN where unknown.
Estimate: TypeAlias = tuple[FloatArray, FloatArray, FloatArray]


class Metric(ABC):
    """A number that is forecast for every ensemble and size.

    To add one, write a subclass here and list it in `METRICS`: the dataset of a forecast, the table of advice, the
    printed table and the picture then have it. Bounds of the variable `name` are called ``<name>_lower`` and
    ``<name>_upper``; `label` is for axes of pictures; `of_votes` says that it is for classes only and that members have
    one vote each, so that advice leaves it out for fitted weights.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    of_votes: ClassVar[bool] = False

    @abstractmethod
    def forecast(self, sample: Sample, pilot: Pilot, curve: Curve, level: float) -> Estimate:
        """The metric at the S sizes and ridges of a curve; `level` is the probability of the interval."""

    def variables(self, sample: Sample, pilot: Pilot, curve: Curve, level: float) -> dict[str, FloatArray]:
        """The forecast by the names of its variables."""
        names = (self.name, f"{self.name}_lower", f"{self.name}_upper")
        return dict(zip(names, self.forecast(sample, pilot, curve, level), strict=True))


class PredictionError(Metric):
    """E_g + ζ², summed over targets."""

    name = "prediction_error"
    label = "squared error on new labels"

    def forecast(self, sample: Sample, pilot: Pilot, curve: Curve, level: float) -> Estimate:
        return curve.error, *curve.interval(level)


class Misclassification(Metric):
    """Share of wrong majority votes, in reach; a member has one vote whatever its weight.

    At n′ = n it is the exact left-out share. At the effective ridge of another size, a member's score for a left-out
    row has the right mean over training sets but the fluctuation of the pilot's size. The two differ by a Gaussian
    vector over members and classes with covariance

        Δ = E_(rc)(r′c′) (γ_rr′ - γ′_rr′)/(1 - γ′_rr′),        γ at n and γ′ at n′.

    For n′ < n noise of covariance -Δ is added. For n′ > n, noise of covariance s Δ is added for several s ≥ 0 and the
    share is extrapolated along a line to s = -1 (SIMEX, Cook & Stefanski 1994). That is accurate for mixtures of
    Gaussians and too high for deep features, where the share at n times the quotient of squared errors is accurate:
    the geometric mean of both is taken. The standard error is that of independent rows, or groups, and half of the
    difference between the two.

    A rule without SIMEX, by the quotient alone, had a mean error of 15.2 % over twenty tables with classes, one with it
    13.5 %. The two also differed in the ridges that they offer, so that the gain of SIMEX alone is not known.
    """

    name = "misclassification"
    label = "misclassified by majority vote"
    of_votes = True

    def forecast(self, sample: Sample, pilot: Pilot, curve: Curve, level: float) -> Estimate:
        n, one_hot, sizes = pilot.rows.n_samples, sample.rows.targets, curve.sizes
        truth, in_groups, G = first_largest(one_hot), pilot.group_sums(np.ones(n)), pilot.n_groups
        share, deviation, own = np.empty((3, len(sizes)))
        for block in pilot.left_out(curve.penalties):
            for t, errors in enumerate(block.errors, start=block.rows.start):
                wrong = _expected_wrong(one_hot - errors, errors, truth, curve.surplus[t], int(np.sign(sizes[t] - n)))
                share[t] = np.clip(wrong.mean(), 0.0, 1.0)
                # Groups differ in size, so that the share is a ratio of sums over groups.
                deviation[t] = (pilot.group_sums(wrong) - wrong.mean() * in_groups).std() * G / n / np.sqrt(G - 1)
        for block in pilot.left_out(pilot.penalties(curve.ridges)):
            own[block.rows] = [_is_wrong(one_hot - errors, truth).mean() for errors in block.errors]
        proportional = np.where(sizes > n, np.minimum(own * curve.fall, 1.0), share)
        share, doubt = joined(share, proportional)
        deviation = np.hypot(deviation, doubt)
        share = np.where(np.isfinite(curve.error), share, np.nan)
        width = student.ppf(0.5 + level / 2, G - 1) * deviation
        ratios = [np.maximum(share + end, 0.0) / np.maximum(share, 1e-12) for end in (-width, width)]
        lower, upper = (share * ratio**RULE.interval_stretch for ratio in ratios)
        return share, lower, np.minimum(upper, 1.0)


METRICS: tuple[Metric, ...] = (PredictionError(), Misclassification())


def metrics_of(sample: Sample) -> list[Metric]:
    """The metrics that have a meaning for a sample."""
    return [metric for metric in METRICS if sample.class_names is not None or not metric.of_votes]


def joined(extrapolated: FloatArray, proportional: FloatArray) -> tuple[FloatArray, FloatArray]:
    """One share of wrong votes from two estimates of it, and the doubt that their difference gives cause for."""
    return np.sqrt(extrapolated * proportional), 0.5 * np.abs(extrapolated - proportional)


def _expected_wrong(
    scores: FloatArray, errors: FloatArray, truth: Array, surplus: FloatArray, direction: int
) -> FloatArray:
    """Expected wrongness of every row's vote, which extrapolation may put outside of [0, 1]; shape (n,).

    Scores and errors (k, C, n) are those of left-out rows, `surplus` (k, k) is Δ/E, and `direction` says whether the
    wanted size is smaller than the pilot's (-1), the same (0) or larger (1).
    """
    plain = _is_wrong(scores, truth)
    if direction == 0:
        return plain
    k, C, n = errors.shape
    flat = errors.reshape(k * C, n)
    covariance = (flat @ flat.T / n) * np.kron(surplus, np.ones((C, C)))
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2 * direction)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    doses = np.array([0.0, 0.5, 1.0, 1.5, 2.0]) if direction > 0 else np.array([0.0, 1.0])
    # The same noise for every size, so that curves are smooth.
    rng, repeats, shares = np.random.default_rng(0), -(-RULE.simulated_rows // n), [plain]
    for dose in doses[1:]:
        noise = (np.sqrt(dose) * (root @ rng.standard_normal((k * C, n))).reshape(errors.shape) for _ in range(repeats))
        shares.append(sum((_is_wrong(scores + each, truth) for each in noise), np.zeros(n)) / repeats)
    if direction < 0:
        return shares[-1]
    centred = doses - doses.mean()
    line = 1 / len(doses) + (-1 - doses.mean()) * centred / (centred @ centred)  # the least-squares line at s = -1
    return np.asarray(np.tensordot(line, np.array(shares), axes=1))


def _is_wrong(scores: FloatArray, truth: Array) -> FloatArray:
    """1 where the members' vote is wrong, from scores (k, C, n) and the numbers of true classes (n,); shape (n,)."""
    decided = most_votes(vote_counts(scores), scores.sum(axis=0))
    return np.asarray(decided != truth, dtype=np.float64)
