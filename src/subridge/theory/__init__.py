"""Typical errors of ridge ensembles: arrays in, arrays out, every parameter broadcasts.

``prop1`` and ``prop2`` are the propositions of the paper, ``reduced`` is Prop. 2 for equal members, ``saddle_point``
solves for the order parameters, and ``rounding`` bounds the rounding error of all of them. Public names are listed in
``__init__.pyi``.
"""

from subridge.lazy import names_of_stub

__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)
