import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import subridge as sr
from subridge.model.subsets import STRATEGIES, StrategyOptions, read_strategy


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 30), st.integers(0, 200), st.floats(0, 5), st.integers(0, 10**6))
def test_disjoint_strategies_use_every_feature_once_and_leave_no_member_empty(k, extra, spread, seed):
    M = k + extra
    for plan in (sr.subsets.equal(k, M, seed), sr.subsets.dirichlet(k, M, spread, seed)):
        assert plan.n_members == k
        assert plan.subset_sizes.min() >= 1
        np.testing.assert_array_equal(np.sort(np.concatenate(plan.measurements)), np.arange(M))
    assert np.ptp(sr.subsets.equal(k, M, seed).subset_sizes) <= 1


@pytest.mark.slow
def test_dirichlet_sizes_have_the_rescaled_spread():
    sizes = np.array([sr.subsets.dirichlet(5, 2000, 0.75, seed).subset_sizes for seed in range(800)])
    measured = (sizes / 2000).std()
    assert measured == pytest.approx(float(sr.subsets.rescaled_spread(5, 0.75)), rel=0.05)
    np.testing.assert_allclose(sizes.mean(axis=0), 400, rtol=0.1)


def test_no_spread_means_equal_members():
    np.testing.assert_array_equal(sr.subsets.dirichlet(4, 20, 0.0, 1).subset_sizes, [5, 5, 5, 5])


def test_overlapping_members_are_independent_draws_without_repeats():
    plan = sr.subsets.overlapping([300, 500], 1000, 0)
    np.testing.assert_array_equal(plan.subset_sizes, [300, 500])
    assert plan.fractions[0, 1] == pytest.approx(0.15, abs=0.04)


def test_projections_are_nearly_orthonormal():
    A = sr.subsets.projection([20], 5000, 0).measurements[0]
    np.testing.assert_allclose(A @ A.T, np.eye(20), atol=0.1)


def test_a_seed_fixes_the_draw_and_another_changes_it():
    for draw in (
        lambda seed: sr.subsets.equal(3, 50, seed),
        lambda seed: sr.subsets.dirichlet(3, 50, 1.0, seed),
        lambda seed: sr.subsets.overlapping([9, 9], 50, seed),
        lambda seed: sr.subsets.projection([9], 50, seed),
    ):
        assert draw(1).fingerprint() == draw(1).fingerprint() != draw(2).fingerprint()


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: sr.subsets.equal(5, 4, 0), sr.errors.SubsetError, "n_features=4 cannot serve n_members=5"),
        (lambda: sr.subsets.dirichlet(5, 4, 1.0, 0), sr.errors.SubsetError, "lower n_members"),
        (lambda: sr.subsets.dirichlet(2, 4, -1.0, 0), sr.errors.ParameterError, "fraction_spread must be at least 0"),
        (lambda: sr.subsets.equal(0, 4, 0), sr.errors.ParameterError, "n_members must be a positive integer"),
        (lambda: sr.subsets.overlapping([5], 4, 0), sr.errors.SubsetError, "exceed n_features=4"),
        (lambda: sr.subsets.overlapping([[1], [2, 3]], 4, 0), sr.errors.SubsetError, "must be positive integers"),
        (lambda: sr.subsets.overlapping([0], 4, 0), sr.errors.SubsetError, "subset_sizes must be positive integers"),
    ],
)
def test_impossible_draws_are_refused(build, error, message):
    with pytest.raises(error, match=message):
        build()


@pytest.mark.parametrize("spread", [0.2, 0.5, 0.9])
def test_density_of_a_fraction_has_the_stated_mean_and_deviation(spread):
    k = 10
    nu = np.linspace(1e-6, 2.0, 400_001)
    density = sr.subsets.fraction_density(nu, k, spread)
    weight, mean = np.trapezoid(density, nu), np.trapezoid(nu * density, nu)
    deviation = np.sqrt(np.trapezoid((nu - mean) ** 2 * density, nu))
    assert [weight, mean, deviation] == pytest.approx([1.0, 1 / k, spread / k], rel=1e-4)


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_name_gives_a_strategy_of_as_many_members(name):
    strategy = read_strategy(name, StrategyOptions(n_members=3, n_features=12))
    assert isinstance(strategy, sr.Strategy)
    assert strategy.draw(12, 0).n_members == 3


def test_sizes_are_counts_or_fractions_of_the_features():
    def sizes(given):
        return (
            read_strategy("overlapping", StrategyOptions(2, 20, subset_sizes=given)).draw(20, 0).subset_sizes.tolist()
        )

    assert sizes(None) == [10, 10]
    assert sizes(0.25) == [5, 5]
    assert sizes([3, 7]) == [3, 7]
    for wrong in (1.5, [1, 2, 3], [0.0, 0.5], float("nan"), [[1], [2, 3]]):
        with pytest.raises(sr.errors.ParameterError, match="subset_sizes"):
            sizes(wrong)


def test_an_unknown_name_is_refused_and_the_known_are_listed():
    with pytest.raises(sr.errors.ParameterError, match="equal, dirichlet, overlapping, projection"):
        read_strategy("nested", StrategyOptions(2, 4))


@pytest.mark.parametrize("n_members", [[], [[2, 3], [4, 5]]])
def test_a_spread_names_shapes_that_do_not_broadcast(n_members):
    with pytest.raises(sr.errors.ParameterError, match=r"n_members.*fraction_spread"):
        sr.subsets.rescaled_spread(n_members, [0.1, 0.2, 0.3])
