"""Members and their risk from moments alone."""

import numpy as np
import pytest
from scipy.optimize import brentq

from subridge.model.ensemble import SubsetPlan
from subridge.model.subsets import overlapping, projection
from subridge.ridge.choose import Losses, paired, squares_at
from subridge.ridge.member import member_paths
from subridge.ridge.moments import merged, moment_rows, moments_of, thinned
from subridge.ridge.rows import training_rows


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.standard_normal((80, 10)) + 1.0, rng.standard_normal((2, 80)), rng.uniform(0.5, 2.0, 80)


def batches_of(X, Y, weights=None, size=17):
    parts = [slice(start, start + size) for start in range(0, len(X), size)]
    return [moments_of(X[part], Y[:, part], None if weights is None else weights[part]) for part in parts]


def pairs_at(rows, plan, ridges):
    errors = np.stack([path.errors(0).ravel() for path in member_paths(rows, plan, ridges)])
    return errors @ errors.T * rows.weights[0] / rows.total_weight


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("plan", [overlapping([4, 6], 10, seed=0), projection([4, 6], 10, seed=0)])
def test_members_equal_those_fitted_from_rows(data, plan, intercept):
    X, Y, weights = data
    ridges = np.array([0.0, 0.3])
    wanted = member_paths(training_rows(X, Y, weights, intercept), plan, ridges)
    found = member_paths(moment_rows(batches_of(X, Y, weights), intercept), plan, ridges)
    for path, member in zip(found, wanted, strict=True):
        for index in range(2):
            np.testing.assert_allclose(path.coefficients(index), member.coefficients(index), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("intercept", [True, False])
def test_pairs_are_residual_products_over_the_trace_corrections(data, intercept):
    X, Y, _ = data
    plan, ridges = overlapping([4, 6], 10, seed=0), np.array([0.3, 2.0])
    ones, n = np.ones((80, 1)), 80
    residuals, slack = [], []
    for index, ridge in zip(plan.measurements, ridges, strict=True):
        F = X[:, index] - (X[:, index].mean(axis=0) if intercept else 0)
        H = F @ np.linalg.solve(F.T @ F + ridge * len(index) * np.eye(len(index)), F.T) + intercept * ones @ ones.T / n
        residuals.append((Y - Y @ H).ravel())
        slack.append(1 - np.trace(H) / n)
    wanted = np.array([[a @ b for a in residuals] for b in residuals]) / n / np.outer(slack, slack)
    pairs = pairs_at(moment_rows(batches_of(X, Y), intercept), plan, ridges[None, :])
    np.testing.assert_allclose(pairs, wanted, rtol=1e-9)


def test_an_interpolating_stream_uses_the_limit_of_vanishing_ridge():
    rng = np.random.default_rng(1)
    X, Y = rng.standard_normal((8, 20)), rng.standard_normal((1, 8))
    plan = SubsetPlan.from_indices([range(20), range(15)], 20)
    rows = moment_rows([moments_of(X, Y)], True)
    at_zero, near_zero = pairs_at(rows, plan, np.zeros((1, 2))), pairs_at(rows, plan, np.full((1, 2), 1e-5))
    np.testing.assert_allclose(at_zero, near_zero, rtol=1e-4)


@pytest.mark.parametrize("intercept", [True, False])
def test_squared_errors_of_batches_are_those_of_their_rows(data, intercept):
    """With fitted weights, from residuals over √(Σ w R²/Σ w), where R_ii = 1/(1 + w_i t) sum to n - df."""
    from subridge.model.aggregation import read_aggregation

    X, Y, weights = data
    weights = np.where(weights > 1, 2.0, 0.5)
    plan, ridge, n, size = overlapping([4, 6], 10, seed=0), 0.3, 80, 17
    rows = moment_rows(batches_of(X, Y, weights, size), intercept)
    losses = Losses(member_paths(rows, plan, np.array([ridge])), rows, read_aggregation("free"))
    places = np.zeros((1, 2), dtype=int)
    w = losses.at(places).weights[0]
    centre = weights @ X / weights.sum() * intercept
    g = Y - (Y @ weights / weights.sum())[:, None] * intercept

    def divisor(df):
        t = brentq(lambda t: (1 / (1 + weights * t)).sum() - (n - df), 0, 1e3, xtol=1e-14)
        return np.sqrt(weights @ (1 + weights * t) ** -2.0 / weights.sum())

    error = (1 - w.sum()) * g / divisor(intercept)  # as a member of infinite ridge
    for share, index in zip(w, plan.measurements, strict=True):
        F = X[:, index] - centre[index]
        inverse = np.linalg.inv((F.T * weights) @ F + ridge * len(index) * np.eye(len(index)))
        df = np.trace(inverse @ (F.T * weights) @ F) + intercept
        error = error + share * (g - (g * weights) @ F @ inverse @ F.T) / divisor(df)
    squares = np.add.reduceat(((error**2).sum(axis=0) * weights), range(0, n, size))
    found = squares_at(losses, places)
    np.testing.assert_allclose(found[0] / found[0].sum(), squares / squares.sum(), rtol=1e-9)
    gain, noise = paired(found, 2 * found, rows)
    assert gain[0] == pytest.approx(found.sum() / weights.sum())
    assert noise[0] == pytest.approx(np.std(found[0], ddof=1) * len(found[0]) ** 0.5 / weights.sum())


@pytest.mark.parametrize("ridge", [1e-4, 0.1])
def test_columns_of_any_offset_and_scale_keep_their_digits(ridge):
    rng = np.random.default_rng(0)
    scales = 10.0 ** np.linspace(-4, 4, 12)
    X = ((rng.standard_normal((4000, 12)) + 1e6) * scales).astype(np.float32)
    Y = (X.astype(float) / scales)[:, :3].sum(axis=1)[None, :] + rng.standard_normal(4000)
    plan, ridges = SubsetPlan.from_indices([range(12)], 12), np.array([ridge])
    (found,) = member_paths(moment_rows(batches_of(X, Y, size=100), True), plan, ridges)
    wide = X.astype(float) - X.astype(float).mean(axis=0)
    y = Y[0] - Y[0].mean()
    wanted = np.linalg.lstsq(
        np.vstack([wide, np.sqrt(12 * ridge) * np.eye(12)]), np.append(y, np.zeros(12)), rcond=None
    )[0]  # fmt: skip
    np.testing.assert_allclose(found.coefficients(0)[0], wanted, rtol=1e-6)


def test_batches_stay_few_and_even_and_lose_nothing(data):
    X, Y, weights = data
    found = thinned(batches_of(X, Y, weights, size=1), 10)
    assert len(found) == 10
    assert {each.n_samples for each in found} <= set(range(4, 17))
    np.testing.assert_allclose(merged(found).gram, moments_of(X, Y, weights).gram, rtol=1e-12)


def test_copies_of_columns_share_their_weight_without_ridge(data):
    X, Y, _ = data
    twice = np.hstack([X, 1e3 * X[:, :4]])
    plan = SubsetPlan.from_indices([range(14)], 14)
    (found,) = member_paths(moment_rows(batches_of(twice, Y), True), plan, np.zeros(1))
    wanted = np.linalg.pinv(twice - twice.mean(axis=0), rcond=1e-10) @ (Y - Y.mean(axis=1, keepdims=True)).T
    np.testing.assert_allclose(found.coefficients(0), wanted.T, rtol=1e-6, atol=1e-8)
