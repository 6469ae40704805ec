"""Ways to draw subsets of features."""

from subridge.subsets.spread import fraction_density, rescaled_spread
from subridge.subsets.strategies import (
    Dirichlet,
    Equal,
    Overlapping,
    Projection,
    dirichlet,
    equal,
    overlapping,
    projection,
)

__all__ = [
    "Dirichlet",
    "Equal",
    "Overlapping",
    "Projection",
    "dirichlet",
    "equal",
    "fraction_density",
    "overlapping",
    "projection",
    "rescaled_spread",
]
