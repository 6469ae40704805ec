"""
Errors of pairs of members
==========================

The error of an ensemble is the mean of a matrix: its diagonal holds the errors of single
members, the other entries the errors that two members have in common. Averaging reduces the
contribution of the diagonal as 1/k; the errors in common stay.
"""

import matplotlib.pyplot as plt
import numpy as np

import subridge as sr

M = 240
rng = np.random.default_rng(0)
problem = sr.Problem(
    sr.covariance.autoregressive(M, 0.9), rng.standard_normal(M), label_noise=0.3
)
plans = {
    "disjoint": sr.subsets.equal(6, M, seed=0),
    "overlapping halves": sr.subsets.overlapping([120] * 6, M, seed=0),
}
figure, axes = plt.subplots(1, 2, figsize=(8.5, 3.8), layout="constrained")
for axis, (name, plan) in zip(axes, plans.items(), strict=True):
    risk = sr.risk(problem, sr.Ensemble(plan, ridge=0.1), 0.5)
    own = np.diag(risk.pairs).mean()
    image = axis.imshow(risk.pairs, vmin=0, cmap="viridis")
    axis.set(title=f"{name}\none member {own:.2f}, ensemble {risk.total:.2f}")
    axis.set(xlabel="member", ylabel="member", xticks=range(6), yticks=range(6))
    figure.colorbar(image, ax=axis, label="error of a pair")
plt.show()
