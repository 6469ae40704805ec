"""A banded ridge, one model with a ridge per feature space: Prop. 1 against models that NumPy trains.

Judged with error bars and the finite-size allowance, |Δ| ≤ 4 SE + 1.5 E/|P - N|.
"""

import numpy as np
import pytest

import subridge as sr

M = 150
SPACES = [range(30), range(30, 70), range(70, 150)]
POWERS = np.diag(np.arange(1, M + 1) ** -0.7)
NEIGHBOURS = 0.7 ** abs(np.subtract.outer(np.arange(M), np.arange(M)))
# covariance, spaces, ridges, noise of labels, rows
SETTINGS = {
    "few rows": (np.eye(M), SPACES, [0.1, 1.0, 10.0], 0.3, 60),
    "many rows": (np.eye(M), SPACES, [0.1, 1.0, 10.0], 0.3, 400),
    "correlated features": (NEIGHBOURS, SPACES, [0.01, 0.3, 3.0], 0.1, 80),
    "small ridges": (POWERS, SPACES, [1e-4, 1e-2, 1e-3], 0.5, 250),
    "a space left out": (POWERS, SPACES, [0.05, np.inf, 0.5], 0.2, 90),
    "features of no space": (np.eye(M), [range(0, 60, 2), range(90, 150)], [0.02, 2.0], 0.0, 50),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", SETTINGS)
def test_the_error_of_a_banded_ridge_is_that_of_trained_models(name):
    covariance, spaces, ridges, noise, P = SETTINGS[name]
    rng, root = np.random.default_rng(len(name)), np.linalg.cholesky(covariance)
    w = rng.standard_normal(M) * np.repeat([2.0, 0.5, 1.0], [30, 40, 80])
    plan = sr.SubsetPlan.from_indices(spaces, M)
    columns = np.concatenate(spaces)
    penalties = len(columns) * np.repeat(ridges, plan.subset_sizes)
    seen = np.isfinite(penalties)
    errors = []
    for _ in range(200):
        X = rng.standard_normal((P, M)) @ root.T
        y, F = X @ w / M**0.5 + noise * rng.standard_normal(P), X[:, columns[seen]]
        missed = w / M**0.5
        missed[columns[seen]] -= np.linalg.solve(F.T @ F + np.diag(penalties[seen]), F.T @ y)
        errors.append(missed @ covariance @ missed)
    law = sr.Problem(covariance, w, label_noise=noise)
    expected = sr.risk(law, sr.Ensemble(plan.banded(ridges), ridge=1.0), P / M).total
    allowed = 4 * np.std(errors) / 200**0.5 + 1.5 * expected / abs(P - seen.sum())
    assert abs(np.mean(errors) - expected) < allowed
    assert allowed < 0.15 * expected


@pytest.mark.slow
@pytest.mark.parametrize("P", [30, 90])
def test_the_best_ridges_of_spaces_are_those_of_a_normal_prior(P):
    """With independent features the weights of a space act like draws of their mean square: λ_s = ζ²/w_s² is best."""
    weights, plan = np.array([1.5, 0.5, 0.0]), sr.SubsetPlan.from_indices([range(20), range(20, 40), range(40, 60)], 60)
    law = sr.Problem(np.eye(60), np.repeat(weights, 20), label_noise=0.6)
    found = sr.optimal_ridge(law, sr.Ensemble(plan), P / 60, scope="spaces")
    np.testing.assert_allclose(found[:2], 0.36 / weights[:2] ** 2, rtol=1e-3)  # the error is flat to 1e-6 there
    assert np.isinf(found[2])


@pytest.mark.slow
def test_the_best_ridges_of_spaces_beat_those_around_and_one_for_all():
    law = sr.Problem(POWERS, np.repeat([1.0, 0.3, 2.0], [30, 40, 80]), label_noise=0.2)
    plan = sr.SubsetPlan.from_indices(SPACES, M)

    def error(ridges):
        return float(sr.risk(law, sr.Ensemble(plan.banded(ridges), ridge=1.0), 0.8).total)

    found = sr.optimal_ridge(law, sr.Ensemble(plan), [0.8], scope="spaces")
    assert found.shape == (1, 3)
    for factors in np.exp(0.3 * np.vstack([np.eye(3), -np.eye(3)])):
        assert error(found[0]) < error(found[0] * factors)
    common = sr.optimal_ridge(law, sr.Ensemble(plan.banded(np.ones(3))), 0.8, scope="member")
    assert error(found[0]) < 0.99 * error(np.full(3, common[0]))


def test_spaces_that_make_no_banded_ridge_are_refused():
    overlapping, measured = sr.SubsetPlan.from_indices([[0, 1], [1, 2]], 3), sr.SubsetPlan.from_matrices([np.eye(3)])
    for plan in (overlapping, measured):
        with pytest.raises(sr.errors.SubsetError, match="each in one space"):
            plan.banded(np.ones(plan.n_members))
    disjoint = sr.SubsetPlan.from_indices([[0, 1], [2]], 3)
    for ridges in ([1.0], [1.0, 0.0]):
        with pytest.raises(sr.errors.ParameterError, match="ridges must be 2 positive numbers"):
            disjoint.banded(ridges)
    with pytest.raises(sr.errors.DataError, match="ridges contains NaN"):
        disjoint.banded([1.0, np.nan])
    with pytest.raises(sr.errors.ParameterError, match="needs a Problem"):
        sr.optimal_ridge(sr.EquicorrelatedProblem(), sr.Ensemble(disjoint), 1.0, scope="spaces")
