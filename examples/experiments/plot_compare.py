"""
Do theory and experiment agree?
===============================

``compare`` puts trained ensembles beside the theory, point by point: the difference in
standard errors, and a verdict.
"""

import matplotlib.pyplot as plt
import numpy as np

import subridge as sr

M = 150
rng = np.random.default_rng(0)
problem = sr.Problem(
    sr.covariance.autoregressive(M, 0.8), rng.standard_normal(M), label_noise=0.2
)
ensemble = sr.Ensemble(sr.subsets.overlapping([30, 60, 90], M, seed=1), ridge=0.05)
sizes = np.array([20, 40, 50, 70, 80, 100, 120, 150, 200, 300])
runs = sr.simulate(problem, ensemble, sizes, n_trials=40, progress=False)
judged = sr.compare(sr.risk(problem, ensemble, sizes / M), runs)
print(judged.attrs["verdict"])

# %%

dense = np.arange(15, 301)
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
left.plot(dense, sr.risk(problem, ensemble, dense / M).total, label="theory")
left.errorbar(
    sizes,
    judged["mean"],
    judged.standard_error,
    fmt="o",
    label="40 trained ensembles",
)
left.set(xlabel="training samples", ylabel="risk")
left.legend()
right.axhspan(-2, 2, color="0.9")
right.plot(sizes, judged.z, "o")
right.set(
    xlabel="training samples", ylabel="difference in standard errors", ylim=(-5, 5)
)
plt.show()
