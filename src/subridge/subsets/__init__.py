"""Ways to draw subsets of features."""

from subridge.model.subsets import (
    STRATEGIES,
    Dirichlet,
    Equal,
    Overlapping,
    Projection,
    Strategy,
    StrategyOptions,
    dirichlet,
    equal,
    fraction_density,
    overlapping,
    projection,
    read_strategy,
    rescaled_spread,
)

__all__ = [
    "STRATEGIES",
    "Dirichlet",
    "Equal",
    "Overlapping",
    "Projection",
    "Strategy",
    "StrategyOptions",
    "dirichlet",
    "equal",
    "fraction_density",
    "overlapping",
    "projection",
    "read_strategy",
    "rescaled_spread",
]
