"""Real data: tables of users, and features that networks extract from images.

Public names are listed in ``__init__.pyi`` and loaded when first used: some need torch, which is an extra.
"""

from subridge.lazy import names_of_stub

__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)
