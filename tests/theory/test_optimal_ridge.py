from contextlib import nullcontext

import numpy as np
import pytest

import subridge as sr
from subridge.model.errors import AccuracyWarning

ALPHA = np.array([0.1, 0.35, 1.0, 2.0])
CLOSED = sr.EquicorrelatedProblem(1.0, 0.5, 0.2, 0.3, 0.2)
UNALIGNED = sr.EquicorrelatedProblem(1.0, 0.5, 0.2, 0.0, 0.2)
FRACTIONS, NOISE = [0.1, 0.3, 0.5], [0.1, 0.2, 0.3]


def general_problem(M=60):
    rng = np.random.default_rng(0)
    signal, noise = sr.covariance.autoregressive(M, 0.7), sr.covariance.isotropic(M, 0.1)
    return sr.Problem(signal, rng.standard_normal(M), noise, 0.3)


def settings():
    plan = sr.subsets.overlapping([8, 20, 35], 60, 1)
    return {
        "closed": (CLOSED, sr.Ensemble(FRACTIONS, readout_noise=NOISE)),
        "general": (general_problem(), sr.Ensemble(plan, readout_noise=NOISE)),
        "closed scaled": (UNALIGNED, sr.Ensemble(FRACTIONS, readout_noise=NOISE, aggregation="scaled")),
        "general scaled": (general_problem(), sr.Ensemble(plan, readout_noise=NOISE, aggregation="scaled")),
        "closed free": (UNALIGNED, sr.Ensemble(FRACTIONS, readout_noise=NOISE, aggregation="free")),
        "general free": (general_problem(), sr.Ensemble(plan, readout_noise=NOISE, aggregation="free")),
        "closed simplex": (CLOSED, sr.Ensemble(FRACTIONS, readout_noise=NOISE, aggregation="simplex")),
    }


def error(problem, ensemble, ridge):
    moved = sr.Ensemble(ensemble.subsets, ridge, ensemble.readout_noise, ensemble.aggregation)
    return sr.risk(problem, moved, ALPHA).total


@pytest.mark.parametrize("name", list(settings()))
def test_common_ridge_beats_every_other_common_ridge(name):
    problem, ensemble = settings()[name]
    best = sr.optimal_ridge(problem, ensemble, ALPHA, scope="ensemble")
    assert best.shape == (4, 1)
    lowest = error(problem, ensemble, best)
    for factor in (0.9, 0.97, 1.1, 2.0):
        assert (error(problem, ensemble, best + (factor - 1) * np.abs(best)) > lowest).all()
    scan = np.geomspace(1e-4, 1e3, 60)[:, None, None]
    everywhere = error(problem, ensemble, np.broadcast_to(scan, (60, 4, 1)))
    assert (everywhere >= lowest - 1e-12).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", list(settings()))
def test_joint_ridges_beat_the_common_one_and_are_stationary(name):
    problem, ensemble = settings()[name]
    common = error(problem, ensemble, sr.optimal_ridge(problem, ensemble, ALPHA, scope="ensemble"))
    best = sr.optimal_ridge(problem, ensemble, ALPHA, scope="joint")
    lowest = error(problem, ensemble, best)
    assert (lowest <= common + 1e-12).all()
    for r in range(3):
        for sign in (-1, 1):
            moved = best.copy()
            moved[:, r] += sign * 1e-3 * np.abs(best[:, r])
            assert (error(problem, ensemble, moved) >= lowest - 1e-13).all()


def test_member_optimum_of_a_general_problem_minimises_each_members_own_error():
    problem, ensemble = settings()["general"]
    best = sr.optimal_ridge(problem, ensemble, ALPHA)
    own = np.diagonal(sr.risk(problem, sr.Ensemble(ensemble.subsets, best, NOISE), ALPHA).pairs, axis1=-2, axis2=-1)
    for factor in (0.7, 1.4):
        moved = sr.Ensemble(ensemble.subsets, factor * best, NOISE)
        assert (np.diagonal(sr.risk(problem, moved, ALPHA).pairs, axis1=-2, axis2=-1) > own).all()


def test_closed_and_general_optima_agree_on_isotropic_data():
    """Without correlation Prop. 2 is exact at every M, up to the teacher: a flat one."""
    M = 40
    problem = sr.Problem(sr.covariance.isotropic(M), np.ones(M), sr.covariance.isotropic(M, 0.09), 0.2)
    closed = sr.EquicorrelatedProblem(feature_noise=0.3, label_noise=0.2)
    plan = sr.SubsetPlan.from_indices([np.arange(10), np.arange(10, 34)], M)
    for scope in ("member", "ensemble", "joint"):
        found = sr.optimal_ridge(problem, sr.Ensemble(plan, 0, 0.3), ALPHA, scope=scope)
        expected = sr.optimal_ridge(closed, sr.Ensemble([0.25, 0.6], 0, 0.3), ALPHA, scope=scope)
        np.testing.assert_allclose(found, np.broadcast_to(expected, found.shape), rtol=1e-5)


def test_ensemble_optimum_may_be_negative_and_well_posed():
    best = sr.optimal_ridge(sr.EquicorrelatedProblem(), sr.Ensemble([0.25] * 4), 1.0, scope="ensemble")
    np.testing.assert_allclose(best, [-0.55197], atol=1e-5)


def test_fully_aligned_or_redundant_teachers_want_an_infinite_ridge():
    ensemble = sr.Ensemble([0.5], 0, 0.1)
    assert np.isinf(sr.optimal_ridge(sr.EquicorrelatedProblem(correlation=0.5, alignment=1.0), ensemble))
    assert np.isinf(sr.optimal_ridge(sr.EquicorrelatedProblem(correlation=1.0, feature_noise=0.2), ensemble))
    assert sr.optimal_ridge(sr.EquicorrelatedProblem(correlation=1.0), sr.Ensemble([0.5])) == 0


def test_without_correlation_the_alignment_does_not_matter():
    ensemble = sr.Ensemble([0.5], 0, 0.1)
    found = [sr.optimal_ridge(sr.EquicorrelatedProblem(alignment=rho), ensemble) for rho in (0.0, 0.9)]
    np.testing.assert_array_equal(*found)


def test_missing_or_impossible_sample_ratio_and_scope_are_named():
    problem, ensemble = settings()["general"]
    with pytest.raises(sr.errors.ParameterError, match="sample_ratio is needed"):
        sr.optimal_ridge(problem, ensemble)
    with pytest.raises(sr.errors.ParameterError, match="sample_ratio must be positive and finite"):
        sr.optimal_ridge(problem, ensemble, [0.5, np.inf])
    with pytest.raises(sr.errors.ParameterError, match='scope must be "member", "ensemble", "joint" or "spaces"'):
        sr.optimal_ridge(problem, ensemble, 0.5, scope="all")


def test_the_best_ridges_of_spaces_have_the_shape_of_the_noises():
    spaces = sr.SubsetPlan.from_indices([range(10), range(10, 20)], 20)
    weights = np.repeat([1.0, 0.5], 10)
    noises = np.array([0.2, 0.8])
    readouts = np.array([[[0.0]], [[0.3]]])
    found = sr.optimal_ridge(
        sr.Problem(np.eye(20), weights, label_noise=noises), sr.Ensemble(spaces, 0.0, readouts), 1.5, scope="spaces"
    )
    assert found.shape == (2, 2, 2)
    for i, eta in enumerate(readouts.ravel()):
        for j, zeta in enumerate(noises):
            alone = sr.Problem(np.eye(20), weights, label_noise=zeta), sr.Ensemble(spaces, 0.0, eta)
            np.testing.assert_array_equal(found[i, j], sr.optimal_ridge(*alone, 1.5, scope="spaces"))


def test_spaces_of_one_model_see_the_same_rows():
    spaces = sr.SubsetPlan.from_indices([range(10), range(10, 20)], 20)
    with pytest.raises(sr.errors.ParameterError, match="without row_fractions"):
        sr.optimal_ridge(
            sr.Problem(np.eye(20), np.ones(20)), sr.Ensemble(spaces, row_fractions=[0.5, 0.5]), 1.5, scope="spaces"
        )


@pytest.mark.parametrize("alpha", [1e3, 1e8])
def test_abundant_data_have_a_finite_best_ridge_with_a_finite_risk(alpha):
    problem, ensemble = sr.EquicorrelatedProblem(), sr.Ensemble([0.25] * 4)
    best = sr.optimal_ridge(problem, ensemble, alpha, scope="ensemble")
    # At 1e8 members cancel each other's errors of size one down to 3e-8: of that, doubles keep eight digits and say so.
    with pytest.warns(AccuracyWarning) if alpha == 1e8 else nullcontext():
        found = sr.risk(problem, sr.Ensemble([0.25] * 4, best), alpha)
    assert found.total <= 4 / alpha < sr.risk(problem, ensemble, alpha).total
    assert float(found.total) == pytest.approx(sr.precise_risk(problem, sr.Ensemble([0.25] * 4, best), alpha), rel=1e-8)


@pytest.mark.parametrize("alpha", [1.0, 1e3, 1e8])
def test_the_scaled_mean_without_readout_noise_wants_the_ridge_of_its_members_however_many_samples(alpha):
    scaled = sr.Ensemble([0.25] * 4, aggregation="scaled")
    best = sr.optimal_ridge(sr.EquicorrelatedProblem(), scaled, alpha, scope="ensemble")
    assert best == pytest.approx(sr.optimal_ridge(sr.EquicorrelatedProblem(), scaled)[:1], rel=1e-6)


def test_a_perfectly_aligned_teacher_lets_the_joint_search_settle():
    problem = sr.EquicorrelatedProblem(correlation=0.5, alignment=1.0)
    best = sr.optimal_ridge(problem, sr.Ensemble([0.5, 0.5]), 0.3, scope="joint")
    assert best.shape == (2,)


def test_no_sample_ratios_give_no_ridges():
    assert sr.optimal_ridge(CLOSED, sr.Ensemble(FRACTIONS), np.empty(0), scope="ensemble").shape == (0, 1)
    assert sr.optimal_ridge(CLOSED, sr.Ensemble(FRACTIONS), [0.1, 0.2]).shape == (2, 3)


def test_ridges_of_an_ensemble_are_those_of_its_weighted_sum():
    weighted = sr.Ensemble(FRACTIONS, aggregation="median")
    with pytest.raises(sr.errors.ParameterError, match="not of 'median'"):
        sr.optimal_ridge(CLOSED, weighted, 0.3, scope="ensemble")
    np.testing.assert_array_equal(sr.optimal_ridge(CLOSED, weighted), sr.optimal_ridge(CLOSED, sr.Ensemble(FRACTIONS)))
