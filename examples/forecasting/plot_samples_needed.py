"""
How many rows are enough?
=========================

``samples_needed`` reads the forecast the other way round: how many rows until the error
is small enough, and whether any number is.
"""

import matplotlib.pyplot as plt
import numpy as np

import subridge as sr

rng = np.random.default_rng(0)
X = rng.standard_normal((400, 60))
y = X @ rng.standard_normal(60) / np.sqrt(60) + 0.5 * rng.standard_normal(400)

ensembles = {"one ridge": sr.Ensemble(sr.subsets.Equal(1))}
for error in (0.3, 0.27, 0.2):
    found = sr.samples_needed(X, y, error=error, ensembles=ensembles, ridges="auto")
    print(f"squared error {error}: {found.answer.item()}")

# %%
# The forecast behind these answers, with the noise that no model can predict.

sizes = np.unique(np.geomspace(150, 6000, 25).astype(int))
curve = sr.forecast(X, y, sizes, ensembles, ridges="auto").isel(ensemble=0)
figure, axis = plt.subplots(figsize=(6.5, 4), layout="constrained")
lower, upper = curve.prediction_error_lower, curve.prediction_error_upper
axis.fill_between(sizes, lower, upper, alpha=0.2, label="90 % interval")
axis.plot(sizes, curve.prediction_error, label="forecast from 400 rows")
for error in (0.3, 0.27, 0.2):
    axis.axhline(error, color="0.4", lw=0.8, ls="--")
low, high = (curve.attrs[f"label_noise_{end}"] ** 2 for end in ("lower", "upper"))
axis.axhspan(
    low, high, color="C1", alpha=0.15, label="noise of the labels, 90 % interval"
)
axis.set(
    xscale="log",
    xlabel="rows",
    ylabel="squared error on new rows",
    ylim=(0.1, None),
)
ticks = [150, 300, 600, 1200, 2400, 6000]
axis.set_xticks(ticks, ticks)
axis.minorticks_off()
axis.legend()
plt.show()
