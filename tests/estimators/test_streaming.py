"""partial_fit: moments in bounded memory, and a clear refusal of whatever needs the rows."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

import subridge as sr
from subridge.ridge.moments import BATCHES


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 20)) @ rng.standard_normal((20, 20)) + 3.0
    return X, X[:, :5].sum(axis=1) + 2 * rng.standard_normal(600)


def stream(model, X, y, *, size=70, **first):
    for start in range(0, X.shape[0], size):
        model.partial_fit(X[start : start + size], y[start : start + size], **(first if start == 0 else {}))
    return model


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("ridge", [0.0, 2.0, [0.1, 1.0, 10.0]])
def test_a_stream_ends_where_a_fit_does(data, ridge, intercept):
    X, y = data
    Y = np.stack([y, -2 * y + X[:, 7]], axis=1)
    make = {"n_estimators": 3, "aggregation": "mean", "ridge": ridge, "fit_intercept": intercept, "random_state": 0}
    streamed = stream(sr.RidgeEnsembleRegressor(**make), X, Y)
    fitted = sr.RidgeEnsembleRegressor(**make).fit(X, Y)
    np.testing.assert_allclose(streamed.coef_, fitted.coef_, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(streamed.predict(X), fitted.predict(X), rtol=1e-8, atol=1e-8)


def test_auto_after_a_stream_comes_close_to_leave_one_out(data):
    X, y = data
    streamed = stream(sr.RidgeEnsembleRegressor(3, random_state=0, aggregation="mean"), X, y)
    fitted = sr.RidgeEnsembleRegressor(3, random_state=0, aggregation="mean").fit(X, y)
    # Trace form and leave-one-out differ by the spread of the leverages, here 20 features over 600 rows.
    np.testing.assert_allclose(streamed.loo_path_, fitted.loo_path_, rtol=5e-3)
    np.testing.assert_allclose(streamed.risk_matrix_, fitted.risk_matrix_, rtol=1e-2)
    assert streamed.loo_error_ == pytest.approx(streamed.loo_path_.min(), rel=1e-14)


@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize("ridge", [0.01, 1.0, 100.0])
def test_rows_of_unequal_weights_have_unequal_leverages(ridge, k):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 300))
    y = X @ rng.standard_normal(300) / 17 + 0.5 * rng.standard_normal(400)
    weights = rng.choice([1.0, 10.0], 400)
    streamed, fitted = (
        sr.RidgeEnsembleRegressor(k, subsets="equal", ridge=ridge, aggregation="mean", random_state=0) for _ in range(2)
    )
    stream_error = streamed.partial_fit(X, y, sample_weight=weights).loo_error_
    assert stream_error == pytest.approx(fitted.fit(X, y, sample_weight=weights).loo_error_, rel=0.02)


def test_a_stream_of_unequal_weights_chooses_ridges_as_a_fit_does():
    rng = np.random.default_rng(0)
    excess = []
    for _ in range(10):
        X, b = rng.standard_normal((150, 100)), rng.standard_normal(100) / 10
        y = X @ b + 2 * rng.standard_normal(150)
        weights = np.exp(rng.standard_normal(150))
        streamed = sr.RidgeEnsembleRegressor(1, aggregation="mean").partial_fit(X, y, sample_weight=weights)
        fitted = sr.RidgeEnsembleRegressor(1, aggregation="mean").fit(X, y, sample_weight=weights)
        excess.append([((each.coef_ - b) ** 2).sum() for each in (streamed, fitted)])
    streamed, fitted = np.mean(excess, axis=0)
    assert streamed < 1.1 * fitted


def test_the_unit_of_weights_does_not_count():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 60))
    y = 0.3 * X @ rng.standard_normal(60) + rng.standard_normal(120)
    weights = np.exp(rng.standard_normal(120))
    errors = [sr.RidgeEnsembleRegressor(1).partial_fit(X, y, weights * unit).loo_error_ for unit in (1.0, 1e-12, 1e90)]
    np.testing.assert_allclose(errors[1:], errors[0], rtol=0.01)


def test_weights_are_not_fitted_to_what_a_large_ridge_leaves_of_unequal_rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((70, 30))
    y = X[:, :4].sum(axis=1) + rng.standard_normal(70)
    weights = rng.uniform(0.5, 2.0, 70)
    stream = sr.RidgeEnsembleRegressor(4, random_state=0).partial_fit(X, y, sample_weight=weights)
    assert 1 < stream.loo_error_ < 4  # the noise is 1, and the labels' variance is 5
    np.testing.assert_allclose(stream.weights_.sum(), 3.6, rtol=0.1)


def test_weights_and_sparse_batches_stream(data):
    X, y = data
    X = X * (X > 4)
    weights = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    streamed = sr.RidgeEnsembleRegressor(3, ridge=1.0, random_state=0, aggregation="mean")
    for part in (slice(0, 250), slice(250, 600)):
        streamed.partial_fit(sparse.csr_array(X[part]), y[part], sample_weight=weights[part])
    fitted = sr.RidgeEnsembleRegressor(3, ridge=1.0, random_state=0, aggregation="mean").fit(
        X, y, sample_weight=weights
    )
    np.testing.assert_allclose(streamed.predict(X), fitted.predict(X), rtol=1e-8, atol=1e-8)


def test_memory_does_not_grow_with_the_stream(data):
    X, y = data
    model = sr.RidgeEnsembleRegressor(3, ridge=1.0, random_state=0, aggregation="mean").partial_fit(X, y)

    def held():
        arrays = [value for each in model._moments for value in vars(each).values() if isinstance(value, np.ndarray)]
        return sum(value.nbytes for value in arrays)

    before = held()
    stream(model, X, y)
    by_weight = 2 * 65  # numbers for each octave of the weights
    assert held() == before < BATCHES * 8 * (1.2 * X.shape[1] ** 2 + by_weight)


def test_rows_may_come_one_by_one(data):
    X, y = data
    model = sr.RidgeEnsembleRegressor(3, random_state=0, aggregation="mean").partial_fit(X[:1], y[:1])
    assert model.predict(X[:2]) == pytest.approx([y[0], y[0]])
    assert model.loo_error_ == np.inf
    stream(model, X[1:40], y[1:40], size=1)
    whole = sr.RidgeEnsembleRegressor(3, random_state=0, aggregation="mean").partial_fit(X[:40], y[:40])
    np.testing.assert_allclose(model.coef_, whole.coef_, rtol=1e-6)


def test_a_classifier_streams_its_votes(data):
    X, y = data
    labels = np.digitize(y, np.quantile(y, [0.3, 0.7]))
    streamed = stream(
        sr.RidgeEnsembleClassifier(3, ridge=1.0, random_state=0, voting="majority"), X, labels, classes=[0, 1, 2]
    )
    fitted = sr.RidgeEnsembleClassifier(3, ridge=1.0, random_state=0, voting="majority").fit(X, labels)
    np.testing.assert_array_equal(streamed.predict(X), fitted.predict(X))
    with pytest.raises(NotFittedError, match="need the rows"):
        streamed.predict_proba(X)


def test_a_stream_after_a_fit_starts_anew(data):
    X, y = data
    model = sr.RidgeEnsembleRegressor(3, ridge=1.0, random_state=0, aggregation="mean").fit(X, y)
    model.partial_fit(X[:100], y[:100])
    fresh = sr.RidgeEnsembleRegressor(3, ridge=1.0, random_state=0, aggregation="mean").partial_fit(X[:100], y[:100])
    np.testing.assert_array_equal(model.coef_, fresh.coef_)
    again = model.fit(X, y).partial_fit(X[:100], y[:100])
    np.testing.assert_array_equal(again.coef_, fresh.coef_)


def test_aggregates_that_need_rows_do_not_stream(data):
    with pytest.raises(AttributeError) as caught:
        sr.RidgeEnsembleRegressor(aggregation="median").partial_fit(*data)
    assert "needs the rows" in str(caught.value.__cause__)


@pytest.mark.slow
@pytest.mark.parametrize("aggregation", ["scaled", "simplex", "free"])
@pytest.mark.parametrize("scope", ["ensemble", "member", pytest.param("joint", marks=pytest.mark.slow)])
def test_weights_and_ridges_of_a_stream_are_close_to_those_of_a_fit(data, aggregation, scope):
    X, y = data[0][:400], data[1][:400]
    options = {"aggregation": aggregation, "ridge_scope": scope, "random_state": 0}
    streamed = stream(sr.RidgeEnsembleRegressor(4, **options), X, y, size=200)
    fitted = sr.RidgeEnsembleRegressor(4, **options).fit(X, y)
    assert streamed.loo_error_ == pytest.approx(fitted.loo_error_, rel=0.02)
    assert np.mean((streamed.predict(X) - fitted.predict(X)) ** 2) < 0.01 * np.var(y)
    assert streamed.weights_.shape == (4,)
    assert streamed.choice_.name == "4 dirichlet"


def test_each_target_of_a_stream_may_have_its_weights(data):
    X, y = data
    Y = np.stack([y, X[:, 7]], axis=1)
    model = sr.RidgeEnsembleRegressor(3, aggregation=sr.aggregation.Free(per_target=True), random_state=0)
    assert stream(model, X, Y).weights_.shape == (2, 3)
    assert model.risk_matrix_.shape == (3, 3)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"gap": 2}, "needs the rows"),
        ({"scoring": "neg_mean_absolute_error"}, "needs the rows"),
        ({"readout_noise": 1.0}, "needs the rows"),
    ],
)
def test_options_that_need_rows_do_not_stream(data, parameters, message):
    with pytest.raises(sr.errors.ParameterError, match=message):
        sr.RidgeEnsembleRegressor(**parameters).partial_fit(*data)


def test_a_classifying_stream_needs_its_classes_first(data):
    X, y = data
    labels = (y > 0).astype(int)
    with pytest.raises(sr.errors.ParameterError, match="classes must name every class"):
        sr.RidgeEnsembleClassifier().partial_fit(X, labels)
    model = sr.RidgeEnsembleClassifier(3, voting="majority").partial_fit(X, labels, classes=[0, 1])
    with pytest.raises(sr.errors.DataError, match="not in classes"):
        model.partial_fit(X, labels + 1)
    with pytest.raises(sr.errors.ParameterError, match="differs from the first"):
        model.partial_fit(X, labels, classes=[0, 1, 2])
    with pytest.raises(sr.errors.ParameterError, match="needs all labels"):
        sr.RidgeEnsembleClassifier(class_weight="balanced", voting="majority").partial_fit(X, labels, classes=[0, 1])


def test_a_stream_of_classes_takes_their_own_score_and_refuses_one_that_needs_rows(data):
    """The scores of numbers were asked for."""
    X, y = data
    labels = (y > 0).astype(int)
    plain, named = (
        sr.RidgeEnsembleClassifier(2, random_state=0, voting="sum", scoring=scoring).partial_fit(
            X, labels, classes=[0, 1]
        )
        for scoring in (None, "accuracy")
    )
    np.testing.assert_array_equal(plain.coef_, named.coef_)
    for scoring, message in (("neg_log_loss", "needs the rows, not moments"), ("r2", '"accuracy" or "neg_log_loss"')):
        with pytest.raises(sr.errors.ParameterError, match=message):
            sr.RidgeEnsembleClassifier(2, scoring=scoring).partial_fit(X, labels, classes=[0, 1])


def test_a_later_batch_must_have_the_same_features(data):
    X, y = data
    model = sr.RidgeEnsembleRegressor(3, aggregation="mean").partial_fit(X, y)
    with pytest.raises(ValueError, match="expecting 20 features"):
        model.partial_fit(X[:, 1:], y)


def test_a_batch_that_is_refused_leaves_the_stream_as_it_was(data):
    X, y = data
    model = sr.RidgeEnsembleRegressor(1, ridge=1.0).partial_fit(X, y)
    expected = model.predict(X)
    with pytest.raises(sr.errors.DataError, match="2 targets cannot join"):
        model.partial_fit(X, np.column_stack([y, y]))
    np.testing.assert_array_equal(model.predict(X), expected)
    assert model.partial_fit(X, y[:, None]).predict(X).shape == y.shape
    with pytest.raises(sr.errors.RidgeError):
        model.set_params(ridge=-1.0).partial_fit(X[:50], y[:50])
    with pytest.raises(sr.errors.RidgeError):
        (fresh := sr.RidgeEnsembleRegressor(1, ridge=-1.0)).partial_fit(X[:50], y[:50])
    for each, n in ((model, 2 * len(X) + 50), (fresh, 50)):
        each.set_params(ridge=1.0).partial_fit(X[:50], y[:50])
        assert sum(batch.n_samples for batch in each._moments) == n


def test_a_score_of_the_aggregate_and_ridges_of_each_member_are_refused_for_rows_and_streams(data):
    X, y = data
    own = sr.RidgeEnsembleRegressor(2, subsets="equal", ridge_scope="member", scoring="r2", random_state=0)
    for fit in (own.fit, own.partial_fit):
        with pytest.raises(sr.errors.ParameterError, match="ridge_scope='ensemble'"):
            fit(X, y)
