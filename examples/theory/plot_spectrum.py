"""
Your own covariance
===================

Any covariance will do. Here are three spectra with the same total variance and a target
of the same power. The faster the spectrum falls, the fewer samples a ridge needs, and
the smoother is its way through the threshold at α = 1.
"""

import matplotlib.pyplot as plt
import numpy as np

import subridge as sr

M = 300
plan = sr.SubsetPlan.from_indices([range(M)], M)
ratios = np.linspace(0.05, 2, 200)

figure, axis = plt.subplots(figsize=(6.5, 4), layout="constrained")
for exponent in (0.0, 0.5, 1.0, 1.5):
    spectrum = np.arange(1.0, M + 1) ** -exponent
    spectrum *= M / spectrum.sum()
    problem = sr.Problem(np.diag(spectrum), np.ones(M), label_noise=0.3)
    risk = sr.risk(problem, sr.Ensemble(plan, ridge=1e-3), ratios)
    axis.plot(
        ratios,
        risk.total / risk.v,
        label="all eigenvalues equal"
        if exponent == 0
        else f"eigenvalues ∝ i^-{exponent:g}",
    )
axis.set(
    xlabel="samples per feature α", ylabel="risk / power of the target", ylim=(0, 2)
)
axis.legend()
plt.show()
