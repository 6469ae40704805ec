"""
No free lunch from random-feature ensembles
===========================================

A million features with a power-law spectrum are seen through 4,096 Gaussian projections, by one
model or split among k. With its best ridge, one model has the least error at every sample size
(Ruben et al. 2025, arXiv:2412.05418). Without a ridge its error is infinite where it has as
many samples as projections, and there ensembles win. The theory needs the spectrum only: no
matrix is formed.
"""

import matplotlib.pyplot as plt
import numpy as np

import subridge as sr

M, total = 10**6, 4096
index = np.arange(1, M + 1)
# Eigenvalues fall as i^-1.3; beyond the first 20,000 they enter by their mean, 200 to a bin.
spectrum = np.where(index <= 20_000, index, 200 * (index // 200) + 100.0) ** -1.3
problem = sr.Problem(
    sr.covariance.diagonal(spectrum / spectrum.mean()), np.ones(M), label_noise=0.3
)
samples = np.geomspace(200, 40_000, 15)
ridges = np.geomspace(1e-4, 1e3, 29)

figure, axes = plt.subplots(
    1, 2, figsize=(9, 3.5), sharey=True, layout="constrained"
)
for k in (1, 2, 4, 16):
    ensemble = sr.Ensemble(sr.subsets.Projection((total // k,) * k))
    tuned = sr.risk(problem, ensemble, samples / M, ridges=ridges).total.min(axis=0)
    axes[0].plot(samples, tuned, label=f"k = {k}")
    axes[1].plot(samples, sr.risk(problem, ensemble, samples / M).total)
axes[0].set(
    title="best ridge", xlabel="samples", ylabel="error", xscale="log", yscale="log"
)
axes[1].set(title="no ridge", xlabel="samples", xscale="log", ylim=(0.05, 5))
axes[0].legend()
plt.show()
