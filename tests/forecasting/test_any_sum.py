"""Forecasts of scaled and free weights, held against what estimators report and against trained ensembles."""

import numpy as np
import pytest

import subridge as sr
from subridge.forecasting.pilot import factorise_pilot, read_sample

NAMES = ["scaled", "free"]


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_constant_predictor_errs_by_the_target(pilot_data, fit_intercept):
    X, y = pilot_data
    sample = read_sample(X, y, "regression", fit_intercept)
    pilot = factorise_pilot(sample.rows, sr.subsets.equal(4, 40, seed=0)).with_constant()
    (block,) = pilot.left_out(np.full((1, 5), 2.0))
    np.testing.assert_allclose(block.errors[0, -1], sample.rows.deviations, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("ridge", [0.05, 1.0])
def test_at_the_pilots_size_it_is_what_the_estimator_expects(pilot_data, name, ridge):
    X, y = pilot_data
    plan = sr.subsets.equal(4, 40, seed=0)
    model = sr.RidgeEnsembleRegressor(subsets=plan, ridge=ridge, aggregation=name).fit(X, y)
    expected = model.ensemble_.aggregation.settle(model._member_moments).expected
    found = sr.forecast(X, y, [60], {"it": sr.Ensemble(plan, ridge=ridge, aggregation=name)})
    np.testing.assert_allclose(found.prediction_error.values[0, 0], expected, rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "k", "n", "least"), [("scaled", 24, 160, 4.0), ("free", 8, 320, 2.0)])
def test_it_is_close_to_trained_ensembles_whose_scale_is_large(name, k, n, least):
    M, ridge = 96, 0.1
    rng = np.random.default_rng(0)
    mixing = np.linalg.qr(rng.standard_normal((M, M)))[0] * np.arange(1, M + 1)[:, None] ** -0.3
    target = rng.standard_normal(M)
    target *= 2 / np.linalg.norm(mixing @ target)
    plan = sr.subsets.equal(k, M, seed=0)

    def draw(n):
        X = rng.standard_normal((n, M)) @ mixing
        return X, X @ target + rng.standard_normal(n)

    new, labels = draw(4000)
    sizes, truth = [2 * n, 4 * n], []
    for size in sizes:
        models = [
            sr.RidgeEnsembleRegressor(subsets=plan, ridge=ridge, aggregation=name).fit(*draw(size)) for _ in "abc"
        ]
        truth.append(np.mean([((labels - model.predict(new)) ** 2).mean() for model in models]))
        scale = models[0].weights_.sum()
    assert scale > least  # what is held fixed of the target's power counts by its square
    found = [sr.forecast(*draw(n), sizes, {"it": sr.Ensemble(plan, ridge=ridge, aggregation=name)}) for _ in range(12)]
    bounds = [np.array([each[f"prediction_error_{end}"].values[0] for each in found]) for end in ("lower", "upper")]
    reached = np.array([each.in_reach.values[0] for each in found])
    ratios = np.array([each.prediction_error.values[0, 0] for each in found])[reached[:, 0]] / truth[0]
    assert len(ratios) >= 8
    assert ratios.mean() == pytest.approx(1.0, abs=0.15)  # a pilot of so many rows is off by a tenth
    assert ((bounds[0] <= truth) & (truth <= bounds[1]))[reached].mean() >= 0.75


@pytest.mark.parametrize("name", NAMES)
def test_labels_may_be_moved_and_multiplied(pilot_data, name):
    X, y = pilot_data
    ensembles = {"it": sr.Ensemble(sr.subsets.equal(4, 40, seed=0), ridge=0.3, aggregation=name)}
    plain, other = (sr.forecast(X, labels, [30, 240], ensembles) for labels in (y, 3 * y - 7))
    for variable in ("prediction_error", "prediction_error_lower", "prediction_error_upper"):
        np.testing.assert_allclose(other[variable], 9 * plain[variable], rtol=1e-6)


def test_members_vote_without_the_constant_predictor(pilot_data):
    X, y = pilot_data
    plan = sr.subsets.equal(4, 40, seed=0)
    ensembles = {name: sr.Ensemble(plan, ridge=0.3, aggregation=name) for name in ("mean", *NAMES)}
    found = sr.forecast(X, np.where(y > 3, "yes", "no"), [60, 120], ensembles)
    wrong = found.misclassification.sel(n_samples=60)
    np.testing.assert_array_equal(wrong.values, wrong.values[0])
    assert found.aggregation.values.tolist() == ["mean", *NAMES]
    assert found.reach.sizes["member"] == 4
    assert found.ridge.notnull().all()


def test_beyond_reach_nothing_is_said(pilot_data):
    X, y = pilot_data
    ensembles = {"it": sr.Ensemble(sr.subsets.equal(1, 40, seed=0), ridge=1e-3, aggregation="scaled")}
    found = sr.forecast(X[:30], y[:30], [3000], ensembles)
    assert found.prediction_error.isnull().all()
    assert not found.in_reach.any()


def test_weights_for_each_target_are_refused(pilot_data):
    X, y = pilot_data
    ensemble = sr.Ensemble(sr.subsets.equal(4, 40, seed=0), ridge=0.3, aggregation=sr.aggregation.Free(per_target=True))
    with pytest.raises(sr.errors.ParameterError, match="per_target=False"):
        sr.forecast(X, np.stack([y, -y], axis=1), [120], {"it": ensemble})


@pytest.mark.parametrize("name", NAMES)
def test_ridges_that_leave_nothing_of_the_outputs_are_not_chosen(pilot_data, name):
    X, y = pilot_data
    ensembles = {"it": sr.Ensemble(sr.subsets.equal(4, 40, seed=0), ridge=1e4, aggregation=name)}
    assert not sr.forecast(X, y, [240], ensembles).in_reach.any()  # a scale of thousands
    chosen = sr.forecast(X, y, [60, 240], ensembles, ridges="auto")
    assert chosen.prediction_error.notnull().all()
    assert chosen.prediction_error.values[0, 1] <= chosen.prediction_error.values[0, 0]


@pytest.mark.parametrize("name", NAMES)
def test_groups_have_no_such_forecast(pilot_data, name):
    X, y = pilot_data
    ensembles = {"it": sr.Ensemble(sr.subsets.equal(4, 40, seed=0), ridge=0.3, aggregation=name)}
    with pytest.raises(
        sr.errors.ParameterError, match=f"aggregation='{name}' of an ensemble cannot be forecast with groups"
    ):
        sr.forecast(X, y, [120], ensembles, groups=np.arange(60) // 4)
