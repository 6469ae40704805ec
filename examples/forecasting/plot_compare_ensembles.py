"""
Which ensemble, with how many rows?
===================================

The forecast of several ensembles side by side. Each member of the ensemble sees features
that belong together. The forecast from 200 rows shows that this helps now, and less and
less with more rows.
"""

import matplotlib.pyplot as plt
import numpy as np

import subridge as sr

rng = np.random.default_rng(3)
M = 120
blocks = np.array_split(np.arange(M), 4)
weights = np.where(np.arange(M) < 30, rng.standard_normal(M), 0.0) / np.sqrt(30)


def draw(n):
    X = rng.standard_normal((n, M))
    return X, X @ weights + 0.7 * rng.standard_normal(n)


X, y = draw(200)
plan = sr.SubsetPlan.from_indices(blocks, M)
ensembles = {
    "one ridge": sr.Ensemble(sr.subsets.Equal(1)),
    "four blocks, free weights": sr.Ensemble(plan, aggregation="free"),
}
sizes = np.array([150, 200, 300, 450, 700, 1100, 1700])
curves = sr.forecast(X, y, sizes, ensembles, ridges="auto")

# %%
# Dots are ensembles that were trained on as many new rows.

X_new, y_new = draw(5000)
figure, axis = plt.subplots(figsize=(6.5, 4), layout="constrained")
for name in ensembles:
    curve = curves.sel(ensemble=name)
    lower, upper = curve.prediction_error_lower, curve.prediction_error_upper
    (line,) = axis.plot(sizes, curve.prediction_error, label=name)
    axis.fill_between(sizes, lower, upper, alpha=0.15, color=line.get_color())
    options = {"subsets": blocks, "aggregation": "free"} if "blocks" in name else {}
    for n in sizes[::2]:
        model = sr.RidgeEnsembleRegressor(**({"n_estimators": 1} | options))
        errors = [
            ((y_new - model.fit(*draw(n)).predict(X_new)) ** 2).mean()
            for _ in range(2)
        ]
        axis.plot(n, np.mean(errors), "o", color=line.get_color())
axis.axhline(0.49, color="0.5", ls=":", label="noise of the labels")
axis.set(xscale="log", xlabel="rows", ylabel="squared error on new rows")
axis.set_xticks(sizes[::2], sizes[::2])
axis.minorticks_off()
axis.legend()
plt.show()
