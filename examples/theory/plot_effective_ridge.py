"""
The effective ridge
===================

A ridge on P samples acts as a larger one, the effective ridge, acts on the covariance of
the population. The theory depends on the sample only through it. It falls with more
samples, and tends to the given ridge over α.
"""

import matplotlib.pyplot as plt
import numpy as np

import subridge as sr

M = 200
problem = sr.Problem(sr.covariance.power_law(M, 1.2), np.ones(M), label_noise=0.1)
plan = sr.SubsetPlan.from_indices([range(M)], M)
ratios = np.logspace(-1.5, 1.5, 120)

figure, axis = plt.subplots(figsize=(6.5, 4), layout="constrained")
for ridge in (0.0, 1e-3, 1e-2, 1e-1):
    found = sr.order_parameters(problem, sr.Ensemble(plan, ridge=ridge), ratios)
    effective = np.where(
        found.effective_ridge > 1e-12, found.effective_ridge, np.nan
    )
    (line,) = axis.plot(ratios, effective[:, 0], label=f"λ = {ridge:g}")
    if ridge:
        axis.plot(ratios, ridge / ratios, ":", lw=1, color=line.get_color())
axis.set(
    xscale="log", yscale="log", xlabel="samples per feature α", ylim=(1e-4, None)
)
axis.set_ylabel("effective ridge")
axis.legend(title="dotted: λ/α")
plt.show()
