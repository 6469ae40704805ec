"""
How many members?
=================

The best number of equal members over sample ratio and readout noise. In the grey
region infinitely many are best.
"""

import matplotlib.pyplot as plt
import numpy as np

import subridge as sr

diagram = sr.phase_diagram(
    np.linspace(0.02, 2, 200), readout_nsr=np.linspace(0, 2, 160), alignment=0.3
)
best = diagram.optimal_n_members.where(np.isfinite(diagram.optimal_n_members))

figure, axes = plt.subplots(figsize=(7, 4))
axes.set_facecolor("0.8")
image = axes.pcolormesh(
    diagram.sample_ratio,
    diagram.readout_nsr,
    np.log10(best),
    cmap="viridis",
    rasterized=True,
)
axes.plot(
    diagram.boundary, diagram.readout_nsr, color="black", lw=1, label="boundary"
)
axes.set(
    xlabel="samples per feature, P/M", ylabel="readout noise H", xlim=(0.02, 2)
)
figure.colorbar(image, label="log₁₀ of the best number of members")
axes.legend(loc="upper right")
figure.tight_layout()
