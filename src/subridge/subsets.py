"""Ways to draw subsets of features, under their public name."""

from subridge.model.subsets import *  # noqa: F403
from subridge.model.subsets import __all__ as __all__
