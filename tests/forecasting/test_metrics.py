import numpy as np
import pytest

import subridge as sr
from subridge.figures.drawing.forecast import plot_forecast
from subridge.forecasting import metrics
from subridge.forecasting.metrics import Metric


def explained_variance(sample, pilot, curve, level):
    """R²: the share of the labels' variance that is predicted."""
    variance = sample.rows.targets.var(axis=1).sum()
    lower, upper = curve.interval(level)
    return tuple(1 - error / variance for error in (curve.error, upper, lower))


@pytest.fixture
def one_more(monkeypatch):
    added = Metric("explained_variance", "explained variance", explained_variance)
    monkeypatch.setattr(metrics, "METRICS", (*metrics.METRICS, added))


def test_a_listed_metric_is_in_the_dataset_the_picture_and_the_advice(pilot_data, one_more):
    X, y = pilot_data
    curve = sr.forecast(X, y, [60, 240], {"one": sr.Ensemble(sr.subsets.Equal(1), 0.3)})
    expected = 1 - curve.prediction_error / y.var()
    np.testing.assert_allclose(curve.explained_variance, expected)
    assert (curve.explained_variance_lower < curve.explained_variance_upper).all()
    labels = [axes.get_ylabel() for axes in plot_forecast(curve).axes]
    assert labels == ["squared error on new labels", "explained variance"]
    table = sr.advise(X, y, 240, n_members=[2]).table
    np.testing.assert_allclose(table.explained_variance, 1 - table.prediction_error / y.var())


def test_votes_say_nothing_of_weighted_members():
    rng = np.random.default_rng(0)
    codes = rng.integers(2, size=80)
    X = rng.standard_normal((80, 12)) + codes[:, None]
    table = sr.advise(X, np.array(["no", "yes"])[codes], n_members=[2]).table
    for name in ("misclassification", "misclassification_lower", "misclassification_upper"):
        assert (np.isnan(table[name].values) == (table.aggregation.values != "mean")).all()
