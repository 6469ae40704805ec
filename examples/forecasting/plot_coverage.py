"""
Do the intervals hold?
======================

Forty pilots of 100 rows, drawn from the same distribution. Each forecasts the error with 400
rows, and the truth is known here. Intervals of 90 % are wider than this data needs,
because they allow for deviations of real tables from the theory.
"""

import matplotlib.pyplot as plt
import numpy as np

import subridge as sr

M, ridge = 50, 0.3
problem = sr.Problem(
    np.diag(1 / np.arange(1.0, M + 1)), np.ones(M), label_noise=1.0
)
ensemble = sr.Ensemble(sr.SubsetPlan.from_indices([range(M)], M), ridge=ridge)
truth = sr.risk(problem, ensemble, 400 / M).total + problem.label_noise**2

rng = np.random.default_rng(0)
scales = np.sqrt(np.arange(1.0, M + 1) ** -1)
forecasts = []
for _ in range(40):
    X = rng.standard_normal((100, M)) * scales
    y = X @ np.ones(M) / np.sqrt(M) + rng.standard_normal(100)
    curve = sr.forecast(
        X, y, [400], {"one": ensemble}, fit_intercept=False, label_noise=False
    )
    ends = (
        curve.prediction_error_lower.item(),
        curve.prediction_error_upper.item(),
    )
    forecasts.append((curve.prediction_error.item(), *ends))

# %%

value, lower, upper = np.array(sorted(forecasts)).T
holds = (lower <= truth) & (truth <= upper)
print(f"{holds.sum()} of {len(value)} intervals hold the truth")
figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
axis.vlines(range(40), lower, upper, color=np.where(holds, "C0", "C3"))
axis.plot(range(40), value, "k.", label="forecast")
axis.axhline(truth, color="black", lw=1, label="truth, by theory")
axis.set(xlabel="pilots, by their forecast", ylabel="squared error with 400 rows")
axis.legend(loc="upper left")
plt.show()
