"""Rows per member, other test data and averaged projections against trained ensembles.

Judged with error bars and the finite-size allowance, |Δ| ≤ 4 SE + 1.5 E/min_r |P_r - N_r|.
"""

import numpy as np
import pytest

import subridge as sr
from subridge.model.shift import moments_at_test

pytestmark = pytest.mark.slow

M, P = 120, np.array([30, 84, 150, 300])
RNG = np.random.default_rng(0)
TEACHER = RNG.standard_normal(M)
CORRELATED = sr.Problem(sr.covariance.autoregressive(M, 0.7), TEACHER, sr.covariance.isotropic(M, 0.1), 0.2)
POWER_LAW = sr.Problem(sr.covariance.diagonal(20 * np.arange(1, M + 1) ** -1.2), TEACHER, label_noise=0.3)
SPIKED = sr.Problem(
    sr.covariance.low_rank(RNG.standard_normal((M, 3)), 0.5), TEACHER, sr.covariance.autoregressive(M, 0.3, 0.2), 0.1
)
EVERYTHING = sr.SubsetPlan.from_indices([range(M)] * 3, M)


def agrees(theory, curves):
    report = sr.compare(theory, curves)
    assert report.attrs["n_judged"] >= 3
    assert report.attrs["verdict"] == "agree", report.attrs
    assert sr.compare(1.3 * theory.total, curves).attrs["verdict"] == "disagree"


ROWS = {
    "overlapping": (CORRELATED, sr.subsets.overlapping([40, 70, 100], M, 1), [0.1, 0.3, 0.02], [0.4, 0.7, 0.9], "mean"),
    "bagging": (CORRELATED, EVERYTHING, [0.2, 0.2, 0.5], [0.5, 0.5, 0.8], "mean"),
    "ridgeless": (POWER_LAW, sr.subsets.equal(3, M, 0), 0.0, [0.3, 1.0, 0.6], "mean"),
    "dirichlet": (POWER_LAW, sr.subsets.dirichlet(4, M, 1.0, 0), 0.05, [0.9, 0.6, 0.3, 0.5], "mean"),
    "weighted": (SPIKED, sr.subsets.equal(2, M, 0), 0.3, [0.5, 0.9], "free"),
    "projected": (SPIKED, sr.subsets.projection([50, 90], M, 0), 0.1, [0.7, 0.4], "mean"),
}


@pytest.mark.parametrize("name", ROWS)
def test_members_that_see_some_of_the_rows(name):
    problem, plan, ridge, rows, aggregation = ROWS[name]
    ensemble = sr.Ensemble(plan, ridge, 0.1, aggregation, rows)
    agrees(sr.risk(problem, ensemble, P / M), sr.simulate(problem, ensemble, P, 200, progress=False))


def test_proposition_2_knows_the_rows_of_members():
    problem = sr.EquicorrelatedProblem(correlation=0.3, feature_noise=0.3, alignment=0.4, label_noise=0.2)
    ensemble = sr.Ensemble(sr.subsets.overlapping([40, 60, 90], M, 0), [0.1, 0.3, 1.0], 0.1, "mean", [0.5, 0.8, 1.0])
    curves = sr.simulate(problem, ensemble, P, 200, redraw=("data", "teacher"), progress=False)
    agrees(sr.risk(problem, ensemble, P / M, n_features=M), curves)


@pytest.mark.parametrize("aggregation", ["mean", "free"])
def test_shared_rows_may_be_any(aggregation):
    """Rows in three blocks, of which two members share one: an overlap that independent draws do not have."""
    rng, n, trials = np.random.default_rng(1), 120, 150
    plan, ridges = sr.subsets.overlapping([50, 80], M, 0), np.array([0.1, 0.4])
    seen = np.arange(0, 90), np.arange(60, 120)
    fractions = np.array([[0.75, 0.25], [0.25, 0.5]])
    ensemble = sr.Ensemble(plan, ridges, 0.1, aggregation, fractions)
    theory = sr.risk(CORRELATED, ensemble, n / M)
    weights = ensemble.aggregation.weights(theory.moments) if aggregation == "free" else np.full(2, 0.5)
    root, found = np.linalg.cholesky(CORRELATED.signal_covariance.dense()), []
    for _ in range(trials):
        signal = rng.standard_normal((n, M)) @ root.T
        X, y = signal + np.sqrt(0.1) * rng.standard_normal((n, M)), signal @ TEACHER / np.sqrt(M)
        y = y + 0.2 * rng.standard_normal(n)
        members = []
        for r, rows in enumerate(seen):
            alone = sr.Ensemble(sr.SubsetPlan(plan.measurements[r : r + 1], M), ridges[r])
            members += sr.fit_members(X[rows], y[rows], alone, noise=0.1 * rng.standard_normal((1, len(rows))))
        found.append(sr.risk_of_weights(CORRELATED, ensemble, members).of_weights(weights))
    allowance = 4 * np.std(found) / np.sqrt(trials) + 1.5 * theory.total / min(abs(90 - 50), abs(60 - 80))
    assert abs(np.mean(found) - theory.total) < allowance


TESTS = {
    "dead features": sr.DeadFeatures(0.2),
    "dead sensors": sr.DeadFeatures(0.15, groups=np.arange(M) // 6),
    "unequal sensors": sr.DeadFeatures(np.linspace(0, 0.5, M)),
    "another mean": sr.MeanShift(0.5 * RNG.standard_normal(M)),
    "another covariance": sr.Problem(sr.covariance.autoregressive(M, 0.2, 1.5), TEACHER, 0.4 * np.eye(M)),
    "another teacher": sr.Problem(CORRELATED.signal_covariance, -TEACHER + 1.0),
}


@pytest.mark.parametrize("name", TESTS)
@pytest.mark.parametrize("rows", [None, (0.5, 0.8, 0.7)])
def test_errors_on_other_test_data(name, rows):
    rng, trials, plan = np.random.default_rng(2), 150, sr.subsets.overlapping([40, 60, 90], M, 1)
    ensemble, at = (
        sr.Ensemble(plan, [0.1, 0.3, 0.05], 0.1, row_fractions=rows),
        moments_at_test(CORRELATED, TESTS[name]),
    )
    root = np.linalg.cholesky(CORRELATED.signal_covariance.dense())
    for n in (50, 150):
        theory = sr.risk(CORRELATED, ensemble, n / M, test=TESTS[name]).total
        sizes, found = [round(n * f) for f in rows or (1, 1, 1)], []
        for _ in range(trials):
            signal = rng.standard_normal((n, M)) @ root.T
            X, y = signal + np.sqrt(0.1) * rng.standard_normal((n, M)), signal @ TEACHER / np.sqrt(M)
            y, w = y + 0.2 * rng.standard_normal(n), np.zeros(M)
            for r, size in enumerate(sizes):
                kept = rng.permutation(n)[:size]
                alone = sr.Ensemble(sr.SubsetPlan(plan.measurements[r : r + 1], M), ensemble.ridge[r])
                noise = 0.1 * rng.standard_normal((1, size))
                (own,) = sr.fit_members(X[kept], y[kept], alone, noise=noise)
                w[plan.measurements[r]] += own * np.sqrt(M / len(own)) / 3
            found.append((at.power - 2 * w @ at.cross + w @ at.second @ w) / M + 0.1**2 / 3)
        distance = min(abs(size - N) for size, N in zip(sizes, plan.subset_sizes, strict=True))
        allowance = 4 * np.std(found) / np.sqrt(trials) + 1.5 * theory / distance
        assert abs(np.mean(found) - theory) < allowance, (n, np.mean(found), theory)
        assert abs(np.mean(found) - 1.5 * theory) > allowance


# correlation, feature noise, alignment, sizes, ridges, shares of the rows, probability that a feature fails
FAILING = {
    "independent": (0.0, 0.3, 0.0, [40, 60, 90], [0.1, 0.3, 1.0], [1, 1, 1], 0.2),
    "correlated": (0.5, 0.3, 0.0, [40, 60, 90], [0.1, 0.3, 1.0], [1, 1, 1], 0.1),
    "aligned": (0.3, 0.2, 0.6, [40, 60, 90], [0.1, 0.3, 1.0], [1, 1, 1], 0.05),
    "ridgeless": (0.4, 0.3, 0.2, [30, 30, 30], [0.0, 0.0, 0.0], [1, 1, 1], 0.2),
    "random patches": (0.6, 0.0, 0.0, [40, 60, 90], [0.05, 0.3, 0.5], [0.5, 0.8, 0.7], 0.3),
    "bagging": (0.2, 0.5, 0.3, [M, M, M], [0.5, 0.5, 2.0], [0.5, 0.6, 0.9], 0.1),
}


@pytest.mark.parametrize("name", FAILING)
def test_proposition_2_where_features_fail(name):
    c, omega, rho, sizes, ridges, rows, f = FAILING[name]
    problem, trials = sr.EquicorrelatedProblem(1.0, c, omega, rho, 0.2), 200
    plan = sr.subsets.overlapping(sizes, M, 0) if max(sizes) < M else EVERYTHING
    ensemble, rng = sr.Ensemble(plan, ridges, 0.1, row_fractions=rows), np.random.default_rng(4)
    for n in (50, 150):
        theory = sr.risk(problem, ensemble, n / M, n_features=M, test=sr.DeadFeatures(f)).total
        counts, found = [round(n * each) for each in rows], []
        for trial in range(trials):
            one = problem.realise(M, seed=(n, trial))
            common, alone = rng.standard_normal((n, 1)), rng.standard_normal((n, M))
            signal = np.sqrt(1 - c) * alone + np.sqrt(c) * common
            X = signal + omega * rng.standard_normal((n, M))
            y = signal @ one.teacher_weights / np.sqrt(M) + 0.2 * rng.standard_normal(n)
            outputs = np.zeros((3, M))
            for r, count in enumerate(counts):
                kept = rng.permutation(n)[:count]
                single = sr.Ensemble(sr.SubsetPlan(plan.measurements[r : r + 1], M), ridges[r])
                (own,) = sr.fit_members(X[kept], y[kept], single, noise=0.1 * rng.standard_normal((1, count)))
                outputs[r, plan.measurements[r]] = own * np.sqrt(M / len(own))
            w, at = outputs.mean(axis=0), moments_at_test(one, sr.DeadFeatures(f))
            found.append((at.power - 2 * w @ at.cross + w @ at.second @ w) / M + 0.1**2 / 3)
        distance = min(abs(count - size) for count, size in zip(counts, sizes, strict=True))
        allowance = 4 * np.std(found) / np.sqrt(trials) + 1.5 * theory / distance
        assert abs(np.mean(found) - theory) < allowance, (n, np.mean(found), theory)
        assert abs(np.mean(found) - 1.5 * theory) > allowance


PROJECTED = {
    "unequal": (POWER_LAW, (40, 100), [0.05, 0.2], None),
    "ridgeless": (POWER_LAW, (60, 60, 60), 0.0, None),
    "wide": (POWER_LAW, (300, 40), [0.0, 0.1], None),
    "correlated": (CORRELATED, (50, 70), 0.3, None),
    "spiked": (SPIKED, (110, 20), 1.0, None),
    "with fewer rows": (SPIKED, (60, 90), 0.1, [0.5, 0.8]),
}


@pytest.mark.parametrize("name", PROJECTED)
def test_projections_drawn_afresh(name):
    problem, sizes, ridge, rows = PROJECTED[name]
    ensemble = sr.Ensemble(sr.subsets.Projection(sizes), ridge, 0.2, row_fractions=rows)
    curves = sr.simulate(problem, ensemble, P, 300, redraw=("data", "subsets"), progress=False)
    agrees(sr.risk(problem, ensemble, P / M), curves)


def test_trained_estimators_err_as_theory_says():
    rng, plan, trials = np.random.default_rng(3), sr.subsets.equal(3, M, 0), 60
    root = np.linalg.cholesky(CORRELATED.signal_covariance.dense())
    for share, n in ((0.5, 150), (0.8, 100)):
        model = sr.RidgeEnsembleRegressor(
            subsets=plan, ridge=0.3, aggregation="mean", fit_intercept=False, max_samples=share
        )
        found, left_out = [], []
        for trial in range(trials):
            signal = rng.standard_normal((n, M)) @ root.T
            X, y = signal + np.sqrt(0.1) * rng.standard_normal((n, M)), signal @ TEACHER / np.sqrt(M)
            model.set_params(random_state=trial).fit(X, y + 0.2 * rng.standard_normal(n))
            weights = [np.sqrt(len(own)) * own for own in model.estimators_coef_]
            found.append(sr.risk_of_weights(CORRELATED, model.ensemble_, weights).total)
            left_out.append(model.loo_error_)
        theory = sr.risk(CORRELATED, sr.Ensemble(plan, 0.3, row_fractions=[share] * 3), n / M).total
        allowance = 4 * np.std(found) / np.sqrt(trials) + 1.5 * theory / abs(share * n - 40)
        assert abs(np.mean(found) - theory) < allowance
        # Left-out rows leave one row less, and show the label noise as well.
        assert abs(np.mean(left_out) - 0.2**2 - theory) < 4 * np.std(left_out) / np.sqrt(trials) + 0.02 * theory
