"""Derivations: block-matrix algebra of symbolic size, and every closed form of the package proved with it.

Modules, in reading order:

- :mod:`~subridge.derivations.block_matrix`, :mod:`~subridge.derivations.block_forms`: the algebra;
- :mod:`~subridge.derivations.proposition_one`: Prop. 1 for any block-structured covariance;
- :mod:`~subridge.derivations.replica`, :mod:`~subridge.derivations.loureiro`: two routes to Prop. 1, and the ridge as a
  function of 1/q̂, for any spectrum;
- :mod:`~subridge.derivations.equicorrelated`: Prop. 2, its saddle point, its limits and λ*;
- :mod:`~subridge.derivations.reduced`: the reduced forms and the phase boundaries;
- :mod:`~subridge.derivations.scaled_mean`: the same for the scaled mean, which is not in the paper;
- :mod:`~subridge.derivations.spiked`: the trace in γ for isotropic-plus-low-rank covariances;
- :mod:`~subridge.derivations.two_groups`: a worked example that is not in the paper;
- :mod:`~subridge.derivations.numeric`: derived expressions compiled to numbers;
- :mod:`~subridge.derivations.walkthrough`: the page ``docs/derivations/proposition-2.md``.

A module that holds several subjects is also found under the name of each: ``saddle_point``, ``limits`` and
``optimal_ridge`` are ``equicorrelated``, ``large_ensembles`` is ``reduced``, ``spectral_sums`` and ``effective_ridge``
are ``replica``, ``block_printing`` is ``block_matrix``.

Needs the extra ``subridge[symbolic]``.
"""

from subridge.lazy import names_of_stub

__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)
