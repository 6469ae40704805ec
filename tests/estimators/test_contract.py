"""Where estimators live: pipelines, searches, pickles, tables."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import subridge as sr

MODELS = [
    sr.RidgeEnsembleRegressor(3, random_state=0, aggregation="mean"),
    sr.RidgeEnsembleRegressor(3, aggregation="median", subsets=sr.subsets.equal(3, 10, seed=0)),
    sr.RidgeEnsembleClassifier(3, random_state=0, voting="majority"),
]


@pytest.fixture
def data():
    X, y = load_diabetes(return_X_y=True)
    return X, y


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_clone_and_a_pickle_predict_the_same(model, data):
    X, y = data[0][:90], (data[1][:90] > 100).astype(int)
    fitted = clone(model).fit(X, y)
    np.testing.assert_array_equal(clone(fitted).fit(X, y).predict(X), fitted.predict(X))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict(X), fitted.predict(X))


def test_feature_names_pass_through_a_pipeline_of_tables(data):
    X, y = data
    table = pd.DataFrame(X, columns=[f"x{i}" for i in range(10)])
    pipeline = make_pipeline(StandardScaler(), sr.RidgeEnsembleRegressor(3, random_state=0, aggregation="mean"))
    pipeline.set_output(transform="pandas").fit(table, y)
    assert list(pipeline[-1].feature_names_in_) == list(table.columns)
    with pytest.raises(ValueError, match="feature names"):
        pipeline[-1].predict(table.rename(columns={"x0": "z"}))


@pytest.mark.slow
def test_a_grid_search_varies_everything_that_matters(data):
    X, y = data
    grid = {
        "subsets": ["equal", "dirichlet", "overlapping"],
        "aggregation": ["mean", "simplex"],
        "n_estimators": [2, 5],
    }
    search = GridSearchCV(
        sr.RidgeEnsembleRegressor(ridges=np.logspace(-6, 6, 7), random_state=0, aggregation="mean"), grid, cv=3
    )
    search.fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_params_["aggregation"] == "simplex"


def test_sample_weights_are_routed_when_requested(data):
    X, y = data
    weights = np.random.default_rng(0).uniform(0.1, 5.0, len(y))
    with config_context(enable_metadata_routing=True):
        model = sr.RidgeEnsembleRegressor(3, random_state=0, aggregation="mean").set_fit_request(sample_weight=True)
        model.set_score_request(sample_weight=False)
        routed = cross_validate(model, X, y, cv=2, params={"sample_weight": weights})["test_score"]
        plain = cross_validate(model, X, y, cv=2)["test_score"]
    assert (routed != plain).all()


def test_tags_tell_what_is_accepted():
    regressor, classifier = (model().__sklearn_tags__() for model in (MODELS[0].__class__, MODELS[2].__class__))
    assert regressor.input_tags.sparse
    assert classifier.input_tags.sparse
    assert regressor.target_tags.multi_output
    assert classifier.estimator_type == "classifier"
    assert not regressor.input_tags.allow_nan


def test_several_targets_are_fitted_together(data):
    X, y = data
    Y = np.stack([y, y**2, -y], axis=1)
    model = sr.RidgeEnsembleRegressor(3, ridge=0.01, random_state=0, aggregation="mean").fit(X, Y)
    single = sr.RidgeEnsembleRegressor(3, ridge=0.01, random_state=0, aggregation="mean").fit(X, y)
    assert model.coef_.shape == (3, 10)
    np.testing.assert_allclose(model.predict(X)[:, 0], single.predict(X))
    np.testing.assert_allclose(model.predict(X)[:, 2], -single.predict(X))


def test_the_classes_of_iris_keep_their_names():
    X, y = load_iris(return_X_y=True)
    names = load_iris().target_names
    model = sr.RidgeEnsembleClassifier(4, random_state=0, voting="majority").fit(X, names[y])
    assert set(model.predict(X)) <= set(names)
    assert list(model.classes_) == sorted(names)


def test_an_unweighted_average_of_your_own_is_tagged_as_the_median_is():
    """scikit-learn's check of scores puts all of the signal in one column, which such members shrink."""

    class Middle(sr.aggregation.Median):
        name = "middle"

    for aggregation, is_poor in (("median", True), (Middle(), True), ("free", False), ("no such name", False)):
        tags = sr.RidgeEnsembleRegressor(3, aggregation=aggregation).__sklearn_tags__()
        assert tags.regressor_tags.poor_score == is_poor


DAYS = pd.date_range("2020", periods=40)


@pytest.mark.parametrize(
    ("y", "kind"),
    [
        (pd.Series(DAYS).where(np.arange(40) > 3), "dates"),
        (DAYS, "dates"),
        (pd.DataFrame({"y": DAYS}), "dates"),
        (pd.Series(DAYS - DAYS[0]), "durations"),
        (pd.Series(list("abcd") * 10), "text"),
        (pd.Series(list("abcd") * 10, dtype="category"), "text"),
        (["1.5", "2.5"] * 20, "text"),
        (pd.Series(DAYS.tz_localize("UTC")), "dates"),
        ([day.date() for day in DAYS], "dates"),
        ([day - DAYS[0] for day in DAYS], "dates"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_targets_that_are_dates_or_text_are_refused_in_every_container(y, kind):
    X = np.random.default_rng(0).standard_normal((40, 3))
    models = sr.RidgeEnsembleRegressor(1, ridge=0.1), sr.BandedRidge({"all": slice(None)})
    for fit in (*(model.fit for model in models), sr.RidgeEnsembleRegressor(1).partial_fit):
        with pytest.raises(sr.errors.DataError, match=f"y holds .*{kind}"):
            fit(X, y)


def test_missing_dates_are_no_class():
    X = np.random.default_rng(0).standard_normal((40, 3))
    y = np.where(X[:, 0] > 0, np.datetime64("2020"), np.datetime64("NaT"))
    with pytest.raises(sr.errors.DataError, match=r"y contains NaN or None in \d+ places"):
        sr.RidgeEnsembleClassifier(1, ridge=0.1).fit(X, y)


def test_weights_that_are_all_zero_are_refused_with_a_remedy(data):
    with pytest.raises(sr.errors.DataError, match="zero for every row; at least one must be positive"):
        sr.RidgeEnsembleRegressor(1).fit(*data, sample_weight=np.zeros(len(data[0])))
