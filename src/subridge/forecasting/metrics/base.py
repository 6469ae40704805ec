"""What every metric of a forecast offers."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from subridge.arrays.types import FloatArray
from subridge.forecasting.curve.curve import ForecastCurve
from subridge.forecasting.inputs.sample import Sample
from subridge.forecasting.pilot.pilot import Pilot


@dataclass(frozen=True, eq=False)
class Estimate:
    """A metric at S sizes with the bounds of its interval, NaN where it is unknown; each array of shape (S,)."""

    value: FloatArray
    lower: FloatArray
    upper: FloatArray

    def variables(self, name: str) -> dict[str, FloatArray]:
        """The three under the names of their variables."""
        return {name: self.value, f"{name}_lower": self.lower, f"{name}_upper": self.upper}


class Metric(ABC):
    """A number that is forecast for every ensemble and size.

    To add one, subclass this in a file of its own and list it in ``subridge.forecasting.metrics.registry``. The dataset
    of a forecast, the table of advice and the picture then have it.

    Attributes
    ----------
    name : str
        Of the variable; its bounds are called ``<name>_lower`` and ``<name>_upper``.
    label : str
        For axes of pictures.
    of_votes : bool
        Whether members vote, one vote each, so that it says nothing of members with weights.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    of_votes: ClassVar[bool] = False

    def applies_to(self, sample: Sample) -> bool:
        """Whether the metric has a meaning for these labels."""
        return True

    @abstractmethod
    def forecast(self, sample: Sample, pilot: Pilot, curve: ForecastCurve, level: float) -> Estimate:
        """The metric at the sizes and ridges of a curve; `level` is the probability of the interval."""
