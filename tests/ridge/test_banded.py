"""Banded ridge in closed form, against training again."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from subridge.model.errors import BudgetError
from subridge.ridge.banded import (
    BandedSearch,
    first_draws,
    left_out_r2,
    plan_memory,
    promising_choices,
    promising_draws,
    space_kernels,
)
from subridge.ridge.rows import left_out_groups, training_rows


def random_case(number):
    """Rows or groups of any size, with and without intercept and weights, more or fewer features than rows."""
    rng = np.random.default_rng(number)
    n, S = int(rng.integers(6, 40)), int(rng.integers(1, 4))
    sizes = rng.integers(1, 30, S)
    columns = np.split(np.arange(sizes.sum()), np.cumsum(sizes)[:-1])
    X = rng.standard_normal((n, sizes.sum())) * rng.uniform(0.1, 10, sizes.sum()) + 5 * rng.standard_normal(sizes.sum())
    Y = X @ rng.standard_normal((len(X.T), 3)) + 3 * rng.standard_normal((n, 3)) + 100
    weights = rng.uniform(0.2, 3, n) if number % 2 else np.ones(n)
    groups = np.arange(n) if number % 4 < 2 else np.concatenate([[0, 1], rng.integers(0, 4, n - 2)])
    intercept, shares = bool(number % 3), rng.dirichlet(np.ones(S))
    rows = training_rows(X, Y.T, weights, intercept, left_out_groups(groups, n))
    spaces = space_kernels(rows, columns)
    scale = np.concatenate(
        [np.full(len(c), (g / v) ** 0.5) for c, g, v in zip(columns, shares, spaces.scales, strict=True)]
    )
    return X * scale, Y, weights, groups, intercept, spaces, shares, 10.0 ** rng.uniform(-3, 2)


@pytest.mark.parametrize("block", [0, *(pytest.param(block, marks=pytest.mark.slow) for block in range(1, 20))])
def test_left_out_errors_are_those_of_refits(block):
    """500 cases: the penalty of a space is that of its features scaled by √(g/v), so that plain ridge is the judge."""
    for number in range(25 * block, 25 * (block + 1)):
        Z, Y, w, groups, intercept, spaces, shares, ridge = random_case(number)
        expected, model = np.empty_like(Y), Ridge(ridge, fit_intercept=intercept, solver="svd")
        for group in np.unique(groups):
            out = groups == group
            expected[out] = Y[out] - model.fit(Z[~out], Y[~out], sample_weight=w[~out]).predict(Z[out])
        squares = w @ expected**2
        model.fit(Z, Y, sample_weight=w)
        F = (Z - (w @ Z / w.sum() if intercept else 0.0)) * w[:, None] ** 0.5
        by_eigenvectors, by_itself = (BandedSearch(spaces, Y, np.array([ridge]), block=2) for _ in range(2))
        by_eigenvectors.try_shares(shares)
        by_itself.try_choice(shares, 0, np.arange(3))
        for search in (by_eigenvectors, by_itself):
            np.testing.assert_allclose(search.loss, squares, rtol=1e-8, err_msg=str(number))
            np.testing.assert_allclose(search.inside.sum(axis=1), squares, rtol=1e-8)
            np.testing.assert_allclose(search.dual @ F, model.coef_, rtol=1e-8, atol=1e-8 * abs(model.coef_).max())


def test_parts_of_spaces_are_those_of_refits_and_sum_to_r2():
    for number in range(1, 40, 2):
        Z, Y, w, groups, intercept, spaces, shares, ridge = random_case(number)
        search = BandedSearch(spaces, Y, np.array([ridge]), block=3)
        search.try_shares(shares)
        found, model = left_out_r2(spaces, shares, ridge, search.dual), Ridge(ridge, fit_intercept=intercept)
        y = Y - (w @ Y / w.sum() if intercept else 0.0)
        total, overall = np.zeros(3), w @ Z / w.sum() if intercept else 0.0
        for group in np.unique(groups):
            out = groups == group
            model.fit(Z[~out], Y[~out], sample_weight=w[~out])
            without_intercept, errors = (Z[out] - overall) @ model.coef_.T, Y[out] - model.predict(Z[out])
            total += w[out] @ (without_intercept * (y[out] + errors))
        np.testing.assert_allclose(found.sum(axis=1), total / (w @ y**2), rtol=1e-7, atol=1e-9)


def case_of_many_targets(C=60, n=80, p=30, S=3, seed=0):
    rng = np.random.default_rng(seed)
    X, u = rng.standard_normal((n, S * p)), rng.uniform(size=(S, C)) ** 3
    columns = np.split(np.arange(S * p), S)
    Y = sum(X[:, c] @ rng.standard_normal((p, C)) * u[s] for s, c in enumerate(columns)) + 2 * rng.standard_normal(
        (n, C)
    )
    rows = training_rows(X, np.zeros((1, n)), None, True, left_out_groups(np.repeat(np.arange(8), n // 8), n))
    return space_kernels(rows, columns), Y, rng


def test_passes_over_the_ridges_find_what_all_ridges_have():
    spaces, Y, rng = case_of_many_targets()
    ridges, draws = np.logspace(-3, 3, 20), first_draws(8, np.full(3, True), rng)
    search = BandedSearch(spaces, Y, ridges, block=17)
    search.search(draws, 0, rng)
    least = np.full(Y.shape[1], np.inf)
    for shares in draws:
        for ridge in ridges:
            single = BandedSearch(spaces, Y, np.array([ridge]), block=100)
            single.try_shares(shares)
            least = np.minimum(least, single.loss)
    assert (search.loss >= least * (1 - 1e-12)).all()
    assert np.median(search.loss / least) == pytest.approx(1.0, abs=1e-12)
    assert (search.loss <= 1.02 * least).mean() > 0.95


def test_blocks_change_nothing():
    spaces, Y, _ = case_of_many_targets()
    ridges, found = np.logspace(-2, 2, 9), []
    for block in (60, 7):
        rng = np.random.default_rng(1)
        draws = first_draws(1, np.full(3, True), rng)
        found.append(BandedSearch(spaces, Y, ridges, block))
        found[-1].search(draws, 6, rng)
    np.testing.assert_allclose(found[1].loss, found[0].loss, rtol=1e-9)
    np.testing.assert_allclose(found[1].dual, found[0].dual, atol=1e-9 * abs(found[0].dual).max())
    np.testing.assert_allclose(found[1].best_shares, found[0].best_shares, atol=1e-9)


@pytest.mark.parametrize("decades", [0.0, 4.0])
def test_single_precision_costs_no_power_of_the_condition_number(decades):
    """Kernels with and without a dominant direction, at a small ridge: the rounding of float32, 6e-8, stays small."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 120)) * np.logspace(decades, 0, 120)
    Y = X @ rng.standard_normal((120, 20)) / abs(X).sum(axis=1).mean() + rng.standard_normal((90, 20))
    groups = left_out_groups(np.repeat(np.arange(9), 10), 90)
    spaces = space_kernels(training_rows(X, np.zeros((1, 90)), None, True, groups), [np.arange(60), np.arange(60, 120)])
    found = []
    for dtype in (np.float64, np.float32):
        search = BandedSearch(spaces, Y.astype(dtype), np.array([1e-3]), block=8)
        search.try_shares(np.array([0.5, 0.5]))
        assert search.dual.dtype == dtype
        found.append(search)
    np.testing.assert_allclose(found[1].loss, found[0].loss, rtol=1e-5)
    np.testing.assert_allclose(found[1].dual, found[0].dual, atol=1e-5 * abs(found[0].dual).max())


@pytest.mark.slow
def test_refined_draws_err_less_than_as_many_random_ones():
    ratios = []
    for seed in range(5):
        spaces, Y, rng = case_of_many_targets(seed=seed)
        ridges, alive = np.logspace(-2, 3, 9), np.full(3, True)
        refined, random = (BandedSearch(spaces, Y, ridges, block=100) for _ in range(2))
        refined.search(first_draws(1, alive, rng), 11, rng)
        random.search(first_draws(12, alive, rng), 0, rng)
        ratios.append(np.exp(np.log(refined.loss / random.loss).mean()))
    assert np.mean(ratios) < 0.998


def test_one_choice_for_all_has_the_least_mean_error():
    spaces, Y, rng = case_of_many_targets(C=12)
    ridges, draws = np.logspace(-1, 2, 4), first_draws(5, np.full(3, True), rng)
    common, table = BandedSearch(spaces, Y, ridges, block=5), {}
    common.search_in_common(draws)
    for d, shares in enumerate(draws):
        for ridge in ridges:
            single = BandedSearch(spaces, Y, np.array([ridge]), block=100)
            single.try_shares(shares)
            table[d, ridge] = (single.loss / single.variation).mean()
    d, ridge = min(table, key=table.get)
    np.testing.assert_array_equal(common.best_shares, np.broadcast_to(draws[d], (12, 3)))
    np.testing.assert_array_equal(common.best_ridge, np.full(12, ridge))


def test_promising_draws_are_near_the_shares_that_made_the_targets():
    """Labels drawn from Σ g_s K_s + noise: the best of 12 draws is nearer to g than the best of 12 random ones."""
    rng, n, S, C = np.random.default_rng(0), 240, 3, 300
    columns = np.split(np.arange(S * 40), S)
    X, true = rng.standard_normal((n, S * 40)), rng.dirichlet(np.full(S, 0.3), C)
    rows = training_rows(X, np.zeros((1, n)), None, True, left_out_groups(np.repeat(np.arange(8), n // 8), n))
    Y = sum(X[:, c] @ rng.standard_normal((40, C)) * (true[:, s] / 40) ** 0.5 for s, c in enumerate(columns))
    search = BandedSearch(space_kernels(rows, columns), Y + 0.5 * rng.standard_normal((n, C)), np.ones(1), block=70)
    promising, random = promising_draws(search, 12, rng), first_draws(12, np.full(S, True), rng)
    far = [((true[:, None] ** 0.5 - g**0.5) ** 2).sum(axis=2).min(axis=1).mean() for g in (promising, random)]
    assert far[0] < 0.5 * far[1]


@pytest.mark.parametrize("C", [1, 2, 30])
def test_draws_are_shares_of_the_spaces_that_vary(C):
    rng = np.random.default_rng(0)
    X = np.hstack([rng.standard_normal((60, 10)), np.ones((60, 4)), rng.standard_normal((60, 10))])
    X[:, 14:] = X[:, :10]  # a space twice
    columns = [np.arange(10), np.arange(10, 14), np.arange(14, 24)]
    spaces = space_kernels(training_rows(X, np.zeros((1, 60)), None, True, None), columns)
    alive = np.array([True, False, True])
    for Y in (rng.standard_normal((60, C)), np.ones((60, C))):
        search = BandedSearch(spaces, Y, np.ones(1), block=7)
        for drawn in (first_draws(9, alive, rng), promising_draws(search, 9, rng)):
            np.testing.assert_allclose(drawn.sum(axis=1), 1.0)
            assert (drawn >= 0).all()
            assert not drawn[:, 1].any()
    np.testing.assert_array_equal(first_draws(1, alive, rng), [[0.5, 0.0, 0.5]])


@pytest.mark.parametrize(("C", "near"), [(1, 90), (3, 30), (60, 20)])
def test_each_target_sees_the_choices_near_its_needs(C, near):
    """With few targets every choice is for one of them."""
    spaces, Y, rng = case_of_many_targets(C)
    search = BandedSearch(spaces, Y, np.logspace(-2, 3, 11), block=7)
    search.try_shares(np.full(3, 1 / 3))
    shares, numbers, seen = promising_choices(search, 90, rng)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    np.testing.assert_array_equal(seen.sum(axis=0), near)
    assert abs(np.subtract.outer(numbers, search.place % 11)).min(axis=0).max() <= 1
    far = abs(np.subtract.outer(numbers, search.place % 11))
    assert far[seen].mean() <= far.mean()


def test_memory_is_planned_and_too_little_is_refused():
    Y = np.empty((100, 1000))
    assert plan_memory(4, Y)[0] == 1000
    block, planned = plan_memory(4, Y, memory=2_000_000)
    assert block < 1000
    assert planned <= 2_000_000
    few, many = (plan_memory(4, np.broadcast_to(0.0, (100, C)))[1] for C in (20_000, 80_000))
    assert many == pytest.approx(few, rel=0.01)
    with pytest.raises(BudgetError, match="memory=1,000 bytes are too few for 100 rows and 4 spaces; give at least"):
        plan_memory(4, Y, memory=1000)
