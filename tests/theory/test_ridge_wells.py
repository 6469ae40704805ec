"""No dense scan beats a minimiser, and k* agrees with its boundary."""

import numpy as np
import pytest

import subridge as sr


def all_seen(M, k):
    return sr.SubsetPlan.from_indices([np.arange(M)] * k, M)


@pytest.mark.parametrize("k", [2, 3])
def test_members_that_share_features_need_not_have_equal_ridges(k):
    problem = sr.Problem(sr.covariance.diagonal(np.repeat([1, 0.01], 12)), np.repeat([1.0, 10.0], 12), label_noise=1)
    plan = all_seen(24, k)
    found = sr.optimal_ridge(problem, sr.Ensemble(plan), 1.5, scope="joint")
    total = sr.risk(problem, sr.Ensemble(plan, found), 1.5).total
    assert total < (0.5877 if k == 2 else 0.5901)
    axes = np.meshgrid(*[np.geomspace(1e-4, 1e3, 30 if k == 2 else 12)] * k)
    assert total <= sr.risk(problem, sr.Ensemble(plan, np.stack(axes, axis=-1)), 1.5).total.min() * (1 + 1e-9)


@pytest.mark.parametrize("scope", ["member", "ensemble"])
@pytest.mark.parametrize("scale", [1e6, 1e7])
def test_one_large_feature_does_not_hide_the_best_ridge(scope, scale):
    v, w = np.ones(101), np.ones(101)
    v[0], w[0] = scale**2, 0.0
    problem = sr.Problem(sr.covariance.diagonal(v), w, label_noise=0.5)
    plan = all_seen(101, 1)
    found = sr.optimal_ridge(problem, sr.Ensemble(plan), 2.0, scope=scope)
    scan = sr.risk(problem, sr.Ensemble(plan, np.geomspace(1e-4, 1e4, 400)[:, None]), 2.0).total.min()
    assert sr.risk(problem, sr.Ensemble(plan, found), 2.0).total <= scan * (1 + 1e-9)


def test_the_best_size_is_finite_above_its_boundary():
    ratios = 0.3, 0.5, 0.38165178, 97.187661
    assert sr.phase_boundary(*ratios, ridge="optimal") == pytest.approx(97.5197, abs=1e-4)
    assert sr.optimal_n_members(97.5324, *ratios, ridge="optimal") == 26
    rng = np.random.default_rng(0)
    rho, H, W, Z = (
        rng.uniform(0.05, 0.5, 500),
        rng.uniform(0.1, 1, 500),
        rng.uniform(0, 0.5, 500),
        rng.uniform(0, 100, 500),
    )
    boundary = sr.phase_boundary(rho, H, W, Z, ridge="optimal")
    inside = np.isfinite(boundary) & (boundary > 0)
    for factor, finite in ((1 + 1e-5, True), (1 + 1e-9, True), (1 - 1e-9, False)):
        k = sr.optimal_n_members(
            boundary[inside] * factor, rho[inside], H[inside], W[inside], Z[inside], ridge="optimal"
        )
        assert np.isfinite(k).all() == finite


def test_weights_do_not_depend_on_the_scale_of_the_errors():
    np.testing.assert_allclose(sr.member_weights(np.diag([1e-10, 1e6]), simplex=False), [1, 1e-16])
    np.testing.assert_allclose(sr.member_weights(np.diag([1e-10, 1e6])), [1, 1e-16], rtol=1e-6)


def test_adding_a_size_does_not_change_the_data_of_the_others():
    problem = sr.Problem(np.eye(6), np.ones(6), label_noise=0.1)
    ensemble = sr.Ensemble(sr.subsets.equal(2, 6, 0), 0.1)
    few, more = (
        sr.simulate(problem, ensemble, sizes, 3, seed=1, nested=False, progress=False) for sizes in ([4, 9], [4, 6, 9])
    )
    np.testing.assert_array_equal(few.risk.sel(n_samples=[4, 9]), more.risk.sel(n_samples=[4, 9]))
