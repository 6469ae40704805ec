"""Scaled and free weights: theory against ensembles that were really trained, and against brute force.

The weights are those of the theory, fixed before any data are drawn. Tolerance as for the mean: |Δ| ≤ 4 SE +
1.5·E/min_r|P - N_r|.
"""

import functools
import itertools

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar

import subridge as sr
from subridge.model.checks import stream

M = 120
NAMES = ("scaled", "free")


def problem_of(name):
    teacher = np.random.default_rng(0).standard_normal(M)
    if name == "autoregressive":
        return sr.Problem(sr.covariance.autoregressive(M, 0.8), teacher, sr.covariance.autoregressive(M, 0.3, 0.1), 0.1)
    if name == "isotropic":
        return sr.Problem(sr.covariance.isotropic(M), teacher, None, 0.3)
    if name == "power law":
        return sr.Problem(sr.covariance.power_law(M, 0.8, 3.0, seed=1), teacher, sr.covariance.isotropic(M, 0.05), 0.2)
    return sr.EquicorrelatedProblem(1.0, 0.5, 0.3, 0.3, 0.2).realise(M, 2)


PLANS = {
    "overlapping": sr.subsets.overlapping([24, 48, 72], M, 5),
    "equal": sr.subsets.equal(8, M, 5),
    "dirichlet": sr.subsets.dirichlet(4, M, 0.75, 8),
    "projections": sr.subsets.projection([24, 60], M, 5),
}
# problem, subsets, ridge, readout noise, sample sizes below, between and above the thresholds
SETTINGS = [
    ("autoregressive", "overlapping", [1e-3, 1.0, 0.1], [0.1, 0.3, 0.2], (12, 36, 100)),
    ("autoregressive", "projections", 0.05, 0.1, (12, 40, 100)),
    ("equicorrelated", "equal", 0.1, 0.1, (30, 60, 120)),
    ("equicorrelated", "dirichlet", 0.1, [0.0, 0.1, 0.2, 0.3], (20, 60, 110)),
    ("isotropic", "equal", 0.0, 0.2, (40, 120, 240)),
    ("power law", "dirichlet", [0.0, 0.1, 0.0, 1.0], 0.2, (6, 50, 110)),
]


def described(setting, aggregation="mean"):
    problem, plan, ridge, noise, sizes = setting
    return problem_of(problem), sr.Ensemble(PLANS[plan], ridge, noise, aggregation), np.array(sizes)


@functools.cache
def trained(index, n_trials=150):
    """Exact risks of trained members, for every trial and size; they know the error of any weights."""
    problem, ensemble, sizes = described(SETTINGS[index])
    k, found = ensemble.n_members, []
    eta = np.broadcast_to(ensemble.readout_noise, (k,))
    signal, noise = problem.signal_covariance, problem.noise_covariance
    for trial in range(n_trials):
        for position, P in enumerate(sizes):
            rng = stream(7, trial, position)
            psi = signal.colour(rng.standard_normal((P, signal.white_size)))
            X = psi + noise.colour(rng.standard_normal((P, noise.white_size)))
            y = psi @ problem.teacher_weights / np.sqrt(M) + float(problem.label_noise) * rng.standard_normal(P)
            weights = sr.fit_members(X, y, ensemble, noise=eta[:, None] * rng.standard_normal((k, P)))
            found.append(sr.risk_of_weights(problem, ensemble, weights))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("index", [2, *(pytest.param(i, marks=pytest.mark.slow) for i in (0, 1, 3, 4, 5))])
@pytest.mark.parametrize("name", [pytest.param("scaled", marks=pytest.mark.slow), "free"])
def test_theory_predicts_trained_ensembles_with_its_weights(index, name):
    problem, ensemble, sizes = described(SETTINGS[index], name)
    theory = sr.risk(problem, ensemble, sizes / M)
    weights = ensemble.aggregation.weights(theory.moments)
    exact = trained(index)
    errors = np.array([one.of_weights(weights[i % len(sizes)]) for i, one in enumerate(exact)]).reshape(-1, len(sizes))
    mean, se = errors.mean(axis=0), errors.std(axis=0, ddof=1) / np.sqrt(len(errors))
    distance = np.abs(np.subtract.outer(sizes, ensemble.plan.subset_sizes)).min(axis=1)
    allowed = 4 * se + 1.5 * theory.total / distance
    assert (np.abs(mean - theory.total) <= allowed).all(), f"z = {(mean - theory.total) / se}, allowed {allowed / se}"
    # The same judgement tells these weights from those of the mean wherever they differ by a quarter.
    plain = theory.of_weights(np.full(ensemble.n_members, 1 / ensemble.n_members))
    apart = plain > 1.25 * theory.total
    assert (np.abs(mean - plain) > allowed)[apart & (distance > 15)].all()


@pytest.mark.parametrize("index", [2, *(pytest.param(i, marks=pytest.mark.slow) for i in (0, 1, 3, 4, 5))])
def test_weights_of_the_theory_are_those_that_brute_force_finds(index):
    problem, ensemble, sizes = described(SETTINGS[index])
    k = ensemble.n_members
    for P in sizes:
        found = {
            name: sr.risk(problem, described(SETTINGS[index], name)[1], P / M) for name in ("mean", "simplex", *NAMES)
        }
        risk = found["mean"]
        assert found["free"].total <= min(found["scaled"].total, found["simplex"].total) + 1e-12
        assert found["scaled"].total <= found["mean"].total + 1e-12
        scaled = minimize_scalar(
            lambda s, risk=risk: float(risk.of_weights(np.full(k, s / k))), options={"xtol": 1e-12}
        )
        assert found["scaled"].total == pytest.approx(scaled.fun, rel=1e-10)
        free = minimize(
            lambda w, risk=risk: float(risk.of_weights(w)),
            np.full(k, 1 / k),
            jac=lambda w, risk=risk: 2 * (risk.F @ w - risk.c),
            bounds=[(0, None)] * k,
            options={"ftol": 1e-16, "gtol": 1e-12, "maxiter": 5000},
        )
        assert found["free"].total <= free.fun * (1 + 1e-10)
        assert found["free"].total == pytest.approx(free.fun, rel=1e-6)


@pytest.mark.slow
def test_exact_moments_of_trained_members_are_those_of_a_large_test_set():
    problem, ensemble, _ = described(SETTINGS[0])
    rng = np.random.default_rng(0)
    X = problem.signal_covariance.colour(rng.standard_normal((60, M)))
    members = sr.fit_members(X, X @ problem.teacher_weights / np.sqrt(M), sr.Ensemble(ensemble.subsets, 0.1))
    exact = sr.risk_of_weights(problem, sr.Ensemble(ensemble.subsets, 0.1), members)
    n = 100_000
    psi = problem.signal_covariance.colour(rng.standard_normal((n, problem.signal_covariance.white_size)))
    seen = psi + problem.noise_covariance.colour(rng.standard_normal((n, problem.noise_covariance.white_size)))
    y = psi @ problem.teacher_weights / np.sqrt(M)
    plan = ensemble.plan
    f = np.stack([plan.measure(r, seen) @ w / np.sqrt(plan.subset_sizes[r]) for r, w in enumerate(members)])
    assert exact.v == pytest.approx(y @ y / n, rel=0.02)
    np.testing.assert_allclose(exact.c, f @ y / n, rtol=0.03)
    np.testing.assert_allclose(exact.F, f @ f.T / n, rtol=0.04)
    weights = np.array([0.9, -0.4, 1.1])
    assert exact.of_weights(weights) == pytest.approx(np.mean((y - weights @ f) ** 2), rel=0.03)


def best_risks(problem, k, readout_noise, n_features=None):
    """Risk of k equal members at the best common ridge of at least zero, mean and scaled, at α as given."""
    ridges = np.append(0.0, np.geomspace(1e-6, 1e3, 401))[:, None]
    alpha = 3.0 if n_features is None else 1.0
    return [
        float(
            sr.risk(
                problem, sr.Ensemble(np.eye(k) / k, ridges, readout_noise, name), alpha, n_features=n_features
            ).total.min()
        )
        for name in ("mean", "scaled")
    ]


@pytest.mark.slow
def test_the_scale_that_the_mean_throws_away_on_three_settings():
    """Stated for one teacher among 240 features, whose square length varies by 9 %; the theory has its mean."""
    correlated = sr.EquicorrelatedProblem(1.0, 0.6, np.sqrt(0.1), 0.3, 0.1)
    np.testing.assert_allclose(best_risks(correlated, 60, 0.3, 240), [0.743, 0.371], rtol=0.02)
    np.testing.assert_allclose(best_risks(correlated, 20, 1.0, 240), [0.454, 0.410], rtol=0.02)
    np.testing.assert_allclose(best_risks(sr.EquicorrelatedProblem(), 8, 0.0), [0.770, 0.232], atol=0.0006)


@pytest.mark.parametrize("alignment", [0.0, 1.0])
def test_moments_of_proposition_2_are_those_of_proposition_1(alignment):
    """A teacher along 1, or one of alternating signs, which is orthogonal to 1 on every subset; closer as M grows."""
    closed = sr.EquicorrelatedProblem(1.3, 0.05, 0.3, alignment, 0.2)
    apart = []
    for n_features in (240, 2400):
        teacher = np.ones(n_features) if alignment else np.tile([1.0, -1.0], n_features // 2)
        signal, noise = sr.covariance.equicorrelated(n_features, 1.3, 0.05), sr.covariance.isotropic(n_features, 0.09)
        ends = (np.array([0.0, 0.2, 0.5, 1.0]) * n_features).astype(int)
        parts = [np.arange(start, stop) for start, stop in itertools.pairwise(ends)]
        plan = sr.SubsetPlan.from_indices(parts, n_features)
        general = sr.risk(sr.Problem(signal, teacher, noise, 0.2), sr.Ensemble(plan, 0.1, 0.2), 0.8)
        limit = sr.risk(closed, sr.Ensemble([0.2, 0.3, 0.5], 0.1, 0.2), 0.8, n_features=n_features)
        np.testing.assert_allclose(general.v, limit.v, rtol=1e-12)
        apart.append([np.abs(a - b).max() / b.max() for a, b in ((general.c, limit.c), (general.F, limit.F))])
    assert np.max(apart[0]) < 0.05
    assert (np.array(apart[1]) < 0.2 * np.array(apart[0]) + 1e-12).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("M", "k", "alpha", "noise", "ridge"),
    [(120, 1, 1.0, 0.7, 1.0), (120, 4, 1.0, 0.7, 1.0), (120, 8, 0.5, 0.5, 0.5),
     (400, 1, 1.0, 0.7, 1.0), (400, 4, 1.0, 0.7, 1.0), (400, 16, 0.3, 0.4, 0.3)],
)  # fmt: skip
def test_the_scaled_mean_of_an_aligned_teacher_at_finite_size(M, k, alpha, noise, ridge):
    """The form uniform in T = scM, behind the finite-size maps of k*, against training."""
    problem = sr.EquicorrelatedProblem(correlation=0.6, alignment=0.5)
    ensemble = sr.Ensemble(sr.subsets.equal(k, M, seed=0), ridge, noise, "scaled")
    samples, risks = int(alpha * M), []
    for seed in range(10):
        trained = sr.simulate(problem.realise(M, seed), ensemble, [samples], 20, seed=seed, progress=False)
        risks.append(float(trained.risk.mean()))
    theory = float(sr.risk(problem, ensemble, samples / M, n_features=M).total)
    error = np.std(risks, ddof=1) / np.sqrt(10)
    assert abs(theory - np.mean(risks)) <= 4 * error + 1.5 * theory / max(1, abs(samples - M // k))
