"""Simulated ensembles whose members are weighted, against brute force and theory."""

import numpy as np
import pytest

import subridge as sr
from subridge.model.aggregation import read_aggregation

M, K = 60, 3
PROBLEM = sr.Problem(
    sr.covariance.autoregressive(M, 0.5),
    np.random.default_rng(0).standard_normal(M),
    sr.covariance.isotropic(M, 0.1),
    label_noise=0.3,
)


def ensemble(aggregation, readout_noise=0.2):
    return sr.Ensemble(sr.subsets.equal(K, M, seed=1), 0.3, readout_noise, aggregation)


def curves(aggregation, n_trials=3, **options):
    return sr.simulate(PROBLEM, ensemble(aggregation), [30, 90], n_trials, progress=False, **options)


def test_equal_weights_give_the_curves_of_the_mean():
    class Equal(type(read_aggregation("scaled"))):
        name = "equal"

        def weights(self, moments):
            return np.full(moments.pairs.shape[:-1], 1 / moments.n_members)

    found, mean = curves(Equal(), pairs=True), curves("mean", pairs=True)
    for name in ("risk", "training_error", "pairs"):
        np.testing.assert_allclose(found[name], mean[name], rtol=1e-9)


@pytest.mark.parametrize("name", ["scaled", "simplex", "free"])
def test_weights_by_theory_are_those_of_the_typical_risk_and_meet_it(name):
    found = curves(name, n_trials=40)
    typical = sr.risk(PROBLEM, ensemble(name), np.array([30, 90]) / M)
    best = read_aggregation(name).weights(typical.moments)
    np.testing.assert_allclose(found.member_weights, np.broadcast_to(best, found.member_weights.shape))
    mean, error = found.risk.mean("trial"), found.risk.std("trial", ddof=1) / np.sqrt(40)
    assert (abs(mean - typical.total) <= 4 * error + 1.5 * typical.total / 10).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param("scaled", marks=pytest.mark.slow), "free"])
def test_choosing_weights_per_trial_costs_something_and_less_with_more_samples(name):
    chosen, known = (curves(name, n_trials=40, weights_from=source).risk for source in ("left_out", "theory"))
    cost = (chosen / known - 1).mean("trial")
    assert 0 < cost[0] < 0.2
    assert cost[1] < 0.6 * cost[0]


def test_weights_of_a_trial_make_up_for_what_a_member_does_not_see():
    problem = sr.Problem(sr.covariance.isotropic(8), np.ones(8), label_noise=0.5)
    plan = sr.subsets.equal(2, 8, seed=0)
    found = sr.simulate(problem, sr.Ensemble(plan, 0.5, 0.0, "free"), [40], 1, weights_from="left_out", progress=False)
    assert found.member_weights.shape == (1, 1, 2)
    assert (found.member_weights >= 0).all()
    assert float(found.member_weights.sum()) > 1  # each member sees half of the features


def test_what_cannot_be_weighted_is_refused_by_name():
    with pytest.raises(sr.errors.ParameterError, match="aggregation='median'"):
        curves("median")
    with pytest.raises(sr.errors.ParameterError, match="weights_from"):
        curves("scaled", weights_from="luck")
    with pytest.raises(sr.errors.ParameterError, match="redraw has 'teacher'"):
        curves("scaled", redraw=("data", "teacher"))
