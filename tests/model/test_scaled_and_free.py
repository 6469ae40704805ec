"""Weights that need not sum to one: the scaled mean and free weights, against brute force and on hard inputs."""

import numpy as np
import pytest
from scipy.optimize import minimize

import subridge as sr
from subridge.model.aggregation import MemberMoments, read_aggregation

NAMES = ("scaled", "free")


def moments_of_outputs(outputs, targets):
    return MemberMoments.of_errors((targets - outputs)[:, None, :], targets[None, :], np.ones(len(targets)))


def squared_error(weights, outputs, targets):
    return np.mean((targets - weights @ outputs) ** 2)


@pytest.fixture
def sample():
    rng = np.random.default_rng(3)
    targets = rng.standard_normal(200)
    return 0.2 * targets + 0.3 * rng.standard_normal((5, 200)), targets


def test_moments_are_those_of_the_outputs(sample):
    outputs, targets = sample
    moments = moments_of_outputs(outputs, targets)
    np.testing.assert_allclose(moments.c, outputs @ targets / 200, rtol=1e-12)
    np.testing.assert_allclose(moments.F, outputs @ outputs.T / 200, rtol=1e-10, atol=1e-15)
    weights = np.random.default_rng(0).standard_normal((7, 5))
    expected = [squared_error(w, outputs, targets) for w in weights]
    np.testing.assert_allclose(moments.risk_of(weights), expected, rtol=1e-12)


def test_no_multiple_of_the_mean_beats_the_scaled_one(sample):
    outputs, targets = sample
    moments = moments_of_outputs(outputs, targets)
    weights = read_aggregation("scaled").weights(moments)
    assert np.ptp(weights) == 0
    slope = np.polyfit(outputs.mean(axis=0), targets, 1)
    through_zero = outputs.mean(axis=0) @ targets / (outputs.mean(axis=0) @ outputs.mean(axis=0))
    assert weights.sum() == pytest.approx(through_zero, rel=1e-12)
    assert slope[0] == pytest.approx(through_zero, rel=0.05)  # the outputs have hardly a mean here


@pytest.mark.parametrize("seed", range(5))
def test_no_non_negative_weights_beat_the_free_ones(seed):
    rng = np.random.default_rng(seed)
    targets = rng.standard_normal(80)
    mix = rng.standard_normal((6, 6))
    outputs = mix @ rng.standard_normal((6, 80)) + rng.uniform(-0.5, 1.0, (6, 1)) * targets
    moments = moments_of_outputs(outputs, targets)
    found = read_aggregation("free").weights(moments)
    brute = minimize(
        lambda w: squared_error(w, outputs, targets),
        np.full(6, 0.1),
        bounds=[(0, None)] * 6,
        method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 1e-12},
    )
    assert (found >= 0).all()
    assert moments.risk_of(found) <= brute.fun * (1 + 1e-10)
    assert moments.risk_of(found) == pytest.approx(brute.fun, rel=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_units_of_a_member_do_not_matter_to_free_weights_nor_those_of_all_to_the_scale(name, sample):
    outputs, targets = sample
    stretch = np.array([1e-4, 1.0, 1e4, 2.0, 0.1]) if name == "free" else np.full(5, 1e-4)
    before = read_aggregation(name).weights(moments_of_outputs(outputs, targets))
    after = read_aggregation(name).weights(moments_of_outputs(outputs * stretch[:, None], targets))
    np.testing.assert_allclose(after * stretch, before, rtol=1e-4)


@pytest.mark.parametrize("name", NAMES)
def test_duplicated_members_share_their_weight(name, sample):
    outputs, targets = sample
    twice = np.concatenate([outputs, outputs])
    moments = moments_of_outputs(twice, targets)
    weights = read_aggregation(name).weights(moments)
    np.testing.assert_allclose(weights[:5], weights[5:], rtol=1e-3, atol=1e-6)
    alone = read_aggregation(name).weights(moments_of_outputs(outputs, targets))
    np.testing.assert_allclose(weights[:5] + weights[5:], alone, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_one_member_is_scaled_to_its_regression_on_the_target(name, sample):
    outputs, targets = sample
    weights = read_aggregation(name).weights(moments_of_outputs(outputs[:1], targets))
    assert weights == pytest.approx([outputs[0] @ targets / (outputs[0] @ outputs[0])], rel=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_weights_stay_small_for_opposite_members_constant_targets_and_silent_members(name, sample):
    outputs, targets = sample
    aggregation = read_aggregation(name)
    opposite = np.stack([outputs[0], -outputs[0] * (1 + 1e-9)])
    assert np.abs(aggregation.weights(moments_of_outputs(opposite, targets))).max() < 10
    np.testing.assert_array_equal(aggregation.weights(moments_of_outputs(outputs, 0 * targets)), 0.0)
    silent = aggregation.weights(moments_of_outputs(1e-12 * outputs, targets))
    assert np.abs(silent).max() <= 1
    against = aggregation.weights(moments_of_outputs(-outputs, targets))
    np.testing.assert_array_equal(against, 0.0)


@pytest.mark.parametrize("name", NAMES)
def test_a_regressor_scales_what_features_explain_and_leaves_the_mean_alone(name):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((120, 12)) + 5.0
    y = X @ rng.standard_normal(12) + 0.1 * rng.standard_normal(120)
    model = sr.RidgeEnsembleRegressor(n_estimators=6, ridge=0.1, aggregation=name, random_state=0)
    near, far = model.fit(X, y).predict(X), model.fit(X, y + 1e4).predict(X)
    assert model.weights_.sum() > 2  # six members that each see a sixth of a target with independent parts
    np.testing.assert_allclose(far - 1e4, near, atol=1e-6)
    mean = sr.RidgeEnsembleRegressor(n_estimators=6, ridge=0.1, random_state=0, aggregation="mean").fit(X, y)
    assert np.mean((near - y) ** 2) < 0.5 * np.mean((mean.predict(X) - y) ** 2)


@pytest.mark.parametrize("name", NAMES)
def test_a_constant_target_is_predicted_as_it_is(name):
    X = np.random.default_rng(0).standard_normal((20, 6))
    model = sr.RidgeEnsembleRegressor(n_estimators=3, ridge=0.1, aggregation=name, random_state=0).fit(
        X, np.full(20, 0.3)
    )
    np.testing.assert_allclose(model.predict(X), 0.3, rtol=1e-12)
    assert np.abs(model.weights_).max() <= 1


@pytest.mark.parametrize("name", NAMES)
def test_moments_without_a_target_are_refused_by_name(name):
    with pytest.raises(sr.errors.ParameterError, match="moments of the target"):
        read_aggregation(name).weights(MemberMoments(np.eye(2)))
