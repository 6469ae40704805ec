"""The scaled mean of equal members: closed forms against Prop. 2, searches and brute force."""

import numpy as np
import pytest

import subridge as sr

SCALED = {"aggregation": "scaled"}


def draws(n, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(n):
        noises = rng.uniform(0, 1.5, 3) * (rng.random(3) < 0.7)
        yield int(rng.integers(1, 9)), rng.uniform(0.05, 3), rng.uniform(0.2, 3), noises, rng.choice([0, 0.01, 1, 30])


@pytest.mark.filterwarnings("ignore::subridge.model.errors.InfiniteRiskWarning")
@pytest.mark.parametrize("c", [0.0, 0.4])
@pytest.mark.parametrize("name", ["scaled", "free"])
def test_closed_form_is_proposition_2_for_equal_disjoint_members(c, name):
    for k, alpha, s, (eta, omega, zeta), lam in draws(60):
        unit = s * (1 - c)
        ensemble = sr.Ensemble([1 / k] * k, lam, eta, name)
        whole = sr.risk(sr.EquicorrelatedProblem(s, c, omega, 0.0, zeta), ensemble, alpha)
        ratios = (eta**2 / unit, omega**2 / unit, zeta**2 / unit)
        np.testing.assert_allclose(
            whole.total, unit * sr.reduced_risk(k, alpha, 0.0, lam / unit, *ratios, aggregation=name), rtol=1e-10
        )


def test_a_teacher_along_one_leaves_the_mean_as_it_is_and_free_weights_on_the_simplex():
    problem = sr.EquicorrelatedProblem(1.0, 0.4, 0.3, 0.6, 0.2)
    found = {
        name: sr.risk(problem, sr.Ensemble([0.1, 0.3, 0.5], 0.2, 0.1, name), 0.8)
        for name in ("mean", "scaled", "simplex", "free")
    }
    assert np.isinf(found["mean"].v)
    assert np.isinf(found["mean"].c).all()
    assert found["scaled"].total == pytest.approx(float(found["mean"].total), rel=1e-14)
    assert found["free"].total == pytest.approx(
        float(found["simplex"].total), rel=1e-14
    )  # to rounding, which depends on the processor
    args = (3, 0.8, 0.6, 0.1, 0.2, 0.1, 0.3)
    assert sr.reduced_risk(*args, **SCALED) == sr.reduced_risk(*args)


@pytest.mark.parametrize("name", ["mean", "scaled", "simplex", "free"])
def test_the_limit_of_many_features_is_approached_by_every_aggregation(name):
    problem = sr.EquicorrelatedProblem(1.0, 0.4, 0.3, 0.6, 0.2)
    ensemble = sr.Ensemble([0.1, 0.3, 0.5], 0.2, 0.1, name)
    limit = sr.risk(problem, ensemble, 0.8).total
    distance = [sr.risk(problem, ensemble, 0.8, n_features=M).total / limit - 1 for M in (10**6, 10**7)]
    assert abs(distance[0]) < 1e-3
    assert distance[1] == pytest.approx(distance[0] / 10, rel=0.01)


def test_limits_are_the_stated_ones():
    H, W, Z, alpha = 0.3, 0.2, 0.4, 0.7
    e = 1 + W
    assert sr.reduced_risk(np.inf, alpha, 0, 0.5, H, W, Z, **SCALED) == 1
    endless = 1 - alpha / (e * (alpha + e * (1 + Z)))
    for Lam in (0.0, 0.5, np.inf):
        assert sr.reduced_risk(np.inf, alpha, 0, Lam, 0, W, Z, **SCALED) == pytest.approx(endless, rel=1e-14)
    assert sr.reduced_risk(1e9, alpha, 0, 0.5, 0, W, Z, **SCALED) == pytest.approx(endless, rel=1e-8)
    much = (W + e**2 * H * 3) / (e + e**2 * H * 3)
    assert sr.reduced_risk(3, np.inf, 0, 0.5, H, W, Z, **SCALED) == pytest.approx(much, rel=1e-14)
    assert sr.reduced_risk(3, 0.0, 0, 0.5, H, W, Z, **SCALED) == 1
    assert sr.reduced_risk(2, 0.5, 0, 0.0, H, W, Z, **SCALED) == 1  # at the threshold, where the mean diverges
    assert sr.reduced_risk(1, 1.0, 0, 0.0, 0, 0, 0, **SCALED) == 0


@pytest.mark.filterwarnings("ignore::subridge.model.errors.InfiniteRiskWarning")
def test_best_size_equals_an_exhaustive_search():
    rng = np.random.default_rng(0)
    n = 400
    alpha = np.where(rng.random(n) < 0.1, np.inf, rng.choice([0.1, 0.25, 0.5, 1.0, 1.5, 2.5, 0.0137, 0.739], n))
    H, W, Z = rng.choice([0, 1e-3, 0.1, 0.5, 1, 2.5, 20], n), rng.choice([0, 0.2, 1.0], n), rng.choice([0, 0.3, 2.0], n)
    found = sr.optimal_n_members(alpha, 0.0, H, W, Z, **SCALED)
    ks = np.append(np.arange(1.0, 1001.0), np.inf)
    errors = sr.reduced_risk(ks[:, None], alpha, 0.0, 0.0, H, W, Z, **SCALED)
    best = ks[(errors <= errors.min(axis=0) + 1e-13).argmax(axis=0)]
    np.testing.assert_array_equal(found, best)
    assert ((H > 0) <= np.isfinite(found)).all()
    assert {0, 1, 2} == set(np.unique(np.where(found == 1, 0, np.where(np.isinf(found), 2, 1))))


@pytest.mark.slow
def test_best_ridge_beats_every_other_and_one_member_every_size():
    for k, alpha, _, (H, W, Z), _ in draws(60, seed=3):
        ridge = sr.reduced_optimal_ridge(k, 0.0, H, W, Z, sample_ratio=alpha, **SCALED)
        lowest = -(1 + W) * k * (np.sqrt(alpha) - np.sqrt(1 / k)) ** 2
        others = lowest + np.geomspace(1e-6, 1e5, 2000)
        best = sr.reduced_risk(k, alpha, 0.0, ridge, H, W, Z, **SCALED)
        assert (sr.reduced_risk(k, alpha, 0.0, others, H, W, Z, **SCALED) >= best - 1e-13).all()
        if H == 0:
            assert ridge == pytest.approx(float(sr.reduced_optimal_ridge(k, 0.0, H, W, Z)), rel=1e-9)
        sizes = np.arange(1.0, 40.0)
        ridges = sr.reduced_optimal_ridge(sizes, 0.0, H, W, Z, sample_ratio=alpha, **SCALED)
        assert (np.diff(sr.reduced_risk(sizes, alpha, 0.0, ridges, H, W, Z, **SCALED)) > -1e-13).all()
        assert sr.optimal_n_members(alpha, 0.0, H, W, Z, ridge="optimal", **SCALED) == 1


def test_beyond_the_stated_sample_ratio_one_member_is_best():
    H, W, Z = np.meshgrid([0.05, 0.5, 2.0], [0.0, 0.5], [0.0, 1.0])
    linear = 3 * H - 1 / (1 + W)
    edge = (linear + np.sqrt(linear**2 + 8 * H * (1 + Z))) / (4 * H)
    assert (edge > 1).all()
    assert (sr.optimal_n_members(edge * 1.001, 0.0, H, W, Z, **SCALED) == 1).all()
    assert (sr.optimal_n_members(edge * 0.999, 0.0, H, W, Z, **SCALED) > 1).all()


def test_phase_boundary_of_the_scaled_mean():
    assert sr.phase_boundary(0.0, 0.0, 0.2, 0.4, **SCALED) == pytest.approx(1.2 * 1.4)
    assert sr.phase_boundary(0.0, 0.1, 0.2, 0.4, **SCALED) == 0
    assert sr.phase_boundary(0.3, 0.1, **SCALED) == sr.phase_boundary(0.3, 0.1)
    assert np.isinf(sr.optimal_n_members(1.67, 0.0, 0.0, 0.2, 0.4, **SCALED))
    assert sr.optimal_n_members(1.69, 0.0, 0.0, 0.2, 0.4, **SCALED) == 1


@pytest.mark.slow
@pytest.mark.parametrize("ridge", [0, "optimal"])
def test_scaled_phase_diagram_is_never_worse_than_that_of_the_mean(ridge):
    axes = (np.append(np.linspace(0, 3, 13), np.inf), np.array([0.0, 0.3]), np.linspace(0, 3, 7))
    mean, scaled = (sr.phase_diagram(*axes, ridge=ridge, aggregation=name) for name in ("mean", "scaled"))
    assert scaled.attrs["aggregation"] == "scaled"
    assert (scaled.reduced_risk <= mean.reduced_risk + 1e-12).all()
    same = scaled.sel(alignment=0.3).drop_attrs().equals(mean.sel(alignment=0.3).drop_attrs())
    assert same
    unaligned = scaled.sel(alignment=0.0).isel(readout_nsr=slice(1, None), sample_ratio=slice(1, None))
    assert np.isfinite(unaligned.optimal_n_members).all()
    assert (unaligned.reduced_risk < 1).all()


def test_other_aggregations_are_refused_by_name():
    with pytest.raises(sr.errors.ParameterError, match="one of mean, scaled, simplex, free"):
        sr.reduced_risk(2, 0.5, 0, 0, 0, 0, 0, aggregation="median")
    with pytest.raises(sr.errors.ParameterError, match="sample_ratio is needed"):
        sr.reduced_optimal_ridge(2, 0, 0.1, 0, 0, **SCALED)
