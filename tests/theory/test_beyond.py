"""Rows per member, other test data, averaged projections and sweeps of ridges: limits, symmetries, bad input."""

from itertools import product

import mpmath
import numpy as np
import pytest
from scipy.optimize import brentq

import subridge as sr
from subridge.model.shift import moments_at_test

M = 40
TEACHER = np.random.default_rng(0).standard_normal(M)
PROBLEM = sr.Problem(sr.covariance.autoregressive(M, 0.6), TEACHER, sr.covariance.isotropic(M, 0.1), label_noise=[0.3])
PLAN = sr.subsets.overlapping([15, 25, 40], M, seed=1)
RATIOS = np.array([0.4, 1.1, 3.0, np.inf])
SPECTRUM = sr.Problem(
    sr.covariance.diagonal(np.arange(1, M + 1) ** -1.5), TEACHER, sr.covariance.isotropic(M, 1e-3), label_noise=0.2
)


def projected(sizes, **given):
    return sr.Ensemble(sr.subsets.Projection(sizes), **given)


# -- rows per member ------------------------------------------------------------------------------


@pytest.mark.parametrize("problem", [PROBLEM, sr.EquicorrelatedProblem(correlation=0.3, alignment=0.5)])
@pytest.mark.parametrize("aggregation", ["mean", "scaled"])
def test_all_rows_are_no_restriction(problem, aggregation):
    subsets = PLAN if isinstance(problem, sr.Problem) else [0.2, 0.3, 0.5]
    plain, whole = (
        sr.risk(problem, sr.Ensemble(subsets, [0.0, 0.1, 1.0], 0.1, aggregation, row_fractions=rows), RATIOS)
        for rows in (None, np.ones((3, 3)))
    )
    assert np.array_equal(plain.pairs, whole.pairs)
    assert np.array_equal(plain.error_bound, whole.error_bound)


def test_a_member_alone_with_half_of_the_rows_has_half_of_the_samples():
    for ensemble, alone in ((PLAN, sr.SubsetPlan(PLAN.measurements[:1], M)), ([0.4, 0.6, 0.3], [0.4])):
        problem = PROBLEM if ensemble is PLAN else sr.EquicorrelatedProblem(feature_noise=0.2, label_noise=0.1)
        if ensemble is not PLAN:
            ensemble = np.diag(ensemble) + 0.18 * (1 - np.eye(3))
        half = sr.risk(problem, sr.Ensemble(ensemble, 0.2, row_fractions=[0.5, 0.7, 0.9]), RATIOS).pairs[..., 0, 0]
        np.testing.assert_allclose(half, sr.risk(problem, sr.Ensemble(alone, 0.2), RATIOS / 2).total, rtol=1e-12)


@pytest.mark.parametrize("rows", [[0.5, 0.8, 0.3], [[0.5, 0.1, 0.2], [0.1, 0.4, 0.0], [0.2, 0.0, 0.4]]])
def test_both_propositions_agree_on_independent_features(rows):
    plan = sr.subsets.overlapping([10, 20, 30], M, seed=0)
    general = sr.Problem(sr.covariance.isotropic(M), np.ones(M), sr.covariance.isotropic(M, 0.2), label_noise=0.3)
    closed = sr.EquicorrelatedProblem(feature_noise=np.sqrt(0.2), label_noise=0.3)
    for aggregation in ("mean", "free"):
        one, two = (
            sr.risk(problem, sr.Ensemble(plan, [0.0, 0.1, 0.5], 0.2, aggregation, rows), RATIOS)
            for problem in (general, closed)
        )
        np.testing.assert_allclose(one.pairs, two.pairs, rtol=1e-11)
        np.testing.assert_allclose(one.total, two.total, rtol=1e-11)
        np.testing.assert_allclose(one.F, two.F, rtol=1e-11)


def test_many_members_on_parts_of_the_rows_are_one_ridge_on_all():
    """Subsampling acts as a ridge: two members in different draws err together as a ridge on all rows would.

    Du, Patil and Kuchibhotla 2023, arXiv:2304.13016.
    """
    everything = sr.SubsetPlan.from_indices([range(M)] * 2, M)
    alone = sr.SubsetPlan.from_indices([range(M)], M)
    for f, ridge in ((0.3, 0.0), (0.6, 0.1)):
        bagged = sr.Ensemble(everything, ridge, row_fractions=[f, f])
        wanted = sr.order_parameters(PROBLEM, bagged, 1.2).q_hat[0, 0]
        same = brentq(
            lambda lam, q: sr.order_parameters(PROBLEM, sr.Ensemble(alone, lam), 1.2).q_hat[0, 0] - q,
            1e-9,
            1e3,
            args=(wanted,),
            xtol=1e-13,
        )
        pair = sr.risk(PROBLEM, bagged, 1.2).pairs[0, 0, 1]
        assert pair == pytest.approx(sr.risk(PROBLEM, sr.Ensemble(alone, same), 1.2).total[0], rel=1e-9)


def test_a_member_that_has_as_many_rows_as_features_is_at_its_threshold():
    ensemble = sr.Ensemble([0.3, 0.2], row_fractions=[0.6, 1.0])
    with pytest.warns(sr.errors.InfiniteRiskWarning):
        assert np.isinf(sr.risk(sr.EquicorrelatedProblem(label_noise=0.1), ensemble, 0.5).total)


@pytest.mark.parametrize("scope", ["member", "ensemble"])
def test_the_best_ridge_knows_the_rows_of_members(scope):
    ensemble = sr.Ensemble(PLAN, readout_noise=0.2, row_fractions=[0.4, 0.7, 0.9])
    best = sr.optimal_ridge(PROBLEM, ensemble, 0.8, scope=scope)[0]
    for factor in (0.9, 1.1):
        near, there = (sr.risk(PROBLEM, sr.Ensemble(PLAN, each, 0.2, "mean", ensemble.row_fractions), 0.8)
                       for each in (best * factor, best))  # fmt: skip
        if scope == "ensemble":
            assert there.total[0] < near.total[0]
        else:
            assert (np.diagonal(there.pairs[0]) < np.diagonal(near.pairs[0])).all()


# -- other test data ------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [None, [0.5, 0.9, 0.7]])
@pytest.mark.parametrize("aggregation", ["mean", "scaled", "free", "simplex"])
def test_test_data_like_those_of_training_change_nothing(aggregation, rows):
    ensemble = sr.Ensemble(PLAN, [0.0, 0.1, 1.0], 0.1, aggregation, rows)
    plain = sr.risk(PROBLEM, ensemble, RATIOS)
    for test in (PROBLEM, sr.DeadFeatures(0.0), sr.MeanShift(np.zeros(M)), sr.MeanShift(np.zeros(M), PROBLEM)):
        there = sr.risk(PROBLEM, ensemble, RATIOS, test=test)
        np.testing.assert_allclose(there.pairs, plain.pairs, rtol=1e-10)
        np.testing.assert_allclose(there.total, plain.total, rtol=1e-10)
        assert np.isnan(there.error_bound).all()


def test_an_ensemble_whose_features_all_fail_predicts_nothing():
    found = sr.risk(PROBLEM, sr.Ensemble(PLAN, 0.1, 0.3), RATIOS, test=sr.DeadFeatures(1.0))
    power = TEACHER @ PROBLEM.signal_covariance.apply(TEACHER) / M
    np.testing.assert_allclose(found.total, power + 0.3**2 / 3, rtol=1e-12)


@pytest.mark.parametrize("groups", [None, ["a", "b", "a", "c", "c"]])
def test_dead_features_have_the_moments_of_all_their_fates(groups):
    n, f = 5, np.array([0.2, 0.3, 0.2, 0.6, 0.6])
    rng = np.random.default_rng(0)
    problem = sr.Problem(np.cov(rng.standard_normal((n, 20))), rng.standard_normal(n), sr.covariance.isotropic(n, 0.5))
    total, target = problem.signal_covariance.dense() + 0.5 * np.eye(n), problem.signal_covariance.apply(
        problem.teacher_weights
    )  # fmt: skip
    second, cross = np.zeros((n, n)), np.zeros(n)
    names = np.array(range(n) if groups is None else groups)
    units = np.unique(names)
    for fate in product([0, 1], repeat=len(units)):
        alive = np.array([fate[int(np.flatnonzero(units == name)[0])] for name in names])
        chances = [
            1 - f[names == unit][0] if lives else f[names == unit][0] for unit, lives in zip(units, fate, strict=True)
        ]
        second += np.prod(chances) * total * np.outer(alive, alive)
        cross += np.prod(chances) * target * alive
    found = moments_at_test(problem, sr.DeadFeatures(f, groups))
    np.testing.assert_allclose(found.second, second, atol=1e-14)
    np.testing.assert_allclose(found.cross, cross, atol=1e-14)


def test_weights_are_those_of_training_and_better_ones_are_at_hand():
    ensemble, test = sr.Ensemble(PLAN, 0.1, aggregation="free"), sr.DeadFeatures(0.3)
    found = sr.risk(PROBLEM, ensemble, 1.1, test=test)
    weights = ensemble.aggregation.weights(sr.risk(PROBLEM, ensemble, 1.1).moments)
    np.testing.assert_allclose(found.total, found.of_weights(weights), rtol=1e-12)
    assert (sr.Risk.of_moments(found.moments, ensemble.aggregation).total < found.total).all()


# -- features that fail, in closed form -----------------------------------------------------------

CORRELATED = sr.EquicorrelatedProblem(1.5, 0.4, feature_noise=0.3, label_noise=0.2)
FRACTIONS = np.diag([0.23, 0.4, 0.6]) + 0.15 * (1 - np.eye(3))


def failing(problem, aggregation="mean", f=0.15, n_features=None, subsets=FRACTIONS, ratios=RATIOS):
    ensemble = sr.Ensemble(subsets, [0.0, 0.1, 1.0], 0.2, aggregation, [0.5, 0.8, 1.0])
    test = None if f is None else sr.DeadFeatures(f)
    return sr.risk(problem, ensemble, ratios, n_features=n_features, test=test)


@pytest.mark.parametrize("aggregation", ["mean", "scaled", "free", "simplex"])
def test_closed_form_where_no_feature_and_where_every_feature_fails(aggregation):
    for problem, size in ((CORRELATED, None), (sr.EquicorrelatedProblem(1.5, 0.4, 0.3, 0.5), 70)):
        complete, none, all_fail = (failing(problem, aggregation, f, size) for f in (None, 0.0, 1.0))
        assert np.array_equal(complete.pairs, none.pairs)
        np.testing.assert_allclose(complete.total, none.total, rtol=1e-14)  # two forms of one sum
        np.testing.assert_allclose(all_fail.pairs, complete.v[:, None, None] + 0.04 * np.eye(3), rtol=1e-12)


@pytest.mark.parametrize("aggregation", ["mean", "scaled", "free"])
def test_closed_form_is_proposition_1_for_independent_features(aggregation):
    plan = sr.subsets.overlapping([10, 20, 30], M, seed=0)
    general = sr.Problem(sr.covariance.isotropic(M), np.ones(M), sr.covariance.isotropic(M, 0.2), label_noise=0.3)
    closed = sr.EquicorrelatedProblem(feature_noise=np.sqrt(0.2), label_noise=0.3)
    one, two = (failing(each, aggregation, subsets=plan) for each in (general, closed))
    for field in ("pairs", "total", "c", "F"):
        np.testing.assert_allclose(getattr(one, field), getattr(two, field), rtol=1e-10)


def test_closed_form_is_the_limit_of_proposition_1_for_correlated_features():
    """A teacher along 1 is the same for every draw; what is left out falls like 1/M."""
    problem, off = sr.EquicorrelatedProblem(1.5, 0.4, 0.3, 1.0, 0.2), []
    for size in (60, 240):
        plan = sr.subsets.overlapping([3 * size // 10, size // 2, 4 * size // 5], size, seed=0)
        one, two = (failing(each, "mean", 0.15, n, plan, [0.4, 3.0])
                    for each, n in ((problem.realise(size, seed=0), None), (problem, size)))  # fmt: skip
        off.append(np.abs(one.pairs / two.pairs - 1).max())
    assert off[0] < 3 / 60
    assert off[1] < off[0] / 3


def test_a_threshold_is_infinite_unless_all_features_fail():
    ensemble = sr.Ensemble([0.3, 0.2])
    with pytest.warns(sr.errors.InfiniteRiskWarning, match="interpolation threshold"):
        assert np.isinf(sr.risk(CORRELATED, ensemble, 0.3, test=sr.DeadFeatures(0.1)).total)
    assert sr.risk(CORRELATED, ensemble, 0.3, test=sr.DeadFeatures(1.0)).total == pytest.approx(0.9)


def test_an_aligned_target_of_infinite_power_is_lost_where_features_fail():
    problem = sr.EquicorrelatedProblem(1.0, [0.0, 0.5], 0.1, 0.5)
    for aggregation in ("mean", "scaled", "simplex"):
        with pytest.warns(sr.errors.InfiniteRiskWarning, match="give n_features"):
            found = failing(problem, aggregation, ratios=1.2)
        assert np.isinf(found.total).tolist() == [False, True]


def exact_failing(problem, f, fractions, ridges, eta, rows, alpha, digits=60):
    """The mean's error by the formula for any test data, as printed, in high precision; M → ∞ and no alignment."""
    with mpmath.workdps(digits):
        s, c, omega, zeta, f, eta, alpha = map(
            mpmath.mpf, (problem.data_scale[()], problem.correlation[()], problem.feature_noise[()],
                         problem.label_noise[()], f, eta, alpha)
        )  # fmt: skip
        b, e, k = s * (1 - c), s * c, len(ridges)
        a, nu, lam = b + omega**2, np.vectorize(mpmath.mpf)(fractions), np.vectorize(mpmath.mpf)(ridges)
        sigma = []
        for r in range(k):
            own, seen = nu[r, r], alpha * mpmath.mpf(rows[r])
            B = seen + own + lam[r] * own / a
            sigma.append(2 * seen / (B + mpmath.sqrt(B**2 - 4 * seen * own)))
        test, total = (1 - f) * (a + f * e), mpmath.mpf(0)  # X_t = test I across 1
        for r, t in product(range(k), repeat=2):
            both = nu[r, t] * sigma[r] * sigma[t]
            row = 1 / mpmath.mpf(rows[r]) if r == t else mpmath.mpf(1)
            gamma, noise = row * both / alpha, eta**2 * (r == t)
            explained = (nu[r, r] * sigma[r] + nu[t, t] * sigma[t]) * b**2 / a
            E = (b - explained + both * b**2 / a + gamma * zeta**2 + noise) / (1 - gamma)
            total += b - (1 - f) * explained + both * (b / a) ** 2 * test + gamma * test / a * (E + zeta**2) + noise
        return total / k**2


@pytest.mark.parametrize(
    ("problem", "f", "ridge", "alpha"),
    [
        (CORRELATED, 0.15, 0.1, 0.7),
        (CORRELATED, 1e-12, 0.0, 0.7),
        (sr.EquicorrelatedProblem(1e20, 0.999, 1e-3, label_noise=1e-4), 0.3, 1e3, 5.0),
        (sr.EquicorrelatedProblem(1e-20, 0.1), 1e-9, 1e-40, 50.0),
        (CORRELATED, 0.2, -0.3, 3.0),
    ],
)
def test_the_bound_of_the_closed_form_holds_against_high_precision(problem, f, ridge, alpha):
    rows, ridges = [0.5, 0.8, 1.0], [ridge, 0.1 * abs(ridge), 3 * abs(ridge)]
    ensemble = sr.Ensemble(FRACTIONS, ridges, 0.2, row_fractions=rows)
    found = sr.risk(problem, ensemble, alpha, test=sr.DeadFeatures(f))
    exact = exact_failing(problem, f, FRACTIONS, ridges, 0.2, rows, alpha)
    assert abs(found.total / exact - 1) <= found.error_bound
    assert found.error_bound < 1e-11


@pytest.mark.filterwarnings("ignore::subridge.model.errors.AccuracyWarning")
def test_bounds_know_that_the_sample_ratio_of_a_member_is_a_product():
    rows, plan = [0.3279, 0.6198, 0.3645], sr.subsets.overlapping([10, 16, 24], M, 0)
    nu, ridges = sr.Ensemble(plan).fractions, [0.0, 0.0, 1e-6]
    general = sr.Problem(sr.covariance.isotropic(M), np.ones(M), label_noise=0.3)
    closed = sr.EquicorrelatedProblem(label_noise=0.3)
    for near in (1e-10, 1e-6, 1e-3):
        alpha = 0.4 / rows[1] * (1 + near)
        exact = exact_failing(closed, 0.0, nu, ridges, 0.2, rows, alpha)
        for problem in (general, closed):
            found = sr.risk(problem, sr.Ensemble(plan, ridges, 0.2, row_fractions=rows), alpha)
            assert abs(found.total / exact - 1) <= found.error_bound < 1e-12 / near


# -- the best ridge on other test data -------------------------------------------------------------

LAWS = {
    "dead": sr.DeadFeatures(0.2),
    "moved": sr.MeanShift(np.ones(M)),
    "other": sr.Problem(sr.covariance.autoregressive(M, 0.2), TEACHER),
}


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
def test_the_best_ridge_on_other_test_data_is_least_of_a_sweep(law):
    plan, rows, ratios, ridges = (
        sr.subsets.overlapping([12, 20, 40], M, 0),
        [0.5, 0.8, 0.9],
        [0.5, 1.5],
        np.logspace(-4, 4, 161),
    )
    ensemble = sr.Ensemble(plan, 0.0, 0.2, row_fractions=rows)
    swept = sr.risk(PROBLEM, ensemble, ratios, test=LAWS[law], ridges=ridges)
    errors = {"member": np.diagonal(swept.pairs, axis1=-2, axis2=-1), "ensemble": swept.total[..., None]}
    for scope, each in errors.items():
        best = sr.optimal_ridge(PROBLEM, ensemble, ratios, scope=scope, test=LAWS[law])
        least = ridges[each.argmin(axis=0)]
        assert (np.abs(np.log(best / least)) <= np.log(ridges[1] / ridges[0]) * (1 + 1e-9)).all()
    joint = sr.optimal_ridge(PROBLEM, ensemble, ratios, scope="joint", test=LAWS[law])
    there = sr.risk(PROBLEM, sr.Ensemble(plan, joint, 0.2, "mean", rows), ratios, test=LAWS[law])
    assert (there.total < errors["ensemble"].min(axis=0)[..., 0]).all()


@pytest.mark.parametrize("scope", ["member", "ensemble"])
def test_the_best_ridge_of_the_closed_form_where_features_fail(scope):
    ridges, ensemble, test = np.logspace(-3, 3, 241), sr.Ensemble(FRACTIONS, 0.0, 0.2), sr.DeadFeatures(0.3)
    best = sr.optimal_ridge(CORRELATED, ensemble, 0.7, scope=scope, test=test)
    swept = sr.risk(CORRELATED, ensemble, 0.7, test=test, ridges=ridges)
    each = np.diagonal(swept.pairs, axis1=-2, axis2=-1) if scope == "member" else swept.total[:, None]
    assert (np.abs(np.log(best / ridges[each.argmin(axis=0)])) <= np.log(ridges[1] / ridges[0])).all()
    # Where none fail it is the best ridge on complete data; independent features that fail keep it.
    none, kept = sr.DeadFeatures(0.0), sr.EquicorrelatedProblem(1.5, 0.0, 0.3, label_noise=0.2)
    for problem, law in ((CORRELATED, none), (kept, test)):
        found = [sr.optimal_ridge(problem, sr.Ensemble([0.5], 0.0, 0.2), 0.7, scope=scope, test=t) for t in (None, law)]
        np.testing.assert_allclose(*found, rtol=1e-8)


# -- averaged projections -------------------------------------------------------------------------


def test_many_projections_see_all_features():
    rows, ridge = [0.5, 0.8], [0.1, 1.0]
    whole = sr.Ensemble(sr.SubsetPlan.from_indices([range(M)] * 2, M), ridge, 0.2, row_fractions=rows)
    many = projected((10**13, 10**13), ridge=ridge, readout_noise=0.2, row_fractions=rows)
    for problem in (SPECTRUM, PROBLEM):
        np.testing.assert_allclose(
            sr.risk(problem, many, RATIOS).pairs, sr.risk(problem, whole, RATIOS).pairs, rtol=1e-9
        )


def test_projections_at_no_and_infinite_data():
    found = sr.risk(SPECTRUM, projected((10, 60), readout_noise=0.1), np.array([0.0, np.inf]))
    power = TEACHER @ SPECTRUM.signal_covariance.apply(TEACHER) / M
    np.testing.assert_allclose(found.pairs[0], power + 0.01 * np.eye(2), rtol=1e-12)
    # With more projections than features and infinite data only the feature noise is left.
    s = np.arange(1, M + 1) ** -1.5
    assert found.pairs[1, 1, 1] - 0.01 == pytest.approx(np.mean(s * 1e-3 / (s + 1e-3) * TEACHER**2), rel=1e-12)


def test_a_ridgeless_projection_is_at_its_threshold_with_as_many_rows():
    with pytest.warns(sr.errors.InfiniteRiskWarning):
        found = sr.risk(SPECTRUM, projected((20, 10)), np.array([0.5, 0.6]))
    assert np.isinf(found.total).tolist() == [True, False]


@pytest.mark.slow
def test_averaged_projections_are_the_mean_of_drawn_ones():
    ensemble = projected((15, 30), ridge=0.05, readout_noise=0.1)
    drawn = np.array([
        sr.risk(SPECTRUM, sr.Ensemble(ensemble.subsets.draw(M, seed), 0.05, 0.1), RATIOS).pairs for seed in range(300)
    ])  # fmt: skip
    error = drawn.std(axis=0) / np.sqrt(300)
    found = sr.risk(SPECTRUM, ensemble, RATIOS).pairs
    # Both are asymptotic in M = 40; what they leave out is of order 1/M of the error.
    assert (np.abs(drawn.mean(axis=0) - found) < 4 * error + 0.5 / M * found).all()


def exact_projection(problem, N, P, ridge, eta, zeta, digits=40):
    """One member in high precision: the two equations and eq. 9 as printed."""
    with mpmath.workdps(digits):
        M = problem.n_features
        s, o = (mpmath.mpf(1) * np.array([mpmath.mpf(x) for x in c.variances_of_features()], dtype=object)
                for c in (problem.signal_covariance, problem.noise_covariance))  # fmt: skip
        w = np.array([mpmath.mpf(x) for x in problem.teacher_weights], dtype=object)
        d, u, ridge = s + o, s * w, mpmath.mpf(ridge)
        P = mpmath.mpf(P)

        def defect(log_mu):
            mu = mpmath.e**log_mu
            n1 = sum(d / (d + mu))
            return mu * (N - n1) * (P - n1) - ridge * N * M if ridge else min(N, P) - n1

        low, high = mpmath.mpf(-200), mpmath.mpf(200)
        for _ in range(140):  # of an interval of 400 leave 3e-40
            middle = (low + high) / 2
            inside = sum(d / (d + mpmath.e**middle)) < min(N, P)
            low, high = (low, middle) if inside and defect(middle) > 0 else (middle, high)
        mu = mpmath.e**low
        g, n1, n2 = 1 / (d + mu), sum(d / (d + mu)), sum((d / (d + mu)) ** 2)
        extra = mu**2 * sum(g * g * d) / (N - n2)
        bias = (sum(s * w * w) - 2 * sum(u * u * g) + sum(u * u * g * g * (d + extra))) / M
        gamma = sum(d * g * g * (d + extra)) / P
        return float((bias + gamma * mpmath.mpf(zeta) ** 2 + mpmath.mpf(eta) ** 2) / (1 - gamma)), float(n1)


@pytest.mark.parametrize(
    ("N", "ratio", "ridge", "scale"),
    [(15, 0.8, 0.1, 1.0), (15, 0.8, 0.0, 1.0), (60, 0.5, 0.0, 1e40), (16, 0.425, 1e-12, 1.0), (30, 2.0, 1e8, 1e-30)],
)
def test_the_stated_bound_holds_against_high_precision(N, ratio, ridge, scale):
    problem = sr.Problem(
        SPECTRUM.signal_covariance.scaled(scale), TEACHER, sr.covariance.isotropic(M, 1e-3 * scale), np.sqrt(scale)
    )
    ensemble = projected((N,), ridge=ridge * scale, readout_noise=0.1 * np.sqrt(scale))
    found = sr.risk(problem, ensemble, ratio)
    exact = exact_projection(
        problem, N, ratio * M, ensemble.ridge[0], ensemble.readout_noise[0], float(problem.label_noise)
    )[0]  # fmt: skip
    assert abs(found.total / exact - 1) <= found.error_bound
    assert found.error_bound < 1e-11


def test_a_gap_in_the_spectrum_that_takes_digits_is_told():
    problem = sr.Problem(sr.covariance.diagonal([1.0] * 5 + [1e-28] * 5), np.ones(10))
    with pytest.warns(sr.errors.AccuracyWarning):
        assert sr.risk(problem, projected((5,)), 2.0).error_bound > 1e-8


def test_one_projection_errs_least_of_all_with_as_many_features_in_total():
    """No free lunch from random feature ensembles: Ruben et al. 2025, arXiv:2412.05418."""
    ridges = np.logspace(-6, 3, 200)
    for problem in (SPECTRUM, PROBLEM):
        for total in (24, 120):
            best = [
                sr.risk(problem, projected((total // k,) * k), [0.4, 1.3], ridges=ridges[:, None])
                .total.reshape(len(ridges), 2)
                .min(axis=0)
                for k in (1, 2, 4, 8)
            ]
            assert (best[0] < np.array(best[1:])).all()


# -- a sweep of ridges ----------------------------------------------------------------------------


def test_ridges_are_an_axis_before_all_others():
    ridges = np.array([0.0, 0.1, 10.0])
    for problem, subsets in ((PROBLEM, PLAN), (sr.EquicorrelatedProblem(label_noise=[[0.1], [0.2]]), [0.2, 0.3, 0.5])):
        swept = sr.risk(problem, sr.Ensemble(subsets, readout_noise=0.1), RATIOS, ridges=ridges)
        for place, ridge in enumerate(ridges):
            single = sr.risk(problem, sr.Ensemble(subsets, ridge, 0.1), RATIOS)
            assert np.array_equal(swept.total[place], single.total)
    own = sr.risk(PROBLEM, sr.Ensemble(PLAN), 1.1, ridges=[[0.1, 0.2, 0.3]]).total
    assert own.shape == (1, 1)
    assert own[0] == sr.risk(PROBLEM, sr.Ensemble(PLAN, [0.1, 0.2, 0.3]), 1.1).total


# -- bad input ------------------------------------------------------------------------------------

EQUICORRELATED = sr.EquicorrelatedProblem()
FAULTS = {
    "row_fractions must have shape": lambda: sr.Ensemble(PLAN, row_fractions=[0.5]),
    r"row fractions must lie in \(0, 1\]": lambda: sr.Ensemble(PLAN, row_fractions=[0.0, 0.5, 1.0]),
    "must be symmetric": lambda: sr.Ensemble([0.5, 0.5], row_fractions=[[0.5, 0.1], [0.2, 0.5]]),
    "see more than all rows": lambda: sr.Ensemble([0.5, 0.5], row_fractions=[[0.9, 0.1], [0.1, 0.9]]),
    "row_fractions contains NaN": lambda: sr.Ensemble([0.5, 0.5], row_fractions=[np.nan, 0.5]),
    "draws the rows of each member independently": lambda: sr.simulate(
        PROBLEM, sr.Ensemble(PLAN, row_fractions=0.5 * np.eye(3)[:, :] * 0.6 + 1e-300), [20], 2, progress=False
    ),
    r"probability must lie in \[0, 1\]": lambda: sr.DeadFeatures(1.2),
    "probability must be one number or one per feature": lambda: sr.DeadFeatures(np.zeros((2, 2))),
    "one probability, or one per feature": lambda: sr.risk(
        PROBLEM, sr.Ensemble(PLAN), 1.0, test=sr.DeadFeatures([0.1, 0.2])
    ),
    "one group per feature": lambda: sr.risk(PROBLEM, sr.Ensemble(PLAN), 1.0, test=sr.DeadFeatures(0.1, ["a", "b"])),
    "fail together; give them the same": lambda: sr.risk(
        PROBLEM, sr.Ensemble(PLAN), 1.0, test=sr.DeadFeatures(np.linspace(0, 1, M), ["a"] * M)
    ),
    r"mean must have shape \(40,\)": lambda: sr.risk(PROBLEM, sr.Ensemble(PLAN), 1.0, test=sr.MeanShift([1.0])),
    "test has 5 features, but the problem has 40": lambda: sr.risk(
        PROBLEM, sr.Ensemble(PLAN), 1.0, test=sr.Problem(np.eye(5), np.ones(5))
    ),
    "test must be a Problem, sr.DeadFeatures": lambda: sr.risk(PROBLEM, sr.Ensemble(PLAN), 1.0, test=EQUICORRELATED),
    "one probability and without groups": lambda: sr.risk(
        EQUICORRELATED, sr.Ensemble([0.5]), 1.0, test=sr.DeadFeatures([0.1, 0.2])
    ),
    "without groups; for other test data": lambda: sr.risk(
        EQUICORRELATED, sr.Ensemble([0.5]), 1.0, test=sr.MeanShift([1.0])
    ),
    "infinite where features fail and M": lambda: sr.optimal_ridge(
        sr.EquicorrelatedProblem(1.0, 0.5, alignment=0.5), sr.Ensemble([0.5]), 1.0, test=sr.DeadFeatures(0.1)
    ),
    "sample_ratio is needed": lambda: sr.optimal_ridge(EQUICORRELATED, sr.Ensemble([0.5]), test=sr.DeadFeatures(0.1)),
    "needs the mean, not 'free'; sweep": lambda: sr.optimal_ridge(
        PROBLEM, sr.Ensemble(PLAN, aggregation="free"), 1.0, scope="ensemble", test=sr.DeadFeatures(0.1)
    ),
    "projections need a Problem": lambda: sr.risk(EQUICORRELATED, projected((3,)), 1.0),
    "test= needs projections that are drawn": lambda: sr.risk(SPECTRUM, projected((3,)), 1.0, test=SPECTRUM),
    "ridge must be at least 0 for projections": lambda: sr.risk(SPECTRUM, projected((3,), ridge=-0.1), 1.0),
    r"ridges must have shape \(n,\) or \(n, 3\)": lambda: sr.risk(
        PROBLEM, sr.Ensemble(PLAN), 1.0, ridges=np.ones((2, 2))
    ),
    "ridges= would add another": lambda: sr.risk(PROBLEM, sr.Ensemble(PLAN, [[0.1], [0.2]]), 1.0, ridges=[0.1]),
    "ridges contains NaN": lambda: sr.risk(PROBLEM, sr.Ensemble(PLAN), 1.0, ridges=[np.nan]),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_bad_input_is_named(fault):
    with pytest.raises(sr.errors.SubridgeError, match=fault):
        FAULTS[fault]()
