"""
Sensors that fail
=================

Features read zero with probability f at test time. Failing features act as a ridge that the
training did not have: the best ridge grows with f. Tuned for the failure (solid), one ridge
stays ahead of disjoint members. Tuned as if nothing failed (dotted), it sets large weights of
opposite signs on neighbours, and members, which see fewer of them, have smaller errors.
"""

import matplotlib.pyplot as plt
import numpy as np

import subridge as sr

M, sample_ratio = 120, 2.0
rates, ridges = np.linspace(0, 0.2, 9), np.logspace(-4, 2, 37)
teacher = np.random.default_rng(0).standard_normal(M)
problem = sr.Problem(
    sr.covariance.autoregressive(M, 0.95),
    teacher,
    sr.covariance.isotropic(M, 0.001),
    0.05,
)

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
for k in (1, 2, 4, 8):
    ensemble = sr.Ensemble(sr.subsets.equal(k, M, seed=0), aggregation="scaled")
    laws = [sr.DeadFeatures(rate) for rate in rates]
    risks = np.array(
        [
            sr.risk(problem, ensemble, sample_ratio, test=law, ridges=ridges).total
            for law in laws
        ]
    )
    unaware = risks[:, risks[0].argmin()]  # the ridge that is best if nothing fails
    (line,) = left.plot(
        rates, risks.min(axis=1), label=f"{k} members" if k > 1 else "one ridge"
    )
    left.plot(rates, unaware, color=line.get_color(), linestyle=":")
    right.plot(rates, ridges[risks.argmin(axis=1)], color=line.get_color())
ticks = [0, 0.05, 0.1, 0.15, 0.2]
left.set(
    xlabel="probability that a feature fails",
    xticks=ticks,
    ylabel="error",
    yscale="log",
    title="best ridge (dotted: of f = 0)",
)
left.legend()
right.set(
    xlabel="probability that a feature fails",
    xticks=ticks,
    ylabel="best ridge",
    yscale="log",
)
plt.show()
