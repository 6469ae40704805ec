import warnings

import numpy as np
import pytest

import subridge as sr
from subridge.theory import saddle_point
from subridge.theory.saddle_point import Spectrum, effective_ridge, floor

CLOSED = sr.EquicorrelatedProblem(1.0, 0.5, 0.2, 0.3, 0.2)


def test_every_parameter_broadcasts_and_equals_one_call_per_point():
    alpha = np.array([0.2, 0.7])
    ridge, noise = np.array([[0.0], [0.1], [1.0]])[:, None], np.array([0.1, 0.2])
    c = np.array([0.0, 0.3, 0.6, 1.0])[:, None, None]
    many = sr.EquicorrelatedProblem(correlation=c, feature_noise=0.1)
    whole = sr.risk(many, sr.Ensemble([0.3, 0.5], ridge, noise), alpha)
    assert whole.total.shape == (4, 3, 2)
    assert whole.pairs.shape == (4, 3, 2, 2, 2)
    for i, j, p in np.ndindex(4, 3, 2):
        problem = sr.EquicorrelatedProblem(correlation=float(c[i, 0, 0]), feature_noise=0.1)
        one = sr.risk(problem, sr.Ensemble([0.3, 0.5], float(ridge[j, 0, 0]), noise), alpha[p])
        np.testing.assert_allclose(whole.pairs[i, j, p], one.pairs, rtol=1e-12)


@pytest.mark.parametrize("aggregation", ["mean", "scaled"])
def test_what_does_not_change_along_the_grid_is_still_there_at_every_point(aggregation):
    ensemble = sr.Ensemble([0.3, 0.5, 0.2], np.array([0.0, 0.1])[:, None, None], 0.1, aggregation)
    found = sr.risk(CLOSED, ensemble, np.array([0.4, 0.7, 0.9]), n_features=50)
    assert found.error_bound.shape == found.v.shape == (2, 3)
    assert found.pairs.shape == found.F.shape == (2, 3, 3, 3)
    assert found.c.shape == (2, 3, 3)
    for field in (found.total, found.pairs, found.c, found.F, found.v, found.error_bound):
        assert field.flags.c_contiguous
        assert field.flags.writeable
    assert sr.risk(CLOSED, sr.Ensemble([0.3], 0.1, aggregation=aggregation), 0.4, n_features=50).v.shape == ()


def test_fractions_may_have_leading_axes():
    draws = sr.subsets.Dirichlet(4, 0.5).fractions(0, size=7)
    matrices = draws[..., None] * np.eye(4)
    whole = sr.risk(CLOSED, sr.Ensemble(matrices, 0.1), 0.4).total
    np.testing.assert_allclose(whole, [sr.risk(CLOSED, sr.Ensemble(nu, 0.1), 0.4).total for nu in draws])


def test_general_grid_equals_one_call_per_point():
    M = 30
    zeta = np.array([0.0, 0.5])[:, None, None]
    problem = sr.Problem(sr.covariance.autoregressive(M, 0.5), np.ones(M), label_noise=zeta)
    plan = sr.subsets.overlapping([10, 20], M, 0)
    ridge = np.array([[0.0, 0.1], [1.0, 2.0], [0.5, 0.0]])[:, None]
    alpha = np.array([0.1, 0.5, 0.9, 2.0])
    whole = sr.risk(problem, sr.Ensemble(plan, ridge, 0.3), alpha)
    assert whole.total.shape == (2, 3, 4)
    for i, j, p in np.ndindex(2, 3, 4):
        single = sr.Problem(problem.signal_covariance, np.ones(M), None, float(problem.label_noise[i, 0, 0]))
        one = sr.risk(single, sr.Ensemble(plan, ridge[j, 0], 0.3), alpha[p])
        np.testing.assert_allclose(whole.pairs[i, j, p], one.pairs, rtol=1e-12)


def test_risk_is_infinite_at_the_interpolation_threshold_and_says_so_once():
    M = 20
    problem = sr.Problem(np.eye(M), np.ones(M), label_noise=0.1)
    ensemble = sr.Ensemble(sr.subsets.equal(2, M, 0))
    for task, members in ((problem, ensemble), (CLOSED, sr.Ensemble([0.5, 0.5]))):
        with pytest.warns(sr.errors.InfiniteRiskWarning, match="interpolation threshold") as caught:
            risk = sr.risk(task, members, np.array([0.4, 0.5, 0.6]))
        assert len(caught) == 1
        assert np.isinf(risk.total).tolist() == [False, True, False]
        assert np.isfinite(risk.pairs[1, 0, 1])  # disjoint members do not share the divergence


def test_identical_members_diverge_off_the_diagonal_as_well():
    with pytest.warns(sr.errors.InfiniteRiskWarning):
        pairs = sr.risk(CLOSED, sr.Ensemble(np.full((2, 2), 0.5)), 0.5).pairs
    assert np.isinf(pairs).all()


def test_threshold_without_any_noise_is_harmless():
    M = 12
    problem = sr.Problem(sr.covariance.autoregressive(M, 0.6), np.arange(M) + 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sr.risk(problem, sr.Ensemble(sr.SubsetPlan.from_indices([np.arange(M)], M)), 1.0).total == 0


def test_tiny_ridges_join_the_ridgeless_limit_smoothly():
    M = 50
    problem = sr.Problem(sr.covariance.power_law(M, 1.5, seed=0), np.ones(M), None, 0.2)
    plan = sr.subsets.overlapping([15, 30], M, 0)
    for alpha in (0.1, 0.45, 0.9):
        limit = sr.risk(problem, sr.Ensemble(plan), alpha).pairs
        for ridge in (1e-12, 1e-14):
            np.testing.assert_allclose(sr.risk(problem, sr.Ensemble(plan, ridge), alpha).pairs, limit, rtol=1e-7)


def test_a_ridge_below_the_floor_is_refused_with_the_floor_in_the_message():
    M = 20
    problem = sr.Problem(np.eye(M), np.ones(M))
    plan = sr.subsets.equal(2, M, 0)
    with pytest.raises(sr.errors.RidgeError, match="raise the ridge"):
        sr.risk(problem, sr.Ensemble(plan, -5.0), 2.0)
    with pytest.raises(sr.errors.RidgeError, match="raise the ridge"):
        sr.risk(CLOSED, sr.Ensemble([0.5], -5.0), 2.0)


def test_floor_of_the_branch_is_where_gamma_is_one():
    member = Spectrum(np.array([0.5, 1.0, 4.0]), np.array([10.0, 20.0, 5.0]), 100)
    alpha = np.array([0.05, 0.34, 0.36, 3.0])

    def gamma(kappa_bar):
        return member.shares(kappa_bar)[0] ** 2 @ member.counts / (100 * alpha)

    kappa_min, lowest = floor(member, alpha)
    np.testing.assert_allclose(gamma(kappa_min), 1, rtol=1e-9)
    assert (lowest < 0).all()
    just_above, found = effective_ridge(member, alpha, 0.999 * lowest)
    assert found.all()
    assert (gamma(just_above) < 1).all()


def test_problem_and_ensemble_must_fit_together():
    problem = sr.Problem(np.eye(10), np.ones(10))
    with pytest.raises(sr.errors.SubsetError, match="build it from a SubsetPlan"):
        sr.risk(problem, sr.Ensemble([0.5, 0.5]), 0.3)
    with pytest.raises(sr.errors.SubsetError, match="plan is for 12 features but the problem has 10"):
        sr.risk(problem, sr.Ensemble(sr.subsets.equal(2, 12, 0)), 0.3)
    with pytest.raises(sr.errors.ParameterError, match="n_features belongs to an EquicorrelatedProblem"):
        sr.risk(problem, sr.Ensemble(sr.subsets.equal(2, 10, 0)), 0.3, n_features=10)
    with pytest.raises(sr.errors.SubsetError, match="dense measurements"):
        sr.risk(CLOSED, sr.Ensemble(sr.subsets.projection([3], 10, 0)), 0.3)


@pytest.mark.parametrize("bad", [-0.1, np.nan])
def test_sample_ratio_must_be_a_non_negative_number(bad):
    with pytest.raises((sr.errors.ParameterError, sr.errors.DataError), match="sample_ratio"):
        sr.risk(CLOSED, sr.Ensemble([0.5]), bad)


def test_effective_ridge_is_one_over_q_hat():
    order = sr.order_parameters(CLOSED, sr.Ensemble([0.5, 0.3], 0.1), [0.4, 2.0])
    np.testing.assert_allclose(order.effective_ridge, order.kappa / np.array([[0.4], [2.0]]))


def test_a_root_that_is_not_found_raises_or_is_reported(monkeypatch):
    monkeypatch.setattr(saddle_point, "_STEPS", 1)
    member = Spectrum(np.array([0.5, 4.0]), np.array([1.0, 1.0]), 4), np.array([0.4]), np.array([1e-3])
    assert not effective_ridge(*member, throw=False)[1].any()
    with pytest.raises(sr.errors.ConvergenceError, match="throw=False"):
        effective_ridge(*member)


@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_a_member_that_sees_nothing_predicts_zero(ridge):
    """Its error is the signal's power, whatever its ridge; the other member is not disturbed."""
    signal = np.r_[np.zeros(5), np.ones(5)]
    blind = sr.SubsetPlan.from_indices([np.arange(5), np.arange(5, 10)], 10)
    seeing = sr.SubsetPlan.from_indices([np.arange(5, 10)], 10)
    for covariance in (sr.covariance.diagonal(signal), np.diag(signal)):
        problem = sr.Problem(covariance, np.ones(10))
        pairs = sr.risk(problem, sr.Ensemble(blind, ridge), 0.3).pairs
        assert pairs[0, 0] == pytest.approx(0.5)
        np.testing.assert_allclose(pairs[1, 1], sr.risk(problem, sr.Ensemble(seeing, ridge), 0.3).total)


def test_the_faintest_noise_diverges_at_the_threshold():
    with pytest.warns(sr.errors.InfiniteRiskWarning):
        totals = sr.risk(sr.EquicorrelatedProblem(label_noise=[0.0, 1e-9]), sr.Ensemble([1.0]), 1.0).total
    assert totals.tolist() == [0, np.inf]


def test_shapes_that_do_not_broadcast_are_named():
    with pytest.raises(sr.errors.ParameterError, match=r"sample_ratio \(3,\)"):
        sr.risk(sr.EquicorrelatedProblem(correlation=[0.1, 0.2]), sr.Ensemble([0.5]), [0.1, 0.2, 0.3])


def test_scales_beyond_floating_point_are_refused():
    problem = sr.Problem(sr.covariance.isotropic(4, 1e-120), np.ones(4))
    with pytest.raises(sr.errors.CovarianceError, match="rescale the data"):
        sr.risk(problem, sr.Ensemble(sr.subsets.equal(2, 4, 0), 1e-121), 0.8)


@pytest.mark.parametrize("ridges", [[0.01, 0.1, 1.0, 3.0], np.geomspace(0.01, 1, 12).reshape(4, 3)])
def test_swept_ridges_equal_one_call_each(ridges):
    plan = sr.SubsetPlan.from_indices([[0, 1], [2, 3, 4], [4, 5]], 6)
    general = sr.Problem(sr.covariance.autoregressive(6, 0.5), np.ones(6), label_noise=0.3)
    limit = sr.EquicorrelatedProblem(correlation=0.2, label_noise=[[0.1], [0.4]])
    for problem, subsets in ((general, plan), (limit, [0.2, 0.3, 0.5])):
        found = sr.risk(problem, sr.Ensemble(subsets, readout_noise=0.1), [0.4, 1.5], ridges=ridges)
        each = [sr.risk(problem, sr.Ensemble(subsets, ridge, 0.1), [0.4, 1.5]).total for ridge in ridges]
        np.testing.assert_allclose(found.total, np.stack(each), rtol=1e-12)


def test_ridges_of_the_wrong_shape_are_refused():
    with pytest.raises(sr.errors.ParameterError, match=r"ridges must have shape \(n,\) or \(n, 3\), got \(2, 2\)"):
        sr.risk(sr.EquicorrelatedProblem(), sr.Ensemble([0.2, 0.3, 0.5]), 0.5, ridges=np.ones((2, 2)))
    with pytest.raises(sr.errors.ParameterError, match="or give ridges= to risk or simulate"):
        sr.Ensemble([0.2, 0.3, 0.5], ridge=[0.1, 0.2])


def test_a_member_without_variance_has_the_effective_ridge_of_its_ridge_alone():
    """κ̄ = κ/α with κ = λ, as nothing is added to the ridge; it was one."""
    problem = sr.Problem(np.diag([0.0, 0.0, 1.0]), np.ones(3))
    ensemble = sr.Ensemble(sr.SubsetPlan.from_indices([[0, 1]], 3), ridge=0.5)
    found = sr.order_parameters(problem, ensemble, 2.0)
    assert found.kappa == [0.5]
    assert found.effective_ridge == [0.25]
    assert sr.risk(problem, ensemble, 2.0).total == pytest.approx(1 / 3)
