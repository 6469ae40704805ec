import numpy as np
import pytest

import subridge as sr


def test_fractions_count_features_and_overlaps():
    plan = sr.SubsetPlan.from_indices([[0, 1, 2], [2, 3], [9]], 10)
    np.testing.assert_allclose(plan.fractions, [[0.3, 0.1, 0], [0.1, 0.2, 0], [0, 0, 0.1]])
    np.testing.assert_array_equal(plan.subset_sizes, [3, 2, 1])


def test_boolean_masks_are_subsets_too():
    plan = sr.SubsetPlan.from_indices([np.array([True, False, True])], 3)
    np.testing.assert_array_equal(plan.measurements[0], [0, 2])


def test_lifting_is_the_adjoint_of_measuring():
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal(6), rng.standard_normal(3)
    for plan in (sr.SubsetPlan.from_indices([[4, 0, 2]], 6), sr.subsets.projection([3], 6, 0)):
        assert plan.measure(0, x) @ w == pytest.approx(x @ plan.lift(0, w))


def test_ridge_and_noise_have_the_member_last():
    ensemble = sr.Ensemble([0.2, 0.3], ridge=[[0.1], [1.0]], readout_noise=[0.1, 0.2])
    assert ensemble.ridge.shape == (2, 1)
    assert ensemble.n_members == 2


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: sr.SubsetPlan.from_indices([], 3), sr.errors.SubsetError, "at least one member"),
        (lambda: sr.SubsetPlan.from_indices([[0], []], 3), sr.errors.SubsetError, "member 1 is empty"),
        (lambda: sr.SubsetPlan.from_indices([[0, 3]], 3), sr.errors.SubsetError, r"must lie in \[0, 2\], got 0 to 3"),
        (lambda: sr.SubsetPlan.from_indices([[0, 0]], 3), sr.errors.SubsetError, "names a feature twice"),
        (lambda: sr.SubsetPlan.from_indices([[0], [[1], [0, 2]]], 3), sr.errors.SubsetError, "member 1 has rows of"),
        (lambda: sr.SubsetPlan(([[1], [0, 2]],), 3), sr.errors.SubsetError, "member 0 has rows of different lengths"),
        (lambda: sr.SubsetPlan.from_indices([[0.5]], 3), sr.errors.SubsetError, "must be integers"),
        (lambda: sr.SubsetPlan.from_indices([[True, False]], 3), sr.errors.SubsetError, "mask of member 0"),
        (lambda: sr.SubsetPlan.from_matrices([np.ones(3)]), sr.errors.SubsetError, r"matrices\[0\] must have shape"),
        (
            lambda: sr.SubsetPlan.from_matrices([np.eye(3), np.eye(2)]),
            sr.errors.SubsetError,
            "has 2 columns but the plan has n_features=3",
        ),
        (lambda: sr.SubsetPlan.from_matrices([[[np.nan]]]), sr.errors.DataError, r"matrices\[0\] contains NaN"),
        (lambda: sr.Ensemble([0.5, 0.0]), sr.errors.SubsetError, r"subset fractions must lie in \(0, 1\]"),
        (lambda: sr.Ensemble([[0.5, 0.1], [0.2, 0.5]]), sr.errors.SubsetError, "must be symmetric"),
        (lambda: sr.Ensemble([[0.5, 0.6], [0.6, 0.5]]), sr.errors.SubsetError, "overlap fraction must lie between"),
        (lambda: sr.Ensemble([[0.8, 0.1], [0.1, 0.8]]), sr.errors.SubsetError, "more than all features"),
        (lambda: sr.Ensemble([[0.8, 0.1]]), sr.errors.SubsetError, "fractions must have shape"),
        (
            lambda: sr.Ensemble([0.2, 0.3], ridge=[1, 2, 3]),
            sr.errors.ParameterError,
            "last axis of ridge is the member",
        ),
        (lambda: sr.Ensemble([0.2], ridge=np.inf), sr.errors.DataError, "ridge contains infinity"),
        (lambda: sr.Ensemble([0.2], readout_noise=-1), sr.errors.ParameterError, "readout_noise must be at least 0"),
        (lambda: sr.Ensemble([0.2], readout_noise=1e160), sr.errors.ParameterError, "readout_noise must lie in"),
        (lambda: sr.Ensemble([1e308, 1e308]), sr.errors.SubsetError, r"subset fractions must lie in \(0, 1\]"),
    ],
)
def test_bad_plans_and_ensembles_are_refused_by_name(build, error, message):
    with pytest.raises(error, match=message):
        build()


def test_disjoint_members_cannot_see_more_than_all_features():
    with pytest.raises(sr.errors.SubsetError, match=r"together would see 1.2 of all features"):
        sr.Ensemble([0.4, 0.4, 0.4])
    assert sr.Ensemble([1 / 3] * 3).n_members == 3


def test_a_plan_cannot_be_changed_after_it_is_checked():
    index = np.array([0, 1])
    plan = sr.SubsetPlan((index,), 4)
    index[:] = [2, 3]
    np.testing.assert_array_equal(plan.measurements[0], [0, 1])
    for array in (plan.fractions, plan.subset_sizes, plan.measurements[0]):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    with pytest.raises(sr.errors.SubsetError, match="names a feature twice"):
        sr.SubsetPlan((np.array([0, 0]),), 4)


def test_theory_knows_the_fractions_of_equal_members():
    drawn = sr.risk(sr.EquicorrelatedProblem(label_noise=0.1), sr.Ensemble(sr.subsets.Equal(4), 0.1), 0.7)
    assert drawn.total == sr.risk(sr.EquicorrelatedProblem(label_noise=0.1), sr.Ensemble([0.25] * 4, 0.1), 0.7).total


def test_theory_asks_for_a_plan_where_fractions_are_drawn():
    with pytest.raises(sr.errors.SubsetError, match="build it from a SubsetPlan"):
        sr.risk(sr.EquicorrelatedProblem(), sr.Ensemble(sr.subsets.Dirichlet(4, 0.5)), 0.7)
