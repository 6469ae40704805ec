"""Ridge regression on finite samples.

A fit goes through ``rows`` (centred training rows), ``checks`` (warnings about them), ``member`` (one factorisation
per member, which gives every ridge and every left-out row), ``choose`` (the ridges) and ``judge`` (the honest error of
every choice). ``rounding`` has what ``member`` turns to if rounding may count. ``moments`` trains on moments,
``curves`` along whole learning curves, ``reference`` plainly and slowly; ``classes`` calibrates probabilities and
counts votes.
"""
