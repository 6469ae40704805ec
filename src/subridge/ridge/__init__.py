"""Ridge regression on finite samples.

A fit goes through ``rows`` (centred training rows), ``checks`` (warnings about them), ``member`` (one factorisation
per member, and the member at every ridge), ``rounding`` (careful decompositions, where rounding counts), ``choose`` (the
ridges) and ``weights`` (the honest error of fitted weights). ``stream`` trains on moments alone, ``curves`` along whole
learning curves, ``reference`` plainly and slowly; ``classes`` calibrates probabilities and counts votes.
"""
