"""Problems estimated from data: what is debiased, what is refused, and where they agree with the truth."""

import numpy as np
import pytest

import subridge as sr

RATIOS = np.array([0.25, 0.6])


def sample(problem, n, rng):
    covariance = problem.signal_covariance
    X = covariance.colour(rng.standard_normal((n, covariance.white_size)))
    noise = float(problem.label_noise) * rng.standard_normal(n)
    return X, X @ problem.teacher_weights / np.sqrt(problem.n_features) + noise


def truth(covariance, label_noise, seed=5):
    w = np.random.default_rng(seed).standard_normal(covariance.n_features)
    return sr.Problem(covariance, w, label_noise=label_noise)


SETTINGS = {
    "autoregressive": (truth(sr.covariance.autoregressive(80, 0.8), 0.5), 160, [80], 0.01),
    "isotropic, much noise": (truth(sr.covariance.isotropic(80), 1.0), 240, [20, 20, 20, 20], 0.3),
    "equicorrelated": (truth(sr.covariance.equicorrelated(80, 1.0, 0.5), 0.2), 320, [40, 40, 40], 0.01),
    "graded, few rows": (truth(sr.covariance.diagonal(np.geomspace(0.01, 10, 80)), 0.5), 160, [80], 0.3),
    "power law": (truth(sr.covariance.power_law(80, 1.2, seed=1), 0.1), 400, [20, 20, 40], 0.01),
    "autoregressive, overlapping": (truth(sr.covariance.autoregressive(80, 0.5), 0.3), 400, [40, 60], 0.1),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SETTINGS)
def test_the_risk_of_the_estimate_is_that_of_the_truth_on_average(name):
    problem, n, sizes, ridge = SETTINGS[name]
    ensemble = sr.Ensemble(sr.subsets.overlapping(sizes, 80, seed=0), ridge=ridge)
    rng, found = np.random.default_rng(sum(map(ord, name))), []
    for _ in range(16):
        found.append(sr.risk(sr.Problem.from_data(*sample(problem, n, rng)), ensemble, RATIOS).total)
    expected = sr.risk(problem, ensemble, RATIOS).total
    spread = np.std(found, axis=0, ddof=1) / 4
    # Deterministic equivalents hold up to a share of order one in the spare samples of the estimate.
    allowance = 1.5 * expected / np.abs(n - 80)
    assert (np.abs(np.mean(found, axis=0) - expected) <= 4 * spread + allowance).all()


def test_label_noise_is_debiased_where_least_squares_would_halve_it():
    problem, rng = truth(sr.covariance.isotropic(80), 1.0), np.random.default_rng(0)
    noises, naive = [], []
    for _ in range(20):
        X, y = sample(problem, 161, rng)
        noises.append(float(sr.Problem.from_data(X, y).label_noise) ** 2)
        naive.append(np.linalg.lstsq(X, y)[1][0] / len(y))
    assert np.mean(naive) == pytest.approx(0.5, abs=0.05)
    assert np.mean(noises) == pytest.approx(1.0, abs=4 * np.std(noises) / np.sqrt(20))


def test_targets_without_columns_are_refused():
    with pytest.raises(sr.errors.DataError, match=r"y \(n,\) or \(n, C\)"):
        sr.Problem.from_data(np.eye(5), np.zeros((5, 0)))


def test_the_spectrum_is_narrower_than_that_of_the_sample():
    X, y = sample(truth(sr.covariance.isotropic(80), 1.0), 160, np.random.default_rng(1))
    raw = np.linalg.eigvalsh(np.cov(X.T))
    cleaned = np.linalg.eigvalsh(sr.Problem.from_data(X, y).signal_covariance.dense())
    assert raw[-1] - raw[0] > 2.3  # Marchenko-Pastur edges 2.91 and .086
    assert cleaned.std() < 0.3 * raw.std()  # all are one in truth
    assert np.quantile(np.abs(cleaned - 1), 0.9) < 0.2
    assert cleaned.sum() == pytest.approx(raw.sum())


def test_exact_moments_give_the_problem_back():
    problem = truth(sr.covariance.autoregressive(30, 0.7), 0.4)
    Sigma = problem.signal_covariance.dense()
    b = Sigma @ problem.teacher_weights / np.sqrt(30)
    power = problem.teacher_weights @ b / np.sqrt(30) + 0.16
    ensemble = sr.Ensemble(sr.subsets.equal(3, 30, seed=0), ridge=0.05)
    expected = sr.risk(problem, ensemble, RATIOS).total
    exact = sr.Problem.from_moments(Sigma, b, power)
    np.testing.assert_allclose(sr.risk(exact, ensemble, RATIOS).total, expected, rtol=1e-9)
    vast = sr.Problem.from_moments(Sigma, b, power, n_samples=10**9)
    np.testing.assert_allclose(sr.risk(vast, ensemble, RATIOS).total, expected, rtol=0.02)  # a grid of eigenvalues


def test_several_targets_are_several_problems_on_one_covariance():
    problem, rng = truth(sr.covariance.autoregressive(20, 0.5), 0.3), np.random.default_rng(2)
    X, y = sample(problem, 100, rng)
    one, (first, second) = sr.Problem.from_data(X, y), sr.Problem.from_data(X, np.column_stack([y, 2 * y]))
    np.testing.assert_allclose(first.teacher_weights, one.teacher_weights, rtol=1e-9)
    np.testing.assert_allclose(second.teacher_weights, 2 * one.teacher_weights, rtol=1e-6)
    assert first.signal_covariance is second.signal_covariance


def test_a_stream_gives_what_its_rows_give_together():
    X, y = sample(truth(sr.covariance.autoregressive(20, 0.5), 0.3), 200, np.random.default_rng(3))
    X, y = X + 100.0, y - 30.0
    whole = sr.Problem.from_data(X, y)
    streamed = sr.Problem.from_data((X[i : i + 37], y[i : i + 37]) for i in range(0, 200, 37))
    # Least squares with non-negative unknowns makes rounding a thousand times larger.
    np.testing.assert_allclose(streamed.teacher_weights, whole.teacher_weights, atol=1e-5)
    np.testing.assert_allclose(streamed.label_noise, whole.label_noise, rtol=1e-5)


@pytest.mark.parametrize("unit", [1e-30, 1e30])
def test_units_do_not_matter(unit):
    X, y = sample(truth(sr.covariance.autoregressive(20, 0.5), 0.3), 100, np.random.default_rng(4))
    one, other = sr.Problem.from_data(X, y), sr.Problem.from_data(unit * X, y)
    np.testing.assert_allclose(unit * other.teacher_weights, one.teacher_weights, atol=1e-5)


def test_constant_and_repeated_columns_are_harmless():
    X, y = sample(truth(sr.covariance.autoregressive(20, 0.5), 0.3), 100, np.random.default_rng(5))
    X = np.column_stack([X, X[:, :3], np.ones(100)])
    problem = sr.Problem.from_data(X, y)
    ensemble = sr.Ensemble(sr.subsets.equal(2, 24, seed=0), ridge=0.1)
    assert 0 < sr.risk(problem, ensemble, 1.0).total < y.var()
    assert not sr.Problem.from_data(X, np.zeros(100)).teacher_weights.any()


def test_no_more_rows_than_features_are_told():
    X, y = sample(truth(sr.covariance.autoregressive(40, 0.5), 0.3), 30, np.random.default_rng(6))
    with pytest.warns(sr.errors.UncertainMomentsWarning, match="30 rows are too few"):
        problem = sr.Problem.from_data(X, y)
    assert problem.label_noise >= 0


def test_columns_of_very_different_scales_are_told():
    X, y = sample(truth(sr.covariance.autoregressive(20, 0.5), 0.3), 100, np.random.default_rng(8))
    X[:, 0] *= 1e6
    with pytest.warns(sr.errors.ScaleWarning, match="scale the columns"):
        sr.Problem.from_data(X, y)


def test_heavy_tails_are_told():
    rng = np.random.default_rng(7)
    X = np.exp(2 * rng.standard_normal((200, 40)))
    y = np.log(X).sum(axis=1) + rng.standard_normal(200)
    with pytest.warns(sr.errors.UncertainMomentsWarning, match="leverage"):
        sr.Problem.from_data(X, y)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.ones((5, 2)), np.arange(5.0), "constant"),
        (np.eye(2), np.ones(2), "at least 3 rows"),
        (np.eye(4), np.ones(3), "equal n"),
        (np.ones(4), np.ones(4), "shape"),
        (np.full((5, 2), np.nan), np.ones(5), "NaN"),
        (np.eye(4), [1.0, np.inf, 0.0, 0.0], "infinity"),
        (np.eye(4), None, "y is missing"),
        ([(np.eye(4), np.ones(4)), (np.eye(3), np.ones(3))], None, "block 1"),
        ([], None, "at least 3 rows"),
    ],
)
def test_bad_data_are_named(X, y, message):
    with pytest.raises(sr.errors.DataError, match=message):
        sr.Problem.from_data(X, y)


def test_bad_moments_are_named():
    with pytest.raises(sr.errors.DataError, match="cross must have shape"):
        sr.Problem.from_moments(np.eye(3), np.ones(2), 1.0)
    with pytest.raises(sr.errors.ParameterError, match="n_samples"):
        sr.Problem.from_moments(np.eye(3), np.ones(3), 4.0, n_samples=1)
    with pytest.raises(sr.errors.ParameterError, match="power"):
        sr.Problem.from_moments(np.eye(3), np.ones(3), -1.0)
    with pytest.raises(sr.errors.CovarianceError):
        sr.Problem.from_moments(-np.eye(3), np.ones(3), 1.0)
