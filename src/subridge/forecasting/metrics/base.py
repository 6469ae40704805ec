"""What every metric of a forecast offers."""

from abc import ABC, abstractmethod
from typing import ClassVar, TypeAlias

from subridge.arrays.types import FloatArray
from subridge.forecasting.curve.curve import ForecastCurve
from subridge.forecasting.inputs.sample import Sample
from subridge.forecasting.pilot.pilot import Pilot

# Values of a metric, lower and upper bounds, each of shape (S,); NaN where unknown.
Estimate: TypeAlias = tuple[FloatArray, FloatArray, FloatArray]


class Metric(ABC):
    """A number that is forecast for every ensemble and size.

    To add one, subclass this in a file of its own and list it in ``subridge.forecasting.metrics``: the dataset of a
    forecast, the table of advice, the printed table and the picture then have it. Bounds of the variable `name` are
    called ``<name>_lower`` and ``<name>_upper``; `label` is for axes of pictures; `of_votes` says that members vote,
    one vote each, so that advice leaves it out for members with weights.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    of_votes: ClassVar[bool] = False

    def applies_to(self, sample: Sample) -> bool:
        """Whether the metric has a meaning for these labels."""
        return True

    @abstractmethod
    def forecast(self, sample: Sample, pilot: Pilot, curve: ForecastCurve, level: float) -> Estimate:
        """The metric at the S sizes and ridges of a curve; `level` is the probability of the interval."""

    def variables(self, sample: Sample, pilot: Pilot, curve: ForecastCurve, level: float) -> dict[str, FloatArray]:
        """The forecast by the names of its variables."""
        names = (self.name, f"{self.name}_lower", f"{self.name}_upper")
        return dict(zip(names, self.forecast(sample, pilot, curve, level), strict=True))
