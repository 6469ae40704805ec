"""NaN at prediction: members that lack an input drop out."""

import numpy as np
import pytest

import subridge as sr
from subridge.model.errors import DataError, ParameterError


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 12))
    return X, X @ rng.standard_normal(12) + rng.standard_normal(150)


@pytest.mark.parametrize("aggregation", ["mean", "scaled", "simplex", "free", "median"])
def test_the_surviving_members_are_the_ensemble_without_the_others(data, aggregation):
    X, y = data
    subsets = [range(4), range(4, 8), range(8, 12)]
    model = sr.RidgeEnsembleRegressor(subsets=subsets, ridge=0.1, aggregation=aggregation, missing="drop-members")
    model.fit(X, y)
    alone = sr.RidgeEnsembleRegressor(subsets=[range(4), range(8, 12)], ridge=0.1, aggregation=aggregation).fit(X, y)
    new = X[:9].copy()
    new[3:, 5] = np.nan
    found = model.predict(new)
    np.testing.assert_allclose(found[3:], alone.predict(X[3:9]))
    np.testing.assert_allclose(found[:3], model.predict(X[:3]))


def test_classifiers_vote_without_them(data):
    X, y = data
    subsets = [range(4), range(4, 8), range(8, 12)]
    for voting in ("majority", "sum"):
        model = sr.RidgeEnsembleClassifier(subsets=subsets, ridge=0.1, voting=voting, missing="drop-members")
        alone = sr.RidgeEnsembleClassifier(subsets=subsets[1:], ridge=0.1, voting=voting).fit(X, y > 0)
        new = X.copy()
        new[:, 0] = np.nan
        np.testing.assert_array_equal(model.fit(X, y > 0).predict(new), alone.predict(X))
        np.testing.assert_allclose(model.decision_function(new), alone.decision_function(X))


def test_nan_is_refused_by_default_in_training_and_where_no_member_is_left(data):
    X, y = data
    new = X.copy()
    new[2] = np.nan
    model = sr.RidgeEnsembleRegressor(3, ridge=0.1, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="NaN"):
        model.predict(new)
    model = sr.RidgeEnsembleRegressor(3, ridge=0.1, missing="drop-members", random_state=0)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(new, y)
    with pytest.raises(DataError, match="row 2 of X lacks an input of every member"):
        model.fit(X, y).predict(new)
    with pytest.raises(ParameterError, match="missing"):
        sr.RidgeEnsembleRegressor(3, missing="ignore").fit(X, y)


def test_gaps_are_answered_with_remedies_of_this_package(data):
    X, y, *_ = data
    gaps = X.copy()
    gaps[0, 0] = np.nan
    model = sr.RidgeEnsembleRegressor(2, random_state=0, aggregation="mean", ridge=1.0).fit(X, y)
    with pytest.raises(DataError, match='missing="drop-members"'):
        model.predict(gaps)
    with pytest.raises(DataError, match="SimpleImputer"):
        model.fit(gaps, y)


@pytest.mark.parametrize("per_target", [True, False])
def test_dropping_members_is_no_remedy_where_it_is_refused(per_target):
    X = np.random.default_rng(0).standard_normal((30, 4))
    model = sr.RidgeEnsembleRegressor(1, ridge=0.1, per_target=per_target).fit(X, X[:, 0])
    with pytest.raises(DataError, match="X contains NaN") as caught:
        model.predict(np.full((1, 4), np.nan))
    assert ("drop-members" in str(caught.value)) != per_target
