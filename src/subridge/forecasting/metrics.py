"""What is forecast. A metric is a function here, listed in `METRICS` with its name."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.stats import t as student

from subridge.arrays.types import BoolArray, FloatArray
from subridge.forecasting.pilot import Pilot, Sample
from subridge.forecasting.rule import RULE, Curve, variance_gain
from subridge.model.aggregation import first_largest, most_votes, vote_counts

EPS = float(np.finfo(np.float64).eps)

# Values of a metric, lower and upper bounds, each of shape (S,); NaN where unknown.
Estimate: TypeAlias = tuple[FloatArray, FloatArray, FloatArray]


class Metric(NamedTuple):
    """A number that is forecast for every ensemble and size.

    To add one, write a function here and list it in `METRICS`: the dataset of a forecast, the table of advice, the
    printed table and the picture then have it. Bounds of the variable `name` are called ``<name>_lower`` and
    ``<name>_upper``; `label` is for axes of pictures; `of_votes` says that it is for classes only and that members have
    one vote each, so that advice leaves it out for fitted weights.
    """

    name: str
    label: str
    forecast: Callable[[Sample, Pilot, Curve, float], Estimate]  # at the sizes of a curve, with intervals of a level
    of_votes: bool = False

    def variables(self, sample: Sample, pilot: Pilot, curve: Curve, level: float) -> dict[str, FloatArray]:
        """The forecast by the names of its variables."""
        names = (self.name, f"{self.name}_lower", f"{self.name}_upper")
        return dict(zip(names, self.forecast(sample, pilot, curve, level), strict=True))


def prediction_error(sample: Sample, pilot: Pilot, curve: Curve, level: float) -> Estimate:
    """E_g + ζ², summed over targets."""
    return curve.error, *curve.interval(level)


def misclassification(sample: Sample, pilot: Pilot, curve: Curve, level: float) -> Estimate:
    """Share of wrong majority votes, in reach; a member has one vote whatever its weight.

    At n′ = n it is the exact left-out share. At another size there are two limits: that share times the quotient of the
    squared errors at n′ and n, and the share if scores are Gaussian within classes, see `moved_errors`. The forecast is
    their middle. Half of the change counts as unsure, beside the standard error of independent rows, or groups.

    The first limit is too high on Gaussian classes (nine simulated tables: mean error 100 %, the middle 64 %), the
    second too low on most real tables. On 29 tables of the tournament the middle lowers the mean error by 12 %.
    """
    n, G, one_hot = pilot.rows.n_samples, pilot.rows.n_units, sample.rows.targets
    truth = first_largest(one_hot)
    present, deviation = np.empty((2, len(curve.sizes)))

    def wrong(errors: FloatArray) -> BoolArray:
        scores = one_hot - errors
        return np.asarray(most_votes(vote_counts(scores), scores.sum(axis=0)) != truth)

    for block in pilot.left_out(pilot.penalties(curve.ridges)):
        for t, errors in enumerate(block.errors, start=block.rows.start):
            found = wrong(errors)
            present[t] = found.mean()
            # Groups differ in size, so that the share is a ratio of sums over groups.
            deviation[t] = pilot.rows.unit_sums(found - present[t]).std() * G / n / np.sqrt(G - 1)
    first = np.minimum(present * curve.fall, 1.0)
    second, moves = first.copy(), (curve.sizes != n) & np.isfinite(curve.error) & (curve.after < 1).all(axis=(1, 2))
    for block in pilot.left_out(curve.penalties):
        for t, errors in enumerate(block.errors, start=block.rows.start):
            if moves[t]:
                draws = moved_errors(errors, one_hot, curve.before[t], curve.after[t])
                second[t] = np.mean([wrong(each) for each in draws])
    share = np.where(np.isfinite(curve.error), 0.5 * (first + second), np.nan)
    ratio = np.divide(share, present, out=np.ones(len(share)), where=present > 0)
    width = student.ppf(0.5 + level / 2, G - 1) * np.hypot(deviation * ratio, 0.5 * (share - present))
    ratios = [np.maximum(share + end, 0.0) / np.maximum(share, 1e-12) for end in (-width, width)]
    lower, upper = (share * ratio**RULE.interval_stretch for ratio in ratios)
    return share, lower, np.minimum(upper, 1.0)


def moved_errors(errors: FloatArray, one_hot: FloatArray, before: FloatArray, after: FloatArray) -> list[FloatArray]:
    """Left-out errors (k, C, n) as they may be at another size and the same effective ridge, several draws of them.

    Let E be the mean products of the members' errors and V those of their differences from the mean of a class. Of V
    the part N = γ E is fluctuation over training sets (Prop. 1), and at the other size N′ = γ′ E′ takes its place. If
    both parts are Gaussian, the difference d of a row becomes ``A d`` with noise of covariance ``A N + N′``, where
    A = (V - N) V⁻¹. The noise is made of the differences of other rows.
    """
    (C, n), rng = one_hot.shape, np.random.default_rng(0)  # the same for every size, so that curves are smooth
    means = errors @ one_hot.T / np.maximum(one_hot.sum(axis=1), 1.0) @ one_hot
    rest = errors - means
    E, V = (np.tensordot(each, each, ((1, 2), (1, 2))) / m for each, m in ((errors, n), (rest, max(n - C, 1))))
    N, later = before * E, after * E * (1 - before) * variance_gain(after)
    values, vectors = np.linalg.eigh(V)
    kept = values > len(V) * EPS * values[-1]  # members may duplicate each other
    whiten = vectors * np.where(kept, 1 / np.sqrt(np.where(kept, values, 1.0)), 0.0) @ vectors.T
    A = (V - N) @ whiten @ whiten
    values, vectors = np.linalg.eigh((A @ N + N @ A.T) / 2 + later)
    noise = np.tensordot(vectors * np.sqrt(np.maximum(values, 0.0)) @ vectors.T @ whiten, rest, 1)
    means = means + np.tensordot(A, rest, 1)
    return [means + noise[:, :, rng.permutation(n)] for _ in range(-(-RULE.noisy_rows // n))]


METRICS = (
    Metric("prediction_error", "squared error on new labels", prediction_error),
    Metric("misclassification", "misclassified by majority vote", misclassification, of_votes=True),
)


def metrics_of(sample: Sample) -> list[Metric]:
    """The metrics that have a meaning for a sample."""
    return [metric for metric in METRICS if sample.class_names is not None or not metric.of_votes]
