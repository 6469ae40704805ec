"""The errors that are forecast. A metric is a function of this file, listed in `METRICS` with its name."""

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias

import numpy as np

from subridge.arrays.types import BoolArray, FloatArray
from subridge.forecasting.pilot import Pilot, Sample
from subridge.forecasting.rule import RECTANGLE, Curve, parts_of_units, spread_of_means, variance_gain
from subridge.model.aggregation import EPS, first_largest, most_votes, vote_counts

# Values of a metric, lower and upper bounds, each of shape (S,); NaN where unknown.
Estimate: TypeAlias = tuple[FloatArray, FloatArray, FloatArray]
ENDS = ("", "_lower", "_upper")  # endings of the names of these values


class Metric(NamedTuple):
    """A number that is forecast for every ensemble and size.

    To add one, write a function in this file and list it in `METRICS`: the datasets of forecasts and of advice,
    their tables and pages, and pictures of forecasts then include it. Bounds of the variable `name` are called
    ``<name>_lower`` and ``<name>_upper``; `label` is for axes of pictures, `heading` for narrow columns. A share is
    shown in percent. A metric `of_votes` is only for classes, and gives every member one vote, so advice leaves it
    out for fitted weights.
    """

    name: str
    label: str
    heading: str
    forecast: Callable[[Sample, Pilot, Curve, float], Estimate]  # at the sizes of a curve, with intervals of a level
    is_share: bool = False
    of_votes: bool = False

    @property
    def attributes(self) -> dict[str, str]:
        """Attributes of its variable in a dataset."""
        return {"long_name": self.label, "short_name": self.heading, "units": "share" if self.is_share else ""}


def prediction_error(sample: Sample, pilot: Pilot, curve: Curve, level: float) -> Estimate:
    """E_g + ζ², summed over targets."""
    return curve.error, *curve.interval(level)


def misclassification(sample: Sample, pilot: Pilot, curve: Curve, level: float) -> Estimate:
    """Share of wrong majority votes, in reach; a member has one vote whatever its weight.

    At n′ = n it is the exact left-out share. At another size there are two limits: that share times the ratio of the
    squared errors at n′ and n, and the share if scores are Gaussian within classes, see `moved_errors`. The forecast is
    the middle of the two. The standard error combines that of independent rows, or groups, with the standard deviation
    of a rectangular distribution between the limits. Bounds follow from it as for a squared error.

    The first limit is too high on Gaussian classes (nine simulated tables: mean error 100 %, the middle 64 %), the
    second too low on most real tables. On 29 tables of the tournament the middle lowers the mean error by 16 %.
    """
    rows = pilot.rows
    one_hot = sample.rows.targets
    truth = first_largest(one_hot)

    def wrong(errors: FloatArray) -> BoolArray:
        scores = one_hot - errors
        return np.asarray(most_votes(vote_counts(scores), scores.sum(axis=0)) != truth)

    blocks = pilot.left_out(pilot.penalties(curve.ridges))
    found = np.array([wrong(errors) for block in blocks for errors in block.errors])
    present = found.mean(axis=1)
    first = np.minimum(present * curve.fall, 1.0)
    second = first.copy()
    moves = (curve.sizes != rows.n_samples) & (curve.after < 1).all(axis=(1, 2)) & np.isfinite(curve.error)
    for block in pilot.left_out(curve.penalties):
        for t, errors in zip(block.places, block.errors, strict=True):
            if moves[t]:
                second[t] = wrong(moved_errors(errors, one_hot, curve.before[t], curve.after[t])).mean()
    share = np.where(np.isfinite(curve.error), 0.5 * (first + second), np.nan)
    spread, freedom, skewness = spread_of_means(parts_of_units(rows, found), np.full(len(share), rows.n_units))
    spread *= np.divide(share, present, out=np.ones(len(share)), where=present > 0)
    deviation = np.hypot(spread, 0.5 * (first - second) / RECTANGLE)
    votes = curve._replace(error=share, standard_error=deviation, freedom=freedom, skewness=skewness)
    lower, upper = votes.interval(level)
    return share, lower, np.minimum(upper, 1.0)


def moved_errors(errors: FloatArray, one_hot: FloatArray, before: FloatArray, after: FloatArray) -> FloatArray:
    """Left-out errors (k, C, n), changed to what they may be at another size and the same effective ridge.

    Let E be the mean products of the members' errors and V those of their differences from the mean of a class. The
    part γ E of V is variance over training sets (Prop. 1), which is γ′ E′ at the other size. A linear map
    changes the differences so that they have these products. If they are Gaussian, nothing else changes.
    """
    C, n = one_hot.shape
    means = errors @ one_hot.T / np.maximum(one_hot.sum(axis=1), 1.0) @ one_hot
    rest = errors - means
    E, V = (np.tensordot(each, each, ((1, 2), (1, 2))) / m for each, m in ((errors, n), (rest, max(n - C, 1))))
    moved = V + E * (after * (1 - before) * variance_gain(after) - before)
    return np.asarray(means + np.tensordot(_power(moved, 0.5) @ _power(V, -0.5), rest, 1))


def _power(matrix: FloatArray, exponent: float) -> FloatArray:
    """A power of a symmetric matrix, shape (k, k), in the directions in which it is positive."""
    values, vectors = np.linalg.eigh(matrix)
    kept = values > len(matrix) * EPS * values[-1]  # members may duplicate each other
    return np.asarray(vectors[:, kept] * values[kept] ** exponent @ vectors[:, kept].T)


METRICS = (
    Metric("prediction_error", "squared error on new labels", "squared error", prediction_error),
    Metric(
        "misclassification", "misclassified by majority vote", "wrong", misclassification, is_share=True, of_votes=True
    ),
)


def metrics_of(sample: Sample) -> list[Metric]:
    """The metrics that apply to a sample."""
    return [metric for metric in METRICS if sample.class_names is not None or not metric.of_votes]


def forecast_metrics(
    metrics: Iterable[Metric], sample: Sample, pilot: Pilot, curve: Curve, level: float
) -> dict[str, FloatArray]:
    """The forecasts of metrics and their bounds, by the names of the variables."""
    return {
        metric.name + end: values
        for metric in metrics
        for end, values in zip(ENDS, metric.forecast(sample, pilot, curve, level), strict=True)
    }
