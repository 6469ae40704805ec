import numpy as np
import pytest
from matplotlib.ticker import PercentFormatter

import subridge as sr
from subridge.explorer.reports import report_of
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
    added = Metric("explained_variance", "explained variance", "explained", explained_variance)
    monkeypatch.setattr(metrics, "METRICS", (*metrics.METRICS, added))


def test_a_listed_metric_is_in_the_dataset_the_picture_and_the_advice(pilot_data, one_more):
    X, y = pilot_data
    curve = sr.forecast(X, y, [60, 240], {"one": sr.Ensemble(sr.subsets.Equal(1), 0.3)})
    expected = 1 - curve.prediction_error / y.var()
    np.testing.assert_allclose(curve.explained_variance, expected)
    assert (curve.explained_variance_lower < curve.explained_variance_upper).all()
    drawn = plot_forecast(curve).axes
    assert [axes.get_ylabel() for axes in drawn] == ["squared error on new labels", "explained variance"]
    assert not any(isinstance(axes.yaxis.get_major_formatter(), PercentFormatter) for axes in drawn)
    table = sr.advise(X, y, 240, n_members=[2]).table
    printed = report_of(table.assign(reasons=("sentence", []))).table["explained"]
    assert printed[0] == f"{float(table.explained_variance[0]):.3g}"
    np.testing.assert_allclose(table.explained_variance, 1 - table.prediction_error / y.var())


def test_votes_say_nothing_of_weighted_members():
    rng = np.random.default_rng(0)
    codes = rng.integers(2, size=80)
    X = rng.standard_normal((80, 12)) + codes[:, None]
    table = sr.advise(X, np.array(["no", "yes"])[codes], n_members=[2]).table
    assert report_of(table.assign(reasons=("sentence", []))).table["wrong"][0].endswith("%")
    for name in ("misclassification", "misclassification_lower", "misclassification_upper"):
        assert (np.isnan(table[name].values) == (table.aggregation.values != "mean")).all()


def test_moved_errors_have_the_mean_products_of_the_other_size():
    rng = np.random.default_rng(0)
    one_hot = np.eye(3)[rng.integers(0, 3, 2000)].T
    errors = (
        one_hot * [[0.3], [0.4], [0.2]] + rng.standard_normal((2, 1, 2000)) * 0.2 + rng.normal(0, 0.2, (2, 3, 2000))
    )
    before, after = np.array([[0.5, 0.3], [0.3, 0.4]]), np.array([[0.1, 0.05], [0.05, 0.1]])
    moved = metrics.moved_errors(errors, one_hot, before, after)
    found = np.tensordot(moved, moved, ((1, 2), (1, 2)))
    expected = np.tensordot(errors, errors, ((1, 2), (1, 2))) * (1 - before) / (1 - after)
    np.testing.assert_allclose(found, expected, rtol=0.005)
    np.testing.assert_allclose(metrics.moved_errors(errors, one_hot, before, before), errors, atol=1e-12)


def test_wrong_votes_are_unsure_only_where_their_limits_differ(monkeypatch):
    rng = np.random.default_rng(0)
    codes = rng.integers(3, size=150)
    X, y = np.eye(3, 30)[codes] + rng.standard_normal((150, 30)), np.array(["ant", "bee", "cat"])[codes]

    def ask(second):
        def moved(errors, one_hot, before, after):  # so many votes are wrong
            return 2 * one_hot * np.ones_like(errors) * (np.arange(len(X)) < second * len(X))

        monkeypatch.setattr(metrics, "moved_errors", moved)
        found = sr.forecast(X, y, [150, 600], {"one": sr.Ensemble(sr.subsets.Equal(1), 0.5)}).isel(ensemble=0)
        factors = found.misclassification_upper / found.misclassification_lower
        first = found.misclassification[0] * found.prediction_error[1] / found.prediction_error[0]
        return float(first), *factors.values

    first, *_ = ask(0.5)
    _, now, later = ask(first)
    assert later == pytest.approx(now, rel=0.02)  # more rows are as sure as these where both limits agree
    assert ask(0.5 * first)[2] > 1.1 * now
