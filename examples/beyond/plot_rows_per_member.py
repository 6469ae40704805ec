"""
Subsampling rows is a ridge
===========================

Members that see all features and a random part of the rows are ridgeless here. One of them has
a spike where it has as many rows as features. The mean of many has the error of one ridge on
all rows: the smaller the part, the larger that ridge. Lines are theory, points are trained
ensembles.
"""

import matplotlib.pyplot as plt
import numpy as np

import subridge as sr

M, k = 60, 20
problem = sr.Problem(
    sr.covariance.autoregressive(M, 0.5), np.ones(M), label_noise=0.5
)
fractions = np.linspace(0.1, 1.0, 37)
everything = [range(M)] * k


def risks(ridge, members, sample_ratio=1.5):
    """Of members that each see a fraction of the rows, for every fraction."""
    plan = sr.SubsetPlan.from_indices(everything[:members], M)
    return [
        sr.risk(
            problem,
            sr.Ensemble(plan, ridge, row_fractions=[f] * members),
            sample_ratio,
        ).total
        for f in fractions
    ]


figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
(line,) = axis.plot(fractions, risks(0.0, 1), label="one ridgeless member")
(many,) = axis.plot(fractions, risks(0.0, k), label=f"{k} of them")
shown = [0.2, 0.4, 0.9]
for part in shown:
    ensemble = sr.Ensemble(
        sr.SubsetPlan.from_indices(everything, M), row_fractions=[part] * k
    )
    trained = sr.simulate(problem, ensemble, [90], 20, progress=False).risk
    axis.errorbar(
        part,
        trained.mean(),
        2 * trained.std() / 20**0.5,
        fmt="o",
        color=many.get_color(),
    )
alone = sr.Ensemble(sr.SubsetPlan.from_indices(everything[:1], M))
best = sr.risk(problem, alone, 1.5, ridges=np.logspace(-3, 1, 81)).total.min()
axis.axhline(
    best, color="grey", linestyle=":", label="one ridge on all rows, at its best"
)
axis.set(
    xlabel="fraction of the rows that a member sees",
    ylabel="error",
    yscale="log",
    ylim=(0.1, 20),
)
axis.legend()
plt.show()
