"""Ridge regression on finite samples.

A fit goes through ``rows`` (centred training rows), ``checks`` (warnings about them), ``member`` (one factorisation
per member, which gives every ridge and every left-out row), ``choose`` (the ridges) and ``judge`` (the error of the
whole procedure, all choices included). ``member`` uses the accurate decompositions of ``rounding`` where rounding
errors may matter. ``moments`` trains on moments, ``curves`` along whole learning curves, and ``reference`` is the
plain, slow implementation. ``classes`` calibrates probabilities and counts votes.
"""
