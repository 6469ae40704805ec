"""What is forecast: the metrics, in the order of their appearance. To add one, see `Metric`."""

from subridge.forecasting.inputs.sample import Sample
from subridge.forecasting.metrics.base import Metric
from subridge.forecasting.metrics.misclassification import Misclassification
from subridge.forecasting.metrics.prediction_error import PredictionError

METRICS: tuple[Metric, ...] = (PredictionError(), Misclassification())


def metrics_of(sample: Sample) -> list[Metric]:
    """The metrics that have a meaning for a sample."""
    return [metric for metric in METRICS if metric.applies_to(sample)]
