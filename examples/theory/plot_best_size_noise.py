"""
The best ridge changes the phases
=================================

The phase diagram without a ridge (left) and with every ensemble at its best ridge
(right). With the best ridge little is left between the extremes: one member is best
where readout noise is small, and infinitely many where it is large. Black lines are
the boundaries by formula.
"""

import matplotlib.pyplot as plt
import numpy as np

import subridge as sr

ratios, noise = np.linspace(0.02, 2, 48), np.linspace(0, 2, 40)
figure, axes = plt.subplots(
    1, 2, figsize=(9, 3.8), sharey=True, layout="constrained"
)
for axis, ridge in zip(axes, (0, "optimal"), strict=True):
    diagram = sr.phase_diagram(
        ratios, readout_nsr=noise, alignment=0.3, ridge=ridge
    )
    best = diagram.optimal_n_members
    best = np.log10(best.where(np.isfinite(best)))
    axis.set_facecolor("0.8")
    image = axis.pcolormesh(ratios, noise, best, vmin=0, vmax=2, rasterized=True)
    axis.plot(diagram.boundary, noise, color="black", lw=1)
    axis.set(
        title="best ridge" if ridge else "no ridge", xlabel="samples per feature α"
    )
axes[0].set(ylabel="readout noise H", xlim=(0.02, 2))
axes[1].set_xlim(0.02, 2)
bar = figure.colorbar(
    image, ax=axes, label="best number of members (grey: infinitely many)"
)
bar.set_ticks([0, 1, 2], labels=["1", "10", "100"])
plt.show()
