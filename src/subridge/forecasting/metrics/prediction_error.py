"""The expected squared error on new noisy labels."""

from typing import ClassVar

from subridge.forecasting.curve.curve import ForecastCurve
from subridge.forecasting.inputs.sample import Sample
from subridge.forecasting.metrics.base import Estimate, Metric
from subridge.forecasting.pilot.pilot import Pilot


class PredictionError(Metric):
    """E_g + ζ², summed over targets: what a curve is chosen by."""

    name: ClassVar[str] = "prediction_error"
    label: ClassVar[str] = "squared error on new labels"

    def forecast(self, sample: Sample, pilot: Pilot, curve: ForecastCurve, level: float) -> Estimate:
        return curve.prediction_error, *curve.interval(level)
