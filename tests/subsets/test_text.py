"""Strategies by name."""

import pytest
from subridge.model.subsets import STRATEGIES, StrategyOptions, read_strategy

import subridge as sr


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
    for wrong in (1.5, [1, 2, 3], [0.0, 0.5], float("nan")):
        with pytest.raises(sr.errors.ParameterError, match="subset_sizes"):
            sizes(wrong)


def test_an_unknown_name_is_refused_and_the_known_are_listed():
    with pytest.raises(sr.errors.ParameterError, match="equal, dirichlet, overlapping, projection"):
        read_strategy("nested", StrategyOptions(2, 4))
