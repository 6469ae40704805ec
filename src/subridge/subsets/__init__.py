"""Ways to draw subsets of features."""

from subridge.subsets.base import Strategy, StrategyOptions
from subridge.subsets.dirichlet import Dirichlet, dirichlet
from subridge.subsets.equal import Equal, equal
from subridge.subsets.overlapping import Overlapping, overlapping
from subridge.subsets.projection import Projection, projection
from subridge.subsets.spread import fraction_density, rescaled_spread
from subridge.subsets.text import STRATEGIES, read_strategy

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
