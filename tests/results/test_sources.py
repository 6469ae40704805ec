"""Bias and variances of an ensemble: against crossed draws of data and subsets, and against each other."""

import numpy as np
import pytest

import subridge as sr
from subridge.results.sources import SOURCES

PROBLEM = sr.EquicorrelatedProblem(correlation=0.5, label_noise=0.4, feature_noise=0.2, alignment=0.3)
RATIOS = np.array([0.0, 0.1, 0.3, 1.0, 3.0, np.inf])


def general(seed=0, M=60, decay=0.7, label_noise=0.3):
    w = np.random.default_rng(seed).standard_normal(M)
    return sr.Problem(sr.covariance.autoregressive(M, decay), w, label_noise=label_noise)


@pytest.mark.parametrize("aggregation", ["mean", "scaled", "simplex", "free"])
def test_the_parts_of_fixed_subsets_add_up_to_the_risk(aggregation):
    plan = sr.subsets.overlapping([20, 30, 40], 60, seed=0)
    ensemble = sr.Ensemble(plan, [0.1, 0.2, 0.3], [0.2, 0.1, 0.3], aggregation)
    found = sr.error_sources(general(), ensemble, RATIOS)
    np.testing.assert_allclose(found.total, sr.risk(general(), ensemble, RATIOS).total, rtol=1e-9)
    assert not found.risk.sel(source=["subsets", "data and subsets"]).any()
    assert (found.risk >= -1e-12).all()


def test_the_parts_of_prop_2_add_up_to_the_risk():
    ensemble = sr.Ensemble([0.3, 0.5], [0.01, 0.1], [0.2, 0.1])
    found = sr.error_sources(PROBLEM, ensemble, RATIOS)
    np.testing.assert_allclose(found.total, sr.risk(PROBLEM, ensemble, RATIOS).total, rtol=1e-12)
    assert (found.risk >= 0).all()
    assert not found.risk.sel(source=["data", "label noise"]).isel(sample_ratio=[0, -1]).any()


def test_one_member_that_sees_everything_has_the_classical_bias_and_variance():
    """Ridgeless with α > 1 and no other noise: no bias, and ζ²/(α - 1) of variance over label noise."""
    found = sr.error_sources(sr.EquicorrelatedProblem(label_noise=0.5), sr.Ensemble([1.0]), [2.0, 5.0])
    np.testing.assert_allclose(found.risk.sel(source="label noise"), [0.25, 0.0625], rtol=1e-12)
    np.testing.assert_allclose(found.risk.sum("source"), found.risk.sel(source="label noise"), rtol=1e-12)


@pytest.mark.slow
def test_large_problems_have_the_parts_of_prop_2():
    """Draws of a strategy at finite size against the overlaps of independent draws at infinite size."""
    problem = sr.EquicorrelatedProblem(correlation=0.0, label_noise=0.3, feature_noise=0.2)
    limit = sr.error_sources(problem, sr.Ensemble([0.25] * 4, 0.05, 0.1), [0.5, 1.0])
    drawn = sr.error_sources(problem.realise(1000, 0), sr.Ensemble(sr.subsets.Equal(4), 0.05, 0.1), [0.5, 1.0])
    np.testing.assert_allclose(drawn.risk, limit.risk, rtol=0.1, atol=2e-3)  # of one teacher with 1,000 weights


def test_the_bias_is_finite_at_the_interpolation_threshold():
    with pytest.warns(sr.errors.InfiniteRiskWarning):
        found = sr.error_sources(sr.EquicorrelatedProblem(label_noise=0.1), sr.Ensemble([0.5, 0.5]), [0.5])
    assert found.risk.sel(source="bias").item() == pytest.approx(0.25)
    assert np.isinf(found.risk.sel(source=["data and subsets", "label noise"])).all()
    assert np.isfinite(found.risk.sel(source=["bias", "subsets", "data"])).all()


TRIALS = 16
SETTINGS = {
    "two equal members": (general(), sr.subsets.Equal(2), 0.05, 0.0, 40),
    "four unequal members": (general(1, label_noise=0.5), sr.subsets.Dirichlet(4, 0.75), 0.1, 0.2, 80),
    "overlapping halves": (general(2, decay=0.3), sr.subsets.Overlapping([30, 30, 30]), 0.2, 0.3, 25),
    "one member of a third": (general(3, decay=0.9), sr.subsets.Overlapping([20]), 0.02, 0.1, 50),
    "little ridge, many samples": (general(4), sr.subsets.Equal(3), 1e-3, 0.0, 120),
    "strong ridge, much noise": (general(5, label_noise=1.0), sr.subsets.Equal(5), 2.0, 0.5, 60),
}


def crossed(problem, ensemble, samples, rng, n_data=6, n_subsets=6):
    """Unbiased estimates of the parts from every pair of n_data training sets and n_subsets draws of subsets.

    Weights learnt from signal, label noise and readout noise add up, so that each is trained on its own.
    """
    M, Sigma, k = problem.n_features, problem.signal_covariance.dense(), ensemble.n_members
    eta, zeta = float(ensemble.readout_noise[0]), float(problem.label_noise)
    w = problem.teacher_weights / np.sqrt(M)
    root = np.linalg.cholesky(Sigma)
    learnt, labels, readouts = np.zeros((3, n_data, n_subsets, M))
    plans = [ensemble.subsets.draw(M, rng) for _ in range(n_subsets)]
    for d in range(n_data):
        X = rng.standard_normal((samples, M)) @ root.T
        noise = rng.standard_normal(samples)
        for a, plan in enumerate(plans):
            for index in plan.measurements:
                targets = np.column_stack([X @ w, zeta * noise, -eta * rng.standard_normal(samples)])
                chosen = sr.Ensemble(sr.SubsetPlan.from_indices([index], M), ensemble.ridge)
                fitted = sr.fit_members(X, targets, chosen)[0] / np.sqrt(len(index)) / k
                for each, part in zip((learnt, labels, readouts), fitted.T, strict=True):
                    each[d, a, index] += part

    def product(x):
        """Means of xᵀΣx′ over the same data and subsets, same subsets, same data, and neither."""
        flat = x.reshape(-1, M)
        table = (flat @ Sigma @ flat.T).reshape(n_data, n_subsets, n_data, n_subsets)
        same_d, same_a = np.eye(n_data, dtype=bool), np.eye(n_subsets, dtype=bool)
        table = table.transpose(0, 2, 1, 3)
        return [table[u][:, v].mean() for u in (same_d, ~same_d) for v in (same_a, ~same_a)]

    both, data, subsets, neither = product(learnt)
    bias = w @ Sigma @ w - 2 * w @ Sigma @ learnt.mean(axis=(0, 1)) + neither
    parts = [bias, subsets - neither, data - neither, both - data - subsets + neither]
    return [*parts, product(labels)[0], product(readouts)[0], eta**2 / k]


@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=[] if each == "one member of a third" else pytest.mark.slow) for each in SETTINGS]
)
def test_the_parts_are_those_of_crossed_draws_of_data_and_subsets(name):
    problem, strategy, ridge, noise, samples = SETTINGS[name]
    ensemble = sr.Ensemble(strategy, ridge, noise)
    rng = np.random.default_rng(sum(map(ord, name)))
    trials = np.array([crossed(problem, ensemble, samples, rng) for _ in range(TRIALS)])
    draws = [sr.error_sources(problem, ensemble, samples / 60, n_draws=8, seed=seed) for seed in range(6)]
    theory = np.array([each.risk.values[:, 0] for each in draws])
    error = np.hypot(trials.std(axis=0, ddof=1) / np.sqrt(TRIALS), theory.std(axis=0, ddof=1) / np.sqrt(6))
    sizes = strategy.draw(60, 0).subset_sizes
    allowance = 1.5 * draws[0].total.item() / max(1, np.abs(samples - sizes).min())
    off = np.abs(trials.mean(axis=0) - theory.mean(axis=0))
    assert (off <= 4 * error + allowance).all(), dict(zip(SOURCES, zip(off, error, strict=True), strict=True))


def test_bad_questions_are_named():
    with pytest.raises(sr.errors.ParameterError, match="n_draws"):
        sr.error_sources(general(), sr.Ensemble(sr.subsets.Equal(2)), [1.0], n_draws=1)
    with pytest.raises(sr.errors.ParameterError, match="only axis"):
        sr.error_sources(sr.EquicorrelatedProblem(label_noise=[0.1, 0.2]), sr.Ensemble([0.5]), [0.2, 1.0])
    with pytest.raises(sr.errors.ParameterError, match="only axis"):
        sr.error_sources(PROBLEM, sr.Ensemble([0.5]), [[0.2, 1.0]])
    with pytest.raises(sr.errors.SubsetError):
        sr.error_sources(general(), sr.Ensemble([0.5]), [1.0])
    with pytest.raises(sr.errors.ParameterError):
        sr.error_sources(PROBLEM, sr.Ensemble([0.5, 0.5], aggregation="median"), [1.0])


def test_pictures_need_sources():
    found = sr.error_sources(PROBLEM, sr.Ensemble([0.5], 0.1), np.linspace(0.1, 2, 20))
    assert len(sr.figures.plot_sources(found).axes[0].collections) == 5
    with pytest.raises(sr.errors.ParameterError, match="error_sources"):
        sr.figures.plot_sources(found.isel(sample_ratio=[0]))
