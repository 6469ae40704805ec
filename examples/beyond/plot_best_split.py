"""
The best split of the features
==============================

Equal members peak together where each has as many samples as features. The paper spreads the
peaks by drawing sizes from a Gamma distribution. `best_split` asks for the split whose worst
error over a range of sample ratios is least.
"""

import matplotlib.pyplot as plt
import numpy as np

import subridge as sr

problem = sr.EquicorrelatedProblem(
    correlation=0.6, feature_noise=0.1, label_noise=0.2
)
k, span, ridge = 10, (0.1, 1.0), 1e-3
best = sr.best_split(problem, k, span, ridge=ridge)
print("fractions", best.ensemble.fractions.diagonal().round(3))

# %%
# Two large members lower the error over the whole range. Their thresholds lie next to each
# other, and the eight small members, which are far beyond theirs, reduce the peak.

ratios = np.geomspace(*span, 400)
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
worst = []
for seed in range(100):
    drawn = sr.Ensemble(sr.subsets.Dirichlet(k, 0.75).fractions(seed), ridge=ridge)
    curve = sr.risk(problem, drawn, ratios).total
    worst.append(curve.max())
    axes.plot(
        ratios,
        curve,
        color="0.85",
        linewidth=0.7,
        label="drawn from a Gamma distribution" if not seed else None,
    )
for name, ensemble in {
    "equal": sr.Ensemble([1 / k] * k, ridge=ridge),
    "best": best.ensemble,
}.items():
    axes.plot(ratios, sr.risk(problem, ensemble, ratios).total, label=name)
axes.axhline(best.worst_risk, color="black", linestyle=":", linewidth=1)
axes.set(xscale="log", xlabel="samples per feature", ylabel="error", ylim=(0, 0.8))
axes.legend()
plt.show()
print(
    f"worst error: best {best.worst_risk:.3f}; "
    f"drawn: best of 100 {min(worst):.3f}, median {np.median(worst):.3f}"
)
