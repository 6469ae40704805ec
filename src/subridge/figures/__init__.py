"""Pictures of results (``drawing``), and the figures of the paper remade (``paper``).

Public names are listed in ``__init__.pyi`` and loaded when first used, because Matplotlib is slow to import.
"""

from subridge.lazy import names_of_stub

__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)
