"""
Where the spikes are
====================

A member without a ridge has an infinite error where it has as many samples as features.
A member that sees a fraction ν of the features has its spike at α = ν, with α the number
of samples over that of all features.
"""

import matplotlib.pyplot as plt
import numpy as np

import subridge as sr

problem = sr.EquicorrelatedProblem(correlation=0.4, label_noise=0.2, alignment=0.5)
ratios = np.linspace(0.02, 1.2, 600)

figure, axis = plt.subplots(figsize=(6.5, 4), layout="constrained")
for fraction in (0.1, 0.3, 0.5, 1.0):
    ensemble = sr.Ensemble([fraction], ridge=1e-6)
    (line,) = axis.plot(
        ratios, sr.risk(problem, ensemble, ratios).total, label=f"ν = {fraction}"
    )
    axis.axvline(fraction, color=line.get_color(), lw=0.8, ls=":")
axis.set(xlabel="samples per feature α", ylabel="risk", ylim=(0, 4))
axis.legend(title="sees a fraction")
plt.show()
