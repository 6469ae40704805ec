"""
Equal and unequal members
=========================

Equal members begin to interpolate at the same number of samples, and the error of the
ensemble has a high peak there. Members of different sizes have theirs at different
places, and the ensemble has a few low ones. Lines are theory, points are trained
ensembles.
"""

import matplotlib.pyplot as plt
import numpy as np

import subridge as sr

M, k, ridge = 200, 5, 1e-3
problem = sr.EquicorrelatedProblem(
    correlation=0.2, feature_noise=0.1, label_noise=0.2
).realise(M, seed=0)
plans = {
    "equal": sr.subsets.equal(k, M, seed=0),
    "unequal": sr.subsets.dirichlet(k, M, 0.75, seed=3),
}
dense, sizes = np.arange(8, M + 1), np.array([10, 20, 30, 36, 44, 60, 90, 140, 200])

figure, axes = plt.subplots(figsize=(7, 4))
for name, plan in plans.items():
    ensemble = sr.Ensemble(plan, ridge=ridge)
    (line,) = axes.plot(
        dense, sr.risk(problem, ensemble, dense / M).total, label=f"{name}, theory"
    )
    trained = sr.simulate(
        problem, ensemble, sizes, n_trials=20, progress=False
    ).risk
    error = trained.std("trial") / np.sqrt(20)
    axes.errorbar(
        sizes,
        trained.mean("trial"),
        error,
        fmt="o",
        color=line.get_color(),
        label=f"{name}, trained",
    )
axes.set(xlabel="training samples P", ylabel="risk", yscale="log")
axes.legend()
figure.tight_layout()
