"""Groups, gaps, scores and left-out predictions in the estimators."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn import config_context
from sklearn.metrics import log_loss, r2_score
from sklearn.model_selection import GroupKFold, LeaveOneGroupOut, cross_val_predict, cross_validate

import subridge as sr
from subridge.model.errors import DataError, ParameterError


@pytest.fixture
def subjects():
    """Subjects with their own offset in features and label."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(25), 8)
    offset = rng.standard_normal((25, 12))[groups]
    X = offset + 0.3 * rng.standard_normal((200, 12))
    y = X[:, 0] + rng.standard_normal(25)[groups] + 0.3 * rng.standard_normal(200)
    return X, y, groups


def test_a_fixed_ridge_agrees_with_scikit_learns_leave_one_group_out(subjects):
    X, y, groups = subjects
    model = sr.RidgeEnsembleRegressor(3, ridge=0.1, random_state=0, aggregation="mean")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.errors.CorrelatedRowsWarning)
        expected = cross_val_predict(model, X, y, cv=LeaveOneGroupOut(), groups=groups)
    model.fit(X, y, groups=groups)
    np.testing.assert_allclose(model.loo_predictions_, expected, rtol=1e-9)
    np.testing.assert_allclose(model.loo_error_, ((y - expected) ** 2).mean())


def test_classes_votes_and_temperature_come_from_left_out_groups(subjects):
    X, y, groups = subjects
    model = sr.RidgeEnsembleClassifier(3, ridge=0.1, random_state=0, voting="majority")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.errors.CorrelatedRowsWarning)
        expected = cross_val_predict(model, X, y > 0, cv=LeaveOneGroupOut(), groups=groups)
    model.fit(X, y > 0, groups=groups)
    np.testing.assert_array_equal(model.loo_predictions_, expected)
    np.testing.assert_allclose(model.loo_error_, (expected != (y > 0)).mean())
    alone = sr.RidgeEnsembleClassifier(3, ridge=0.1, random_state=0, voting="majority")
    with pytest.warns(sr.errors.CorrelatedRowsWarning):
        alone.fit(X, y > 0)
    assert model.loo_error_ > alone.loo_error_
    assert model.temperature_ < alone.temperature_


def test_rows_by_themselves_promise_less_error_and_choose_less_ridge_than_groups(subjects):
    X, y, groups = subjects
    by_group = sr.RidgeEnsembleRegressor(1, random_state=0, aggregation="mean").fit(X, y, groups=groups)
    with pytest.warns(sr.errors.CorrelatedRowsWarning):
        by_row = sr.RidgeEnsembleRegressor(1, random_state=0, aggregation="mean").fit(X, y)
    assert by_row.loo_error_ < 0.6 * by_group.loo_error_
    assert by_row.ridge_ < by_group.ridge_


def test_labels_of_groups_may_be_anything_and_in_any_order(subjects):
    X, y, groups = subjects
    model = sr.RidgeEnsembleRegressor(2, ridge=0.1, random_state=0, aggregation="mean")
    plain = model.fit(X, y, groups=groups).loo_predictions_
    named = model.fit(X, y, groups=[f"subject {g}" for g in groups]).loo_predictions_
    np.testing.assert_allclose(named, plain, rtol=1e-12)
    mixed = np.array([g if g % 2 else f"s{g}" for g in groups], dtype=object)
    np.testing.assert_allclose(model.fit(X, y, groups=mixed).loo_predictions_, plain, rtol=1e-12)


def test_groups_of_one_row_are_leave_one_out(subjects):
    X, y, _ = subjects
    X, y = X[::8], y[::8]
    model = sr.RidgeEnsembleRegressor(2, ridge=0.1, random_state=0, aggregation="mean")
    plain = model.fit(X, y).loo_predictions_
    np.testing.assert_array_equal(model.fit(X, y, groups=np.arange(25)).loo_predictions_, plain)


def test_rows_without_weight_belong_to_no_group(subjects):
    X, y, groups = subjects
    weights = np.random.default_rng(0).integers(0, 2, 200)
    model = sr.RidgeEnsembleRegressor(2, ridge=0.1, random_state=0, aggregation="mean")
    weighted = model.fit(X, y, sample_weight=weights, groups=groups).loo_predictions_
    kept = weights > 0
    np.testing.assert_allclose(weighted, model.fit(X[kept], y[kept], groups=groups[kept]).loo_predictions_)


@pytest.mark.parametrize("n", [4, 6, 20])
@pytest.mark.parametrize("options", [{"n_estimators": 1}, {"n_estimators": 2, "aggregation": "mean"}])
def test_two_windows_that_hold_all_rows_judge_nothing(n, options):
    X = np.random.default_rng(0).standard_normal((n, 5))
    model = sr.RidgeEnsembleRegressor(gap=n // 4, random_state=0, **options).fit(X, X[:, 0] + 1e-3 * X[:, 1] ** 2)
    assert np.isfinite(model.loo_predictions_).all()


def test_sparse_rows_are_left_out_by_groups_too(subjects):
    import scipy.sparse

    X, y, groups = subjects
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    model = sr.RidgeEnsembleRegressor(3, ridge=0.1, random_state=0, aggregation="mean")
    dense = model.fit(X, y, groups=groups)
    expected, bounds = dense.loo_predictions_, dense.predict_interval(X[:5])
    sparse = model.fit(scipy.sparse.csr_array(X), y, groups=groups)
    np.testing.assert_allclose(sparse.loo_predictions_, expected, rtol=1e-9)
    np.testing.assert_allclose(sparse.predict_interval(scipy.sparse.csr_array(X[:5])), bounds, rtol=1e-9)


@pytest.mark.slow
def test_groups_are_routed_when_requested(subjects):
    X, y, groups = subjects
    with config_context(enable_metadata_routing=True):
        model = sr.RidgeEnsembleRegressor(2, random_state=0, aggregation="mean").set_fit_request(
            groups=True, sample_weight=False
        )
        model.set_score_request(sample_weight=False)
        found = cross_validate(model, X, y, cv=GroupKFold(5), params={"groups": groups}, return_estimator=True)
    for fitted in found["estimator"]:
        with pytest.raises(ParameterError, match="than the 20 there are"):
            fitted.predict_interval(X, level=0.96)


@pytest.mark.parametrize(
    ("groups", "gap", "error"),
    [(np.zeros(200), 0, DataError), (np.arange(100), 0, DataError), (np.arange(200), 2, ParameterError),
     (None, -1, ParameterError), (None, 150, ParameterError)],
)  # fmt: skip
def test_unusable_groups_and_gaps_are_named(subjects, groups, gap, error):
    X, y, _ = subjects
    with pytest.raises(error, match=r"group|gap"):
        sr.RidgeEnsembleRegressor(2, gap=gap, aggregation="mean").fit(X, y, groups=groups)


@pytest.mark.parametrize("scoring", ["neg_mean_absolute_error", "r2"])
def test_a_score_of_numbers_chooses_the_best_of_its_path(subjects, scoring):
    X, y, groups = subjects
    Y = np.stack([y, 100 * np.random.default_rng(1).standard_normal(200)], axis=1)
    ridges = np.logspace(-3, 5, 9)
    model = sr.RidgeEnsembleRegressor(2, ridges=ridges, scoring=scoring, random_state=0, aggregation="mean").fit(
        X, Y, groups=groups
    )
    losses = []
    for ridge in ridges:
        left = (
            sr.RidgeEnsembleRegressor(2, ridge=ridge, random_state=0, aggregation="mean")
            .fit(X, Y, groups=groups)
            .loo_predictions_
        )
        losses.append(1 - r2_score(Y, left) if scoring == "r2" else np.abs(Y - left).sum(axis=1).mean())
    np.testing.assert_allclose(model.loo_path_, losses)
    assert model.ridge_ == ridges[np.argmin(losses)]


def test_the_log_loss_of_classes_chooses_the_best_of_its_path(subjects):
    X, y, groups = subjects
    ridges = np.logspace(-3, 5, 5)
    model = sr.RidgeEnsembleClassifier(2, ridges=ridges, scoring="neg_log_loss", voting="sum", random_state=0)
    model.fit(X, y > 0, groups=groups)
    losses = []
    for ridge in ridges:
        fixed = sr.RidgeEnsembleClassifier(2, ridge=ridge, voting="sum", random_state=0).fit(X, y > 0, groups=groups)
        losses.append(log_loss(y > 0, fixed.loo_probabilities_))
    np.testing.assert_allclose(model.loo_path_, losses, rtol=1e-6)


@pytest.mark.parametrize(("scoring", "scope"), [("roc_auc", "ensemble"), ("r2", "member")])
def test_scores_that_cannot_choose_are_refused(subjects, scoring, scope):
    X, y, groups = subjects
    with pytest.raises(ParameterError, match="scoring"):
        sr.RidgeEnsembleRegressor(2, scoring=scoring, ridge_scope=scope, aggregation="mean").fit(X, y, groups=groups)


def test_intervals_and_sets_survive_a_pickle_and_need_rows(subjects):
    X, y, groups = subjects
    model = sr.RidgeEnsembleRegressor(2, random_state=0, aggregation="mean").fit(X, y, groups=groups)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_interval(X[:5]), model.predict_interval(X[:5]))
    with pytest.raises(ParameterError, match="level"):
        model.predict_interval(X[:5], level=0.99)  # 25 groups
    streamed = sr.RidgeEnsembleRegressor(2, ridge=0.1, random_state=0, aggregation="mean").partial_fit(X, y)
    with pytest.raises(ValueError, match="predict_interval needs the rows"):
        streamed.predict_interval(X[:5])


@pytest.mark.parametrize("voting", ["majority", "sum"])
def test_sets_of_classes_are_those_of_refits(subjects, voting):
    X, y, groups = subjects
    labels, new = (y > 0).astype(int) + (y > 1.0), X[:6] + 0.1
    model = sr.RidgeEnsembleClassifier(3, ridge=0.1, voting=voting, random_state=0).fit(X, labels, groups=groups)
    beyond = np.zeros((6, 3))
    for group in range(25):
        rest = groups != group
        left = sr.RidgeEnsembleClassifier(3, ridge=0.1, voting=voting, random_state=0)
        left.fit(X[rest], labels[rest], groups=groups[rest])
        left.temperature_ = model.temperature_
        own = 1 - left.predict_proba(X[~rest])[np.arange(8), labels[~rest]]
        scores = 1 - left.predict_proba(new)
        beyond += (scores[:, :, None] > own).mean(axis=2) / 26
    np.testing.assert_array_equal(model.predict_set(new, 0.8), beyond < 0.8 - 1e-9)


def _labels(kind, groups):
    """The same groups in other clothes."""
    import pandas as pd

    order = np.random.default_rng(0).permutation(len(groups))
    return {
        "series with another index": pd.Series(groups, index=order),
        "categories": pd.Categorical(groups.astype(str)),
        "bytes": groups.astype("S"),
        "single precision": groups.astype(np.float32),
        "days": np.datetime64("2020-01-01") + groups,
        "numbers of two types": [int(g) if i % 2 else np.int64(g) for i, g in enumerate(groups)],
        "nullable": pd.Series(groups, dtype="Int64"),
    }[kind]


@pytest.mark.parametrize(
    "kind",
    ["series with another index", "categories", "bytes", "single precision", "days", "numbers of two types",
     "nullable"],
)  # fmt: skip
def test_equal_labels_are_one_group_whatever_holds_them(subjects, kind):
    X, y, groups = subjects
    model = sr.RidgeEnsembleRegressor(2, ridge=0.1, random_state=0, aggregation="mean")
    plain = model.fit(X, y, groups=groups).loo_predictions_
    np.testing.assert_allclose(model.fit(X, y, groups=_labels(kind, groups)).loo_predictions_, plain, rtol=1e-12)


@pytest.mark.parametrize("kind", ["nan", "none", "list", "pandas", "days", "hidden"])
def test_rows_without_a_group_are_refused(subjects, kind):
    import pandas as pd

    X, y, groups = subjects
    labels = {
        "nan": np.where(groups == 3, np.nan, groups),
        "none": np.where(groups == 3, None, groups.astype(object)),
        "list": [float("nan") if g == 3 else f"s{g}" for g in groups],
        "pandas": pd.Series([pd.NA if g == 3 else int(g) for g in groups], dtype="Int64"),
        "days": np.where(
            groups == 3, np.datetime64("NaT", "ns"), np.datetime64("2020-01-01", "ns") + groups.astype("m8[ns]")
        ),
        "hidden": np.ma.masked_equal(groups, 3),
    }[kind]
    with pytest.raises(DataError, match="groups lacks the label of 8 of 200 rows"):
        sr.RidgeEnsembleRegressor(2, ridge=0.1, aggregation="mean").fit(X, y, groups=labels)
    with pytest.raises(DataError, match="groups lacks the label of 8 of 200 rows"):
        sr.forecast(X, y, [100], groups=labels)
    # Rows of weight zero belong to no group anyway.
    sr.RidgeEnsembleRegressor(2, ridge=0.1, aggregation="mean").fit(X, y, sample_weight=groups != 3, groups=labels)


@pytest.mark.parametrize("groups", [3, "subject", [[1], [2, 3]] * 100, [(1, 2)] * 200])
def test_what_is_no_list_of_labels_is_refused_by_name(subjects, groups):
    X, y, _ = subjects
    with pytest.raises(DataError, match="groups must have one label for each of the 200 rows"):
        sr.RidgeEnsembleRegressor(2, ridge=0.1, aggregation="mean").fit(X, y, groups=groups)


@pytest.mark.parametrize("level", [0, 1, -0.1, [0.8, 0.9], "0.9", float("nan")])
def test_levels_that_no_interval_has_are_refused_by_name(subjects, level):
    X, y, _ = subjects
    model = sr.RidgeEnsembleRegressor(2, ridge=0.1, random_state=0, aggregation="mean")
    with pytest.warns(sr.errors.CorrelatedRowsWarning):
        model.fit(X, y)
    with pytest.raises(sr.errors.SubridgeError, match="level"):
        model.predict_interval(X[:3], level)


def test_a_class_that_only_one_group_has_is_wrong_where_that_group_is_left_out(subjects):
    X, y, groups = subjects
    labels = np.where(groups == 5, 2, (y > 0).astype(int))
    model = sr.RidgeEnsembleClassifier(3, ridge=0.1, random_state=0, voting="majority").fit(X, labels, groups=groups)
    assert (model.loo_predictions_[groups == 5] != 2).all()
    assert model.predict_set(X[:4], 0.8).shape == (4, 3)


def test_intervals_with_missing_columns_are_refused_in_words(subjects):
    X, y, groups = subjects
    model = sr.RidgeEnsembleRegressor(3, ridge=0.1, missing="drop-members", random_state=0, aggregation="mean").fit(
        X, y, groups=groups
    )
    new = X[:3].copy()
    new[0, 0] = np.nan
    model.predict(new)
    with pytest.raises(DataError, match="predict_interval"):
        model.predict_interval(new)


@pytest.mark.slow
def test_groups_reach_the_last_step_of_a_pipeline_in_cross_validation(subjects):
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y, groups = subjects
    with config_context(enable_metadata_routing=True):
        model = make_pipeline(
            StandardScaler(),
            sr.RidgeEnsembleRegressor(2, random_state=0, aggregation="mean").set_fit_request(groups=True),
        )
        found = cross_validate(
            model, X, y, cv=GroupKFold(5), params={"groups": groups}, return_estimator=True, error_score="raise"
        )
    for fitted, (train, _) in zip(found["estimator"], GroupKFold(5).split(X, y, groups), strict=True):
        alone = sr.RidgeEnsembleRegressor(2, random_state=0, aggregation="mean")
        alone.fit(StandardScaler().fit_transform(X[train]), y[train], groups=groups[train])
        np.testing.assert_allclose(fitted[-1].loo_error_, alone.loo_error_)
