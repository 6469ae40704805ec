"""Ways to draw subsets of features, under their public name."""

from subridge.model.subsets import *  # noqa: F403
from subridge.model.subsets import __all__ as __all__

__path__: list[str] = []  # so that pickles of 0.2.0, which ask for modules below this one, are refused by name
