"""
Disjoint or overlapping members
===============================

Eight members. They may divide the features, or each may draw its own. Overlapping
members see more and are better alone; disjoint members have less in common. With few
samples it makes little difference; with many samples the larger members are better.
"""

import matplotlib.pyplot as plt
import numpy as np

import subridge as sr

M, k = 240, 8
rng = np.random.default_rng(0)
problem = sr.Problem(
    sr.covariance.autoregressive(M, 0.7), rng.standard_normal(M), label_noise=0.3
)
plans = {
    "disjoint, 1/8 each": sr.subsets.equal(k, M, seed=0),
    "overlapping, 1/4 each": sr.subsets.overlapping([M // 4] * k, M, seed=0),
    "overlapping, 1/2 each": sr.subsets.overlapping([M // 2] * k, M, seed=0),
    "one ridge on all": sr.subsets.equal(1, M, seed=0),
}
ratios, sizes = np.linspace(0.05, 3, 120), np.array([24, 60, 160, 300, 450, 700])

figure, axis = plt.subplots(figsize=(6.5, 4), layout="constrained")
for name, plan in plans.items():
    ensemble = sr.Ensemble(plan, ridge=0.3)
    (line,) = axis.plot(
        ratios, sr.risk(problem, ensemble, ratios).total, label=name
    )
    runs = sr.simulate(problem, ensemble, sizes, n_trials=8, progress=False).risk
    axis.plot(sizes / M, runs.mean("trial"), "o", ms=4, color=line.get_color())
axis.set(xlabel="samples per feature α", ylabel="risk", ylim=(0, None))
axis.legend(title="lines: theory, dots: trained")
plt.show()
