"""
Bounds of the rounding error
============================

``error_bound`` bounds the relative rounding error of every risk. Here features differ in
scale by twelve orders of magnitude and more, and a computation with 40 digits shows the
true error.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import subridge as sr

warnings.simplefilter("ignore", sr.errors.AccuracyWarning)  # drawn instead
decades = np.arange(0, 15, 2)
bounds, true = [], []
for span in decades:
    scales = 10.0 ** np.linspace(-span / 2, span / 2, 12)
    rotation = np.linalg.qr(np.random.default_rng(span).standard_normal((12, 12)))[
        0
    ]
    problem = sr.Problem(
        (rotation * scales) @ rotation.T, np.ones(12), label_noise=0.5
    )
    ensemble = sr.Ensemble(sr.subsets.equal(2, 12, seed=0), ridge=1e-3)
    found = sr.risk(problem, ensemble, 1.5)
    precise = sr.precise_risk(problem, ensemble, 1.5, digits=40)
    bounds.append(float(found.error_bound))
    true.append(abs(float(found.total) / precise - 1))

# %%

figure, axis = plt.subplots(figsize=(6.5, 4), layout="constrained")
axis.semilogy(decades, bounds, "o-", label="error_bound")
axis.semilogy(decades, np.maximum(true, 1e-17), "s--", label="true relative error")
axis.set(
    xlabel="decades between largest and smallest variance", ylabel="relative error"
)
axis.legend()
plt.show()
