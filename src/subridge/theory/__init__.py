"""Typical errors of ridge ensembles: arrays in, arrays out, every parameter broadcasts.

``prop1`` and ``prop2`` are the propositions of the paper, ``reduced`` is Prop. 2 for equal members, ``saddle_point``
solves for the order parameters, and ``rounding`` bounds the rounding error of all of them. Public names are listed in
``__init__.pyi``.

Σ̃_rr′ of eq. 6 is in ``dense``, G_r of eq. 7 and eq. 10 in ``saddle_point``, γ_rr′ and the bias of eqs. 8 and 9 in
``tables`` and ``prop1``, eqs. 15 to 20 and 193 in ``prop2``, eqs. 22 to 26 and 195 to 215 in ``reduced``.
docs/theory/equations.md lists every equation.
"""

from subridge.lazy import names_of_stub

__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)
