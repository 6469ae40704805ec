"""subridge: learning curves of ridge ensembles on subsets of features.

Public names are listed in ``__init__.pyi`` and loaded when first used, so that ``import subridge`` costs nothing.
"""

import sys

from subridge.lazy import OldPickles, names_of_stub

__version__ = "0.3.0"
__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)
sys.meta_path.append(OldPickles)
