"""Typical errors of ridge ensembles: arrays in, arrays out, every parameter broadcasts.

``general`` is Prop. 1, ``equicorrelated`` is Prop. 2, ``reduced`` is Prop. 2 for equal members. Public names are listed
in ``__init__.pyi``.
"""

from subridge.lazy import names_of_stub

__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)
