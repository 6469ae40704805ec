"""
The best ridge
==============

With its best ridge λ* the error of a member falls steadily with the sample size: the
spike of a small ridge comes from a bad choice. The best ridge of a member is the
same at every sample size.
"""

import matplotlib.pyplot as plt
import numpy as np

import subridge as sr

problem = sr.EquicorrelatedProblem(
    correlation=0.4, label_noise=0.3, feature_noise=0.2
)
ratios = np.linspace(0.05, 2, 200)
best = sr.optimal_ridge(problem, sr.Ensemble([0.5]), 1.0)[0]
print(f"λ* = {best:.3f}")

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
for ridge in (0.001, 0.05, best, 4.0):
    label = f"λ = {ridge:.3g}" + (" = λ*" if ridge == best else "")
    risk = sr.risk(problem, sr.Ensemble([0.5], ridge=ridge), ratios).total
    left.plot(ratios, risk, label=label, lw=3 if ridge == best else 1.5)
left.set(xlabel="samples per feature α", ylabel="risk", ylim=(0.3, 1.5))
left.legend()

ridges = np.logspace(-3, 1.5, 120)
for ratio in (0.25, 0.5, 1.0, 2.0):
    ensemble = sr.Ensemble([0.5], ridge=ridges[:, None])
    right.plot(
        ridges, sr.risk(problem, ensemble, ratio).total, label=f"α = {ratio}"
    )
right.axvline(best, color="black", lw=0.8, ls=":")
right.set(xscale="log", xlabel="ridge λ", ylabel="risk", ylim=(0.3, 1.5))
right.legend()
plt.show()
