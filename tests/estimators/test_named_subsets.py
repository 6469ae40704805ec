"""Members that are given by names: of columns, or of feature spaces."""

import numpy as np
import pandas as pd
import pytest

import subridge as sr


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.standard_normal((40, 4)), columns=["age", "bmi", "bp", "sex"])


@pytest.mark.parametrize(
    "subsets",
    [
        [["age", "bmi"], ["bp", "sex"]],
        {"body": ["age", "bmi"], "rest": ...},
        {"body": slice(0, 2), "other": [2, 3]},
        {"body": [True, True, False, False], "other": "rest"},
    ],
)
def test_members_by_names_are_those_by_numbers(frame, subsets):
    y = frame["age"] + frame["sex"] ** 2
    options = {"ridge": 0.1, "aggregation": "mean"}
    named = sr.RidgeEnsembleRegressor(subsets=subsets, **options).fit(frame, y)
    numbered = sr.RidgeEnsembleRegressor(subsets=[[0, 1], [2, 3]], **options).fit(frame, y)
    np.testing.assert_array_equal(named.predict(frame), numbered.predict(frame))
    votes = sr.RidgeEnsembleClassifier(subsets=subsets, ridge=0.1).fit(frame, y > y.median())
    assert [each.tolist() for each in votes.estimators_features_] == [[0, 1], [2, 3]]


@pytest.mark.parametrize("names", [tuple, np.array, lambda each: np.array(each, dtype=object), pd.Index, pd.Series])
def test_names_of_a_member_may_come_in_any_sequence(frame, names):
    subsets = [names(["age", "sex"]), names(["bmi", "bp"])]
    model = sr.RidgeEnsembleRegressor(subsets=subsets, ridge=0.1).fit(frame, frame["age"])
    assert [each.tolist() for each in model.estimators_features_] == [
        [list(frame).index(each) for each in own] for own in subsets
    ]


def test_a_member_without_an_axis_is_refused(frame):
    with pytest.raises(sr.errors.SubsetError, match="member 0 is empty or not one-dimensional"):
        sr.RidgeEnsembleRegressor(subsets=[np.array(1), np.array(2)]).fit(frame, frame["age"])


def test_unknown_names_are_refused(frame):
    with pytest.raises(sr.errors.SubsetError, match="member 1 names 'size', which X lacks: its columns are age, bmi"):
        sr.RidgeEnsembleRegressor(subsets=[["age"], ["bmi", "size"]]).fit(frame, frame["bp"])
    with pytest.raises(sr.errors.SubsetError, match="member 0 names 'age', which X lacks: it has no column names"):
        sr.RidgeEnsembleRegressor(subsets=[["age"], ["bmi"]]).fit(frame.to_numpy(), frame["bp"])
