"""
How large is large?
===================

Prop. 2 is the limit of many features. For finitely many Prop. 1 gives the error of the
realised problem, and trained ensembles scatter around it. The scatter shrinks as the
number of features grows; the means agree from a few dozen on.
"""

import matplotlib.pyplot as plt
import numpy as np

import subridge as sr

problem = sr.EquicorrelatedProblem(
    correlation=0.3, label_noise=0.3, feature_noise=0.2
)
limit = sr.Ensemble([0.5, 0.5], ridge=0.05)
dense, ratios = (
    np.linspace(0.1, 1.6, 200),
    np.array([0.15, 0.3, 0.42, 0.6, 0.8, 1.0, 1.25, 1.5]),
)

figure, axes = plt.subplots(
    1, 3, figsize=(10, 3.5), sharey=True, layout="constrained"
)
for axis, M in zip(axes, (20, 80, 320), strict=True):
    runs = sr.simulate(
        problem, sr.Ensemble(sr.subsets.Equal(2), ridge=0.05), np.round(ratios * M).astype(int),
        n_trials=12, n_features=M, redraw=("data", "teacher"), progress=False,
    ).risk  # fmt: skip
    axis.plot(
        dense, sr.risk(problem, limit, dense).total, "k", label="limit (Prop. 2)"
    )
    axis.plot(ratios, runs.values.T, ".", color="C0", alpha=0.4)
    axis.plot(ratios, runs.mean("trial"), "o", color="C1", label="mean of trials")
    axis.set(title=f"{M} features", xlabel="samples per feature α", ylim=(0, 2))
axes[0].set_ylabel("risk")
axes[0].legend()
plt.show()
