"""
Unequal sizes take the spike away
=================================

Ten ridgeless members. If all have the same size, their spikes add up. The more their
sizes differ, the lower the peak of the ensemble. The sizes are drawn from a Dirichlet
distribution, whose spread is the coefficient of variation of the sizes; curves are means over
draws.
"""

import matplotlib.pyplot as plt
import numpy as np

import subridge as sr

M, k = 2000, 10
problem = sr.EquicorrelatedProblem(
    correlation=0.4, label_noise=0.1, feature_noise=0.1
)
ratios = np.linspace(0.02, 0.5, 300)

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
for spread in (0.0, 0.25, 0.5, 1.0):
    curves = []
    for seed in range(1 if spread == 0 else 30):
        plan = (
            sr.subsets.dirichlet(k, M, spread, seed)
            if spread
            else sr.subsets.equal(k, M, seed)
        )
        sizes = plan.subset_sizes
        curves.append(
            sr.risk(problem, sr.Ensemble(sizes / M, ridge=1e-4), ratios).total
        )
    (line,) = left.plot(ratios, np.mean(curves, axis=0), label=f"spread {spread}")
    right.plot(np.sort(sizes)[::-1], "o-", ms=4, color=line.get_color())
left.set(xlabel="samples per feature α", ylabel="risk", ylim=(0, 3))
left.legend()
right.set(xlabel="members of one draw", ylabel="features", xticks=[])
plt.show()
