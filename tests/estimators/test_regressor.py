"""RidgeEnsembleRegressor: what it stores and how it aggregates."""

import functools

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import Ridge

import subridge as sr


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 24))
    return X, X[:, :6].sum(axis=1) + 0.5 * rng.standard_normal(80)


@pytest.mark.parametrize("aggregation", ["mean", "simplex"])
@pytest.mark.parametrize("subsets", ["equal", "dirichlet", "overlapping", "projection"])
def test_the_collapsed_coefficients_are_the_weighted_mean_of_the_members(data, subsets, aggregation):
    X, y = data
    model = sr.RidgeEnsembleRegressor(4, subsets=subsets, aggregation=aggregation, random_state=0).fit(X, y)
    outputs = [
        model.subset_plan_.measure(r, X) @ coef + intercept
        for r, (coef, intercept) in enumerate(zip(model.estimators_coef_, model.estimators_intercept_, strict=True))
    ]
    np.testing.assert_allclose(model.predict(X), model.weights_ @ outputs, atol=1e-12)
    np.testing.assert_allclose(X @ model.coef_ + model.intercept_, model.weights_ @ outputs, atol=1e-12)


def test_the_median_is_taken_over_members_and_leaves_no_linear_map(data):
    X, y = data
    model = sr.RidgeEnsembleRegressor(5, aggregation="mean", random_state=0).fit(X, y)
    model.set_params(aggregation="median").fit(X, y)
    outputs = [
        X[:, index] @ coef + intercept
        for index, coef, intercept in zip(
            model.estimators_features_, model.estimators_coef_, model.estimators_intercept_, strict=True
        )
    ]
    np.testing.assert_allclose(model.predict(X), np.median(outputs, axis=0))
    assert not hasattr(model, "coef_")


def test_fitted_weights_find_the_members_that_see_the_signal(data):
    X, y = data
    halves = [np.arange(12), np.arange(12, 24)]
    model = sr.RidgeEnsembleRegressor(subsets=halves, aggregation="simplex").fit(X, y)
    mean = sr.RidgeEnsembleRegressor(subsets=halves, aggregation="mean").fit(X, y)
    assert model.weights_[0] > 0.9
    assert model.loo_error_ < 0.7 * mean.loo_error_
    assert 0.99 < model.loo_error_ / (model.weights_ @ model.risk_matrix_ @ model.weights_) < 1.05  # judged, not fitted


def test_auto_takes_the_best_of_the_path_and_reports_it(data):
    X, y = data
    model = sr.RidgeEnsembleRegressor(3, subsets="equal", random_state=0, aggregation="mean").fit(X, y)
    fixed = [
        sr.RidgeEnsembleRegressor(3, subsets="equal", ridge=ridge, random_state=0, aggregation="mean")
        .fit(X, y)
        .loo_error_
        for ridge in model.ridge_path_
    ]
    np.testing.assert_allclose(model.loo_path_, fixed)
    assert model.loo_error_ == pytest.approx(min(fixed))
    assert model.ridge_ == model.ridge_path_[np.argmin(fixed)]
    np.testing.assert_allclose(model.risk_matrix_.mean(), model.loo_error_)


def test_joint_ridges_err_no_more_than_a_common_one(data):
    X, y = data
    halves = [np.arange(12), np.arange(12, 24)]  # the second sees no signal and should be shrunk to nothing
    common = sr.RidgeEnsembleRegressor(subsets=halves, aggregation="mean").fit(X, y)
    joint = sr.RidgeEnsembleRegressor(subsets=halves, ridge_scope="joint", aggregation="mean").fit(X, y)
    assert joint.loo_error_ < common.loo_error_
    assert joint.ridge_[0] < joint.ridge_[1]


def test_joint_ridges_that_are_not_surely_better_are_not_taken():
    """If the lower of two errors were taken, it would be the one reported, and too low."""
    rng = np.random.default_rng(0)
    for seed in range(6):
        X = rng.standard_normal((20, 60))
        y = rng.standard_normal(20)
        plan = sr.subsets.equal(4, 60, seed=seed)
        common, joint = (
            sr.RidgeEnsembleRegressor(subsets=plan, ridge_scope=scope, aggregation="mean").fit(X, y)
            for scope in ("ensemble", "joint")
        )
        np.testing.assert_array_equal(joint.ridge_, common.ridge_)
        assert joint.loo_error_ == common.loo_error_


@pytest.mark.parametrize("scope", ["ensemble", "member", "joint"])
@pytest.mark.parametrize("aggregation", ["mean", "simplex", "median"])
def test_the_fitted_ensemble_describes_the_model(data, scope, aggregation):
    X, y = data
    model = sr.RidgeEnsembleRegressor(3, ridge_scope=scope, aggregation=aggregation, random_state=0).fit(X, y)
    ensemble = model.ensemble_
    assert ensemble.aggregation.name == aggregation
    np.testing.assert_array_equal(ensemble.ridge, np.broadcast_to(model.ridge_, 3))
    np.testing.assert_allclose(sr.risk_matrix(X, y, ensemble), model.risk_matrix_)
    again = sr.RidgeEnsembleRegressor(subsets=ensemble.plan, ridge=ensemble.ridge, aggregation=ensemble.aggregation)
    np.testing.assert_allclose(again.fit(X, y).predict(X), model.predict(X))


class TrimmedMean(sr.Aggregation):
    """The mean without the largest and the smallest output."""

    name = "trimmed"

    def combine(self, outputs, weights=None):
        return np.sort(outputs, axis=0)[1:-1].mean(axis=0)

    def loss(self, errors, targets, sample_weights):
        return float(np.average((self.combine(errors) ** 2).sum(axis=0), weights=sample_weights)), 0.0


@pytest.mark.parametrize("streams", [False, True])
def test_members_on_the_same_features_have_their_own_ridges(data, streams):
    X, y = data
    model = sr.RidgeEnsembleRegressor(subsets=[range(12)] * 3, ridge=[10.0, 1.0, 0.1], aggregation="mean")
    model = model.partial_fit(X, y) if streams else model.fit(X, y)
    for ridge, coef in zip([10.0, 1.0, 0.1], model.estimators_coef_, strict=True):
        np.testing.assert_allclose(coef, Ridge(alpha=12 * ridge).fit(X[:, :12], y).coef_, rtol=1e-8)


def test_an_aggregation_of_ones_own_is_fitted_and_predicted_with(data):
    X, y = data
    model = clone(sr.RidgeEnsembleRegressor(5, aggregation=TrimmedMean(), random_state=0)).fit(X, y)
    outputs = [
        X[:, index] @ coef + intercept
        for index, coef, intercept in zip(
            model.estimators_features_, model.estimators_coef_, model.estimators_intercept_, strict=True
        )
    ]
    np.testing.assert_allclose(model.predict(X), np.sort(outputs, axis=0)[1:-1].mean(axis=0))
    assert model.loo_error_ == pytest.approx(model.loo_path_.min(), rel=1e-14)  # sums in another order
    assert not hasattr(model, "weights_")


def test_the_default_path_scales_with_the_data(data):
    X, y = data
    plain = sr.RidgeEnsembleRegressor(3, random_state=0, aggregation="mean").fit(X, y)
    scaled = sr.RidgeEnsembleRegressor(3, random_state=0, aggregation="mean").fit(1000 * X, y)
    np.testing.assert_allclose(scaled.ridge_path_, 1e6 * plain.ridge_path_)
    np.testing.assert_allclose(scaled.predict(1000 * X), plain.predict(X))


def test_all_ways_to_name_the_same_subsets_agree(data):
    X, y = data
    plan = sr.subsets.equal(3, 24, seed=5)
    masks = [np.isin(np.arange(24), index) for index in plan.measurements]
    choices = [
        plan,
        list(plan.measurements),
        masks,
        lambda n_features, rng: plan,
        lambda n_features, rng: list(plan.measurements),
    ]
    predictions = [
        sr.RidgeEnsembleRegressor(subsets=choice, ridge=1.0, aggregation="mean").fit(X, y).predict(X)
        for choice in choices
    ]
    for other in predictions[1:]:
        np.testing.assert_array_equal(other, predictions[0])


def test_strategies_and_partial_functions_draw_with_the_models_seed(data):
    X, y = data
    for subsets in (sr.subsets.Equal(3), functools.partial(sr.subsets.equal, 3)):
        a, b, c = (
            sr.RidgeEnsembleRegressor(subsets=subsets, ridge=1.0, random_state=seed, aggregation="mean").fit(X, y)
            for seed in (0, 0, 1)
        )
        np.testing.assert_array_equal(a.coef_, b.coef_)
        assert (a.coef_ != c.coef_).any()


def test_subset_sizes_are_counts_fractions_or_one_per_member(data):
    X, y = data
    for sizes, wanted in ((5, [5, 5]), (0.5, [12, 12]), ([3, 9], [3, 9]), (None, [12, 12])):
        model = sr.RidgeEnsembleRegressor(
            2, subsets="overlapping", subset_sizes=sizes, ridge=1.0, aggregation="mean"
        ).fit(X, y)
        assert [len(index) for index in model.estimators_features_] == wanted


def test_there_are_no_more_members_than_features():
    X = np.random.default_rng(0).standard_normal((20, 3))
    model = sr.RidgeEnsembleRegressor(10, random_state=0, aggregation="mean").fit(X, X.sum(axis=1))
    assert model.n_estimators_ == 3
    assert sorted(np.concatenate(model.estimators_features_)) == [0, 1, 2]


def test_sparse_input_gives_the_same_model(data):
    X, y = data
    X = X * (X > 0.5)
    for aggregation in ("mean", "median"):
        model = sr.RidgeEnsembleRegressor(4, aggregation=aggregation, random_state=0)
        dense = model.fit(X, y).predict(X)
        for convert in (sparse.csr_array, sparse.csc_matrix):
            np.testing.assert_allclose(model.fit(convert(X), y).predict(convert(X)), dense, atol=1e-9)


def test_rows_of_weight_zero_do_not_exist(data):
    X, y = data
    weights = np.r_[np.ones(60), np.zeros(20)]
    model = sr.RidgeEnsembleRegressor(4, random_state=0, aggregation="mean")
    with_zeros = model.fit(X, y, sample_weight=weights)
    prediction, error = with_zeros.predict(X), with_zeros.loo_error_
    without = model.fit(X[:60], y[:60])
    np.testing.assert_allclose(prediction, without.predict(X))
    assert error == pytest.approx(without.loo_error_)


def test_readout_noise_is_seeded_and_hurts_training(data):
    X, y = data
    make = functools.partial(sr.RidgeEnsembleRegressor, 3, aggregation="mean", ridge=0.1, random_state=0)
    clean, noisy, again = (make(readout_noise=eta).fit(X, y) for eta in (0.0, 30.0, 30.0))
    np.testing.assert_array_equal(noisy.coef_, again.coef_)
    # A third of η² N/n per member remains in the mean of three: 900 · 8/80 / 3 = 30, against 2.8 without noise.
    assert 15 < noisy.loo_error_ - clean.loo_error_ < 60
    one = make(readout_noise=[0.0, 0.0, 30.0]).fit(X, y)
    np.testing.assert_allclose(one.estimators_coef_[0], clean.estimators_coef_[0])
    assert (one.estimators_coef_[2] != clean.estimators_coef_[2]).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"aggregation": "mode"}, "aggregation must be one of mean, scaled, simplex, free, median"),
        ({"aggregation": "majority"}, "aggregation must be one of mean, scaled, simplex, free, median, auto"),
        ({"ridge_scope": "all"}, "ridge_scope must be"),
        ({"ridge": "best"}, "ridge must be a number"),
        ({"ridge": "auto-member"}, "see ridge_scope"),
        ({"ridge": -1.0}, "ridge must be at least 0"),
        ({"ridge": [1.0, 2.0]}, "one per member"),
        ({"ridges": [-1.0]}, "ridges must be at least 0"),
        ({"subsets": "random"}, "subsets must be one of"),
        ({"subsets": 3.5}, "subsets must be"),
        ({"subsets": [[0, 99]]}, "must lie in"),
        ({"subsets": sr.subsets.equal(2, 10)}, "plan for 10 features"),
        ({"subsets": "overlapping", "subset_sizes": 1.5}, "fractions of the features"),
        ({"subsets": "overlapping", "subset_sizes": [1, 2]}, "one size or one per member"),
        ({"subset_sizes": 0.5}, "subset_sizes=0.5 has no effect on subsets='auto'"),
        ({"subsets": "equal", "subset_sizes": 3}, "has no effect on subsets='equal'"),
        ({"n_estimators": 0}, "positive integer"),
        ({"fraction_spread": -1.0}, "fraction_spread"),
        ({"readout_noise": -1.0}, "readout_noise"),
        ({"readout_noise": [1.0, 1.0]}, "readout_noise must be a number or one per member"),
    ],
)
def test_a_bad_parameter_is_named(data, parameters, message):
    with pytest.raises(sr.errors.SubridgeError, match=message):
        sr.RidgeEnsembleRegressor(**{"n_estimators": 3, **parameters}).fit(*data)


def test_weights_that_are_all_zero_are_refused(data):
    X, y = data
    with pytest.raises(ValueError, match="zero"):
        sr.RidgeEnsembleRegressor().fit(X, y, sample_weight=np.zeros(80))


@pytest.mark.parametrize("kind", ["shuffled", "split entries"])
def test_sparse_tables_far_from_zero_need_not_be_in_canonical_form(kind):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 6)) + 1e8
    y = (X - 1e8) @ np.arange(1, 7) + 0.1 * rng.standard_normal(40)
    if kind == "shuffled":
        order = rng.permutation(40)
        table = sparse.csc_array(X)[order]
        X, y = X[order], y[order]
    else:
        halves = np.repeat(X.ravel() / 2, 2), np.repeat(np.tile(np.arange(6), 40), 2), 12 * np.arange(41)
        table = sparse.csr_array(halves, X.shape)
    given = table.copy()
    assert not table.has_canonical_format
    model = sr.RidgeEnsembleRegressor(1, ridge=0.01)
    assert model.fit(table, y).loo_error_ == pytest.approx(model.fit(X, y).loo_error_, rel=1e-5)
    np.testing.assert_array_equal(table.data, given.data)
    np.testing.assert_array_equal(table.indices, given.indices)
