"""What is forecast. A metric is a function here, listed in `METRICS` with its name."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.stats import t as student

from subridge.arrays.types import FloatArray
from subridge.forecasting.pilot import Pilot, Sample
from subridge.forecasting.rule import RULE, Curve
from subridge.model.aggregation import first_largest, most_votes, vote_counts

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

    At n′ = n it is the exact left-out share. At another size it is that share times the quotient of the squared errors
    at n′ and n. Votes need not change as squared errors do: half of the change counts as unsure, beside the standard
    error of independent rows, or groups.
    """
    n, G, one_hot = pilot.rows.n_samples, pilot.rows.n_units, sample.rows.targets
    truth = first_largest(one_hot)
    present, deviation = np.empty((2, len(curve.sizes)))
    for block in pilot.left_out(pilot.penalties(curve.ridges)):
        for t, scores in enumerate(one_hot - block.errors, start=block.rows.start):
            wrong = most_votes(vote_counts(scores), scores.sum(axis=0)) != truth
            present[t] = wrong.mean()
            # Groups differ in size, so that the share is a ratio of sums over groups.
            deviation[t] = pilot.rows.unit_sums(wrong - present[t]).std() * G / n / np.sqrt(G - 1)
    share = np.where(np.isfinite(curve.error), np.minimum(present * curve.fall, 1.0), np.nan)
    width = student.ppf(0.5 + level / 2, G - 1) * np.hypot(deviation * curve.fall, 0.5 * (share - present))
    ratios = [np.maximum(share + end, 0.0) / np.maximum(share, 1e-12) for end in (-width, width)]
    lower, upper = (share * ratio**RULE.interval_stretch for ratio in ratios)
    return share, lower, np.minimum(upper, 1.0)


METRICS = (
    Metric("prediction_error", "squared error on new labels", prediction_error),
    Metric("misclassification", "misclassified by majority vote", misclassification, of_votes=True),
)


def metrics_of(sample: Sample) -> list[Metric]:
    """The metrics that have a meaning for a sample."""
    return [metric for metric in METRICS if sample.class_names is not None or not metric.of_votes]
