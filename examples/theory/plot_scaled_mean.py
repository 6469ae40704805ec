"""
The best scale of a mean
========================

Members that each see 1/k of the features shrink their predictions, and so does their
mean. ``aggregation="scaled"`` multiplies the mean by its best factor. Theory gives that
factor; the estimators fit it to left-out rows.
"""

import matplotlib.pyplot as plt
import numpy as np

import subridge as sr

problem = sr.EquicorrelatedProblem(correlation=0, label_noise=0.1)
ratios = np.linspace(0.05, 3, 120)
sizes = [2, 8, 32]

figure, axes = plt.subplots(
    1, len(sizes), figsize=(9, 3), sharey=True, layout="constrained"
)
for axis, k in zip(axes, sizes, strict=True):
    for aggregation in ("mean", "scaled"):
        ensemble = sr.Ensemble([1 / k] * k, ridge=0.1, aggregation=aggregation)
        axis.plot(
            ratios, sr.risk(problem, ensemble, ratios).total, label=aggregation
        )
    axis.set(title=f"{k} members", xlabel="samples per feature")
axes[0].set_ylabel("error")
axes[0].legend()
plt.show()
