"""Power-law spectra and sparse codes: theory without dense matrices against training, exponents and known limits."""

import numpy as np
import pytest

import subridge as sr


def power_law(M, a, b, *, seed=None, label_noise=0.0):
    """Eigenvalues i^(-a), teacher's power i^(-b); with a seed features mix all eigenvectors."""
    i = np.arange(1.0, M + 1)
    covariance, w = sr.covariance.power_law(M, a, seed=seed), np.sqrt(M * i ** (a - b))
    if seed is not None:
        w = np.linalg.qr(np.random.default_rng(seed).standard_normal((M, M)))[0] @ w
    return sr.Problem(covariance, w, label_noise=label_noise)


def allowed(theory, mean, error, samples, sizes):
    distance = np.maximum(np.abs(np.asarray(samples)[:, None] - sizes).min(axis=1), 1)
    return np.abs(theory - mean) <= 4 * error + 1.5 * theory / distance


@pytest.mark.slow
@pytest.mark.parametrize(
    ("a", "b"), [(1.5, 1.5), (1.5, 2.5), (2.0, 3.0), (1.2, 4.5)], ids=["b - 1", "b - 1", "b - 1", "2a"]
)
def test_learning_curves_have_the_exponents_of_power_laws(a, b):
    """Without noise the error falls like P^-min(b-1, 2a) (Cui, Loureiro, Krzakala & Zdeborová 2021)."""
    M, samples = 100_000, np.array([30, 100, 300, 1000])
    risk = sr.risk(power_law(M, a, b), sr.Ensemble(sr.subsets.equal(1, M, seed=0)), samples / M).total
    slope = np.polyfit(np.log(samples), np.log(risk), 1)[0]
    assert slope == pytest.approx(-min(b - 1, 2 * a), rel=0.08)  # of a finite number of samples and features


def test_a_flat_spectrum_is_the_isotropic_problem():
    ensemble = sr.Ensemble(sr.subsets.equal(4, 200, seed=0), 0.05, 0.1)
    problem = sr.Problem(sr.covariance.power_law(200, 0.0), np.ones(200), label_noise=0.2)
    limit = sr.risk(sr.EquicorrelatedProblem(label_noise=0.2), sr.Ensemble([0.25] * 4, 0.05, 0.1), [0.2, 1.0]).total
    np.testing.assert_allclose(sr.risk(problem, ensemble, [0.2, 1.0]).total, limit, rtol=1e-12)


def test_rotating_the_features_does_not_change_one_member_that_sees_all():
    one = sr.Ensemble(sr.subsets.equal(1, 60, seed=0), 0.01)
    plain, mixed = (sr.risk(power_law(60, 1.5, 2.0, seed=seed), one, [0.3, 2.0]).total for seed in (None, 3))
    np.testing.assert_allclose(plain, mixed, rtol=1e-9)


SETTINGS = {
    "diagonal, a = 1": (power_law(120, 1.0, 1.5), sr.subsets.equal(1, 120, seed=0), 0.001, 0.0),
    "diagonal, a = 2, four members": (power_law(120, 2.0, 2.0), sr.subsets.equal(4, 120, seed=1), 0.01, 0.1),
    "rotated, a = 1.5": (power_law(120, 1.5, 2.5, seed=3), sr.subsets.equal(3, 120, seed=2), 1e-4, 0.0),
    "rotated, unequal": (
        power_law(120, 1.0, 1.0, seed=4, label_noise=0.3), sr.subsets.dirichlet(4, 120, 0.75, seed=3), 0.01, 0.2),
    "rotated, overlapping": (
        power_law(120, 0.5, 2.0, seed=5), sr.subsets.overlapping([40, 60, 80], 120, seed=4), 0.1, 0.3),
    "rotated, steep": (power_law(120, 2.0, 3.0, seed=6, label_noise=0.1), sr.subsets.equal(8, 120, seed=5), 1e-3, 0.1),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", SETTINGS)
def test_trained_ensembles_agree(name):
    problem, plan, ridge, noise = SETTINGS[name]
    ensemble, samples, trials = sr.Ensemble(plan, ridge, noise), [25, 50, 100, 240], 300
    simulated = sr.simulate(problem, ensemble, samples, trials, progress=False).risk
    mean, error = simulated.mean("trial").values, simulated.std("trial", ddof=1).values / np.sqrt(trials)
    theory = sr.risk(problem, ensemble, np.array(samples) / 120).total
    assert allowed(theory, mean, error, samples, plan.subset_sizes).all()


def errors_of_sparse_codes(M, activity, trials):
    """Theory, and errors of trained ensembles whose features are active in a share of the samples only."""
    samples, rng = M // 2, np.random.default_rng(7)
    problem, plan = power_law(M, 1.0, 1.5, label_noise=0.2), sr.subsets.equal(3, M, seed=0)
    ensemble, errors = sr.Ensemble(plan, 0.05), []
    roots, w = np.sqrt(problem.signal_covariance.variances_of_features()), problem.teacher_weights / np.sqrt(M)
    for _ in range(trials):
        X = rng.standard_normal((samples, M)) * (rng.random((samples, M)) < activity) / np.sqrt(activity) * roots
        members = sr.fit_members(X, X @ w + 0.2 * rng.standard_normal(samples), ensemble)
        errors.append(float(sr.risk_of_weights(problem, ensemble, members).total))
    return float(sr.risk(problem, ensemble, samples / M).total), np.array(errors)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("activity", "M", "trials"), [(0.5, 120, 400), (0.1, 120, 400), (0.05, 480, 120), (0.02, 960, 40)]
)
def test_sparse_codes_follow_from_their_covariance(activity, M, trials):
    theory, errors = errors_of_sparse_codes(M, activity, trials)
    error = errors.std(ddof=1) / np.sqrt(trials)
    assert allowed(theory, errors.mean(), error, [M // 2], np.array([M // 3])).all()
    assert not allowed(1.3 * theory, errors.mean(), error, [M // 2], np.array([M // 3])).any()


@pytest.mark.slow
def test_what_rare_activity_adds_is_an_effect_of_size():
    """A strong feature is active in pP samples; the share that this adds to the error vanishes with their number."""
    found = {M: errors_of_sparse_codes(M, 0.1, trials) for M, trials in ((120, 600), (480, 150))}
    small, large = (errors.mean() / theory - 1 for theory, errors in found.values())
    theory, errors = found[120]
    assert small > 4 * errors.std() / np.sqrt(600) / theory
    assert large < small / 2
